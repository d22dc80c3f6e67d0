"""Many equal points: at most as many copies of a point are searched as a list can hold.

A list of K neighbours, the point itself among them, never holds more than K copies of one point:
those with the smallest indices. A copy beyond these has itself and the first K - 1 as neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._utils.typing import Array, Ints
from isthmus.metrics.duplicates import representatives
from isthmus.neighbors.sorted_lists import Neighbors, empty_neighbors


class Copies(NamedTuple):
    """Which points are searched.

    Attributes
    ----------
    kept : (m,) int64
        At most n_neighbors copies of each point, ascending.
    others : (n - m,) int64
        The remaining points.
    first_of_others : (n - m, n_neighbors - 1) int64
        The first copies of each of these.
    """

    kept: Ints
    others: Ints
    first_of_others: Ints

    def with_others(self, found: Neighbors, n_points: int) -> Neighbors:
        """Return the neighbours of all points, given those of the points that were searched."""
        everything = empty_neighbors(n_points, found.indices.shape[1])
        everything.indices[self.kept] = self.kept[found.indices]
        everything.distances[self.kept] = found.distances
        everything.indices[self.others, 1:] = self.first_of_others
        everything.distances[self.others, 1:] = 0.0
        return everything


def find_copies(points: Array, n_neighbors: int, n_jobs: int) -> Copies | None:
    """Return which points are searched; None where few points have an equal."""
    first = representatives(points, n_jobs)
    if first is None:
        return None
    order = np.argsort(first, kind="stable")  # the copies of a point, by their indices
    begins = np.flatnonzero(np.diff(first[order], prepend=-1))
    sizes = np.diff(begins, append=len(order))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(begins, sizes)
    begin_of = np.empty(len(order), dtype=np.int64)
    begin_of[order] = np.repeat(begins, sizes)
    others = np.flatnonzero(rank >= n_neighbors)
    first_of_others = order[begin_of[others, None] + np.arange(n_neighbors - 1)]
    return Copies(np.flatnonzero(rank < n_neighbors), others, first_of_others)
