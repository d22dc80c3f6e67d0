"""Path segments of new points → squared distances to the centres of clusters, O(1) per segment.

The points below a node of the frontier (kmeans/frontier.py) belong to one cluster, and the centre
of any other has the same coordinate for all of them. So what a path segment adds to a distance
follows from sums that are accumulated from the root down: above the frontier for each node and
cluster; below it for each node, one sum for its own cluster and two that serve all others. A
segment is the difference of two such sums, which are kept in twice the usual precision, so that
nothing is lost however much lies outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import Kernel
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Floats, Labels, index_type
from isthmus.kmeans.frontier import frontier_of, with_labels_from
from isthmus.kmeans.objective import TreeObjective
from isthmus.kmeans.rows_objective import RowsObjective
from isthmus.prediction.ancestor_paths import Segments
from isthmus.prediction.centre_sums import (
    SumsAbove,
    SumsBelow,
    fill_embedded_distances,
    fill_row_distances,
    propagate_slots,
    sum_embedded_above,
    sum_embedded_below,
    sum_rows_above,
    sum_rows_below,
)

# Entries of the sums of a few clusters, beside those that every tree may have.
_ENTRIES = 1 << 22


class _Kernels(NamedTuple):
    """The kernels of a space; the number of its sums below the frontier, and of their rests."""

    sum_above: Kernel[None]
    sum_below: Kernel[None]
    fill_distances: Kernel[None]
    n_sums: int
    n_rests: int


_ROWS = _Kernels(sum_rows_above, sum_rows_below, fill_row_distances, 4, 3)
_EMBEDDED = _Kernels(sum_embedded_above, sum_embedded_below, fill_embedded_distances, 1, 1)


class CentreSums:
    """The centres of a clustering, with the sums that new points need.

    Parameters
    ----------
    objective : RowsObjective or EmbeddingObjective
    labels : (n,) int32
        No cluster is empty.
    """

    def __init__(self, objective: TreeObjective, labels: Labels) -> None:
        self._kernels = _ROWS if isinstance(objective, RowsObjective) else _EMBEDDED
        self._tree = objective.arrays
        node_labels, self._frontier = frontier_of(self._tree, labels)
        count, n_clusters = len(self._frontier.node), int(labels.max()) + 1
        slot = np.empty(len(node_labels), dtype=index_type(len(node_labels)))
        slot[self._frontier.node] = np.arange(count)
        propagate_slots(self._tree.children, node_labels, slot)
        sums = np.zeros((len(slot), self._kernels.n_sums))
        rests = np.zeros((len(slot), self._kernels.n_rests), dtype=np.float32)
        self._below = SumsBelow(slot, np.zeros(count), sums, rests, np.empty(n_clusters))
        at_once = max(_ENTRIES, 2 * len(labels)) // count
        self._chunks = list(chunks(n_clusters, max(1, at_once)))
        for above in self._sums_above():
            self._above = above  # kept if it is the only one
        self._kernels.sum_below(self._tree, self._frontier, self._below)

    @property
    def is_complete(self) -> bool:
        """Whether the sums of all clusters are kept, not computed for each call."""
        return len(self._chunks) == 1

    def distances(self, segments: Segments) -> Iterator[tuple[int, Floats]]:
        """Yield a few clusters at a time: the first one, and squared distances, (n_new, m).

        In the kernels' scale.
        """
        all_sums = [self._above] if self.is_complete else self._sums_above()
        for (start, stop), above in zip(self._chunks, all_sums, strict=True):
            out = np.empty((len(segments.n_segments), stop - start))
            self._kernels.fill_distances(
                self._tree, self._frontier, above, self._below, segments, out
            )
            yield start, out

    def _sums_above(self) -> Iterator[SumsAbove]:
        """Yield the sums above the frontier, a few clusters at a time."""
        for start, stop in self._chunks:
            frontier = with_labels_from(self._frontier, start, stop)
            mean, within_ss, outside, rest = np.empty((4, len(frontier.node), stop - start))
            weights, halves = self._below.weights[start:stop], np.zeros(stop - start)
            above = SumsAbove(frontier.label, mean, within_ss, outside, rest, weights, halves)
            self._kernels.sum_above(self._tree, frontier, above, self._below)
            yield above
