"""Attachments of new points → their clusters, and their distances to the centres of clusters."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from isthmus._utils.parallel import chunks
from isthmus._utils.rounding import is_nearer
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kmeans.space import TreeSpace
from isthmus.prediction.ancestor_paths import Ancestry, Segments
from isthmus.prediction.attachments import Attachments, transitive_rows
from isthmus.prediction.centre_distances import CentreSums
from isthmus.ultrametric import UltrametricTree

# New points whose distances are computed together; more where tables for a few clusters at a time
# are computed for them.
_TOGETHER, _TOGETHER_IN_TURNS = 1 << 12, 1 << 16
# Entries of rows of distances that are held together.
_AT_ONCE = 1 << 20
# In the kernels' scale, where the tree's heights are below 2: squares do not overflow. Beyond it
# distances to all centres grow with the distance to the tree, to 100 digits.
_AS_GOOD_AS_INFINITE = 1e140


class ClusterCentres:
    """The centres of the clusters of a tree, to which new points are assigned.

    What new points need is computed once, when it is first needed, in O(n) memory and O(n) time
    and O(k) for each node above which clusters differ.

    Parameters
    ----------
    space : TreeSpace
    tree : UltrametricTree
        The tree that the space was made of, before distances were raised to a power.
    labels : (n,) int32
        The clusters, none of them empty.
    """

    def __init__(self, space: TreeSpace, tree: UltrametricTree, labels: Labels) -> None:
        self.space = space
        self.tree = tree
        self.labels = labels
        self.n_clusters = int(labels.max()) + 1

    @cached_property
    def _ancestry(self) -> Ancestry:
        return Ancestry.of_tree(self.tree)

    @cached_property
    def _sums(self) -> CentreSums:
        return CentreSums(self.space.objective, self.labels)

    def prepare(self) -> None:
        """Compute now what is otherwise computed by the first call."""
        self._ancestry, self._sums  # noqa: B018

    @property
    def n_together(self) -> int:
        """The least number of new points for which to ask at once."""
        return 1 if self._sums.is_complete else _TOGETHER_IN_TURNS

    def label(self, attachments: Attachments) -> Labels:
        """Return the clusters of new points, (n_new,).

        A new point that coincides with a point of the tree gets its label, the others that of
        the nearest centre. Ties go to the cluster with the smaller number.
        """
        labels: Labels = self.labels[attachments.nearest]
        new = attachments.length[attachments.begin[:-1]] > 0.0
        for start, stop in chunks(len(attachments), max(self.n_together, _TOGETHER)):
            best = np.full(stop - start, np.inf)
            chosen = np.zeros(stop - start, dtype=np.int32)
            for first, distances in self._distances(attachments.part(start, stop)):
                for a in range(distances.shape[1]):
                    moves = is_nearer(distances[:, a], best)
                    chosen[moves] = first + a
                    best[moves] = distances[moves, a]
            labels[start:stop] = np.where(new[start:stop], chosen, labels[start:stop])
        return labels

    def squared_distances(self, attachments: Attachments) -> Floats:
        """Return the squared distances of new points to the centres of clusters, (n_new, k).

        In the space and in the kernels' scale: see :meth:`TreeSpace.lengths`. Infinite where points
        that the one reaches are infinitely far from the other.
        """
        out = np.empty((len(attachments), self.n_clusters))
        for start, stop in chunks(len(attachments), max(self.n_together, _TOGETHER)):
            for first, distances in self._distances(attachments.part(start, stop)):
                out[start:stop, first : first + distances.shape[1]] = distances
        np.maximum(out, 0.0, out=out)
        if self.space.n_infinite:
            out[self._infinitely_far(attachments)] = np.inf
        return out

    def distances(self, attachments: Attachments) -> Floats:
        """Return the distances of new points to the centres of clusters, in the data's units.

        Infinite where float64 cannot hold them.
        """
        lengths = self.space.lengths(self.squared_distances(attachments))
        beyond = self._unlimited(attachments.length[attachments.begin[:-1]]) / _AS_GOOD_AS_INFINITE
        far = beyond > 1.0
        with np.errstate(over="ignore"):
            lengths[far] *= beyond[far, None]
        return lengths

    def _distances(self, attachments: Attachments) -> Iterator[tuple[int, Floats]]:
        """Yield a few clusters at a time: the first one, and squared distances, (n_new, m)."""
        lengths = self._scaled(attachments.length)
        segments = Segments.of(attachments, self._ancestry, lengths)
        too_many = np.flatnonzero(segments.n_segments < 0)
        if not too_many.size:
            yield from self._sums.distances(segments)
            return
        by_rows = self._distances_by_rows(
            Attachments.joined([attachments.part(i, i + 1) for i in too_many.tolist()])
        )
        segments.n_segments[too_many] = 0
        for first, distances in self._sums.distances(segments):
            distances[too_many] = by_rows[:, first : first + distances.shape[1]]
            yield first, distances

    def _scaled(self, lengths: Floats) -> Floats:
        """Return distances in the kernels' scale, up to a limit."""
        return np.minimum(self._unlimited(lengths), _AS_GOOD_AS_INFINITE)

    def _unlimited(self, lengths: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(self.space.raised(lengths) / self.space.objective.unit)

    def _distances_by_rows(self, attachments: Attachments) -> Floats:
        """Return squared distances from rows of distances to all points: O(n k) per new point."""
        objective = self.space.objective
        out = np.empty((len(attachments), self.n_clusters))
        for first, membership, weights in objective.memberships(self.labels, self.n_clusters):
            distances_of = objective.distances_of_new_points(membership, weights)
            for start, stop in chunks(len(attachments), max(1, _AT_ONCE // self.tree.n_points)):
                rows = self._scaled(transitive_rows(self.tree, attachments, start, stop))
                out[start:stop, first : first + len(weights)] = distances_of(rows)
        return out

    def _infinitely_far(self, attachments: Attachments) -> Array:
        """Which new points and clusters do not reach the same component of a graph: (n_new, k)."""
        tree, k = self.tree, self.n_clusters
        numbers = np.concatenate([[0], np.cumsum(np.isinf(tree.gaps))])
        component: Ints = numbers[tree.starts[: tree.n_points]]
        lowest = np.full(k, tree.n_points)
        highest = np.zeros(k, dtype=np.int64)
        np.minimum.at(lowest, self.labels, component)
        np.maximum.at(highest, self.labels, component)
        reached = component[attachments.point]
        first = np.minimum.reduceat(reached, attachments.begin[:-1])
        last = np.maximum.reduceat(reached, attachments.begin[:-1])
        same = (first == last)[:, None] & (lowest == highest) & (first[:, None] == lowest)
        return np.asarray(~same)
