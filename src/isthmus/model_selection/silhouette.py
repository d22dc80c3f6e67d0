"""UltrametricTree and labels → how well each point sits in its cluster, without the matrix.

The silhouette of a point compares a, its mean distance to the others of its own cluster, with b,
the smallest of its mean distances to the other clusters: (b - a) / max(a, b), from -1 to 1. All
points below an undivided node of the tree (see frontier.py) have the same b, and their sums of
distances within the cluster differ only by what lies below the node. So sums per cluster are
needed on the few nodes of the frontier alone, and one more pass down gives each point its own. For
their mean even that is rarely needed: where all points of a node have a ≤ b, it is known from the
sum of distances below the node.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.parallel import chunks
from isthmus._utils.parameters import coded_labels
from isthmus._utils.rounding import in_range, unit_of
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.cut.divisive import INFINITE
from isthmus.kmeans.aggregates import TreeArrays
from isthmus.kmeans.frontier import Frontier, frontier_of
from isthmus.metrics.validation import check_sample_weight
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.matvec import sums_below
from isthmus.ultrametric.merges import CHUNK
from isthmus.ultrametric.node_labels import MIXED
from isthmus.ultrametric.tree import check_tree

# Sums per cluster take at most so many numbers at a time, or as many as the tree has nodes.
_AT_ONCE = 1 << 21


@overload
def transitive_silhouette(
    tree: UltrametricTree,
    labels: Any,
    *,
    sample_weight: Any = ...,
    per_point: Literal[False] = ...,
) -> float: ...


@overload
def transitive_silhouette(
    tree: UltrametricTree, labels: Any, *, sample_weight: Any = ..., per_point: Literal[True]
) -> Floats: ...


def transitive_silhouette(
    tree: UltrametricTree, labels: Any, *, sample_weight: Any = None, per_point: bool = False
) -> float | Floats:
    """Return the silhouette of a labelling by transitive distances, in O(n) memory.

    It is scikit-learn's ``silhouette_score`` (or ``silhouette_samples``) of the dense distance
    matrix, without the matrix. For each point, with a its mean distance to the others of its
    cluster and b the smallest of its mean distances to the other clusters, it is
    ``(b - a) / max(a, b)``; 0 for the only point of a cluster, and where a and b are both 0.

    Parameters
    ----------
    tree : UltrametricTree
    labels : array-like of shape (n_points,)
        The cluster of each point: integers or strings, of at least two clusters.
    sample_weight : array-like of shape (n_points,), optional
        How many equal points each one stands for, above 0. Whole numbers give what so many copies
        of the points would give. A point of a weight below 1 has no copies of itself, and counts
        for less in the means.
    per_point : bool, default=False
        Whether to return the value of each point in place of the mean.

    Returns
    -------
    float, or ndarray of shape (n_points,)
        From -1 to 1. Where points are infinitely far apart it is the limit of growing distances.

    Notes
    -----
    O(n + k v) time, v being the number of nodes above which the tree is divided between clusters:
    few for clusters that are whole branches or nearly so, at most 2n - 1 for any labels.

    Examples
    --------
    >>> from isthmus import UltrametricTree, transitive_silhouette
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [7.0]])
    >>> transitive_silhouette(tree, [0, 0, 1, 1])
    0.625
    """
    check_tree(tree)
    clusters, codes = coded_labels(labels, tree.n_points)
    point_weights = check_sample_weight(sample_weight, tree.n_points)
    if point_weights is not None and not point_weights.all():
        raise ValueError(
            f"sample_weight must be above 0, but that of point {int(point_weights.argmin())} is 0. "
            "A point that does not count is left out of the tree, as a fit does."
        )
    if len(clusters) < 2:
        raise ValueError(
            "A silhouette compares a cluster with others, so labels must be of at least two "
            "clusters; got one."
        )
    silhouette = Silhouette(tree, point_weights)
    wanted = silhouette.of_points if per_point else silhouette.mean
    return wanted(codes.astype(np.int32), len(clusters))


class Silhouette:
    """A tree made ready for the silhouettes of any number of labellings.

    Parameters
    ----------
    tree : UltrametricTree
    point_weights : (n,) float64, optional
        How many points each one stands for, above 0; one, where not given.
    """

    def __init__(self, tree: UltrametricTree, point_weights: Floats | None = None) -> None:
        self.tree = tree
        # Ratios only: scaled by powers of two, nothing overflows. In the place of infinity stands
        # a number beside which all others vanish, which gives the limit.
        self.heights: Floats = np.minimum(tree.heights / unit_of(tree.heights), INFINITE)
        self.heights.flags.writeable = False  # as those of other trees: kernels see one type
        self.point_weights, unit = in_range(point_weights)
        self.one = 1.0 / unit
        if self.point_weights is None:
            self.node_weights: Floats = tree.sizes.astype(np.float64)
        else:
            self.node_weights = sums_below(tree.children, self.point_weights[:, None])[:, 0]

    @cached_property
    def sums_below(self) -> Floats:
        """The sum of all distances below each node, and the largest of one point: (2n - 1, 2).

        Each distance is counted once for either end, times the weights of both; for one point, by
        those of the others.
        """
        sums = np.zeros((2 * self.tree.n_points - 1, 2))
        for start, stop in chunks(self.tree.n_points - 1, CHUNK):
            sum_distances_below(
                self.tree.children, self.heights, self.node_weights, sums, start, stop
            )
        return sums

    def of_points(self, labels: Labels, n_clusters: int) -> Floats:
        """Return the silhouette of each point: (n,).

        labels : (n,) int32
            From 0 to n_clusters - 1, all of which occur; at least two.
        """
        tree, n_points = self.tree, self.tree.n_points
        node_labels, frontier = self._frontier(labels)
        inside = np.empty(2 * n_points - 1)
        nearest = self._sums_in_frontier(frontier, self._weights_of(labels, n_clusters), inside)
        for start, stop in reversed(list(chunks(n_points - 1, CHUNK))):
            hand_sums_down(
                tree.children, self.heights, self.node_weights, node_labels, inside, start, stop
            )
        others = self._others(labels, n_clusters)
        alone = others == 0.0
        others[alone] = 1.0
        values: Floats = inside[:n_points] / others
        compare_means(frontier, tree.starts, tree.sizes, tree.leaf_order, nearest, values)
        values[alone] = 0.0
        return values

    def mean(self, labels: Labels, n_clusters: int) -> float:
        """Return the mean silhouette, each point counting as often as its weight says."""
        tree = self.tree
        if self.point_weights is not None and self.point_weights.min() < self.one:
            # Points of one cluster differ in how many others they have.
            values = self.of_points(labels, n_clusters)
            return float((values * self.point_weights).sum() / self.point_weights.sum())
        _, frontier = self._frontier(labels)
        inside = np.empty(2 * tree.n_points - 1)
        point_weights = self._weights_of(labels, n_clusters)
        nearest = self._sums_in_frontier(frontier, point_weights, inside)
        sums = np.empty(len(frontier.node))
        stack, stack_inside = np.empty(tree.n_points, dtype=np.int64), np.empty(tree.n_points)
        sum_silhouettes(
            frontier, tree.children, self.heights, self.node_weights, self.sums_below,
            point_weights - min(self.one, 1.0), inside, nearest, stack, stack_inside, sums,
        )  # fmt: skip
        return float(sums.sum() / self.node_weights[-1])

    def _frontier(self, labels: Labels) -> tuple[Labels, Frontier]:
        """Return the label of each node, and the undivided ones with those above them."""
        arrays = TreeArrays(self.tree.children, self.heights, self.node_weights[:, None])
        return frontier_of(arrays, labels)

    def _weights_of(self, labels: Labels, n_clusters: int) -> Floats:
        """Return the weight of each cluster: (n_clusters,)."""
        point_weights = np.bincount(labels, weights=self.point_weights, minlength=n_clusters)
        return point_weights.astype(np.float64)

    def _sums_in_frontier(
        self, frontier: Frontier, point_weights: Floats, inside: Floats
    ) -> Floats:
        """Return the mean distance of each frontier node to the nearest other cluster.

        Fills ``inside`` at these nodes: the sum of distances to points of the same cluster that
        are not below the node.
        """
        k = len(point_weights)
        count = len(frontier.node)
        nearest = np.full(count, np.inf)
        n_at_once = min(k, max(1, max(_AT_ONCE, 2 * self.tree.n_points) // count))
        members, distances = np.empty((2, count, n_at_once))
        for start, stop in chunks(k, n_at_once):
            measure_clusters(
                frontier, point_weights, start, stop, members, distances, nearest, inside
            )
        return nearest

    def _others(self, labels: Labels, n_clusters: int) -> Floats:
        """Return the weight of the others in each point's cluster, its own copies among them."""
        if self.point_weights is None:
            counts = self._weights_of(labels, n_clusters) - min(self.one, 1.0)
            return np.asarray(counts[labels], dtype=np.float64)
        others: Floats = np.maximum(self.point_weights - self.one, 0.0)
        add_others(labels, self.point_weights, np.zeros((2, n_clusters)), others)
        return others


