"""Part (e): new points, attached or added to a tree by a kd-tree, against long double and fits.

Estimators ask the kd-tree only where fits are large; here it is asked about a few points, so that
brute force can follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from campaign import definitions, exact
from campaign.metrics import PLAIN, suited, tolerance
from campaign.point_sets import KINDS as ALL_KINDS
from campaign.point_sets import points
from campaign.script import Script

KINDS = tuple(kind for kind in ALL_KINDS if kind != "large integers")
METRICS = (*PLAIN, *PLAIN, "minkowski")
# Each takes seconds to compile.
FEATURES = (1, 2, 2, 3)
IMPORTS = (
    "from isthmus import UltrametricTree",
    "from isthmus.metrics.registry import resolve_metric",
    "from isthmus.prediction.attach_by_kdtree import KdTreeSearch",
    "from isthmus.prediction.attach_by_rows import KernelSearch",
    "from isthmus.prediction.attachments import transitive_rows",
)
# What lets a few points be added as many would be.
ADDED_BY_KDTREE = (
    "from isthmus import TransitiveCut",
    "from isthmus.prediction import extend_by_kdtree",
    "extend_by_kdtree.is_quick = lambda _: False",
    "extend_by_kdtree.is_by_index = lambda _: True",
    "extend_by_kdtree._MOST_NEW = 10.0",
)
# Distances above this may be refused: sums of their squares are too large.
_LARGEST = 1e150


@dataclass(frozen=True)
class Case:
    """Points of a tree, and new ones."""

    X: np.ndarray
    new: np.ndarray
    kind: str
    metric: str
    params: dict

    def smaller(self) -> Iterator[Case]:
        """Yield the case with fewer points."""
        n = len(self.X)
        size = n // 2
        while size:
            for start in range(0, n, size):
                rows = np.r_[0:start, min(start + size, n) : n]
                if len(rows):
                    yield replace(self, X=self.X[rows])
            size //= 2
        if len(self.new) > 1:
            for row in range(len(self.new)):
                yield replace(self, new=self.new[row : row + 1])


def draw(rng: np.random.Generator) -> Case:
    """Draw a case."""
    n = int(rng.choice([rng.integers(1, 12), rng.integers(2, 80), rng.integers(50, 250)]))
    d, n_new = int(rng.choice(FEATURES)), int(rng.integers(1, 9))
    kind, metric = str(rng.choice(KINDS)), str(rng.choice(METRICS))
    both, params = suited(rng, points(rng, kind, n + n_new, d), metric)
    X, new = both[:n], both[n:]
    if rng.random() < 0.3:
        new[0] = X[0]
    if rng.random() < 0.2:  # some are far away, and in one node with others
        X = X.copy()
        with np.errstate(over="ignore"):
            X[rng.random(n) < 0.1, int(rng.integers(d))] *= 10.0 ** rng.integers(1, 20)
    if np.abs(both).max() < 3e38 and rng.random() < 0.2:
        X, new = X.astype(np.float32), new.astype(np.float32)
    return Case(X, new, kind, metric, params)


def check(case: Case, counts: Counter[str]) -> None:
    """Compare D(x, v) = min over u of max(d(x, u), D(u, v)) with its definition; and extend."""
    hops = exact.distances(case.new, case.X, case.metric, case.params)
    among = exact.distances(case.X, case.X, case.metric, case.params)
    largest = max(hops.max(), among.max(initial=0.0))
    if not largest < (_LARGEST if case.metric != "sqeuclidean" else _LARGEST**2):
        return
    _check_attached(case, hops, among, counts)
    if case.metric in PLAIN and len(case.X) > 1:
        _check_added(case, counts)


def _check_attached(case: Case, hops, among, counts: Counter[str]) -> None:
    """Compare distances, and the nearest points."""
    counts["attached points"] += len(case.new)
    script = Script(*IMPORTS)
    script.given(X=np.ascontiguousarray(case.X), new=np.ascontiguousarray(case.new))
    script.given(params=case.params or None)
    script.run(f"tree = UltrametricTree.from_data(X, metric={case.metric!r}, metric_params=params)")
    expected = definitions.transitive(hops, exact.minimax(among))
    # Edges may be longer than in long double, and so may paths.
    slack = tolerance(case, hops)
    expected_slack = 4 * slack(expected)
    nearest_slack = hops.min(axis=1) + 4 * slack(hops.min(axis=1))
    for search in ("KdTreeSearch", "KernelSearch"):
        script.run(f"search = {search}(X, tree, resolve_metric({case.metric!r}, params))")
        script.run("numbers = np.arange(len(new))")
        script.run("edges = search.prepare(new, only_nearest=False, n_jobs=1)(numbers)")
        script.run("rows = transitive_rows(tree, edges, 0, len(new))")
        found = script.names["rows"]
        good = (found == expected) | (np.abs(found - expected) <= expected_slack)
        if not good.all():
            script.given(expected=expected, tolerance=expected_slack)
            script.check(
                "(np.abs(rows - expected) <= tolerance).all()", "wrong distances", "rows, expected"
            )
            script.fail("wrong distances", "by less than float64 shows")
        script.run("only = search.prepare(new, only_nearest=True, n_jobs=1)(numbers)")
        nearest = hops[np.arange(len(hops)), script.names["only"].point]
        if not (nearest <= nearest_slack).all():
            script.given(expected=hops.argmin(axis=1))
            script.check("(only.point == expected).all()", "not the nearest", "only.point")
            script.fail("not the nearest", "by less than float64 shows")
        script.check("(only.point == edges.nearest).all()", "two nearest", "only.point")


def _check_added(case: Case, counts: Counter[str]) -> None:
    """A model that is extended, at once or in two steps, has the tree of a fit on all points."""
    counts["extensions"] += 1
    script = Script(*ADDED_BY_KDTREE)
    script.given(X=np.ascontiguousarray(case.X), new=np.ascontiguousarray(case.new))
    model = f"TransitiveCut(1, metric={case.metric!r})"
    script.run(f"fresh = {model}.fit(np.concatenate([X, new]))")
    for step in {1, len(case.new)}:
        script.run(
            f"grown = {model}.fit(X).extend(new[:{step}])"
            + (f".extend(new[{step}:])" if step < len(case.new) else "")
        )
        script.check(
            "grown.spanning_tree_ == fresh.spanning_tree_",
            "extend is not a fit",
            "grown.spanning_tree_.edges, fresh.spanning_tree_.edges",
        )
