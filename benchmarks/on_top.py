"""What noise= adds to a fit, and what explain() takes after one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.data import make
from benchmarks.harness import Table, median_ratio, times_in_turns
from isthmus import TransitiveCut

# Kind, points, features.
CASES = (("clustered", 1_000_000, 2), ("clustered", 100_000, 8))


def run(cases: tuple[tuple[str, int, int], ...] = CASES) -> Table:
    table = Table(
        "on_top",
        "Noise and explanations, beside a fit",
        "TransitiveCut(20) on one thread: a fit with noise, and explain() after a fit, over the "
        "time of a fit; best of 5, in turns. The ratio is the median of ratios.",
    )
    with threadpool_limits(1):
        for case in cases:
            table.rows += _rows(*case)
    return table


def _rows(kind: str, n_points: int, d: int) -> list[dict[str, object]]:
    points = make(kind, n_points, d)
    model = TransitiveCut(20, n_jobs=1).fit(points)
    functions: dict[str, Callable[[], Any]] = {
        "fit": lambda: TransitiveCut(20, n_jobs=1).fit(points),
        "fit, noise='auto'": lambda: TransitiveCut(20, n_jobs=1, noise="auto").fit(points),
        "fit, noise=0.05": lambda: TransitiveCut(20, n_jobs=1, noise=0.05).fit(points),
        "explain()": model.explain,
    }
    for function in functions.values():
        function()  # compiles
    times = times_in_turns(functions)
    return [
        {
            "points": f"{n_points:,} × {d} {kind}",
            "what": name,
            "seconds": min(times[name]),
            "÷ fit": median_ratio(times[name], times["fit"]),
        }
        for name in functions
    ]
