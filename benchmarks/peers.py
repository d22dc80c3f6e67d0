"""Exact Euclidean spanning trees: every implementation that can be installed, on one thread."""

from __future__ import annotations

import numpy as np

from benchmarks.data import make
from benchmarks.harness import Table, best_times
from benchmarks.trees import QUADRATIC, TREES, is_installed

ROWS = (
    ("uniform", 100_000, 2),
    ("uniform", 50_000, 3),
    ("clustered", 50_000, 5),
    ("clustered", 20_000, 10),
)
# Quadratic in time or memory, or growing exponentially with the number of features.
LARGEST = dict.fromkeys(QUADRATIC, 20_000)
MOST_FEATURES = {"SciPy (Delaunay)": 3}


def run() -> Table:
    table = Table(
        "peers",
        "Euclidean minimum spanning trees: everyone",
        "Seconds on one thread, best of three, in turns. “off” is by how much a tree's weight "
        "differs from ours (above 1e-12). genieclust builds its trees with quitefastmst. Those "
        "that are quadratic take part where there are 20,000 points.",
    )
    for kind, n_points, n_features in ROWS:
        points = make(kind, n_points, n_features)
        table.rows.append(_compare(f"{n_points:,} × {n_features} {kind}", points))
    return table


def _can_run(name: str, points: np.ndarray) -> bool:
    return (
        is_installed(name)
        and len(points) <= LARGEST.get(name, len(points))
        and points.shape[1] <= MOST_FEATURES.get(name, points.shape[1])
    )


def _compare(title: str, points: np.ndarray) -> dict[str, object]:
    weight: dict[str, float] = {}

    def keep(name: str) -> None:
        weight[name] = float(TREES[name](points, 1).sum())

    names = [name for name in TREES if _can_run(name, points)]
    times = best_times({name: lambda name=name: keep(name) for name in names})
    row: dict[str, object] = {"data": title}
    for name in TREES:
        row[name] = "–"
        if name in names:
            off = abs(weight[name] / weight["isthmus"] - 1.0)
            row[name] = f"{times[name]:.3g}" + (f" (off {off:.0e})" if off > 1e-12 else "")
    return row
