"""K-means on the rows of the transitive distance matrix: the paper's Algorithm 1.

A Lloyd step opens only the part of the tree whose points may disagree. For a node v with the
aggregates below, the squared distance of its points i to the centre of cluster a is a constant
plus a linear function of t_i (and, for v's own cluster, of u_i):

    t_i = sum of D(i, m) over m in v,    u_i = sum of D(i, m) t_m over m in v.

Where one cluster wins on the whole range of t and u, all of v goes to it at once; else v is
opened. rows_step.py does that; here are the aggregates, the plain way, and distances for starts.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from isthmus._compile import kernel
from isthmus._typing import Floats, Ints, Labels
from isthmus.kmeans.frontier import View
from isthmus.kmeans.objective import TreeObjective
from isthmus.kmeans.rows_step import (
    MASS,
    SQUARES,
    T_MAX,
    T_MIN,
    T_SPREAD,
    T_SUM,
    U_MAX,
    U_MIN,
    assign_rows,
    stack_buffers,
)
from isthmus.ultrametric.products import multiply


class RowsObjective(TreeObjective):
    """Squared Euclidean distances between rows of the transitive distance matrix."""

    @cached_property
    def aggregates(self) -> Floats:
        """The aggregates of all nodes, columns as in rows_step.py: shape (2n - 1, 8)."""
        aggregates = np.zeros((2 * self.n_points - 1, 8))
        aggregates[: self.n_points, MASS] = 1.0
        aggregate_rows(self.tree.children, self.heights, aggregates)
        return aggregates

    def assign_view(
        self, view: View, node_labels: Labels, masses: Floats, *, move: bool
    ) -> tuple[bool, float]:
        """Do a Lloyd step on a view; see TreeObjective."""
        inertia = np.zeros(1)
        changed = assign_rows(
            self.tree.children,
            self.heights,
            self.aggregates,
            view.count,
            view.node,
            view.label,
            view.first,
            view.second,
            view.mean,
            view.spread,
            view.outside,
            view.own,
            *stack_buffers(view.n_clusters),
            node_labels,
            self.opened_buffer(),
            masses,
            inertia,
            move,
        )
        return changed, float(inertia[0])

    def distances_to_centres(self, membership: Floats, masses: Floats) -> Floats:
        """Return the squared distances of rows to centres by two products; see TreeObjective.

        Rows and centres are taken relative to the mean row, which saves digits.
        """
        children = self.tree.children
        mean_row, spread = self._mean_row
        centres = multiply(children, self.heights, membership) / masses - mean_row[:, None]
        constants = (centres * (centres + 2.0 * mean_row[:, None])).sum(axis=0)
        distances: Floats = (
            spread[:, None] + constants - 2.0 * multiply(children, self.heights, centres)
        )
        return distances

    @cached_property
    def _mean_row(self) -> tuple[Floats, Floats]:
        """The mean row, and the squared distance of each row to it."""
        children, heights = self.tree.children, self.heights
        ones = np.ones((self.n_points, 1))
        mean_row = multiply(children, heights, ones) / self.n_points
        squares = multiply(children, heights * heights, ones)
        spread = squares - 2.0 * multiply(children, heights, mean_row) + (mean_row**2).sum()
        return mean_row[:, 0], spread[:, 0]

    def squared_distances_to(self, point: int) -> Floats:
        """Return the squared distance of every row to the row of one point, in leaf order."""
        out = np.empty(self.n_points)
        sums, squares = self._sums_outside
        row_distances(
            self.tree.children,
            self.heights,
            self.parents,
            self.tree.starts,
            self.tree.sizes,
            self.tree.leaf_order,
            sums,
            squares,
            point,
            out,
        )
        return np.maximum(out, 0.0)

    @cached_property
    def _sums_outside(self) -> tuple[Floats, Floats]:
        sums, squares = np.zeros((2, 2 * self.n_points - 1))
        sum_outside(self.tree.children, self.heights, self.tree.sizes, sums, squares)
        return sums, squares


@kernel
def aggregate_rows(children: Ints, heights: Floats, aggregates: Floats) -> None:
    """Fill the aggregates, (2n - 1, 8), in and out, of all merges; those of leaves are given."""
    n_points = children.shape[0] + 1
    for e in range(n_points - 1):
        x, y = aggregates[children[e, 0]], aggregates[children[e, 1]]
        out = aggregates[n_points + e]
        h = heights[e]
        # Joining adds h times the other side's mass to each t, and to each u what follows.
        up_x, up_y = h * y[MASS], h * x[MASS]
        mass = x[MASS] + y[MASS]
        apart = (x[T_SUM] / x[MASS] + up_x) - (y[T_SUM] / y[MASS] + up_y)
        weight = x[MASS] * y[MASS]
        out[MASS] = mass
        out[T_SUM] = (x[T_SUM] + y[T_SUM]) + 2.0 * h * weight
        out[T_SPREAD] = (x[T_SPREAD] + y[T_SPREAD]) + apart * apart * weight / mass
        out[SQUARES] = (x[SQUARES] + y[SQUARES]) + 2.0 * h * h * weight
        out[T_MIN] = min(x[T_MIN] + up_x, y[T_MIN] + up_y)
        out[T_MAX] = max(x[T_MAX] + up_x, y[T_MAX] + up_y)
        add_x = h * (y[T_SUM] + h * weight)
        add_y = h * (x[T_SUM] + h * weight)
        out[U_MIN] = min(x[U_MIN] + up_x * x[T_MIN] + add_x, y[U_MIN] + up_y * y[T_MIN] + add_y)
        out[U_MAX] = max(x[U_MAX] + up_x * x[T_MAX] + add_x, y[U_MAX] + up_y * y[T_MAX] + add_y)


@kernel
def sum_outside(
    children: Ints, heights: Floats, sizes: Ints, sums: Floats, squares: Floats
) -> None:
    """Fill, for each node, the sum of D(i, m) and of its square over m outside, for i inside."""
    n_points = children.shape[0] + 1
    for e in range(n_points - 2, -1, -1):
        h = heights[e]
        x, y = children[e, 0], children[e, 1]
        sums[x] = sums[n_points + e] + h * sizes[y]
        sums[y] = sums[n_points + e] + h * sizes[x]
        squares[x] = squares[n_points + e] + h * h * sizes[y]
        squares[y] = squares[n_points + e] + h * h * sizes[x]


@kernel
def row_distances(
    children: Ints,
    heights: Floats,
    parents: Ints,
    starts: Ints,
    sizes: Ints,
    leaf_order: Ints,
    sums: Floats,
    squares: Floats,
    point: int,
    out: Floats,
) -> None:
    """Fill out, (n,) in leaf order, with the squared distances of all rows to one point's row.

    Walking up from the point, each sibling on the way is a slice of the leaf order: with v the
    node below the merge at height h on the point's side and y its sibling, rows of i in y and of
    the point differ only in coordinates inside v and y, where the one or the other is h.
    """
    n_points = children.shape[0] + 1
    out[starts[point]] = 0.0
    v = point
    while parents[v] >= 0:
        e = parents[v] - n_points
        h = heights[e]
        y = children[e, 1] if children[e, 0] == v else children[e, 0]
        inside = (
            sizes[v] * h * h - 2.0 * h * (sums[point] - sums[v]) + (squares[point] - squares[v])
        )
        for p in range(starts[y], starts[y] + sizes[y]):
            i = leaf_order[p]
            out[p] = inside + (
                sizes[y] * h * h - 2.0 * h * (sums[i] - sums[y]) + (squares[i] - squares[y])
            )
        v = parents[v]
