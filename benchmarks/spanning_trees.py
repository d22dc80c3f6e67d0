"""Exact Euclidean spanning trees: ours beside quitefastmst, the fastest peer on a CPU."""

from __future__ import annotations

import numpy as np

from benchmarks.data import make
from benchmarks.harness import SkippedError, Table, median_ratio, require, times_in_turns
from benchmarks.trees import TREES

# Data, points, features, and the ratio to quitefastmst that is to be reached.
ROWS = (
    *(
        (kind, n, d, 0.5)
        for n in (100_000, 1_000_000)
        for d in (2, 3)
        for kind in ("uniform", "clustered")
    ),
    ("Tycho-2", 1_000_000, 3, 0.5),
    ("uniform", 200_000, 5, 0.4),
    ("uniform", 100_000, 8, 0.25),
    ("clustered", 100_000, 8, 0.25),
    ("uniform", 50_000, 16, 0.25),
    ("clustered", 50_000, 16, 0.25),
    ("1,000 distinct", 1_000_000, 2, 0.5),
    ("rounded to 0.1", 1_000_000, 2, 0.5),
    ("rounded to 0.01", 1_000_000, 2, 0.5),
    ("lattice", 1_000_000, 2, 0.5),
    ("lattice", 1_000_000, 3, 0.5),
)

# Trees of at most this many numbers take a moment, and one turn says little.
_SMALL = 300_000


def run() -> Table:
    require("quitefastmst")
    table = Table(
        "spanning_trees",
        "Euclidean minimum spanning trees against quitefastmst",
        "Same data and number of threads, in turns; best times, and the median of the ratios of "
        "five turns (three where one takes more than five seconds, fifteen for 100,000 points "
        "in 2 or 3 dimensions). Sorted weights are equal to 1e-12.",
    )
    for kind, n_points, n_features, goal in ROWS:
        try:
            points = make(kind, n_points, n_features)
        except SkippedError as reason:
            table.note += f" Left out: {reason}."
            continue
        table.rows += [_compare(kind, points, threads, goal) for threads in (1, 2)]
    return table


def _compare(kind: str, points: np.ndarray, threads: int, goal: float) -> dict[str, object]:
    found: dict[str, np.ndarray] = {}

    def keep(name: str) -> None:
        found[name] = TREES[name](points, threads)

    times = times_in_turns(
        {"isthmus": lambda: keep("isthmus"), "quitefastmst": lambda: keep("quitefastmst")},
        repeats=15 if points.size <= _SMALL else 5,
    )
    if not np.allclose(found["isthmus"], np.sort(found["quitefastmst"]), rtol=1e-12, atol=0):
        raise AssertionError(f"the trees of {kind} differ in weight")
    return {
        "data": f"{len(points):,} × {points.shape[1]} {kind}",
        "threads": threads,
        "isthmus (s)": min(times["isthmus"]),
        "quitefastmst (s)": min(times["quitefastmst"]),
        "ratio": median_ratio(times["isthmus"], times["quitefastmst"]),
        "goal": goal,
    }
