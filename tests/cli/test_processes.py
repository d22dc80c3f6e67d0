"""What only a real process shows: pipes, signals, exit statuses, imports."""

import io
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from isthmus.cli import cluster, main

COMMAND = [sys.executable, "-m", "isthmus"]
posix_only = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def call(*arguments, **options):
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, timeout=120, check=False, **options
    )


def start(*arguments, **options):
    return subprocess.Popen(
        [*COMMAND, *arguments], stdin=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def test_pipe_through(table):
    result = call("cluster", "-k", "2", "--columns", "x,y", "--quiet", input=table.encode())
    assert (result.returncode, result.stderr) == (0, b"")
    expected = b"name,x,y,cluster\nann,0,0,0\nbob,9.0,9,1\ncy,1,0,0\ndee,0,1.50,0\neve,9,8,1\n"
    assert result.stdout == expected


def test_error_shows_no_traceback(tmp_path):
    result = call("cluster", "no.csv", "-k", "2", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, b"")
    expected = f"isthmus: error: cannot read no.csv: No such file or directory.{os.linesep}"
    assert result.stderr.decode() == expected


@posix_only
@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full"])
def test_no_standard_error_changes_nothing(table, stderr):
    shell = f"{sys.executable} -m isthmus cluster -k 2 --columns x,y {stderr}"
    result = subprocess.run(
        shell, shell=True, input=table.encode(), stdout=subprocess.PIPE, timeout=120, check=False
    )
    assert result.returncode == 0
    assert result.stdout.startswith(b"name,x,y,cluster\n")
    shell = f"{sys.executable} -m isthmus cluster no.csv -k 2 {stderr}"
    result = subprocess.run(shell, shell=True, timeout=120, check=False)
    assert result.returncode == 2


@pytest.mark.parametrize(
    ("command", "option"),
    [(["cluster", "-k", "2"], "--label-column"), (["outliers"], "--score-column")],
)
def test_a_new_column_that_is_no_text_is_refused_first(table, command, option):
    result = call(*command, option, b"\xff", input=table.encode())
    assert (result.returncode, result.stdout) == (2, b"")
    assert f"{option} '\\udcff' is not valid text".encode() in result.stderr


def test_console_script():
    script = Path(sys.executable).with_name("isthmus")
    if not script.exists():
        pytest.skip("not installed as a script")
    result = subprocess.run([script], capture_output=True, timeout=120, check=False)
    assert (result.returncode, result.stdout) == (2, b"")


def test_bug_shows_its_traceback():
    code = """
import sys
from isthmus.cli import cluster, main
def fail(args): raise RuntimeError("a bug")
cluster.run = fail
sys.exit(main.run(["cluster", "-k", "2"]))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert result.returncode == 1
    assert result.stderr.rstrip().endswith(b"RuntimeError: a bug")


@posix_only
def test_interrupt(tmp_path):
    with start("cluster", "-k", "2", "-o", "out.csv", cwd=tmp_path) as process:
        # More than a pipe holds: when it is written, the command has begun to read.
        process.stdin.write(b"1,2\n" * 250_000)
        process.stdin.flush()
        time.sleep(0.5)  # until it waits for more
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b"isthmus: interrupted\n"
        process.stdin.close()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_that_others_turned_into_an_error(tmp_path, monkeypatch, capsys):
    def fail(args):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise RuntimeError("compilation failed")

    monkeypatch.setattr(cluster, "run", fail)
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        assert main.run(["cluster", "-k", "2"]) == 130
        assert capsys.readouterr().err == "isthmus: interrupted\n"
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, previous)


def test_an_interrupt_that_an_import_would_lose(monkeypatch, capsys):
    def import_and_lose(name):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return cluster

    monkeypatch.setattr(main, "import_module", import_and_lose)
    monkeypatch.setattr(cluster, "run", lambda args: 0)
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        assert main.run(["cluster", "-k", "2"]) == 130
        assert capsys.readouterr().err == "isthmus: interrupted\n"
    finally:
        signal.signal(signal.SIGINT, previous)


@posix_only
def test_an_interrupt_while_python_executes_text():
    """Python remembers it, and would end the process by the signal."""
    code = """
import signal
from isthmus.cli import cluster, main
def fail(args): exec("signal.raise_signal(signal.SIGINT)", {"signal": signal})
cluster.run = fail
main.sys.argv = ["isthmus", "cluster", "-k", "2"]
main.main()
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (130, b"isthmus: interrupted\n")


@posix_only
@pytest.mark.parametrize("seconds", [1.0, 2.0, 3.0])
def test_interrupt_while_kernels_are_compiled(tmp_path, seconds):
    np.save(tmp_path / "in.npy", np.random.default_rng(0).normal(size=(20_000, 2)))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    arguments = ("cluster", "in.npy", "-k", "2", "-o", "out.csv")
    with start(*arguments, cwd=tmp_path, env=environment) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read().endswith(b"isthmus: interrupted\n")
    assert not list(tmp_path.glob("*.csv"))


@posix_only
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_reader_that_goes_away(tmp_path, unbuffered):
    rows = "".join(f"{i % 7},{i % 11}\n" for i in range(3000))
    (tmp_path / "in.csv").write_text(rows)
    read_end, write_end = os.pipe()
    os.close(read_end)
    arguments = ("cluster", "in.csv", "-k", "2", "--quiet")
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with start(*arguments, stdout=write_end, cwd=tmp_path, env=environment) as process:
        os.close(write_end)
        assert process.wait(timeout=120) == 141
        assert process.stderr.read() == b""


@posix_only
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["cluster", "--help"]])
def test_reader_of_the_help_goes_away(arguments):
    read_end, write_end = os.pipe()
    os.close(read_end)
    with start(*arguments, stdout=write_end) as process:
        os.close(write_end)
        # Where Python does not buffer, argparse itself passes over the error.
        assert process.wait(timeout=120) in (0, 141)
        assert process.stderr.read() == b""


