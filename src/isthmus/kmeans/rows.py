"""K-means on the rows of the transitive distance matrix: the paper's Algorithm 1.

A Lloyd step opens only the part of the tree whose points may disagree. For a node v with the
aggregates below, the squared distance of its points i to the centre of cluster a is a constant
plus a linear function of t_i (and, for v's own cluster, of u_i):

    t_i = sum of D(i, m) over m in v,    u_i = sum of D(i, m) t_m over m in v.

Where one cluster wins on the whole range of t and u, all of v goes to it at once; else v is
opened. Distances to centres are sums of non-negative parts, gathered from the root down, so they
stay accurate however far away the rest of the data lies.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from isthmus._compile import kernel, kernel_part
from isthmus._typing import Array, Floats, Ints, Labels
from isthmus.kmeans.frontier import MIXED, View, fold_siblings, members_and_distances
from isthmus.kmeans.objective import TIE, TreeObjective
from isthmus.ultrametric.products import multiply

# Columns of the aggregates of a node v: its number of points; the sum of t_i; the sum of their
# squared deviations from their mean; the sum of D(i, m)² over all i and m in v; bounds.
MASS, T_SUM, T_SPREAD, SQUARES, T_MIN, T_MAX, U_MIN, U_MAX = range(8)

# Deep enough for a stack on which the larger of two nodes always lies below the smaller.
_STACK = 72


class RowsObjective(TreeObjective):
    """Squared Euclidean distances between rows of the transitive distance matrix."""

    @cached_property
    def aggregates(self) -> Floats:
        """The aggregates of all nodes, columns as above: shape (2n - 1, 8)."""
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


def stack_buffers(n_clusters: int) -> tuple[Array, ...]:
    """Return the stack of assign_rows, and its scratch space per cluster."""
    return (
        np.empty(_STACK, dtype=np.int64),
        np.empty(_STACK, dtype=np.int64),
        np.empty(_STACK),
        np.empty((_STACK, n_clusters), dtype=np.int64),
        np.empty((_STACK, n_clusters)),
        np.empty((3, n_clusters)),
        np.empty(n_clusters),
    )


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
        out[U_MIN] = min(
            x[U_MIN] + up_x * x[T_MIN] + add_x, y[U_MIN] + up_y * y[T_MIN] + add_y
        )
        out[U_MAX] = max(
            x[U_MAX] + up_x * x[T_MAX] + add_x, y[U_MAX] + up_y * y[T_MAX] + add_y
        )


@kernel_part
def centre_parts(
    count: int,
    node: Ints,
    label: Labels,
    first: Ints,
    second: Ints,
    heights: Floats,
    aggregates: Floats,
    n_points: int,
    masses: Floats,
    mean: Floats,
    spread: Floats,
    outside: Floats,
    own: Floats,
) -> None:
    """Fill what a decision at a frontier node needs to know of each centre.

    mean, spread : (count, k), in and out
        In: the members below each node (spread) and the sums of distances (mean), as filled by
        members_and_distances. Out: the mean of each centre's coordinates below the node, and the
        sum of their squared deviations from it.
    outside : (count, k), out
        The part of the squared distance to each centre that lies outside the node, the same for
        all points below it.
    own : (count,), out
        For a frontier node, the sum of distances to its own cluster's points outside it.
    """
    k = mean.shape[1]
    for x in range(count - 1, -1, -1):
        if label[x] != MIXED:
            for a in range(k):
                spread[x, a] = 0.0
            b = label[x]
            if b < k:
                v = node[x]
                own[x] = mean[x, b]
                spread[x, b] = aggregates[v, T_SPREAD] / (masses[b] * masses[b])
                mean[x, b] += aggregates[v, T_SUM] / aggregates[v, MASS]
            for a in range(k):
                mean[x, a] /= masses[a]
        else:
            y, z = first[x], second[x]
            mass_y, mass_z = aggregates[node[y], MASS], aggregates[node[z], MASS]
            mass = mass_y + mass_z
            for a in range(k):
                apart = mean[y, a] - mean[z, a]
                spread[x, a] = (spread[y, a] + spread[z, a]) + apart * apart * (
                    mass_y * mass_z / mass
                )
                mean[x, a] = (mass_y * mean[y, a] + mass_z * mean[z, a]) / mass
    for a in range(k):
        outside[0, a] = 0.0
    for x in range(count):
        if label[x] == MIXED:
            y, z = first[x], second[x]
            mass_y, mass_z = aggregates[node[y], MASS], aggregates[node[z], MASS]
            h = heights[node[x] - n_points]
            for a in range(k):
                to_y, to_z = h - mean[y, a], h - mean[z, a]
                outside[y, a] = outside[x, a] + (mass_z * to_z * to_z + spread[z, a])
                outside[z, a] = outside[x, a] + (mass_y * to_y * to_y + spread[y, a])


@kernel_part
def surviving_clusters(
    properties: Floats,
    own: float,
    b: int,
    centre: Floats,
    masses: Floats,
    outside: Floats,
    active: Ints,
    n_active: int,
    forms: Floats,
) -> int:
    """Keep, of the active clusters, those that may be nearest to some point below a node.

    Parameters
    ----------
    properties : (8,), in
        The node's aggregates.
    own, b : float, int
        The sum of distances to the points of its own cluster b outside it.
    centre : (k,), in
        The coordinate of each centre below the node, except for b.
    masses, outside : (k,), in
    active : (k,), in and out
        Ascending; the survivors move to the front.
    forms : (3, k), scratch
        Squared distance to a = forms[0, a] + forms[1, a] * t_i + forms[2, a] * u_i, less a term
        that is the same for all clusters.

    Returns
    -------
    int
        The number of survivors. Clusters that are equally near, up to rounding, all survive.
    """
    mass = properties[MASS]
    t_middle = 0.5 * (properties[T_MIN] + properties[T_MAX])
    u_middle = 0.5 * (properties[U_MIN] + properties[U_MAX])
    best, best_score = -1, np.inf
    for s in range(n_active):
        a = active[s]
        if a == b:
            mean = (own + properties[T_SUM] / mass) / masses[a]
            forms[0, a] = outside[a] + (
                mass * mean * mean + properties[T_SPREAD] / (masses[a] * masses[a])
            )
            forms[1, a] = -2.0 * own / masses[a]
            forms[2, a] = -2.0 / masses[a]
        else:
            forms[0, a] = outside[a] + mass * centre[a] * centre[a]
            forms[1, a] = -2.0 * centre[a]
            forms[2, a] = 0.0
        score = forms[0, a] + forms[1, a] * t_middle + forms[2, a] * u_middle
        if score < best_score:
            best, best_score = a, score
    n_kept = 0
    for s in range(n_active):
        a = active[s]
        dt = forms[1, best] - forms[1, a]
        du = forms[2, best] - forms[2, a]
        lead = (
            forms[0, best]
            - forms[0, a]
            + max(dt * properties[T_MIN], dt * properties[T_MAX])
            + max(du * properties[U_MIN], du * properties[U_MAX])
        )
        if a == best or lead > -TIE * (forms[0, best] + forms[0, a]):
            active[n_kept] = a
            n_kept += 1
    return n_kept


@kernel_part
def open_node(
    x: int,
    y: int,
    h: float,
    own: float,
    b: int,
    aggregates: Floats,
    centre: Floats,
    masses: Floats,
    active: Ints,
    n_active: int,
    outside: Floats,
    outside_y: Floats,
) -> None:
    """Split the outside part of a node between its children x (in outside) and y (in outside_y)."""
    mass_x, mass_y = aggregates[x, MASS], aggregates[y, MASS]
    for s in range(n_active):
        a = active[s]
        above = outside[a]
        if a == b:
            k_b = masses[a]
            to_x = h - (own + h * mass_y + aggregates[x, T_SUM] / mass_x) / k_b
            to_y = h - (own + h * mass_x + aggregates[y, T_SUM] / mass_y) / k_b
            outside[a] = above + (mass_y * to_y * to_y + aggregates[y, T_SPREAD] / (k_b * k_b))
            outside_y[a] = above + (mass_x * to_x * to_x + aggregates[x, T_SPREAD] / (k_b * k_b))
        else:
            apart = h - centre[a]
            outside[a] = above + mass_y * apart * apart
            outside_y[a] = above + mass_x * apart * apart


@kernel_part
def inertia_of_node(
    properties: Floats, own: float, a: int, b: int, centre: Floats, masses: Floats, outside: Floats
) -> float:
    """Return the sum of squared distances of the points below a node to the centre of a."""
    mass = properties[MASS]
    if a != b:
        return (
            mass * (outside[a] + mass * centre[a] * centre[a])
            - 2.0 * centre[a] * properties[T_SUM]
            + properties[SQUARES]
        )
    k_b = masses[a]
    t_sum, t_mean = properties[T_SUM], properties[T_SUM] / mass
    t_squares = properties[T_SPREAD] + t_sum * t_mean
    mean = (own + t_mean) / k_b
    return (
        mass * (outside[a] + mass * mean * mean + properties[T_SPREAD] / (k_b * k_b))
        - 2.0 * (own * t_sum + t_squares) / k_b
        + properties[SQUARES]
    )


@kernel
def assign_rows(
    children: Ints,
    heights: Floats,
    aggregates: Floats,
    count: int,
    node: Ints,
    label: Labels,
    first: Ints,
    second: Ints,
    mean: Floats,
    spread: Floats,
    outside: Floats,
    own: Floats,
    stack_node: Ints,
    stack_count: Ints,
    stack_own: Floats,
    stack_active: Ints,
    stack_outside: Floats,
    forms: Floats,
    old_masses: Floats,
    node_labels: Labels,
    opened: Ints,
    masses: Floats,
    inertia: Floats,
    move: bool,
) -> bool:
    """Move every point to the nearest centre of the assignment in the view.

    Parameters
    ----------
    children, heights, aggregates : in
        The tree.
    count, node, label, first, second : in
        The view.
    mean, spread, outside, own, stack_…, forms, old_masses, opened : scratch
    node_labels : (2n - 1,) int32, in and out
    masses : (k,) float64, out
        The number of points of each cluster after the step.
    inertia : (1,) float64, out
        The sum of squared distances to the centres before the step.
    move : bool
        If False no point moves, and only the inertia is computed.

    Returns
    -------
    bool
        Whether any point moved.
    """
    n_points = children.shape[0] + 1
    k = mean.shape[1]
    members_and_distances(
        count, node, label, first, second, heights, aggregates, n_points, spread, mean
    )
    for a in range(k):
        old_masses[a] = spread[0, a]
        masses[a] = 0.0
    centre_parts(
        count,
        node,
        label,
        first,
        second,
        heights,
        aggregates,
        n_points,
        old_masses,
        mean,
        spread,
        outside,
        own,
    )
    changed = False
    n_opened = 0
    total = 0.0
    for x in range(count):
        b = label[x]
        if b == MIXED:
            continue
        depth = 0
        stack_node[0] = node[x]
        stack_own[0] = own[x]
        stack_count[0] = k
        for a in range(k):
            stack_active[0, a] = a
            stack_outside[0, a] = outside[x, a]
        while depth >= 0:
            v = stack_node[depth]
            own_v = stack_own[depth]
            far = stack_outside[depth]
            active = stack_active[depth]
            properties = aggregates[v]
            if move:
                n_kept = surviving_clusters(
                    properties,
                    own_v,
                    b,
                    mean[x],
                    old_masses,
                    far,
                    active,
                    stack_count[depth],
                    forms,
                )
                winner = active[0]
            else:
                n_kept = 1
                winner = b
            # Where all points of v have the same row, a tie goes to the first cluster.
            if (
                n_kept == 1
                or v < n_points
                or (
                    properties[T_MIN] == properties[T_MAX]
                    and properties[U_MIN] == properties[U_MAX]
                )
            ):
                node_labels[v] = winner
                changed = changed or winner != b
                masses[winner] += properties[MASS]
                total += inertia_of_node(
                    properties, own_v, winner, b, mean[x], old_masses, far
                )
                depth -= 1
                continue
            node_labels[v] = MIXED
            opened[n_opened] = v
            n_opened += 1
            e = v - n_points
            larger = 0 if aggregates[children[e, 0], MASS] >= aggregates[children[e, 1], MASS] else 1
            y = children[e, larger]
            z = children[e, 1 - larger]
            for s in range(n_kept):
                stack_active[depth + 1, s] = active[s]
            open_node(
                y,
                z,
                heights[e],
                own_v,
                b,
                aggregates,
                mean[x],
                old_masses,
                active,
                n_kept,
                far,
                stack_outside[depth + 1],
            )
            stack_node[depth] = y
            stack_node[depth + 1] = z
            stack_own[depth] = own_v + heights[e] * aggregates[z, MASS]
            stack_own[depth + 1] = own_v + heights[e] * aggregates[y, MASS]
            stack_count[depth] = n_kept
            stack_count[depth + 1] = n_kept
            depth += 1
    fold_siblings(children, node_labels, opened, n_opened, node, count)
    inertia[0] = total
    return changed


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
            sizes[v] * h * h
            - 2.0 * h * (sums[point] - sums[v])
            + (squares[point] - squares[v])
        )
        for p in range(starts[y], starts[y] + sizes[y]):
            i = leaf_order[p]
            out[p] = inside + (
                sizes[y] * h * h - 2.0 * h * (sums[i] - sums[y]) + (squares[i] - squares[y])
            )
        v = parents[v]
