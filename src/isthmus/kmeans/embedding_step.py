"""One Lloyd step in the embedded space, expanding only the nodes whose points may disagree.

See embedding_objective.py for distances to centres and t_i. All points below a node are equally
far from the centre of any cluster but their own, so a step needs no more than the range of t_i.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.rounding import TIE
from isthmus._utils.typing import Floats, Ints
from isthmus.kmeans.aggregates import TreeArrays, prefetch_children, row_of
from isthmus.kmeans.frontier import Assigned, Frontier, fold_siblings, members_and_distances
from isthmus.ultrametric.node_labels import MIXED


class EmbeddedAggregates(NamedTuple):
    """A row of the aggregates: the weight of a node, the sum of its t_i, and their range."""

    weight: float
    t_sum: float
    t_min: float
    t_max: float


class EmbeddedCentres(NamedTuple):
    """The centres of k clusters, seen from each node of a frontier.

    Attributes
    ----------
    weights, halves : (k,) float64
        The weight of each cluster, and half the mean squared distance between its points.
    sums : (count, k) float64
        The sum of squared distances from any one point below a node to the cluster's points that
        are not below it.
    members : (count, k) float64
        The weight of the cluster's points below a node.
    """

    weights: Floats
    halves: Floats
    sums: Floats
    members: Floats


class EmbeddedStack(NamedTuple):
    """The nodes below one frontier node that wait for a decision, the smaller sibling on top.

    Attributes
    ----------
    node : (depth,) int64
    own : (depth,) float64
        The sum of squared distances to the points of its own cluster outside each node.
    """

    node: Ints
    own: Floats


@kernel_part
def embedded_aggregates(tree: TreeArrays, v: int) -> EmbeddedAggregates:
    """Return the aggregates of a node."""
    row = tree.aggregates[row_of(tree, v)]
    return EmbeddedAggregates(row[0], row[1], row[2], row[3])


@kernel
def aggregate_squares(tree: TreeArrays) -> None:
    """Fill the aggregates of all merges; those of leaves are given."""
    n_points = tree.children.shape[0] + 1
    for e in range(n_points - 1):
        prefetch_children(tree, e)
        x = embedded_aggregates(tree, tree.children[e, 0])
        y = embedded_aggregates(tree, tree.children[e, 1])
        h2 = tree.heights[e]
        up_x, up_y = h2 * y.weight, h2 * x.weight
        row = tree.aggregates[row_of(tree, n_points + e)]
        row[0] = x.weight + y.weight
        row[1] = (x.t_sum + y.t_sum) + 2.0 * h2 * (x.weight * y.weight)
        row[2] = min(x.t_min + up_x, y.t_min + up_y)
        row[3] = max(x.t_max + up_x, y.t_max + up_y)


@kernel_part
def locate_embedded_centres(
    tree: TreeArrays, frontier: Frontier, centres: EmbeddedCentres, single: bool
) -> None:
    """Fill the centres of the assignment of a frontier; single as in members_and_distances."""
    weights, halves = centres.weights, centres.halves
    k = weights.shape[0]
    members_and_distances(frontier, single, centres.members, centres.sums)
    for a in range(k):
        weights[a] = centres.members[0, a]
        halves[a] = 0.0
    for x in range(frontier.node.shape[0]):
        b = frontier.label[x]
        if b != MIXED and b < k:
            of_x = embedded_aggregates(tree, frontier.node[x])
            halves[b] += of_x.weight * centres.sums[x, b] + of_x.t_sum
    for a in range(k):
        halves[a] /= 2.0 * weights[a] * weights[a]


@kernel_part
def nearest_other(centres: EmbeddedCentres, x: int, b: int) -> int:
    """Return the cluster nearest to all points below a frontier node x, apart from their own, b.

    A tie goes to the first; -1 where there is no other.
    """
    best = -1
    best_distance = np.inf
    for a in range(centres.weights.shape[0]):
        if a != b:
            half = centres.halves[a]
            distance = centres.sums[x, a] / centres.weights[a] - half
            if best < 0 or distance < best_distance - TIE * (abs(distance) + half):
                best = a
                best_distance = distance
    return best


@kernel_part
def decide(
    of_v: EmbeddedAggregates,
    outside: float,
    weight: float,
    half: float,
    to_other: float,
    b: int,
    other: int,
    is_leaf: bool,
) -> int:
    """Return the cluster of the points below a node of cluster b; MIXED if they may differ.

    outside : float
        Their squared distance to the centre of b, less the part from points below the node.
    weight, half : float
        The weight of b and half the mean squared distance of its points.
    to_other, other : float, int
        The nearest other cluster and its distance; -1 and infinite where there is none.
    """
    nearest = outside + of_v.t_min / weight
    farthest = outside + of_v.t_max / weight
    tie = TIE * (abs(farthest) + 2.0 * half)
    if farthest < to_other - tie:
        return b
    if nearest > to_other + tie:
        return other
    if is_leaf or nearest == farthest:
        return min(b, other)
    return MIXED


@kernel_part
def expand_embedded_node(tree: TreeArrays, stack: EmbeddedStack, depth: int) -> None:
    """Replace the node at a depth of the stack by its children, the smaller one above."""
    e = stack.node[depth] - tree.children.shape[0] - 1
    h2, large, small = tree.heights[e], tree.children[e, 0], tree.children[e, 1]
    weight_x = embedded_aggregates(tree, large).weight
    weight_y = embedded_aggregates(tree, small).weight
    if weight_x < weight_y:
        large, small, weight_x, weight_y = small, large, weight_y, weight_x
    own = stack.own[depth]
    stack.node[depth], stack.node[depth + 1] = large, small
    stack.own[depth], stack.own[depth + 1] = own + h2 * weight_y, own + h2 * weight_x


@kernel_part
def own_inertia(of_v: EmbeddedAggregates, own: float, weight: float, half: float) -> float:
    """Return the sum of squared distances of the points below a node to their own centre.

    own, weight, half : float
        The sum of squared distances to the cluster's points outside the node; as in decide.
    """
    return (of_v.weight * own + of_v.t_sum) / weight - of_v.weight * half


@kernel
def inertia_of_embedded(tree: TreeArrays, frontier: Frontier, centres: EmbeddedCentres) -> float:
    """Return the sum of squared distances to the centres of the assignment in a frontier.

    centres : scratch
    """
    locate_embedded_centres(tree, frontier, centres, False)
    inertia = 0.0
    for x in range(frontier.node.shape[0]):
        b = frontier.label[x]
        if b != MIXED:
            of_x = embedded_aggregates(tree, frontier.node[x])
            inertia += own_inertia(of_x, centres.sums[x, b], centres.weights[b], centres.halves[b])
    return inertia


@kernel
def assign_embedded(
    tree: TreeArrays,
    frontier: Frontier,
    centres: EmbeddedCentres,
    stack: EmbeddedStack,
    assigned: Assigned,
    single: bool,
) -> float:
    """Move every point to the nearest centre of the assignment in a frontier.

    Takes and returns what assign_rows does.
    """
    n_points, k = tree.children.shape[0] + 1, centres.weights.shape[0]
    weights, halves = centres.weights, centres.halves
    locate_embedded_centres(tree, frontier, centres, single)
    for a in range(k):
        assigned.weights[a] = 0.0
    changed, n_expanded, inertia = False, np.int64(0), 0.0
    for x in range(frontier.node.shape[0]):
        b = frontier.label[x]
        if b == MIXED:
            continue
        other, to_other = nearest_other(centres, x, b), np.inf
        if other >= 0:
            to_other = centres.sums[x, other] / weights[other] - halves[other]
        depth = np.int64(0)
        stack.node[0], stack.own[0] = frontier.node[x], centres.sums[x, b] if b < k else 0.0
        while depth >= 0:
            v, own = stack.node[depth], stack.own[depth]
            of_v, winner = embedded_aggregates(tree, v), other
            if b < k:
                outside = own / weights[b] - halves[b]
                winner = decide(
                    of_v, outside, weights[b], halves[b], to_other, b, other, v < n_points
                )
            assigned.node_labels[v] = winner
            if winner == MIXED:
                assigned.expanded[n_expanded] = v
                n_expanded += 1
                expand_embedded_node(tree, stack, depth)
                depth += 1
                continue
            assigned.weights[winner] += of_v.weight
            if winner == b:
                inertia += own_inertia(of_v, own, weights[b], halves[b])
            else:
                changed = True
                inertia += of_v.weight * to_other
            depth -= 1
    fold_siblings(tree.children, frontier, assigned, n_expanded)
    assigned.changed[0] = changed
    return inertia
