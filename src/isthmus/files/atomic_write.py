"""Atomic writes: a file appears under its name only when it is complete.

It is written to a temporary file beside it, which nobody else can read, and which is removed on
any error, on Ctrl-C and where a signal ends the process. A process that is killed, or a power cut,
leaves it behind; the next write to the same name removes it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any
try:
    fcntl = import_module("fcntl")
except ImportError:  # Windows, where a file that is open cannot be removed anyway
    fcntl = None

_PRIVATE = 0o600
# Characters of a name that its temporary files show: long names leave no space for more.
_SHOWN = 40
# What ends a process, but can be seen before.
_SIGNALS = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
]


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path``, which takes that name when everything is written.

    After an error or Ctrl-C, whatever had the name before is unchanged.
    """
    _sweep(path)
    temporary = path.with_name(f"{_prefix(path)}{secrets.token_hex(4)}.tmp")
    try:
        with _removed_by_signals(temporary):
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, _PRIVATE)
            with os.fdopen(descriptor, "wb") as stream:
                _lock(stream.fileno())
                yield stream
                stream.flush()
                mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
                temporary.chmod(mode)
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_atomically(path: Path, content: bytes) -> None:
    """Write a complete file, or leave what is there unchanged."""
    with atomic_file(path) as stream:
        stream.write(content)


_BINARY = getattr(os, "O_BINARY", 0)


def _prefix(path: Path) -> str:
    """Return how the names of a file's temporary files begin."""
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:8]
    return f".{path.name[:_SHOWN]}.{digest}."


def _sweep(path: Path) -> None:
    """Remove what killed processes have left of this file; those at work hold a lock."""
    with suppress(OSError):
        left = [entry for entry in path.parent.iterdir() if entry.name.startswith(_prefix(path))]
        for entry in left:
            if entry.name.endswith(".tmp") and not _is_in_use(entry):
                entry.unlink()


def _is_in_use(temporary: Path) -> bool:
    if fcntl is None:
        return False
    with temporary.open("rb") as stream:
        return not _lock(stream.fileno())


def _lock(descriptor: int) -> bool:
    """Lock a file for as long as it is open; return whether that was possible."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another has it, or the file system knows no locks
        return False
    return True


def _umask() -> int:
    """Return the permissions that new files do not get; there is no way but to set them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextmanager
def _removed_by_signals(temporary: Path) -> Iterator[None]:
    """Remove a file where a signal ends the process; signals that have a handler keep it."""
    if threading.current_thread() is not threading.main_thread():  # only that can set handlers
        yield
        return
    handled = [number for number in _SIGNALS if signal.getsignal(number) == signal.SIG_DFL]

    def end(number: int, _: Any) -> None:
        with suppress(OSError):
            temporary.unlink()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    try:
        for number in handled:
            _set_handler(number, end)
        yield
    finally:
        for number in handled:
            _set_handler(number, signal.SIG_DFL)


def _set_handler(number: int, handler: Callable[[int, Any], None] | signal.Handlers) -> None:
    with suppress(ValueError):  # not in the main interpreter
        signal.signal(number, handler)
