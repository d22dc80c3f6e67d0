"""An assignment of points to clusters, held as the few nodes of the tree that lie in one cluster.

``node_labels[v]`` is the cluster of all points below node v, or MIXED where they differ. The
*frontier* is made of the highest nodes that are not mixed; below it node_labels means nothing. A
Lloyd step looks at the frontier and at the mixed nodes above it only, so its cost does not depend
on the number of points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kmeans.aggregates import TreeArrays, weight_of
from isthmus.ultrametric.node_labels import MIXED

# Frontier nodes that there are arrays for at first.
_FEW = 256


class Frontier(NamedTuple):
    """The frontier of an assignment and the mixed nodes above it, parents before children.

    Attributes
    ----------
    node : (count,) int64
    label : (count,) int32
        The cluster of each node, or MIXED.
    first : (count,) int64
        The position of a mixed node's first child in these arrays; the second one follows it.
    weight : (count,) float64
        The weight of the points below each node.
    height : (count,) float64
        The height of each mixed node.
    """

    node: Ints
    label: Labels
    first: Ints
    weight: Floats
    height: Floats


class Assigned(NamedTuple):
    """What a Lloyd step writes.

    Attributes
    ----------
    node_labels : (2n - 1,) int32
    weights : (k,) float64
        The weight of each cluster after the step.
    expanded : (n - 1,) int64
        Scratch: the nodes that the step expands.
    changed : (1,) bool
        Whether any point moved.
    """

    node_labels: Labels
    weights: Floats
    expanded: Ints
    changed: Array

    @classmethod
    def empty(cls, n_points: int, n_clusters: int) -> Assigned:
        """Return uninitialised arrays."""
        return cls(
            np.empty(2 * n_points - 1, dtype=np.int32),
            np.empty(n_clusters),
            np.empty(n_points - 1, dtype=np.int64),
            np.empty(1, dtype=np.bool_),
        )


class FrontierBuffers:
    """Arrays for the frontiers of one run, reused from step to step and enlarged where needed.

    Attributes
    ----------
    tables : (3, capacity, n_clusters) float64
        Scratch for a number per node and cluster, three times.
    own : (capacity,) float64
        Scratch for a number per node.
    """

    def __init__(self, n_points: int, n_clusters: int, largest: int | None = None) -> None:
        self.n_clusters = n_clusters
        # A larger frontier would need more than a few times the tree's own memory.
        most = max(max(1 << 21, 2 * n_points) // n_clusters, 1)
        self.largest = min(2 * n_points - 1, most, most if largest is None else largest)
        self._allocate(min(self.largest, _FEW))

    def _allocate(self, capacity: int) -> None:
        self._frontier = empty_frontier(capacity)
        self.own = np.empty(capacity)
        self.tables = np.empty((3, capacity, self.n_clusters))

    def collect(self, tree: TreeArrays, node_labels: Labels) -> Frontier | None:
        """Return the frontier of an assignment; None where it is larger than allowed."""
        while (count := collect_frontier(tree, node_labels, self._frontier)) < 0:
            if len(self.own) == self.largest:
                return None
            self._allocate(min(4 * len(self.own), self.largest))
        return Frontier._make(column[:count] for column in self._frontier)


def empty_frontier(capacity: int) -> Frontier:
    """Return uninitialised arrays for a frontier."""
    node, first = np.empty((2, capacity), dtype=np.int64)
    weight, height = np.empty((2, capacity))
    return Frontier(node, np.empty(capacity, dtype=np.int32), first, weight, height)


def frontier_of(tree: TreeArrays, labels: Labels) -> tuple[Labels, Frontier]:
    """Return the labels of all nodes, (2n - 1,), and the frontier, given those of the points."""
    node_labels = np.empty(2 * len(labels) - 1, dtype=np.int32)
    label_nodes(tree.children, labels, node_labels)
    frontier = empty_frontier(2 * int(np.count_nonzero(node_labels == MIXED)) + 1)
    collect_frontier(tree, node_labels, frontier)
    return node_labels, frontier


def with_labels_from(frontier: Frontier, start: int, stop: int) -> Frontier:
    """Return a frontier with clusters start … stop - 1 numbered from 0, and others stop - start."""
    label = frontier.label
    inside = (label >= start) & (label < stop)
    others = np.where(label == MIXED, MIXED, stop - start)
    return frontier._replace(label=np.where(inside, label - start, others).astype(np.int32))


@kernel
def collect_frontier(tree: TreeArrays, node_labels: Labels, out: Frontier) -> int:
    """Fill a frontier from the root down; return its size, or -1 where the arrays are too short."""
    n_points = tree.children.shape[0] + 1
    out.node[0] = 2 * n_points - 2
    count, x = 1, 0
    while x < count:
        v = out.node[x]
        out.label[x] = node_labels[v]
        out.weight[x] = weight_of(tree, v)
        if out.label[x] == MIXED:
            if count + 2 > out.node.shape[0]:
                return -1
            out.height[x] = tree.heights[v - n_points]
            out.first[x] = count
            out.node[count] = tree.children[v - n_points, 0]
            out.node[count + 1] = tree.children[v - n_points, 1]
            count += 2
        x += 1
    return count


@kernel_part
def members_and_distances(
    frontier: Frontier, single: bool, members: Floats, distances: Floats
) -> None:
    """Fill, for each node of a frontier and each cluster, two sums over the cluster's points.

    single : bool
        Whether each cluster is a single point. It then counts as one, so that its centre is its
        row to the last bit.
    members : (count, k), out
        The weight of those below the node.
    distances : (count, k), out
        The sum of distances from any one point below the node to those not below it, each times
        its weight.
    """
    label, first = frontier.label, frontier.first
    k = members.shape[1]
    for x in range(label.shape[0] - 1, -1, -1):
        if label[x] == MIXED:
            y = first[x]
            for a in range(k):
                members[x, a] = members[y, a] + members[y + 1, a]
        else:
            for a in range(k):
                members[x, a] = 0.0
            if label[x] < k:
                members[x, label[x]] = 1.0 if single else frontier.weight[x]
    for a in range(k):
        distances[0, a] = 0.0
    for x in range(label.shape[0]):
        if label[x] == MIXED:
            y, h = first[x], frontier.height[x]
            for a in range(k):
                distances[y, a] = distances[x, a] + h * members[y + 1, a]
                distances[y + 1, a] = distances[x, a] + h * members[y, a]


@kernel_part
def fold_siblings(children: Ints, frontier: Frontier, assigned: Assigned, n_expanded: int) -> None:
    """Give a mixed node the label of its children where they now agree, from below."""
    n_points = children.shape[0] + 1
    count, node_labels = frontier.node.shape[0], assigned.node_labels
    for s in range(n_expanded + count - 1, -1, -1):
        v = assigned.expanded[s - count] if s >= count else frontier.node[s]
        if node_labels[v] == MIXED:
            label = node_labels[children[v - n_points, 0]]
            if label == node_labels[children[v - n_points, 1]]:
                node_labels[v] = label


@kernel
def label_nodes(children: Ints, point_labels: Labels, node_labels: Labels) -> None:
    """Fill node_labels, (2n - 1,), from the labels of the points."""
    n_points = children.shape[0] + 1
    for i in range(n_points):
        node_labels[i] = point_labels[i]
    for e in range(n_points - 1):
        label = node_labels[children[e, 0]]
        node_labels[n_points + e] = label if label == node_labels[children[e, 1]] else MIXED


@kernel
def label_single_points(parents: Ints, points: Ints, node_labels: Labels) -> None:
    """Make points[a] the only member of cluster a; all else belongs to no cluster, numbered k."""
    for v in range(node_labels.shape[0]):
        node_labels[v] = points.shape[0]
    for a in range(points.shape[0]):
        v = points[a]
        node_labels[v] = a
        v = parents[v]
        while v >= 0 and node_labels[v] != MIXED:
            node_labels[v] = MIXED
            v = parents[v]
