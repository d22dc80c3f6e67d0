"""One Lloyd step on the rows, opening only the part of the tree that is undecided.

See rows.py for what t_i, u_i and the aggregates are. Distances to centres are sums of
non-negative parts, gathered from the root down, so they stay accurate however far away the rest
of the data lies.
"""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.rounding import TIE
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kmeans.frontier import WEIGHT, fold_siblings, members_and_distances, row_of
from isthmus.kmeans.rows_aggregates import (
    SQUARES,
    T_MAX,
    T_MIN,
    T_SPREAD,
    T_SUM,
    U_MAX,
    U_MIN,
    Bounds,
    bounds_of,
    compares_alike,
    inertia_of_node,
)
from isthmus.ultrametric.node_labels import MIXED

# What the forms below may lose to rounding, relative to their largest term.
ROUNDING = 1e-15


def stack_buffers(depth: int, n_clusters: int) -> tuple[Array, ...]:
    """Return the stack of assign_rows, and its scratch space per cluster."""
    return (
        np.empty(depth, dtype=np.int64),
        np.empty(depth, dtype=np.int64),
        np.empty(depth),
        np.empty((depth, n_clusters), dtype=np.int64),
        np.empty((depth, n_clusters)),
        np.empty((3, n_clusters)),
        np.empty(n_clusters),
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
    point_weights: Floats,
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
                properties = aggregates[row_of(node[x], n_points, aggregates)]
                own[x] = mean[x, b]
                spread[x, b] = properties[T_SPREAD] / (point_weights[b] * point_weights[b])
                mean[x, b] += properties[T_SUM] / properties[WEIGHT]
            for a in range(k):
                mean[x, a] /= point_weights[a]
        else:
            y, z = first[x], second[x]
            weight_y = aggregates[row_of(node[y], n_points, aggregates), WEIGHT]
            weight_z = aggregates[row_of(node[z], n_points, aggregates), WEIGHT]
            weight = weight_y + weight_z
            for a in range(k):
                apart = mean[y, a] - mean[z, a]
                spread[x, a] = (spread[y, a] + spread[z, a]) + apart * apart * (
                    weight_y * weight_z / weight
                )
                mean[x, a] = (weight_y * mean[y, a] + weight_z * mean[z, a]) / weight
    for a in range(k):
        outside[0, a] = 0.0
    for x in range(count):
        if label[x] == MIXED:
            y, z = first[x], second[x]
            weight_y = aggregates[row_of(node[y], n_points, aggregates), WEIGHT]
            weight_z = aggregates[row_of(node[z], n_points, aggregates), WEIGHT]
            h = heights[node[x] - n_points]
            for a in range(k):
                to_y, to_z = h - mean[y, a], h - mean[z, a]
                outside[y, a] = outside[x, a] + (weight_z * to_z * to_z + spread[z, a])
                outside[z, a] = outside[x, a] + (weight_y * to_y * to_y + spread[y, a])


@kernel_part
def surviving_clusters(
    properties: Floats,
    bounds: tuple[float, float, float, float],
    own: float,
    b: int,
    centre: Floats,
    point_weights: Floats,
    outside: Floats,
    active: Ints,
    n_active: int,
    forms: Floats,
) -> int:
    """Keep, of the active clusters, those that may be nearest to some point below a node.

    Parameters
    ----------
    properties : (4,), in
        The node's aggregates; bounds as returned by bounds_of.
    own, b : float, int
        The sum of distances to the points of its own cluster b outside it.
    centre : (k,), in
        The coordinate of each centre below the node, except for b.
    point_weights, outside : (k,), in
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
    weight = properties[WEIGHT]
    t_middle = 0.5 * (bounds[T_MIN] + bounds[T_MAX])
    u_middle = 0.5 * (bounds[U_MIN] + bounds[U_MAX])
    best, best_score = -1, np.inf
    for s in range(n_active):
        a = active[s]
        if a == b:
            mean = (own + properties[T_SUM] / weight) / point_weights[a]
            forms[0, a] = outside[a] + (
                weight * mean * mean + properties[T_SPREAD] / (point_weights[a] * point_weights[a])
            )
            forms[1, a] = -2.0 * own / point_weights[a]
            forms[2, a] = -2.0 / point_weights[a]
        else:
            forms[0, a] = outside[a] + weight * centre[a] * centre[a]
            forms[1, a] = -2.0 * centre[a]
            forms[2, a] = 0.0
        score = forms[0, a] + forms[1, a] * t_middle + forms[2, a] * u_middle
        if score < best_score:
            best, best_score = a, score
    # the term that is the same for all clusters, on average over the node
    same = properties[SQUARES] / weight
    n_kept = 0
    for s in range(n_active):
        a = active[s]
        dt = forms[1, best] - forms[1, a]
        du = forms[2, best] - forms[2, a]
        lead = (
            forms[0, best]
            - forms[0, a]
            + max(dt * bounds[T_MIN], dt * bounds[T_MAX])
            + max(du * bounds[U_MIN], du * bounds[U_MAX])
        )
        distance = same + forms[0, a] + forms[1, a] * t_middle + forms[2, a] * u_middle
        tie = TIE * (same + best_score + distance) + ROUNDING * (forms[0, best] + forms[0, a])
        if a == best or lead > -tie:
            active[n_kept] = a
            n_kept += 1
    return n_kept


@kernel_part
def open_node(
    depth: int,
    children: Ints,
    h: float,
    b: int,
    aggregates: Floats,
    n_points: int,
    centre: Floats,
    point_weights: Floats,
    n_active: int,
    stack_node: Ints,
    stack_count: Ints,
    stack_own: Floats,
    stack_active: Ints,
    stack_outside: Floats,
) -> None:
    """Replace the node at a depth of the stack by its children, the smaller one on top.

    children : (2,), in
        The children; h is the height at which they merge, b the cluster of their points.
    centre, point_weights, n_active : in
        As for surviving_clusters.
    stack_… : in and out
        At depth the node, on return the larger child; the smaller one at depth + 1.
    """
    x = aggregates[row_of(children[0], n_points, aggregates)]
    y = aggregates[row_of(children[1], n_points, aggregates)]
    larger = 0
    if x[WEIGHT] < y[WEIGHT]:
        larger = 1
        x, y = y, x
    own = stack_own[depth]
    own_x = own + h * y[WEIGHT]
    own_y = own + h * x[WEIGHT]
    for s in range(n_active):
        a = stack_active[depth, s]
        stack_active[depth + 1, s] = a
        above = stack_outside[depth, a]
        if a == b:
            k_b = point_weights[a]
            to_x = h - (own_x + x[T_SUM] / x[WEIGHT]) / k_b
            to_y = h - (own_y + y[T_SUM] / y[WEIGHT]) / k_b
            in_x = x[WEIGHT] * to_x * to_x + x[T_SPREAD] / (k_b * k_b)
            in_y = y[WEIGHT] * to_y * to_y + y[T_SPREAD] / (k_b * k_b)
        else:
            in_x = x[WEIGHT] * (h - centre[a]) * (h - centre[a])
            in_y = y[WEIGHT] * (h - centre[a]) * (h - centre[a])
        stack_outside[depth, a] = above + in_y
        stack_outside[depth + 1, a] = above + in_x
    stack_node[depth] = children[larger]
    stack_node[depth + 1] = children[1 - larger]
    stack_own[depth] = own_x
    stack_own[depth + 1] = own_y
    stack_count[depth] = n_active
    stack_count[depth + 1] = n_active


@kernel
def assign_rows(
    children: Ints,
    heights: Floats,
    aggregates: Floats,
    bounds: Bounds,
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
    old_weights: Floats,
    node_labels: Labels,
    opened: Ints,
    point_weights: Floats,
    inertia: Floats,
    move: bool,
    single: bool,
) -> bool:
    """Move every point to the nearest centre of the assignment in the view.

    Parameters
    ----------
    children, heights, aggregates, bounds : in
        The tree.
    count, node, label, first, second : in
        The view.
    mean, spread, outside, own, stack_…, forms, old_weights, opened : scratch
    node_labels : (2n - 1,) int32, in and out
    point_weights : (k,) float64, out
        The weight of each cluster after the step.
    inertia : (1,) float64, out
        The sum of squared distances to the centres before the step.
    move : bool
        If False no point moves, and only the inertia is computed.
    single : bool
        Whether each cluster in the view is a single point.

    Returns
    -------
    bool
        Whether any point moved.
    """
    n_points = children.shape[0] + 1
    k = mean.shape[1]
    members_and_distances(
        count, node, label, first, second, heights, aggregates, n_points, single, spread, mean
    )
    for a in range(k):
        old_weights[a] = spread[0, a]
        point_weights[a] = 0.0
    centre_parts(
        count,
        node,
        label,
        first,
        second,
        heights,
        aggregates,
        n_points,
        old_weights,
        mean,
        spread,
        outside,
        own,
    )
    changed = False
    n_opened = np.int64(0)
    total = 0.0
    for x in range(count):
        b = label[x]
        if b == MIXED:
            continue
        depth = np.int64(0)
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
            properties = aggregates[row_of(v, n_points, aggregates)]
            within = bounds_of(v, properties, bounds)
            if move:
                n_kept = surviving_clusters(
                    properties,
                    within,
                    own_v,
                    b,
                    mean[x],
                    old_weights,
                    far,
                    active,
                    stack_count[depth],
                    forms,
                )
                winner = active[0]
            else:
                n_kept = 1
                winner = b
            if n_kept == 1 or v < n_points or compares_alike(within):
                node_labels[v] = winner
                changed = changed or winner != b
                point_weights[winner] += properties[WEIGHT]
                total += inertia_of_node(properties, own_v, winner, b, mean[x], old_weights, far)
                depth -= 1
                continue
            node_labels[v] = MIXED
            opened[n_opened] = v
            n_opened += 1
            open_node(
                depth,
                children[v - n_points],
                heights[v - n_points],
                b,
                aggregates,
                n_points,
                mean[x],
                old_weights,
                n_kept,
                stack_node,
                stack_count,
                stack_own,
                stack_active,
                stack_outside,
            )
            depth += 1
    fold_siblings(children, node_labels, opened, n_opened, node, count)
    inertia[0] = total
    return changed