@posix_only
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_slow_reader_gets_every_line(unbuffered):
    rows = [f"{i % 7},{i % 11}" for i in range(40_000)]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    arguments = ("cluster", "-k", "1", "--columns", "1", "--quiet")
    data = "\n".join(rows).encode()
    result = call(*arguments, input=data, env=environment)
    assert result.stdout.decode().splitlines() == [f"{row},0" for row in rows]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_that_is_full(table, unbuffered):
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [*COMMAND, "cluster", "-k", "2", "--columns", "x,y", "--quiet"],
            input=table.encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert result.returncode == 2
    assert result.stderr == (
        b"isthmus: error: cannot write standard output: No space left on device.\n"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["cluster", "--help"], ["--version"]])
def test_help_that_cannot_be_written(arguments):
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=120, check=False
        )
    assert result.returncode == 2
    assert result.stderr == b"isthmus: error: cannot write the help: No space left on device.\n"


@posix_only
@pytest.mark.parametrize("name", ["in.csv", "in.npy"])
def test_named_pipes_can_be_read(tmp_path, name):
    content = io.BytesIO(b"0,0\n9,9\n1,0\n")
    if name == "in.npy":
        np.save(content, np.array([[0, 0], [9, 9], [1, 0]]))
    os.mkfifo(tmp_path / name)
    with start("cluster", name, "-k", "2", "-o", "out.npy", cwd=tmp_path) as process:
        (tmp_path / name).write_bytes(content.getvalue())
        assert process.wait(timeout=120) == 0
    assert np.load(tmp_path / "out.npy").tolist() == [0, 1, 0]


@posix_only
def test_standard_input_is_not_overwritten(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("1\n2\n")
    with path.open("rb") as stdin:
        result = call("cluster", "-k", "1", "-o", "in.csv", stdin=stdin, cwd=tmp_path)
    assert result.returncode == 2
    assert b"it is the input" in result.stderr
    assert path.read_text() == "1\n2\n"


# The package without its front page.
COMMAND_ALONE = """
import importlib.util, sys, types
spec = importlib.util.find_spec("isthmus")
package = sys.modules["isthmus"] = types.ModuleType("isthmus")
package.__path__ = list(spec.submodule_search_locations)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["cluster", "--help"]])
@pytest.mark.parametrize("beginning", [COMMAND_ALONE, "import isthmus"], ids=["command", "package"])
def test_help_imports_nothing_heavy(arguments, beginning):
    code = f"""
{beginning}
import sys
from isthmus.cli.main import run
status = run({arguments!r})
heavy = {{"numba", "sklearn", "scipy", "matplotlib", "pyarrow"}} & set(sys.modules)
sys.exit(f"imported {{heavy}}" if heavy else status)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, b"")
