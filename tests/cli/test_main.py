import pytest

from isthmus._version import __version__
from isthmus.cli import cluster, main


def test_version(isthmus):
    result = isthmus("--version")
    assert (result.status, result.out, result.err) == (0, f"isthmus {__version__}\n", "")


def test_alone_shows_help_and_fails(isthmus):
    result = isthmus()
    assert result.status == 2
    assert result.out == ""
    assert result.err.startswith("usage: isthmus ")


@pytest.mark.parametrize("arguments", [["--help"], ["cluster", "--help"], ["reproduce", "--help"]])
def test_help_teaches_by_examples(isthmus, arguments):
    result = isthmus(*arguments)
    assert (result.status, result.err) == (0, "")
    assert result.out.isascii()  # shown as it is on every terminal
    examples = result.out.split("examples:\n")[1].split("\n\n")[0].splitlines()
    assert len(examples) >= 3
    assert all("isthmus " in example for example in examples)


def test_examples_of_the_help_are_valid(isthmus, monkeypatch):
    called, n_examples = [], 0
    monkeypatch.setattr(cluster, "run", lambda args: called.append(args) or 0)
    for text in (main._EXAMPLES, cluster.EXAMPLES):
        for line in text.splitlines():
            if "isthmus " not in line:
                continue
            words = line.split("isthmus ")[1].split(" | ")[0].split()
            if words[0] == "cluster":
                n_examples += 1
                assert isthmus(*words).status == 0
    assert len(called) == n_examples > 5


def test_help_lists_every_command(isthmus):
    out = isthmus("--help").out
    for command in main._COMMANDS:
        assert f"\n  {command} " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clutser"], "invalid choice: 'clutser'"),
        (["cluster"], "the following arguments are required: -k/--n-clusters"),
        (["cluster", "-k", "3", "--colour"], "unrecognized arguments: --colour"),
        (["cluster", "-k", "3", "--col", "1"], "unrecognized arguments: --col."),
        (["cluster", "-k", "0"], "-k/--n-clusters: must be at least 1, got 0"),
        (["cluster", "-k", "-2"], "-k/--n-clusters: must be at least 1, got -2"),
        (["cluster", "-k", "2.5"], "expected an integer at least 1, got '2.5'"),
        (["cluster", "-k", "2", "--metric", "Euclid"], "unknown metric 'Euclid'. Did you mean"),
        (["cluster", "-k", "2", "--metric", "pyfunc"], "--metric: unknown metric 'pyfunc'"),
        (["cluster", "-k", "2", "--method", "best"], "--method: invalid choice: 'best'"),
        (["cluster", "-k", "2", "--space", "plane"], "--space: invalid choice: 'plane'"),
        (["cluster", "-k", "2", "--init", "kmeans"], "--init: invalid choice: 'kmeans'"),
        (["cluster", "-k", "2", "--n-init", "many"], "--n-init: expected an integer"),
        (["cluster", "-k", "2", "--max-iter", "0"], "--max-iter: must be at least 1, got 0"),
        (["cluster", "-k", "2", "--seed", "-1"], "--seed: must be from 0 to 4294967295, got -1"),
        (["cluster", "-k", "2", "--jobs", "0"], "--jobs: must be a number of threads"),
        (["cluster", "-k", "2", "--power", "x"], "--power: expected a number, got 'x'"),
        (["cluster", "-k", "2", "--p", "3"], "--p belongs to --metric minkowski"),
        (["cluster", "-k", "2", "--delimiter", "ab"], "--delimiter: must be one character"),
        (["cluster", "-k", "2", "--delimiter", "."], "--delimiter: '.' can be part of a number"),
        (["cluster", "-k", "2", "--columns", "1,,2"], "--columns: expected names, positions"),
        (["cluster", "-k", "2", "--exclude", ""], "--exclude: expected names, positions"),
        (["cluster", "-k", "2", "--format", "xls"], "--format: invalid choice: 'xls'"),
        (["cluster", "-k", "2", "--json", "--quiet"], "not allowed with argument --json"),
    ],
)
def test_wrong_usage_takes_one_line(isthmus, arguments, message):
    result = isthmus(*arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("isthmus: error: ")
    assert result.err.count("\n") == 1
    assert message in result.err


def test_interrupt_is_130(isthmus, monkeypatch):
    def interrupt(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(cluster, "run", interrupt)
    result = isthmus("cluster", "-k", "2")
    assert (result.status, result.out, result.err) == (130, "", "isthmus: interrupted\n")


def test_bug_is_not_hidden(isthmus, monkeypatch):
    def fail(args):
        raise RuntimeError("a bug")

    monkeypatch.setattr(cluster, "run", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        isthmus("cluster", "-k", "2")


def test_message_of_several_lines_takes_one(isthmus, monkeypatch):
    def fail(args):
        raise main.UserError("first\n  second")

    monkeypatch.setattr(cluster, "run", fail)
    assert isthmus("cluster", "-k", "2").err == "isthmus: error: first second\n"


@pytest.mark.parametrize("name", ["pyfunc", "Pyfun"])
def test_what_a_command_cannot_be_given_is_not_suggested(isthmus, name):
    result = isthmus("cluster", "-k", "2", "--metric", name)
    assert f"unknown metric '{name}'. Known metrics" in result.err


def test_a_metric_is_suggested(isthmus):
    assert "Did you mean 'cosine'?" in isthmus("cluster", "-k", "2", "--metric", "cosin").err
