"""Points on a line: their spanning tree joins neighbours in sorted order."""

from __future__ import annotations

import numpy as np

from isthmus._numba.accumulators import SQUARES
from isthmus.spanning_tree.engine import FIXED_BYTES, Edges, Engine, Problem

_BYTES_PER_POINT = 96


class SortEngine(Engine):
    """Sorts points with one coordinate."""

    name = "sort"
    takes = "points on a line"

    def supports(self, problem: Problem) -> bool:
        """Whether points have one coordinate."""
        return problem.has_dense_points and problem.points.shape[1] == 1

    def suits(self, problem: Problem) -> bool:
        """Whether there is anything to sort."""
        return problem.n_points > 1

    def bytes_needed(self, problem: Problem) -> int:
        """Return how much memory sorting takes."""
        return FIXED_BYTES + _BYTES_PER_POINT * problem.n_points

    def run(self, problem: Problem) -> Edges:
        """Find the tree."""
        x = problem.points[:, 0].astype(np.float64)
        order = np.argsort(x, kind="stable")
        gaps = np.diff(x[order])
        # Each point joins the first of those equal to its neighbour, so equal points form a star.
        begins = np.concatenate([[True], gaps > 0])
        first = order[np.maximum.accumulate(np.where(begins, np.arange(len(x)), 0))]
        edges = np.column_stack([first[:-1], order[1:]])
        accumulated = gaps * gaps if problem.prepared.metric.kind == SQUARES else gaps
        return Edges(edges, problem.prepared.heights(accumulated))
