"""A progress bar on standard error, for work that takes more than a moment."""

from __future__ import annotations

import sys
import time
from typing import TextIO

_WIDTH = 30


class ProgressBar:
    """Shows how far a computation is, once it has taken longer than ``patience`` seconds.

    Call it as ``bar(done, total)``; it rewrites its line at most ten times per second and ends
    it when all is done.
    """

    def __init__(self, what: str, *, patience: float = 2.0, stream: TextIO | None = None) -> None:
        self.what = what
        self.patience = patience
        self.stream = stream if stream is not None else sys.stderr
        self.begun = self.shown = time.monotonic()
        self.visible = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        finished = done >= total
        if now - self.begun < self.patience and not self.visible:
            return
        if now - self.shown < 0.1 and not finished:
            return
        self.shown = now
        self.visible = True
        share = done / total if total else 1.0
        bar = "█" * round(share * _WIDTH)
        left = (now - self.begun) * (1.0 - share) / share if share else float("inf")
        line = f"\r{self.what} [{bar:<{_WIDTH}}] {share:4.0%}, {left:.0f} s left "
        self.stream.write(line + ("\n" if finished else ""))
        self.stream.flush()
