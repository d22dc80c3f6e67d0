"""K-means in the embedded space V′ itself, in which transitive distances are Euclidean.

The squared distance of a point i to the centre of cluster a is the mean of D(i, j)² over its
points j, less half the mean of D(j, l)² over its pairs; a point of weight w counts w times. The
points below a node are all equally far from the centre of any cluster but their own, so a step
needs no more than one bound per node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.rounding import TIE
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.kmeans.frontier import (
    WEIGHT,
    View,
    fold_siblings,
    members_and_distances,
    prefetch_children,
    row_of,
)
from isthmus.kmeans.objective import TreeObjective
from isthmus.ultrametric.matvec import multiply
from isthmus.ultrametric.node_labels import MIXED

# Columns of the aggregates of a node v, after MASS, with t_i the sum of D(i, m)² over m in v.
T_SUM, T_MIN, T_MAX = range(1, 4)


class EmbeddingObjective(TreeObjective):
    """Squared Euclidean distances between the images of the points in V′."""

    weight_degree = 1

    @cached_property
    def squared_heights(self) -> Floats:
        """The squares of the heights."""
        return self.heights * self.heights

    @cached_property
    def aggregates(self) -> Floats:
        """The aggregates of leaves and merges, rows as in row_of, columns as above."""
        aggregates = self.leaf_aggregates(4)
        aggregate_squares(self.tree.children, self.squared_heights, aggregates)
        return aggregates

    def assign_view(
        self, view: View, node_labels: Labels, point_weights: Floats, *, move: bool, single: bool
    ) -> tuple[bool, float]:
        """Do a Lloyd step on a view; see TreeObjective."""
        inertia = np.zeros(1)
        changed = assign_embedded(
            self.tree.children,
            self.squared_heights,
            self.aggregates,
            view.count,
            view.node,
            view.label,
            view.first,
            view.second,
            view.mean,
            view.spread,
            *np.empty((2, view.n_clusters)),
            np.empty(self.stack_depth, dtype=np.int64),
            np.empty(self.stack_depth),
            node_labels,
            view.opened,
            point_weights,
            inertia,
            move,
            single,
        )
        return changed, float(inertia[0])

    def distances_to_centres(self, membership: Floats, point_weights: Floats) -> Floats:
        """Return the squared distances to centres by one product; see TreeObjective."""
        means = multiply(self.tree.children, self.squared_heights, membership) / point_weights
        distances: Floats = means - half_means(membership, point_weights, means)
        return distances

    def distances_of_new_points(
        self, membership: Floats, point_weights: Floats
    ) -> Callable[[Floats], Floats]:
        """Return a function from new points to their squared distances; see TreeObjective."""
        means = multiply(self.tree.children, self.squared_heights, membership) / point_weights
        halves = half_means(membership, point_weights, means)

        def distances(rows: Floats) -> Floats:
            out: Floats = (rows * rows) @ membership / point_weights - halves
            return out

        return distances

    def squared_distances_to(self, point: int) -> Floats:
        """Return the squared distance of every point to one."""
        out = np.empty(self.n_points)
        squared_row(
            self.tree.children,
            self.squared_heights,
            self.parents,
            self.tree.starts,
            self.tree.sizes,
            self.tree.leaf_order,
            point,
            out,
        )
        return out


def half_means(membership: Floats, point_weights: Floats, means: Floats) -> Floats:
    """Return half the mean squared distance between the points of each of a few clusters.

    membership, means : (n, m) float64
        The weight of each point in its cluster; its mean squared distance to the points of each.
    """
    halves: Floats = (membership * means).sum(axis=0) / (2.0 * point_weights)
    return halves


@kernel
def aggregate_squares(children: Ints, squared_heights: Floats, aggregates: Floats) -> None:
    """Fill the aggregates, (…, 4), in and out, of all merges; those of leaves are given."""
    n_points = children.shape[0] + 1
    for e in range(n_points - 1):
        prefetch_children(aggregates, children, e, n_points)
        x = aggregates[row_of(children[e, 0], n_points, aggregates)]
        y = aggregates[row_of(children[e, 1], n_points, aggregates)]
        out = aggregates[row_of(n_points + e, n_points, aggregates)]
        up_x, up_y = squared_heights[e] * y[WEIGHT], squared_heights[e] * x[WEIGHT]
        out[WEIGHT] = x[WEIGHT] + y[WEIGHT]
        out[T_SUM] = (x[T_SUM] + y[T_SUM]) + 2.0 * squared_heights[e] * (x[WEIGHT] * y[WEIGHT])
        out[T_MIN] = min(x[T_MIN] + up_x, y[T_MIN] + up_y)
        out[T_MAX] = max(x[T_MAX] + up_x, y[T_MAX] + up_y)


@kernel_part
def half_spreads(
    count: int,
    node: Ints,
    label: Labels,
    aggregates: Floats,
    n_points: int,
    sums: Floats,
    point_weights: Floats,
    halves: Floats,
) -> None:
    """Fill halves, (k,), with half the mean squared distance between the points of each cluster."""
    k = halves.shape[0]
    for a in range(k):
        halves[a] = 0.0
    for x in range(count):
        b = label[x]
        if b != MIXED and b < k:
            properties = aggregates[row_of(node[x], n_points, aggregates)]
            halves[b] += properties[WEIGHT] * sums[x, b] + properties[T_SUM]
    for a in range(k):
        halves[a] /= 2.0 * point_weights[a] * point_weights[a]


@kernel_part
def nearest_other(sums: Floats, point_weights: Floats, halves: Floats, b: int) -> int:
    """Return the nearest cluster other than b, the same for all points below a node.

    A tie goes to the first; -1 where there is no other.
    """
    best = -1
    best_distance = np.inf
    for a in range(point_weights.shape[0]):
        if a != b:
            distance = sums[a] / point_weights[a] - halves[a]
            if best < 0 or distance < best_distance - TIE * (abs(distance) + halves[a]):
                best = a
                best_distance = distance
    return best


@kernel_part
def decide(
    properties: Floats,
    outside: float,
    weight: float,
    half: float,
    to_other: float,
    b: int,
    other: int,
    is_leaf: bool,
) -> int:
    """Return where the points below a node of cluster b belong; MIXED if they may differ.

    outside : float
        Their squared distance to the centre of b, less the part from points below the node.
    weight, half : float
        The weight of b and half the mean squared distance of its points.
    to_other, other : float, int
        The nearest other cluster and its distance; -1 and infinite where there is none.
    """
    nearest = outside + properties[T_MIN] / weight
    farthest = outside + properties[T_MAX] / weight
    tie = TIE * (abs(farthest) + 2.0 * half)
    if farthest < to_other - tie:
        return b
    if nearest > to_other + tie:
        return other
    if is_leaf or nearest == farthest:
        return min(b, other)
    return MIXED


@kernel
def assign_embedded(
    children: Ints,
    squared_heights: Floats,
    aggregates: Floats,
    count: int,
    node: Ints,
    label: Labels,
    first: Ints,
    second: Ints,
    sums: Floats,
    members: Floats,
    old_weights: Floats,
    halves: Floats,
    stack_node: Ints,
    stack_own: Floats,
    node_labels: Labels,
    opened: Ints,
    point_weights: Floats,
    inertia: Floats,
    move: bool,
    single: bool,
) -> bool:
    """Move every point to the nearest centre of the assignment in the view.

    Arguments as for assign_rows: the tree, the view, scratch, node_labels in and out, weights and
    inertia out. Returns whether any point moved.
    """
    n_points = children.shape[0] + 1
    k = sums.shape[1]
    members_and_distances(
        count,
        node,
        label,
        first,
        second,
        squared_heights,
        aggregates,
        n_points,
        single,
        members,
        sums,
    )
    for a in range(k):
        old_weights[a] = members[0, a]
        point_weights[a] = 0.0
    half_spreads(count, node, label, aggregates, n_points, sums, old_weights, halves)
    changed, n_opened, total = False, np.int64(0), 0.0
    for x in range(count):
        b = label[x]
        if b == MIXED:
            continue
        other = nearest_other(sums[x], old_weights, halves, b) if move else -1
        to_other = np.inf
        if other >= 0:
            to_other = sums[x, other] / old_weights[other] - halves[other]
        depth = 0
        stack_node[0] = node[x]
        stack_own[0] = sums[x, b] if b < k else 0.0
        while depth >= 0:
            v, own = stack_node[depth], stack_own[depth]
            properties = aggregates[row_of(v, n_points, aggregates)]
            weight, winner = properties[WEIGHT], other
            if b < k:
                winner = decide(
                    properties,
                    own / old_weights[b] - halves[b],
                    old_weights[b],
                    halves[b],
                    to_other,
                    b,
                    other,
                    v < n_points,
                )
            if winner == MIXED:
                node_labels[v] = MIXED
                opened[n_opened] = v
                n_opened += 1
                e = v - n_points
                y, z = children[e, 0], children[e, 1]
                weight_y = aggregates[row_of(y, n_points, aggregates), WEIGHT]
                weight_z = aggregates[row_of(z, n_points, aggregates), WEIGHT]
                if weight_y < weight_z:
                    y, z, weight_y, weight_z = z, y, weight_z, weight_y
                stack_node[depth], stack_node[depth + 1] = y, z
                stack_own[depth] = own + squared_heights[e] * weight_z
                stack_own[depth + 1] = own + squared_heights[e] * weight_y
                depth += 1
                continue
            node_labels[v] = winner
            changed = changed or winner != b
            point_weights[winner] += weight
            if winner == b:
                total += (weight * own + properties[T_SUM]) / old_weights[b] - weight * halves[b]
            else:
                total += weight * to_other
            depth -= 1
    fold_siblings(children, node_labels, opened, n_opened, node, count)
    inertia[0] = total
    return changed


@kernel
def squared_row(
    children: Ints,
    squared_heights: Floats,
    parents: Ints,
    starts: Ints,
    sizes: Ints,
    leaf_order: Ints,
    point: int,
    out: Floats,
) -> None:
    """Fill out, (n,), with the squared transitive distances to one point."""
    n_points = children.shape[0] + 1
    out[point] = 0.0
    v = point
    while parents[v] >= 0:
        e = parents[v] - n_points
        y = children[e, 1] if children[e, 0] == v else children[e, 0]
        for p in range(starts[y], starts[y] + sizes[y]):
            out[leaf_order[p]] = squared_heights[e]
        v = parents[v]
