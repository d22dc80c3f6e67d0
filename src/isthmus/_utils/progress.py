"""Progress of a computation: a bar in terminals, lines in logs, or calls of a user's function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, TextIO

Progress = Callable[[int, int], None]
"""Called repeatedly, as progress(done, total)."""

_WIDTH = 30
# The least number of seconds between two updates of a bar.
_INTERVAL = 0.1
# Below this share of the work an estimate of the rest would be a guess.
_LEAST_SHARE = 0.03


class _Screen:
    """What bars share, as there is one terminal: the open line, and time that no bar counts."""

    def __init__(self) -> None:
        self.open_bar: ProgressBar | None = None  # whose line has not ended yet
        self.seconds_apart = 0.0  # spent on other work, such as compiling


_SCREEN = _Screen()


@contextmanager
def work_apart() -> Iterator[None]:
    """Do work that is no part of what bars measure, and may write lines of its own.

    The line of a bar ends before, and the bar goes on below; its estimates leave out the time.
    """
    if _SCREEN.open_bar is not None:
        _SCREEN.open_bar.end_line()
    begun = time.monotonic()
    try:
        yield
    finally:
        _SCREEN.seconds_apart += time.monotonic() - begun


class ProgressBar:
    """Shows the progress of a computation that takes longer than ``patience`` seconds.

    Call it as ``bar(done, total)``. In a terminal or a notebook it rewrites its line at most ten
    times per second. Elsewhere, as in a log, it writes a line for every tenth of the work.
    """

    def __init__(
        self,
        what: str,
        *,
        patience: float = 2.0,
        stream: TextIO | None = None,
        begun: float | None = None,
    ) -> None:
        self.what = what
        self.patience = patience
        self.stream = stream if stream is not None else sys.stderr
        self.rewrites = can_rewrite(self.stream)
        self.begun = self.shown = time.monotonic()
        self.waiting_since = self.begun if begun is None else begun
        self.visible = False
        self.width = self.tenths = 0
        self.apart_before = _SCREEN.seconds_apart

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        finished = done >= total
        share = min(done / total, 1.0) if total else 1.0
        if now - self.waiting_since < self.patience and not self.visible:
            return
        too_short = now - self.begun < min(_INTERVAL, self.patience)
        if finished and not self.visible and too_short:
            return
        if self.rewrites:
            self._rewrite(now, share, finished)
        else:
            self._write_line(now, share)

    def _rewrite(self, now: float, share: float, finished: bool) -> None:
        if now - self.shown < _INTERVAL and not finished:
            return
        self.shown = now
        bar = "█" * round(share * _WIDTH)
        line = f"{self.what} [{bar:<{_WIDTH}}] {share:4.0%}, {self._left(now, share)}"
        # padded with spaces, to overwrite a longer line
        self._write(f"\r{line:<{self.width}}" + ("\n" if finished else ""))
        self.width = len(line)
        _SCREEN.open_bar = None if finished else self

    def end_line(self) -> None:
        """End the line; what follows is written below."""
        self._write("\n")
        self.width = 0
        _SCREEN.open_bar = None

    def _write_line(self, now: float, share: float) -> None:
        tenths = int(share * 10)
        if tenths <= self.tenths:
            return
        self.tenths = tenths
        self._write(f"{self.what} {share:.0%}, {self._left(now, share)}\n")

    def _left(self, now: float, share: float) -> str:
        if share >= 1.0:
            return f"{now - self.begun:.0f} s"
        worked = now - self.begun - (_SCREEN.seconds_apart - self.apart_before)
        left = seconds_left(worked, share)
        return "estimating" if left is None else f"{left:.0f} s left"

    def _write(self, text: str) -> None:
        self.visible = True
        if self.stream is not None:  # None in a program without a console
            self.stream.write(text)
            self.stream.flush()


def seconds_left(worked: float, share: float) -> float | None:
    """Return the seconds that are left, at the mean rate of the seconds worked.

    None where too little is done to tell. The rate of the last moments would follow a stage that
    is faster or slower than others; the whole is off by as much as the shares of stages are.
    """
    return None if share < _LEAST_SHARE else worked * (1.0 - share) / share


def can_rewrite(stream: Any) -> bool:
    """Whether a carriage return overwrites a line of the stream: in terminals and notebooks."""
    if type(stream).__module__.split(".")[0] == "ipykernel":
        return True
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # closed, or not a stream
        return False


class Stages:
    """The stages of a computation, each with its own progress.

    Parameters
    ----------
    verbose : int or callable
        0 is silent; other numbers show a bar for each stage, once the computation takes longer than
        two seconds. A function is called as ``verbose(stage, done, total)``.
    """

    def __init__(self, verbose: Any) -> None:
        self.verbose = verbose
        self.begun = time.monotonic()

    def stage(self, name: str) -> Progress | None:
        """Return the function that reports the progress of a stage; None where it is silent."""
        if callable(self.verbose):
            report = self.verbose
            return lambda done, total: report(name, done, total)
        return ProgressBar(name, begun=self.begun) if self.verbose else None

    @contextmanager
    def whole(self, name: str) -> Iterator[None]:
        """Report the beginning and the end of a short stage."""
        progress = self.stage(name)
        if progress is not None:
            progress(0, 1)
        yield
        if progress is not None:
            progress(1, 1)


def part_of(
    progress: Progress | None, begin: float, end: float, whole: int = 1000
) -> Progress | None:
    """Return a function that reports a part of a computation, from one share to another.

    whole : int
        The total that is reported.
    """
    if progress is None:
        return None
    report = progress

    def report_part(done: int, total: int) -> None:
        share = min(done / total, 1.0) if total else 1.0
        report(round(whole * (begin + share * (end - begin))), whole)

    return report_part


def check_verbose(verbose: Any) -> None:
    """Raise TypeError for anything but a number or a function."""
    if not callable(verbose) and not isinstance(verbose, Integral):
        raise TypeError(
            f"verbose must be 0, 1 or a function of (stage, done, total), got {verbose!r}."
        )
