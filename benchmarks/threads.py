"""What a second thread is worth: to us, to the fastest peer, and to the machine itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.data import make
from benchmarks.harness import Table, median_ratio, require, times_in_turns
from benchmarks.trees import TREES


def run() -> Table:
    require("quitefastmst")
    points = make("uniform", 1_000_000, 3)
    table = Table(
        "threads",
        "A second thread",
        "Spanning trees of 1,000,000 × 3 uniform points, best of seven, in turns, and the median "
        "of the ratios of one thread's time to that of two. The last row is what the machine has "
        "to give: the same arithmetic, which needs no memory, twice on one thread and once on each "
        "of two.",
    )
    arithmetic = _compile_arithmetic()
    works: dict[str, Callable[[int], Any]] = {
        "isthmus": lambda threads: TREES["isthmus"](points, threads),
        "quitefastmst": lambda threads: TREES["quitefastmst"](points, threads),
        "arithmetic": lambda threads: _share_out(arithmetic, threads),
    }
    for work in works.values():  # load and compile
        work(2)
    times = times_in_turns(
        {
            f"{name} {threads}": lambda work=work, threads=threads: work(threads)
            for name, work in works.items()
            for threads in (1, 2)
        },
        repeats=7,
    )
    table.rows = [
        {
            "what": name,
            "one thread (s)": min(times[f"{name} 1"]),
            "two threads (s)": min(times[f"{name} 2"]),
            "times faster": median_ratio(times[f"{name} 1"], times[f"{name} 2"]),
        }
        for name in works
    ]
    return table


def _compile_arithmetic() -> Callable[[], float]:
    import numba

    @numba.njit(nogil=True)  # type: ignore[untyped-decorator]
    def arithmetic() -> float:
        total = 0.0
        for i in range(30_000_000):
            total += np.sqrt(float(i)) * 0.5
        return total

    return arithmetic


def _share_out(work: Callable[[], float], threads: int) -> None:
    """Do the work twice, on one thread or on two."""
    if threads == 1:
        work()
        work()
        return
    other = threading.Thread(target=work)
    other.start()
    work()
    other.join()
