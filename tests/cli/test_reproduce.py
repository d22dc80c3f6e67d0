import json
import os

import pytest

from isthmus.cli import main, reproduce
from paper.examples import Calls, made_up


@pytest.fixture
def calls(monkeypatch):
    """Two made-up parts in place of the paper's."""
    calls = Calls()
    monkeypatch.setattr(reproduce, "PARTS", ("first", "second"))
    monkeypatch.setattr(reproduce, "load_experiment", lambda name: made_up(calls, name))
    return calls


def run(*arguments):
    # in this process, where calls are counted
    return main.run(["reproduce", "-j", "1", *map(str, arguments)])


def test_everything_is_computed_and_reported(calls, tmp_path, capsys):
    folder = tmp_path / "new" / "folder"
    assert run("-o", folder) == 0
    assert len(calls.names) == 6
    out, err = capsys.readouterr()
    assert "first: Squares add up to 5." in out
    assert "  paper: 5; ours: 5: reproduced" in out
    assert "claims: 2 reproduced, 2 partly" in out
    assert f"report: {folder / 'report.html'}" in out
    assert "of computing" in err
    assert sorted(path.name for path in folder.iterdir()) == [
        "figures",
        "report.html",
        "report.md",
        "results",
    ]
    for path in (folder / "results").rglob("*.json"):
        assert json.loads(path.read_text())["result"]


def test_one_part_and_then_the_other(calls, tmp_path, capsys):
    assert run("second", "-o", tmp_path, "--quiet") == 0
    assert sorted(calls.names) == ["second0", "second1", "second2"]
    out, err = capsys.readouterr()
    assert "first:" not in out
    assert err == ""
    assert run("first", "-o", tmp_path) == 0
    assert "second:" in capsys.readouterr().out  # finished before, so it is shown as well
    assert len(calls.names) == 6


def test_what_is_kept_is_computed_again_when_asked(calls, tmp_path):
    run("first", "--quick", "-o", tmp_path)
    run("first", "--quick", "-o", tmp_path)
    assert calls.names == ["first0"]
    run("first", "--quick", "--fresh", "-o", tmp_path)
    assert calls.names == ["first0", "first0"]


def test_a_quick_run_judges_nothing(calls, tmp_path, capsys):
    assert run("--quick", "-o", tmp_path) == 0
    out = capsys.readouterr().out
    assert "claims: 4 not judged: quick run" in out
    assert "reproduced" not in out


@pytest.mark.parametrize(("part", "asked"), [("table1", []), ("figure6", [0.5])])
def test_openml_is_asked_only_for_figure6(tmp_path, monkeypatch, part, asked):
    from isthmus.datasets import digits

    seconds = []
    monkeypatch.delenv(digits.OFFLINE, raising=False)
    monkeypatch.delenv("ISTHMUS_DATA", raising=False)
    monkeypatch.setattr(digits, "_cached_by_sklearn", lambda _: False)
    monkeypatch.setattr(digits, "_openml_answers", seconds.append)  # it does not answer
    monkeypatch.setattr(reproduce, "run_experiments", begin_only)
    monkeypatch.setattr(reproduce, "PARTS", ("figure6", "table1"))
    assert run(part, "--quick", "-q", "-o", tmp_path) == 0
    assert seconds == asked
    assert digits.OFFLINE not in os.environ


def begin_only(experiments, store, *, quick, **options):
    for experiment in experiments:
        experiment.tasks(quick)
    return {}


def test_parts_in_any_order_and_twice(calls, tmp_path):
    assert run("second", "first", "second", "-o", tmp_path) == 0
    assert len(calls.names) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure9"], "there is no part 'figure9'. The parts: first, second."),
        (["-j", "0"], "--jobs must be at least 1"),
        (["-j", "many"], "invalid int value"),
        (["--slow"], "unrecognized arguments"),
    ],
)
def test_wrong_arguments(calls, tmp_path, capsys, arguments, message):
    assert run(*arguments, "-o", tmp_path / "none") == main.USER_ERROR
    assert message in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_a_folder_that_cannot_be_made(calls, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run("-o", tmp_path / "file" / "folder") == main.USER_ERROR
    assert "cannot make the folder" in capsys.readouterr().err
    assert calls.names == []


def test_without_matplotlib_nothing_is_begun(calls, tmp_path, capsys, monkeypatch):
    def missing():
        raise ImportError("Drawing needs matplotlib")

    monkeypatch.setattr(reproduce, "require_matplotlib", missing)
    assert run("-o", tmp_path / "none") == main.USER_ERROR
    assert "Drawing needs matplotlib" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
