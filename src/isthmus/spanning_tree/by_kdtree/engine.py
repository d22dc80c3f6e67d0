"""The engine for few features: Borůvka's algorithm on a kd-tree."""

from __future__ import annotations

import numpy as np

from isthmus._numba.accumulators import SQUARES
from isthmus._utils.typing import Array
from isthmus.kdtree.limits import (
    FEW_FEATURES,
    LARGEST_POWER,
    MOST_FEATURES,
    is_supported,
    padded_dims,
)
from isthmus.spanning_tree.engine import (
    BYTES_PER_EDGE,
    FIXED_BYTES,
    Declined,
    Edges,
    Engine,
    Problem,
)
from isthmus.spanning_tree.prim import is_quick

# Matrix products are faster where a kd-tree looks at more than this share of all pairs, over
# features and a few: they take about as long for few features as for some dozens.
_SHARE_OF_PAIRS = 3.6
# With compiled kernels it is faster than Prim's algorithm from this number of points on.
_FEW_POINTS = 2_500
# Where values repeat: how many points are looked at, and below which share of different values.
FIRST_POINTS, _FEW_VALUES = 4096, 0.5


class KdTreeEngine(Engine):
    """Borůvka's algorithm on a kd-tree."""

    name = "kd-tree"
    takes = (
        f"dense points of up to {MOST_FEATURES} features, and Minkowski distances up to "
        f"p = {LARGEST_POWER:g}"
    )
    removes_duplicates = True

    def supports(self, problem: Problem) -> bool:
        """Whether there are kernels for these points."""
        if not problem.has_dense_points:
            return False
        return is_supported(problem.points.shape[1], problem.prepared.metric)

    def suits(self, problem: Problem) -> bool:
        """Whether Prim's algorithm would take longer; for few points, without a compilation."""
        if not is_quick(problem):
            return True
        n_points, n_features = problem.points.shape
        if n_points < _FEW_POINTS or n_features > FEW_FEATURES:
            return False
        from isthmus.spanning_tree.by_kdtree.boruvka import is_compiled

        return is_compiled(problem.prepared)

    def bytes_needed(self, problem: Problem) -> int:
        """Return how much memory the kd-tree and the searches take."""
        n_points, n_features = problem.points.shape
        dims, itemsize = padded_dims(n_features), problem.points.itemsize
        # the points in the tree's order, twice, and the boxes; then once, and what searches need
        build = 2.3 * dims * itemsize + 16
        search = 1.3 * dims * itemsize + 1.2 * dims + 80 + 8 * problem.n_jobs
        return FIXED_BYTES + int(n_points * max(build, search, BYTES_PER_EDGE))

    def run(self, problem: Problem) -> Edges | Declined:
        """Find the tree, unless there are many features and much work for each point."""
        # Imported here: Numba's machinery loads with it.
        from isthmus.spanning_tree.by_kdtree.boruvka import boruvka_on_kdtree

        n_points, n_features = problem.points.shape
        most_work = np.inf
        if problem.may_decline and n_features > FEW_FEATURES:
            products = problem.prepared.metric.kind == SQUARES  # the other choice
            share = _SHARE_OF_PAIRS / (n_features + 6) if products else 1.0
            most_work = share * n_points**2 / 2
        found = boruvka_on_kdtree(
            problem.prepared,
            problem.n_jobs,
            problem.progress,
            most_work,
            by_index=is_by_index(problem),
        )
        if isinstance(found, Declined) or problem.keep_kdtree:
            return found
        # Memory that sorting the edges can use again: a third fewer page faults on a lattice.
        return found._replace(kdtree=None)


def is_by_index(problem: Problem) -> bool:
    """Whether edges of equal length are compared by the indices of their points.

    They are where Prim's algorithm would be asked if nothing had to be compiled: its tree is
    found. Elsewhere they are unless that would take long.
    """
    return (problem.may_decline and is_quick(problem)) or not has_few_values(problem.points)


def has_few_values(points: Array) -> bool:
    """Whether, in every feature, most of the first points have a value that another has, too.

    Then many distances are equal, as on a lattice, and to compare equal ones by indices would
    take up to three times as long.
    """
    first = points[:FIRST_POINTS]
    return all(len(np.unique(values)) < _FEW_VALUES * len(first) for values in first.T)
