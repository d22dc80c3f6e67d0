"""Kernels of the silhouette: sums of distances on the frontier, below it, and of silhouettes.

The aggregates of a node are the weight of the points below it; the sum of all distances between
them, each counted once for either end, times the weights of both; and the largest sum of distances
of one of them to the others, times their weights.
"""

from __future__ import annotations

from typing import NamedTuple

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.kmeans.aggregates import TreeArrays
from isthmus.kmeans.frontier import Frontier, members_and_distances
from isthmus.ultrametric.node_labels import MIXED

WEIGHT, TOTAL, LARGEST = range(3)


class MeanDistances(NamedTuple):
    """The distances of frontier nodes to clusters: (count,) float64 each.

    Attributes
    ----------
    nearest : the smallest mean distance to another cluster
    inside : the sum of distances from any point below the node to those of its cluster that are not
    """

    nearest: Floats
    inside: Floats


class Stack(NamedTuple):
    """Nodes still to be summed, and their sums ``inside``: (n,) int64 and float64."""

    node: Ints
    inside: Floats


@kernel
def fill_aggregates(tree: TreeArrays, start: int, stop: int) -> None:
    """Fill the aggregates of merges start … stop - 1; leaves have a weight, and otherwise zeros."""
    n_points = tree.children.shape[0] + 1
    sums = tree.aggregates
    for e in range(start, stop):
        v, x, y = n_points + e, tree.children[e, 0], tree.children[e, 1]
        to_x, to_y = tree.heights[e] * sums[y, WEIGHT], tree.heights[e] * sums[x, WEIGHT]
        sums[v, WEIGHT] = sums[x, WEIGHT] + sums[y, WEIGHT]
        sums[v, TOTAL] = (sums[x, TOTAL] + sums[y, TOTAL]) + 2.0 * sums[x, WEIGHT] * to_x
        sums[v, LARGEST] = max(sums[x, LARGEST] + to_x, sums[y, LARGEST] + to_y)


@kernel
def measure_clusters(
    frontier: Frontier, weights: Floats, members: Floats, distances: Floats, out: MeanDistances
) -> None:
    """Measure how far frontier nodes are from k clusters.

    frontier : in
        Labels from 0 to k - 1 are those of the clusters.
    weights : (k,) float64, in
    members, distances : (count, k) float64, scratch
        See members_and_distances.
    out : in and out
        ``nearest`` is lowered, ``inside`` filled for the nodes of these clusters.
    """
    members_and_distances(frontier, False, members, distances)
    for x in range(frontier.label.shape[0]):
        if frontier.label[x] != MIXED:
            for a in range(weights.shape[0]):
                if a == frontier.label[x]:
                    out.inside[x] = distances[x, a]
                else:
                    out.nearest[x] = min(out.nearest[x], distances[x, a] / weights[a])


@kernel
def propagate_inside(
    tree: TreeArrays, weights: Floats, node_labels: Labels, inside: Floats, start: int, stop: int
) -> None:
    """Fill ``inside``, (2n - 1,), below the frontier, for the children of merges stop - 1 … start.

    It is the sum of distances from a point below a node to those of its cluster that are not.

    weights : (2n - 1,) float64, in
        The weight of the points below each node.
    """
    n_points = tree.children.shape[0] + 1
    for e in range(stop - 1, start - 1, -1):
        v, x, y = n_points + e, tree.children[e, 0], tree.children[e, 1]
        if node_labels[v] != MIXED:
            inside[x] = inside[v] + tree.heights[e] * weights[y]
            inside[y] = inside[v] + tree.heights[e] * weights[x]


@kernel
def compare_means(
    frontier: Frontier,
    starts: Ints,
    sizes: Ints,
    leaf_order: Ints,
    nearest: Floats,
    values: Floats,
) -> None:
    """Turn mean distances within the cluster, (n,), into silhouettes, in place."""
    for x in range(frontier.node.shape[0]):
        if frontier.label[x] != MIXED:
            v, b = frontier.node[x], nearest[x]
            for p in range(starts[v], starts[v] + sizes[v]):
                own = values[leaf_order[p]]
                larger = max(own, b)
                values[leaf_order[p]] = (b - own) / larger if larger > 0.0 else 0.0


@kernel
def sum_silhouettes(
    tree: TreeArrays,
    frontier: Frontier,
    others: Floats,
    measured: MeanDistances,
    stack: Stack,
    sums: Floats,
) -> None:
    """Fill the sum of silhouettes below each frontier node, (count,); 0 for mixed nodes.

    others : (k,) float64, in
        The weight of the other points in each cluster, for any one of its points.
    """
    n_points = tree.children.shape[0] + 1
    for x in range(frontier.node.shape[0]):
        sums[x] = 0.0
        label = frontier.label[x]
        if label == MIXED or others[label] <= 0.0:
            continue
        n_others, b = others[label], measured.nearest[x]
        stack.node[0], stack.inside[0] = frontier.node[x], measured.inside[x]
        height = 1
        while height > 0:
            height -= 1
            v, inside = stack.node[height], stack.inside[height]
            below = tree.aggregates[v]
            largest = (inside + below[LARGEST]) / n_others
            if largest <= b and b > 0.0:
                weight = below[WEIGHT]
                sums[x] += weight - (weight * inside + below[TOTAL]) / (n_others * b)
            elif v < n_points:
                sums[x] += below[WEIGHT] * (b / largest - 1.0) if largest > 0.0 else 0.0
            else:
                h = tree.heights[v - n_points]
                for side in range(2):
                    child, sibling = (
                        tree.children[v - n_points, side],
                        tree.children[v - n_points, 1 - side],
                    )
                    stack.node[height] = child
                    stack.inside[height] = inside + h * tree.aggregates[sibling, WEIGHT]
                    height += 1


@kernel
def add_others(labels: Labels, point_weights: Floats, sums: Floats, others: Floats) -> None:
    """Add to each point, (n,), the weight of the other points in its cluster.

    Summed from both ends: the weight of a cluster less that of a point which is almost all of it
    would consist of rounding errors.

    sums : (2, k) float64, zero on entry, scratch
    """
    n_points = labels.shape[0]
    for i in range(n_points):
        j = n_points - 1 - i
        others[i] += sums[0, labels[i]]
        others[j] += sums[1, labels[j]]
        sums[0, labels[i]] += point_weights[i]
        sums[1, labels[j]] += point_weights[j]
