"""A file is there whole or not at all, and what a killed process leaves is private and swept."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from isthmus.files.atomic_write import atomic_file, write_atomically

posix_only = pytest.mark.skipif(os.name != "posix", reason="permissions and signals of POSIX")

WRITER = """
import signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP):  # a parent may ignore them
    signal.signal(number, signal.SIG_DFL)
from pathlib import Path
from isthmus.files.atomic_write import atomic_file
with atomic_file(Path(sys.argv[1])) as stream:
    stream.write(b"secret")
    stream.flush()
    print("writing", flush=True)
    time.sleep(60)
"""


def start_writing(path):
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"writing\n"
    return process


def end(process, number):
    process.send_signal(number)
    process.stdout.close()
    assert process.wait(timeout=60) == -number


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def others_in(folder, *names):
    return [path for path in folder.iterdir() if path.name not in names]


@posix_only
def test_nobody_else_reads_a_private_file_while_it_is_replaced(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"before")
    path.chmod(0o600)
    with atomic_file(path) as stream:
        stream.write(b"after")
        (temporary,) = others_in(tmp_path, "model")
        assert mode_of(temporary) == 0o600
        assert path.read_bytes() == b"before"
    assert mode_of(path) == 0o600
    assert path.read_bytes() == b"after"


@posix_only
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_usual_permissions(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "new", b"x")
        (tmp_path / "other").write_bytes(b"x")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "new") == mode_of(tmp_path / "other")


@posix_only
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_process_that_is_told_to_end_leaves_nothing(tmp_path, number):
    path = tmp_path / "model"
    path.write_bytes(b"before")
    end(start_writing(path), number)
    assert others_in(tmp_path) == [path]
    assert path.read_bytes() == b"before"


@posix_only
def test_what_a_killed_process_leaves_is_private_and_swept(tmp_path):
    path = tmp_path / "model"
    end(start_writing(path), signal.SIGKILL)
    (left,) = others_in(tmp_path)
    assert mode_of(left) == 0o600
    assert left.name.startswith(".model.")
    write_atomically(tmp_path / "other", b"x")
    assert left.exists()
    write_atomically(path, b"x")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model", "other"]


@posix_only
def test_who_is_writing_is_not_swept(tmp_path):
    path = tmp_path / "model"
    process = start_writing(path)
    write_atomically(path, b"x")
    assert len(others_in(tmp_path, "model")) == 1
    end(process, signal.SIGTERM)
    assert path.read_bytes() == b"x"


@posix_only
def test_handlers_are_as_before(tmp_path):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
    try:
        with atomic_file(tmp_path / "a") as stream:
            stream.write(b"x")
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [1]
    assert (tmp_path / "a").exists()
    write_atomically(tmp_path / "b", b"x")
    assert signal.getsignal(signal.SIGTERM) == before


def test_in_another_thread(tmp_path):
    thread = threading.Thread(target=write_atomically, args=(tmp_path / "a", b"x"))
    thread.start()
    thread.join()
    assert (tmp_path / "a").read_bytes() == b"x"


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"before")
    with pytest.raises(TypeError), atomic_file(path) as stream:
        stream.write("text")
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"before"]


@pytest.mark.parametrize("name", ["a" * 255, "é" * 127, "a" * 251 + ".csv"])
def test_a_name_as_long_as_can_be(tmp_path, name):
    try:
        Path(tmp_path / name).write_bytes(b"")
    except OSError:
        pytest.skip("not on this file system")
    write_atomically(tmp_path / name, b"x")
    assert (tmp_path / name).read_bytes() == b"x"
