"""K-means on the rows of the transitive distance matrix: the paper's Algorithm 1.

A Lloyd step opens only the part of the tree whose points may disagree. For a node v with the
aggregates below, the squared distance of its points i to the centre of cluster a is a constant
plus a linear function of t_i (and, for v's own cluster, of u_i):

    t_i = sum of D(i, m) over m in v,    u_i = sum of D(i, m) t_m over m in v,

where a point m of weight w counts w times, here as among the coordinates of a row.

Where one cluster wins on the whole range of t and u, all of v goes to it at once; else v is
opened. rows_step.py does that, with what rows_nodes.py knows of nodes; here are the plain way, and
distances for starts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kmeans.frontier import View
from isthmus.kmeans.objective import TreeObjective
from isthmus.kmeans.rows_aggregates import SMALL, Bounds, aggregate_rows
from isthmus.kmeans.rows_step import assign_rows, stack_buffers
from isthmus.ultrametric.matvec import multiply
from isthmus.ultrametric.merges import CHUNK


class RowsObjective(TreeObjective):
    """Squared Euclidean distances between rows of the transitive distance matrix."""

    # A weight weighs a point in the sum, and its coordinate in each distance.
    weight_degree = 2

    @cached_property
    def aggregates(self) -> Floats:
        """The aggregates of leaves and merges, rows as in row_of, columns as in rows_nodes.py."""
        return self._aggregates_and_bounds[0]

    @cached_property
    def _aggregates_and_bounds(self) -> tuple[Floats, Bounds]:
        aggregates = self.leaf_aggregates(4)
        stored = self.tree.sizes[self.n_points :] >= (SMALL if self.point_weights is None else 2)
        row = np.cumsum(stored, dtype=self.tree.sizes.dtype)
        bounds = Bounds(np.where(stored, row, 0), np.empty((stored.sum() + 1, 4)))
        aggregate_rows(self.tree.children, self.heights, aggregates, bounds)
        return aggregates, bounds

    def assign_view(
        self, view: View, node_labels: Labels, point_weights: Floats, *, move: bool, single: bool
    ) -> tuple[bool, float]:
        """Do a Lloyd step on a view; see TreeObjective."""
        inertia = np.zeros(1)
        changed = assign_rows(
            self.tree.children,
            self.heights,
            *self._aggregates_and_bounds,
            view.count,
            view.node,
            view.label,
            view.first,
            view.second,
            view.mean,
            view.spread,
            view.outside,
            view.own,
            *stack_buffers(self.stack_depth, view.n_clusters),
            node_labels,
            view.opened,
            point_weights,
            inertia,
            move,
            single,
        )
        return changed, float(inertia[0])

    def distances_to_centres(self, membership: Floats, point_weights: Floats) -> Floats:
        """Return the squared distances of rows to centres; see TreeObjective.

        The centres are one product. The distances are gathered from the root down, as in
        rows_step.py: a second product would lose digits where points lie far away.
        """
        children = self.tree.children
        mean = np.empty((2 * self.n_points - 1, len(point_weights)))
        mean[: self.n_points] = multiply(children, self.heights, membership) / point_weights
        outside = np.zeros_like(mean)
        for start, stop in chunks(self.n_points - 1, CHUNK):
            spread_below(children, self.node_weights, mean, outside, start, stop)
        outside[-1] = 0.0
        for start, stop in reversed(list(chunks(self.n_points - 1, CHUNK))):
            gather_outside(children, self.heights, self.node_weights, mean, outside, start, stop)
        own: Floats = mean[: self.n_points] ** 2
        if self.point_weights is not None:
            own *= self.point_weights[:, None]
        return outside[: self.n_points] + own

    def distances_of_new_points(
        self, membership: Floats, point_weights: Floats
    ) -> Callable[[Floats], Floats]:
        """Return a function from new rows to their squared distances; see TreeObjective."""
        centres = multiply(self.tree.children, self.heights, membership) / point_weights

        def distances(rows: Floats) -> Floats:
            out = np.empty((len(rows), len(point_weights)))
            for a, centre in enumerate(centres.T):
                squares = (rows - centre) ** 2
                if self.point_weights is not None:
                    squares *= self.point_weights
                out[:, a] = squares.sum(axis=1)
            return out

        return distances

    def squared_distances_to(self, point: int) -> Floats:
        """Return the squared distance of every row to the row of one point."""
        out = np.empty(self.n_points)
        sums, squares = self._sums_outside
        row_distances(
            self.tree.children,
            self.heights,
            self.parents,
            self.tree.starts,
            self.tree.sizes,
            self.tree.leaf_order,
            self.node_weights,
            sums,
            squares,
            point,
            out,
        )
        return np.maximum(out, 0.0)

    @cached_property
    def _sums_outside(self) -> tuple[Floats, Floats]:
        sums, squares = np.zeros((2, 2 * self.n_points - 1))
        sum_outside(self.tree.children, self.heights, self.node_weights, sums, squares)
        return sums, squares


@kernel
def spread_below(
    children: Ints, point_weights: Array, mean: Floats, spread: Floats, start: int, stop: int
) -> None:
    """Fill, for merges start … stop - 1, the mean of coordinates below and their spread.

    point_weights : (2n - 1,), in
        The weight below each node.
    mean, spread : (2n - 1, m), in and out
        For each of m centres, the mean of its coordinates below a node, and the sum of their
        squared deviations from it. Those of leaves are given.
    """
    n_points = children.shape[0] + 1
    for e in range(start, stop):
        x, y = children[e, 0], children[e, 1]
        weight_x, weight_y = np.float64(point_weights[x]), np.float64(point_weights[y])
        weight = weight_x + weight_y
        for c in range(mean.shape[1]):
            apart = mean[x, c] - mean[y, c]
            spread[n_points + e, c] = (spread[x, c] + spread[y, c]) + apart * apart * (
                weight_x * weight_y / weight
            )
            mean[n_points + e, c] = (weight_x * mean[x, c] + weight_y * mean[y, c]) / weight


@kernel
def gather_outside(
    children: Ints,
    heights: Floats,
    point_weights: Array,
    mean: Floats,
    outside: Floats,
    start: int,
    stop: int,
) -> None:
    """Replace, for the children of merges stop - 1 … start, spreads below by distances outside.

    outside : (2n - 1, m), in and out
        In: the spread of each child. Out: the part of the squared distance to each centre that
        lies outside the child. A spread is needed for the sibling alone, so both fit in one array.
    """
    n_points = children.shape[0] + 1
    for e in range(stop - 1, start - 1, -1):
        x, y = children[e, 0], children[e, 1]
        h = heights[e]
        for c in range(mean.shape[1]):
            to_x, to_y = h - mean[x, c], h - mean[y, c]
            in_x = point_weights[x] * to_x * to_x + outside[x, c]
            in_y = point_weights[y] * to_y * to_y + outside[y, c]
            outside[x, c] = outside[n_points + e, c] + in_y
            outside[y, c] = outside[n_points + e, c] + in_x


@kernel
def sum_outside(
    children: Ints, heights: Floats, point_weights: Array, sums: Floats, squares: Floats
) -> None:
    """Fill, for each node, the sum of D(i, m) and of its square over m outside, for i inside."""
    n_points = children.shape[0] + 1
    for e in range(n_points - 2, -1, -1):
        h = heights[e]
        x, y = children[e, 0], children[e, 1]
        sums[x] = sums[n_points + e] + h * point_weights[y]
        sums[y] = sums[n_points + e] + h * point_weights[x]
        squares[x] = squares[n_points + e] + h * h * point_weights[y]
        squares[y] = squares[n_points + e] + h * h * point_weights[x]


@kernel
def row_distances(
    children: Ints,
    heights: Floats,
    parents: Ints,
    starts: Ints,
    sizes: Ints,
    leaf_order: Ints,
    point_weights: Array,
    sums: Floats,
    squares: Floats,
    point: int,
    out: Floats,
) -> None:
    """Fill out, (n,), with the squared distances of all rows to one point's row.

    Good to about 1e-16 of the largest of them: enough to draw a start, not to compare distances.

    Walking up from the point, each sibling on the way is a slice of the leaf order: with v the
    node below the merge at height h on the point's side and y its sibling, rows of i in y and of
    the point differ only in coordinates inside v and y, where the one or the other is h.
    """
    n_points = children.shape[0] + 1
    out[point] = 0.0
    v = point
    while parents[v] >= 0:
        e = parents[v] - n_points
        h = heights[e]
        y = children[e, 1] if children[e, 0] == v else children[e, 0]
        inside = (
            point_weights[v] * h * h
            - 2.0 * h * (sums[point] - sums[v])
            + (squares[point] - squares[v])
        )
        for p in range(starts[y], starts[y] + sizes[y]):
            i = leaf_order[p]
            out[i] = inside + (
                point_weights[y] * h * h - 2.0 * h * (sums[i] - sums[y]) + (squares[i] - squares[y])
            )
        v = parents[v]