@kernel
def measure_clusters(
    frontier: Frontier,
    point_weights: Floats,
    start: int,
    stop: int,
    members: Floats,
    distances: Floats,
    nearest: Floats,
    inside: Floats,
) -> None:
    """Measure how far frontier nodes are from clusters start … stop - 1.

    Parameters
    ----------
    frontier : in
    point_weights : (k,) float64, in
        The weights of the clusters.
    members, distances : (count, at least stop - start) float64, scratch
        For each node and cluster, the weight of its points below the node, and the sum of distances
        from any one point below the node to those that are not.
    nearest : (count,) float64, in and out
        The smallest mean distance of an undivided node to another cluster.
    inside : (2n - 1,) float64, in and out
        By node: the sum of distances to the others of its own cluster.
    """
    node, label, first = frontier.node, frontier.label, frontier.first
    k = stop - start
    for x in range(node.shape[0] - 1, -1, -1):
        for a in range(k):
            if label[x] == MIXED:
                members[x, a] = members[first[x], a] + members[first[x] + 1, a]
            else:
                members[x, a] = frontier.weight[x] if label[x] == start + a else 0.0
    distances[0, :k] = 0.0
    for x in range(node.shape[0]):
        if label[x] == MIXED:
            y, h = first[x], frontier.height[x]
            for a in range(k):
                distances[y, a] = distances[x, a] + h * members[y + 1, a]
                distances[y + 1, a] = distances[x, a] + h * members[y, a]
        else:
            for a in range(k):
                if start + a == label[x]:
                    inside[node[x]] = distances[x, a]
                else:
                    nearest[x] = min(nearest[x], distances[x, a] / point_weights[start + a])


