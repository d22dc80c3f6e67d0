"""Ctrl-C where Python code that others call would lose it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupt_held_back() -> Iterator[None]:
    """Let Ctrl-C wait until the block ends.

    For what calls Python back, where an exception is printed and lost: compilation, in which LLVM
    does, and imports, in which Python itself does when it forgets the lock of a module.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    received: list[Any] = []
    signal.signal(signal.SIGINT, lambda *signal_and_frame: received.append(signal_and_frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if received:
            handler(*received[0])
