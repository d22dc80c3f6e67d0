"""K-means on the rows of the transitive distance matrix: the paper's Algorithm 1.

A Lloyd step expands only the nodes whose points may disagree. The squared distance of a point i
below a node v to the centre of a cluster is a constant plus a linear function of t_i (and, for
v's own cluster, of u_i):

    t_i = sum of D(i, m) over m in v,    u_i = sum of D(i, m) t_m over m in v,

where a point m of weight w counts w times, here as among the coordinates of a row.

Where one cluster wins on the whole range of t and u, all of v goes to it at once; else v is
expanded. rows_step.py does that, with what rows_aggregates.py knows of nodes; here are the step
over the whole tree, and distances for starts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.kmeans.aggregates import TreeArrays
from isthmus.kmeans.frontier import Assigned, Frontier, FrontierBuffers
from isthmus.kmeans.objective import TreeObjective
from isthmus.kmeans.rows_aggregates import SMALL, Bounds, aggregate_rows
from isthmus.kmeans.rows_step import (
    Centres,
    Stack,
    assign_rows,
    inertia_of_rows,
    measure_outside,
    merge_centres,
)
from isthmus.ultrametric.matvec import multiply
from isthmus.ultrametric.merges import CHUNK


class RowsObjective(TreeObjective):
    """Squared Euclidean distances between rows of the transitive distance matrix."""

    # A weight counts for a point in the sum, and for its coordinate in each distance.
    weight_degree = 2

    @cached_property
    def arrays(self) -> TreeArrays:
        """The tree with the aggregates of rows_aggregates.py."""
        return self._arrays_and_bounds[0]

    @cached_property
    def _arrays_and_bounds(self) -> tuple[TreeArrays, Bounds]:
        tree = TreeArrays(self.tree.children, self.heights, self.leaf_aggregates(4))
        stored = self.tree.sizes[self.n_points :] >= (SMALL if self.point_weights is None else 2)
        row = np.cumsum(stored, dtype=self.tree.sizes.dtype)
        bounds = Bounds(np.where(stored, row, 0), np.empty((stored.sum() + 1, 4)))
        aggregate_rows(tree, bounds)
        return tree, bounds

    def assign_frontier(
        self, frontier: Frontier, buffers: FrontierBuffers, assigned: Assigned, single: bool
    ) -> float:
        """Do a Lloyd step on a frontier; see TreeObjective."""
        centres, stack = _centres(buffers), Stack.empty(self.stack_depth, buffers.n_clusters)
        return assign_rows(*self._arrays_and_bounds, frontier, centres, stack, assigned, single)

    def inertia_of_frontier(self, frontier: Frontier, buffers: FrontierBuffers) -> float:
        """Return the inertia of an assignment about its centres."""
        return inertia_of_rows(self.arrays, frontier, _centres(buffers))

    def distances_to_centres(self, membership: Floats, weights: Floats) -> Floats:
        """Return the squared distances of rows to centres; see TreeObjective.

        The centres are one product. The distances are gathered from the root down, as in
        rows_step.py: a second product would lose digits where points lie far away.
        """
        children, node_weights = self.tree.children, self.node_weights
        mean = np.empty((2 * self.n_points - 1, len(weights)))
        mean[: self.n_points] = multiply(children, self.heights, membership) / weights
        # Within-node sums of squares, which the distances then replace.
        outside = np.zeros_like(mean)
        for start, stop in chunks(self.n_points - 1, CHUNK):
            merge_means(children, node_weights, mean, outside, start, stop)
        outside[-1] = 0.0
        for start, stop in reversed(list(chunks(self.n_points - 1, CHUNK))):
            gather_outside(children, self.heights, node_weights, mean, outside, start, stop)
        own: Floats = mean[: self.n_points] ** 2
        if self.point_weights is not None:
            own *= self.point_weights[:, None]
        return outside[: self.n_points] + own

    def distances_of_new_points(
        self, membership: Floats, weights: Floats
    ) -> Callable[[Floats], Floats]:
        """Return a function from new rows to their squared distances; see TreeObjective."""
        centres = multiply(self.tree.children, self.heights, membership) / weights

        def distances(rows: Floats) -> Floats:
            out = np.empty((len(rows), len(weights)))
            for a, centre in enumerate(centres.T):
                squares = (rows - centre) ** 2
                if self.point_weights is not None:
                    squares *= self.point_weights
                out[:, a] = squares.sum(axis=1)
            return out

        return distances

    def squared_distances_to(self, point: int) -> Floats:
        """Return the squared distance of every row to the row of one point."""
        tree, out = self.tree, np.empty(self.n_points)
        slices = tree.starts, tree.sizes, tree.leaf_order
        row_distances(tree.children, self.parents, *slices, self._sums_outside, point, out)
        return np.maximum(out, 0.0)

    @cached_property
    def _sums_outside(self) -> SumsOutside:
        sums = SumsOutside(self.heights, self.node_weights, *np.zeros((2, 2 * self.n_points - 1)))
        sum_outside(self.tree.children, sums)
        return sums


def _centres(buffers: FrontierBuffers) -> Centres:
    mean, within_ss, outside = buffers.tables
    return Centres(np.empty(buffers.n_clusters), mean, within_ss, outside, buffers.own)


class SumsOutside(NamedTuple):
    """Sums over the points m outside each node, for any point i inside.

    Attributes
    ----------
    heights : (n - 1,) float64
    weight : (2n - 1,) int or float64
        The weight of each node.
    distances, squares : (2n - 1,) float64
        The sums of D(i, m) and of its square.
    """

    heights: Floats
    weight: Array
    distances: Floats
    squares: Floats


@kernel
def merge_means(
    children: Ints, weight: Array, mean: Floats, within_ss: Floats, start: int, stop: int
) -> None:
    """Fill mean and within_ss, (2n - 1, m), as in Centres, for merges start … stop - 1.

    weight : (2n - 1,), in
        The weight below each node. The rows of leaves are given.
    """
    n_points = children.shape[0] + 1
    for e in range(start, stop):
        merge_centres(mean, within_ss, weight, n_points + e, children[e, 0], children[e, 1])


@kernel
def gather_outside(
    children: Ints,
    heights: Floats,
    weight: Array,
    mean: Floats,
    outside: Floats,
    start: int,
    stop: int,
) -> None:
    """Replace, for the children of merges stop - 1 … start, within_ss by distances outside.

    outside : (2n - 1, m), in and out
        In: within_ss of each child, as in Centres. Out: its outside. The former is needed for the
        sibling alone, so both fit in one array.
    """
    n_points = children.shape[0] + 1
    for e in range(stop - 1, start - 1, -1):
        x, y = children[e, 0], children[e, 1]
        measure_outside(mean, outside, outside, weight, heights[e], n_points + e, x, y)


@kernel
def sum_outside(children: Ints, sums: SumsOutside) -> None:
    """Fill the sums of all nodes but the root; it is given as zeros."""
    n_points = children.shape[0] + 1
    weight, distances, squares = sums.weight, sums.distances, sums.squares
    for e in range(n_points - 2, -1, -1):
        v, h = n_points + e, sums.heights[e]
        x, y = children[e, 0], children[e, 1]
        distances[x] = distances[v] + h * weight[y]
        distances[y] = distances[v] + h * weight[x]
        squares[x] = squares[v] + h * h * weight[y]
        squares[y] = squares[v] + h * h * weight[x]


@kernel
def row_distances(
    children: Ints,
    parents: Ints,
    starts: Ints,
    sizes: Ints,
    leaf_order: Ints,
    sums: SumsOutside,
    point: int,
    out: Floats,
) -> None:
    """Fill out, (n,), with the squared distances of all rows to one point's row.

    Good to about 1e-16 of the largest of them: enough to draw a start, not to compare distances.

    On the ancestor path of the point, each sibling is a slice of the leaf order: with v the child
    of the merge at height h on the point's side and y its sibling, rows of i in y and of the point
    differ only in coordinates inside v and y, where the one or the other is h.
    """
    n_points = children.shape[0] + 1
    weight, distances, squares = sums.weight, sums.distances, sums.squares
    out[point] = 0.0
    v = point
    while parents[v] >= 0:
        e = parents[v] - n_points
        h = sums.heights[e]
        y = children[e, 1] if children[e, 0] == v else children[e, 0]
        inside = (
            weight[v] * h * h
            - 2.0 * h * (distances[point] - distances[v])
            + (squares[point] - squares[v])
        )
        for p in range(starts[y], starts[y] + sizes[y]):
            i = leaf_order[p]
            out[i] = inside + (
                weight[y] * h * h
                - 2.0 * h * (distances[i] - distances[y])
                + (squares[i] - squares[y])
            )
        v = parents[v]