@kernel
def hand_sums_down(
    children: Ints,
    heights: Floats,
    node_weights: Floats,
    node_labels: Labels,
    inside: Floats,
    start: int,
    stop: int,
) -> None:
    """Fill ``inside`` below undivided nodes, for the children of merges stop - 1 … start.

    inside : (2n - 1,) float64, in and out
        The sum of distances from a point below a node to those of its cluster that are not.
    """
    n_points = children.shape[0] + 1
    for e in range(stop - 1, start - 1, -1):
        v = n_points + e
        if node_labels[v] != MIXED:
            x, y = children[e, 0], children[e, 1]
            inside[x] = inside[v] + heights[e] * node_weights[y]
            inside[y] = inside[v] + heights[e] * node_weights[x]


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
    node, label = frontier.node, frontier.label
    for x in range(node.shape[0]):
        if label[x] == MIXED:
            continue
        for p in range(starts[node[x]], starts[node[x]] + sizes[node[x]]):
            own = values[leaf_order[p]]
            larger = max(own, nearest[x])
            values[leaf_order[p]] = (nearest[x] - own) / larger if larger > 0.0 else 0.0


@kernel
def sum_distances_below(
    children: Ints, heights: Floats, node_weights: Floats, sums: Floats, start: int, stop: int
) -> None:
    """Fill sums, (2n - 1, 2), in and out, for merges start … stop - 1: see ``sums_below``."""
    n_points = children.shape[0] + 1
    for e in range(start, stop):
        x, y = children[e, 0], children[e, 1]
        to_x, to_y = heights[e] * node_weights[y], heights[e] * node_weights[x]
        sums[n_points + e, 0] = (sums[x, 0] + sums[y, 0]) + 2.0 * node_weights[x] * to_x
        sums[n_points + e, 1] = max(sums[x, 1] + to_x, sums[y, 1] + to_y)


@kernel
def sum_silhouettes(
    frontier: Frontier,
    children: Ints,
    heights: Floats,
    node_weights: Floats,
    sums_below: Floats,
    others: Floats,
    inside: Floats,
    nearest: Floats,
    stack: Ints,
    stack_inside: Floats,
    sums: Floats,
) -> None:
    """Fill the sum of silhouettes below each frontier node, (count,); 0 for others.

    Parameters
    ----------
    others : (k,) float64, in
        The weight of the other points in each cluster, for any one of its points.
    inside, nearest : in
        As of ``measure_clusters``.
    stack, stack_inside : (n,) int64 and float64, scratch
        Nodes that are still to be summed up, and what ``inside`` is for them.
    """
    n_points = children.shape[0] + 1
    node, label = frontier.node, frontier.label
    for x in range(node.shape[0]):
        sums[x] = 0.0
        if label[x] == MIXED or others[label[x]] <= 0.0:
            continue
        n_others, b = others[label[x]], nearest[x]
        stack[0], stack_inside[0] = node[x], inside[node[x]]
        height = 1
        while height > 0:
            height -= 1
            v, outside = stack[height], stack_inside[height]
            weight = node_weights[v]
            largest = (outside + sums_below[v, 1]) / n_others
            if largest <= b and b > 0.0:
                sums[x] += weight - (weight * outside + sums_below[v, 0]) / (n_others * b)
            elif v < n_points:
                sums[x] += weight * (b / largest - 1.0) if largest > 0.0 else 0.0
            else:
                first, second = children[v - n_points, 0], children[v - n_points, 1]
                h = heights[v - n_points]
                stack[height], stack[height + 1] = first, second
                stack_inside[height] = outside + h * node_weights[second]
                stack_inside[height + 1] = outside + h * node_weights[first]
                height += 2


@kernel
def add_others(labels: Labels, point_weights: Floats, sums: Floats, others: Floats) -> None:
    """Add to each point, (n,), the weight of the other points in its cluster.

    Added up from both ends: the weight of a cluster, less that of a point which is almost all of
    it, would be nothing but rounding errors.

    sums : (2, k) float64, zero on entry, scratch
    """
    n_points = labels.shape[0]
    for i in range(n_points):
        j = n_points - 1 - i
        others[i] += sums[0, labels[i]]
        others[j] += sums[1, labels[j]]
        sums[0, labels[i]] += point_weights[i]
        sums[1, labels[j]] += point_weights[j]
