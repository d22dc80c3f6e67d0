import io
import os
import stat

import pytest

from isthmus.cli.errors import UserError
from isthmus.cli.output_file import Output, check_output, open_output


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write_half_and_raise(path, error):
    with open_output(Output(path, "csv")) as stream:
        stream.write(b"half")
        stream.flush()
        raise error


def test_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "out.csv"
    with open_output(Output(path, "csv")) as stream:
        stream.write(b"new")
        stream.flush()
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == ["out.csv"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError, BrokenPipeError])
@pytest.mark.parametrize("before", [None, b"old"])
def test_failure_leaves_nothing_behind(tmp_path, error, before):
    path = tmp_path / "out.csv"
    if before is not None:
        path.write_bytes(before)
    with pytest.raises(error):
        write_half_and_raise(path, error)
    assert names(tmp_path) == ([] if before is None else ["out.csv"])
    assert before is None or path.read_bytes() == before


def test_full_disk_is_told(tmp_path):
    with (
        pytest.raises(UserError, match=r"cannot write .*out\.csv: No space left"),
        open_output(Output(tmp_path / "out.csv", "csv")),
    ):
        raise OSError(28, "No space left on device")
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "other").touch()
    with open_output(Output(tmp_path / "out.csv", "csv")):
        pass
    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_permissions_of_an_existing_file_stay(tmp_path, mode):
    path = tmp_path / "out.csv"
    path.touch()
    path.chmod(mode)
    with open_output(Output(path, "csv")):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "out.csv"
    link.symlink_to(tmp_path / "real" / "target.csv")
    with open_output(check_output(str(link), None)) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert (tmp_path / "real" / "target.csv").read_bytes() == b"new"
    assert names(tmp_path) == ["out.csv", "real"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_named_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "out.csv")
    with pytest.raises(UserError, match="not a regular file"):
        check_output(str(tmp_path / "out.csv"), None)


@pytest.mark.parametrize("name", [None, "-"])
def test_standard_output(name, capsysbinary):
    output = check_output(name, None)
    assert output == Output(None, "csv")
    with open_output(output) as stream:
        stream.write(b"a\r\nb\n")
    assert capsysbinary.readouterr().out == b"a\r\nb\n"


def test_standard_output_without_a_buffer_gets_one(tmp_path, monkeypatch):
    with io.FileIO(tmp_path / "out", "wb") as raw:
        stdout = type("Stdout", (), {"buffer": raw, "flush": lambda self: None})()
        monkeypatch.setattr("sys.stdout", stdout)
        with open_output(Output(None, "csv")) as stream:
            assert isinstance(stream, io.BufferedIOBase)
            stream.write(b"text")
        assert not raw.closed
    assert (tmp_path / "out").read_bytes() == b"text"


def test_closed_standard_output(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(UserError, match="standard output is closed"), open_output(Output(None, "")):
        pass
