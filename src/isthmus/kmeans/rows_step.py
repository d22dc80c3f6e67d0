"""One Lloyd step on the rows, expanding only the nodes whose points may disagree.

See rows_objective.py for what t_i and u_i are. Distances to centres are sums of non-negative
terms, gathered from the root down, so they stay accurate however far away the rest of the data
lies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.rounding import TIE
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.kmeans.aggregates import TreeArrays
from isthmus.kmeans.frontier import Assigned, Frontier, fold_siblings, members_and_distances
from isthmus.kmeans.rows_aggregates import Bounds, Range, RowAggregates, range_of, row_aggregates
from isthmus.ultrametric.node_labels import MIXED

# What the forms below may lose to rounding, relative to their largest term.
ROUNDING = 1e-15


class Centres(NamedTuple):
    """The centres of k clusters, seen from each node of a frontier.

    Attributes
    ----------
    weights : (k,) float64
        The weight of each cluster.
    mean, within_ss : (count, k) float64
        The mean of a centre's coordinates below the node, and the sum of their squared
        deviations from it.
    outside : (count, k) float64
        The part of the squared distance to a centre that lies outside the node: the same for all
        points below it.
    own : (count,) float64
        Of a frontier node, the sum of distances to its own cluster's points outside it.
    """

    weights: Floats
    mean: Floats
    within_ss: Floats
    outside: Floats
    own: Floats


class Stack(NamedTuple):
    """The nodes below one frontier node that wait for a decision, the smaller sibling on top.

    Attributes
    ----------
    node, n_active : (depth,) int64
        Each node, and how many clusters may still be nearest to some of its points.
    own : (depth,) float64
        The sum of distances to the points of its own cluster outside it.
    active : (depth, k) int64
        These clusters, ascending.
    outside : (depth, k) float64
        The part of the squared distance to each of their centres that lies outside the node.
    forms : (3, k) float64
        Of the node on top: the squared distance to a is forms[0, a] + forms[1, a] t_i +
        forms[2, a] u_i, less a term that is the same for all clusters.
    """

    node: Ints
    n_active: Ints
    own: Floats
    active: Ints
    outside: Floats
    forms: Floats

    @classmethod
    def empty(cls, depth: int, n_clusters: int) -> Stack:
        """Return uninitialised arrays for a stack."""
        node, n_active = np.empty((2, depth), dtype=np.int64)
        active = np.empty((depth, n_clusters), dtype=np.int64)
        outside, forms = np.empty((depth, n_clusters)), np.empty((3, n_clusters))
        return cls(node, n_active, np.empty(depth), active, outside, forms)


@kernel_part
def merge_centres(mean: Floats, within_ss: Floats, weight: Array, v: int, x: int, y: int) -> None:
    """Fill row v of mean and within_ss, as in Centres, from those of its children x and y."""
    weight_x, weight_y = np.float64(weight[x]), np.float64(weight[y])
    total = weight_x + weight_y
    for a in range(mean.shape[1]):
        apart = mean[x, a] - mean[y, a]
        within_ss[v, a] = (within_ss[x, a] + within_ss[y, a]) + apart * apart * (
            weight_x * weight_y / total
        )
        mean[v, a] = (weight_x * mean[x, a] + weight_y * mean[y, a]) / total


@kernel_part
def measure_outside(
    mean: Floats,
    within_ss: Floats,
    outside: Floats,
    weight: Array,
    h: float,
    v: int,
    x: int,
    y: int,
) -> None:
    """Fill rows x and y of outside, as in Centres, from that of their parent v at height h.

    A row of within_ss is not needed afterwards: it may be the same one as that of outside.
    """
    weight_x, weight_y = np.float64(weight[x]), np.float64(weight[y])
    for a in range(mean.shape[1]):
        to_x, to_y = h - mean[x, a], h - mean[y, a]
        in_x = weight_x * to_x * to_x + within_ss[x, a]
        in_y = weight_y * to_y * to_y + within_ss[y, a]
        outside[x, a] = outside[v, a] + in_y
        outside[y, a] = outside[v, a] + in_x


@kernel_part
def own_centre(of_v: RowAggregates, own: float, weight_b: float) -> tuple[float, float]:
    """Return mean and within_ss, as in Centres, of a node and its own cluster, of weight_b.

    own : float
        The sum of distances to the points of this cluster outside the node.
    """
    mean = (own + of_v.t_sum / of_v.weight) / weight_b
    return mean, of_v.t_within_ss / (weight_b * weight_b)


@kernel_part
def locate_centres(tree: TreeArrays, frontier: Frontier, centres: Centres, single: bool) -> None:
    """Fill the centres of the assignment of a frontier; single as in members_and_distances.

    ``own`` is filled at frontier nodes of these clusters alone.
    """
    label, first = frontier.label, frontier.first
    weights, mean, within_ss = centres.weights, centres.mean, centres.within_ss
    k = weights.shape[0]
    members_and_distances(frontier, single, within_ss, mean)
    for a in range(k):
        weights[a] = within_ss[0, a]
    for x in range(label.shape[0] - 1, -1, -1):
        b = label[x]
        if b == MIXED:
            merge_centres(mean, within_ss, frontier.weight, x, first[x], first[x] + 1)
            continue
        own = mean[x, b] if b < k else 0.0
        for a in range(k):
            mean[x, a] /= weights[a]
            within_ss[x, a] = 0.0
        if b < k:
            centres.own[x] = own
            of_x = row_aggregates(tree, np.int64(frontier.node[x]))
            mean[x, b], within_ss[x, b] = own_centre(of_x, own, weights[b])
    for a in range(k):
        centres.outside[0, a] = 0.0
    for x in range(label.shape[0]):
        if label[x] == MIXED:
            y, h = first[x], frontier.height[x]
            measure_outside(mean, within_ss, centres.outside, frontier.weight, h, x, y, y + 1)


@kernel_part
def own_inertia(of_v: RowAggregates, outside: float, own: float, weight_b: float) -> float:
    """Return the sum of squared distances of the points below a node to their own centre.

    outside, own, weight_b : float
        As in Centres, and the weight of the cluster.
    """
    mean, within_ss = own_centre(of_v, own, weight_b)
    t_squares = of_v.t_within_ss + of_v.t_sum * (of_v.t_sum / of_v.weight)
    return float(
        of_v.weight * (outside + of_v.weight * mean * mean + within_ss)
        - 2.0 * (own * of_v.t_sum + t_squares) / weight_b
        + of_v.squares
    )


@kernel_part
def surviving_clusters(
    of_v: RowAggregates,
    within: Range,
    b: int,
    weights: Floats,
    centre: Floats,
    stack: Stack,
    depth: int,
) -> int:
    """Keep, of the active clusters of the node on top, those that may be nearest to a point of it.

    Parameters
    ----------
    of_v, within : in
        The aggregates and the range of the node; b is its cluster.
    weights, centre : (k,) float64, in
        The weight of each cluster; the coordinate of each centre below the node, except for b.
    stack, depth : in and out

    Returns
    -------
    int
        The number of survivors. Clusters that are equally near, up to rounding, all survive.
    """
    own, forms = stack.own[depth], stack.forms
    active, n_active, outside = stack.active[depth], stack.n_active[depth], stack.outside[depth]
    weight = of_v.weight
    t_middle = 0.5 * (within.t_min + within.t_max)
    u_middle = 0.5 * (within.u_min + within.u_max)
    best, best_score = -1, np.inf
    for s in range(n_active):
        a = active[s]
        mean, within_ss = centre[a], 0.0
        forms[1, a] = -2.0 * mean
        forms[2, a] = 0.0
        if a == b:
            mean, within_ss = own_centre(of_v, own, weights[b])
            forms[1, a] = -2.0 * own / weights[b]
            forms[2, a] = -2.0 / weights[b]
        forms[0, a] = outside[a] + (weight * mean * mean + within_ss)
        score = forms[0, a] + forms[1, a] * t_middle + forms[2, a] * u_middle
        if score < best_score:
            best, best_score = a, score
    # the term that is the same for all clusters, on average over the node
    same = of_v.squares / weight
    n_kept = 0
    for s in range(n_active):
        a = active[s]
        dt = forms[1, best] - forms[1, a]
        du = forms[2, best] - forms[2, a]
        lead = (
            forms[0, best]
            - forms[0, a]
            + max(dt * within.t_min, dt * within.t_max)
            + max(du * within.u_min, du * within.u_max)
        )
        distance = same + forms[0, a] + forms[1, a] * t_middle + forms[2, a] * u_middle
        tie = TIE * (same + best_score + distance) + ROUNDING * (forms[0, best] + forms[0, a])
        if a == best or lead > -tie:
            active[n_kept] = a
            n_kept += 1
    stack.n_active[depth] = n_kept
    return n_kept


@kernel_part
def expand_node(
    tree: TreeArrays, b: int, weights: Floats, centre: Floats, stack: Stack, depth: int
) -> None:
    """Replace the node on top of the stack, of cluster b, by its children, the smaller one above.

    Arguments as for surviving_clusters; the children go to depth and depth + 1.
    """
    e = stack.node[depth] - tree.children.shape[0] - 1
    h, large, small = tree.heights[e], tree.children[e, 0], tree.children[e, 1]
    x, y = row_aggregates(tree, large), row_aggregates(tree, small)
    if x.weight < y.weight:
        large, small, x, y = small, large, y, x
    own_x = stack.own[depth] + h * y.weight
    own_y = stack.own[depth] + h * x.weight
    active, outside = stack.active, stack.outside
    for s in range(stack.n_active[depth]):
        a = active[depth, s]
        active[depth + 1, s] = a
        mean_x, within_x, mean_y, within_y = centre[a], 0.0, centre[a], 0.0
        if a == b:
            mean_x, within_x = own_centre(x, own_x, weights[b])
            mean_y, within_y = own_centre(y, own_y, weights[b])
        to_x, to_y = h - mean_x, h - mean_y
        outside[depth + 1, a] = outside[depth, a] + (x.weight * to_x * to_x + within_x)
        outside[depth, a] += y.weight * to_y * to_y + within_y
    stack.node[depth], stack.node[depth + 1] = large, small
    stack.own[depth], stack.own[depth + 1] = own_x, own_y
    stack.n_active[depth + 1] = stack.n_active[depth]


@kernel
def inertia_of_rows(tree: TreeArrays, frontier: Frontier, centres: Centres) -> float:
    """Return the sum of squared distances to the centres of the assignment in a frontier.

    centres : scratch
    """
    locate_centres(tree, frontier, centres, False)
    inertia = 0.0
    for x in range(frontier.node.shape[0]):
        b = frontier.label[x]
        if b != MIXED:
            of_x, outside = row_aggregates(tree, np.int64(frontier.node[x])), centres.outside[x, b]
            inertia += own_inertia(of_x, outside, centres.own[x], centres.weights[b])
    return inertia


@kernel
def assign_rows(
    tree: TreeArrays,
    bounds: Bounds,
    frontier: Frontier,
    centres: Centres,
    stack: Stack,
    assigned: Assigned,
    single: bool,
) -> float:
    """Move every point to the nearest centre of the assignment in a frontier.

    Parameters
    ----------
    tree, bounds, frontier : in
    centres, stack : scratch
    assigned : in and out
    single : bool
        Whether each cluster of the assignment is a single point.

    Returns
    -------
    float
        The sum of squared distances of all points to their centres before the step.
    """
    weights, n_points = centres.weights, tree.children.shape[0] + 1
    locate_centres(tree, frontier, centres, single)
    for a in range(weights.shape[0]):
        assigned.weights[a] = 0.0
    changed, n_expanded, inertia = False, np.int64(0), 0.0
    for x in range(frontier.node.shape[0]):
        b = frontier.label[x]
        if b == MIXED:
            continue
        stack.node[0], stack.own[0] = frontier.node[x], centres.own[x]
        stack.n_active[0] = weights.shape[0]
        for a in range(weights.shape[0]):
            stack.active[0, a] = a
            stack.outside[0, a] = centres.outside[x, a]
        depth, centre = np.int64(0), centres.mean[x]
        while depth >= 0:
            v = stack.node[depth]
            of_v = row_aggregates(tree, v)
            within = range_of(bounds, v, of_v)
            n_kept = surviving_clusters(of_v, within, b, weights, centre, stack, depth)
            alike = within.t_min == within.t_max and within.u_min == within.u_max
            if n_kept > 1 and v >= n_points and not alike:
                assigned.node_labels[v] = MIXED
                assigned.expanded[n_expanded] = v
                n_expanded += 1
                expand_node(tree, b, weights, centre, stack, depth)
                depth += 1
                continue
            a = stack.active[depth, 0]  # a tie goes to the first cluster
            outside = stack.outside[depth, a]
            assigned.node_labels[v] = a
            assigned.weights[a] += of_v.weight
            if a == b:
                inertia += own_inertia(of_v, outside, stack.own[depth], weights[b])
            else:
                changed = True
                inertia += (
                    of_v.weight * (outside + of_v.weight * centre[a] * centre[a])
                    - 2.0 * centre[a] * of_v.t_sum
                    + of_v.squares
                )
            depth -= 1
    fold_siblings(tree.children, frontier, assigned, n_expanded)
    assigned.changed[0] = changed
    return inertia
