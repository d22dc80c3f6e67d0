"""New points added to a fit, beside a fit on all points."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import make
from benchmarks.harness import Table, median_ratio, times_in_turns
from isthmus import TransitiveCut

# Kind, points, features, share of new ones, metric, goal of the ratio.
CASES: tuple[tuple[str, int, int, float, str, float | str], ...] = (
    ("clustered", 1_000_000, 2, 0.001, "euclidean", "–"),
    ("clustered", 1_000_000, 2, 0.01, "euclidean", 0.3),
    ("clustered", 1_000_000, 2, 0.04, "euclidean", "–"),
    ("clustered, again", 1_000_000, 2, 0.01, "euclidean", "–"),
    ("uniform", 1_000_000, 2, 0.01, "euclidean", 0.3),
    ("clustered", 1_000_000, 3, 0.01, "euclidean", "–"),
    ("clustered", 100_000, 5, 0.01, "euclidean", "–"),
    ("clustered", 100_000, 8, 0.01, "euclidean", "–"),
    ("clustered", 5_000, 5, 0.01, "canberra", "–"),
    ("rounded to 0.1", 1_000_000, 2, 0.01, "euclidean", "–"),
)


def run(cases: tuple[Any, ...] = CASES, threads: tuple[int, ...] = (1, 2)) -> Table:
    table = Table(
        "extend",
        "Points added to a fit",
        "TransitiveCut(20): extend with new points, after a fit on the old ones, beside a fit on "
        "all of them, with as many threads; best of 5, in turns. The ratio is the median of "
        "ratios. Both have the same tree and labels, which is checked. Rounded coordinates "
        "give many equal distances; 'again' is a model that was extended as much before.",
    )
    for n_jobs in threads:
        with threadpool_limits(n_jobs):
            table.rows += [_row(*case, n_jobs) for case in cases]
    return table


def _row(
    kind: str, n_points: int, d: int, share: float, metric: str, goal: object, n_jobs: int
) -> dict[str, object]:
    name, again = kind.removesuffix(", again"), kind.endswith(", again")
    points = np.random.default_rng(1).permutation(make(name, n_points, d))
    n_new = round(share * len(points))
    n_old = len(points) - n_new
    n_first = n_old - n_new if again else n_old
    model = TransitiveCut(20, metric=metric, n_jobs=n_jobs).fit(points[:n_first])
    if again:
        model.extend(points[n_first:n_old])
    model.predict(points[:1])  # compiles
    made: dict[str, TransitiveCut] = {}

    def extend() -> None:
        made["extend"] = copy.copy(model).extend(points[-n_new:])

    def fit() -> None:
        made["fit"] = TransitiveCut(20, metric=metric, n_jobs=n_jobs).fit(points)

    extend()
    functions: dict[str, Callable[[], Any]] = {"extend": extend, "fit": fit}
    times = times_in_turns(functions)
    assert made["extend"].spanning_tree_ == made["fit"].spanning_tree_
    assert (made["extend"].labels_ == made["fit"].labels_).all()
    return {
        "points": f"{n_points:,} × {d} {kind}, {metric}",
        "new": f"{share:.1%}",
        "threads": n_jobs,
        "extend (s)": min(times["extend"]),
        "fit (s)": min(times["fit"]),
        "ratio": median_ratio(times["extend"], times["fit"]),
        "goal": goal,
    }
