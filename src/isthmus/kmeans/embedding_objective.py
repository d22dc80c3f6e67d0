"""K-means in the embedded space V′ itself, in which transitive distances are Euclidean.

The squared distance of a point i to the centre of cluster a is the mean of D(i, j)² over its
points j, less half the mean of D(j, l)² over its pairs; a point of weight w counts w times. What is
known of a node is the sum and the range of t_i, the sum of D(i, m)² over the points m below it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from isthmus._utils.typing import Floats
from isthmus.kmeans.aggregates import TreeArrays
from isthmus.kmeans.embedding_step import (
    EmbeddedCentres,
    EmbeddedStack,
    aggregate_squares,
    assign_embedded,
    inertia_of_embedded,
)
from isthmus.kmeans.frontier import Assigned, Frontier, FrontierBuffers
from isthmus.kmeans.objective import TreeObjective
from isthmus.ultrametric.matvec import multiply


class EmbeddingObjective(TreeObjective):
    """Squared Euclidean distances between the images of the points in V′."""

    weight_degree = 1

    @cached_property
    def squared_heights(self) -> Floats:
        """The squares of the heights."""
        squares = self.heights * self.heights
        squares.flags.writeable = False
        return squares

    @cached_property
    def arrays(self) -> TreeArrays:
        """The tree with squared heights and the aggregates of embedding_step.py."""
        tree = TreeArrays(self.tree.children, self.squared_heights, self.leaf_aggregates(4))
        aggregate_squares(tree)
        return tree

    def assign_frontier(
        self, frontier: Frontier, buffers: FrontierBuffers, assigned: Assigned, single: bool
    ) -> float:
        """Do a Lloyd step on a frontier; see TreeObjective."""
        depth = self.stack_depth
        stack = EmbeddedStack(np.empty(depth, dtype=np.int64), np.empty(depth))
        return assign_embedded(self.arrays, frontier, _centres(buffers), stack, assigned, single)

    def inertia_of_frontier(self, frontier: Frontier, buffers: FrontierBuffers) -> float:
        """Return the inertia of an assignment about its centres."""
        return inertia_of_embedded(self.arrays, frontier, _centres(buffers))

    def distances_to_centres(self, membership: Floats, weights: Floats) -> Floats:
        """Return the squared distances to centres by one product; see TreeObjective."""
        means, halves = self._means(membership, weights)
        distances: Floats = means - halves
        return distances

    def distances_of_new_points(
        self, membership: Floats, weights: Floats
    ) -> Callable[[Floats], Floats]:
        """Return a function from new points to their squared distances; see TreeObjective."""
        _, halves = self._means(membership, weights)

        def distances(rows: Floats) -> Floats:
            out: Floats = (rows * rows) @ membership / weights - halves
            return out

        return distances

    def _means(self, membership: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Return the mean squared distance of each point to the points of each of a few clusters.

        (n, m); and half the mean squared distance between the points of each cluster, (m,).
        """
        means = multiply(self.tree.children, self.squared_heights, membership) / weights
        halves: Floats = (membership * means).sum(axis=0) / (2.0 * weights)
        return means, halves

    def squared_distances_to(self, point: int) -> Floats:
        """Return the squared distance of every point to one."""
        row = self.tree.row(point)
        if self.unit != 1.0:
            row /= self.unit
        return np.multiply(row, row, out=row)


def _centres(buffers: FrontierBuffers) -> EmbeddedCentres:
    weights, halves = np.empty((2, buffers.n_clusters))
    return EmbeddedCentres(weights, halves, buffers.tables[0], buffers.tables[1])
