"""Whether the right engine is chosen: every engine beside the choice, from 2 to 1,000 features."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.data import make
from benchmarks.harness import Table, best_times
from isthmus import minimum_spanning_tree

FEATURES = (2, 3, 5, 8, 9, 10, 12, 14, 16, 20, 24, 28, 32, 33, 64, 128, 256, 512, 1000)
KINDS = ("uniform", "clustered")
# Points: more where features are few, as users have them, and Prim's algorithm can still follow.
LARGE, SMALL, MANY_FEATURES = 30_000, 8_000, 100

# Points enough to compile for, and how many times longer than the best an engine may take to have
# further turns.
_WARMING_UP = 2_000
_FAR_BEHIND = 3.0


def run() -> Table:
    table = Table(
        "choice",
        "The choice of an engine",
        "Seconds on one thread, best of three, in turns; engines that take more than three times "
        "as long as the best have one turn. The last column is the time of the engine that is "
        "chosen over that of the best one; the goal is 1.3 at most.",
    )
    for kind in KINDS:
        for n_features in FEATURES:
            n_points = SMALL if n_features > MANY_FEATURES else LARGE
            table.rows.append(_compare(kind, make(kind, n_points, n_features)))
    return table


def _compare(kind: str, points: np.ndarray) -> dict[str, object]:
    engines = ["auto", "prim", "blocked", *(["kd-tree"] if points.shape[1] <= 32 else [])]
    chosen = minimum_spanning_tree(points, engine="auto").engine
    works = {name: partial(minimum_spanning_tree, points, engine=name) for name in engines}
    for name in engines:  # load and compile
        minimum_spanning_tree(points[:_WARMING_UP], engine=name)
    times = best_times(works, repeats=1)
    limit = _FAR_BEHIND * min(times.values())
    near = {name: work for name, work in works.items() if times[name] <= limit}
    for name, seconds in best_times(near, repeats=2).items():
        times[name] = min(times[name], seconds)
    best = min(times.values())
    return {
        "data": f"{len(points):,} × {points.shape[1]} {kind}",
        "chosen": chosen,
        "chosen (s)": times["auto"],
        **{f"{name} (s)": times.get(name, "–") for name in ("kd-tree", "blocked", "prim")},
        "chosen ÷ best": times["auto"] / best,
    }
