"""An assignment of points to clusters, held as the few nodes of the tree that are undivided.

``node_labels[v]`` is the cluster of all points below node v, or MIXED where they differ. The
*frontier* are the highest nodes that are not mixed; below it node_labels means nothing. In a
Lloyd step only the frontier and the mixed nodes above it are looked at, listed parents first in
a *view*, so its cost does not depend on the number of points.
"""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import AHEAD, kernel, kernel_part, prefetch
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.ultrametric.node_labels import MIXED

# The first column of every objective's aggregates: the weight of the points below a node.
WEIGHT = 0
# Deep enough for a stack on which the larger of two nodes always lies below the smaller, where
# every point has the weight 1.
STACK = 72


class View:
    """The mixed nodes and the frontier of an assignment, with the buffers of a Lloyd step.

    Attributes
    ----------
    node, label : (capacity,) int64 and int32
        The nodes, parents before children, and their labels.
    first, second : (capacity,) int64
        Where the children of a mixed node stand in the view.
    mean, spread, outside : (capacity, n_clusters) float64
        What a step computes for each node and cluster.
    own : (capacity,) float64
        What it computes for a frontier node and its own cluster.
    opened : (n_points - 1,) int64
        Scratch: the nodes that a step opens.
    count : int
        The number of nodes in the view.
    """

    def __init__(self, n_points: int, n_clusters: int, largest: int | None = None) -> None:
        self.n_points = n_points
        self.n_clusters = n_clusters
        # Beyond this a view would need more than a few times the tree's own memory.
        self.largest = max(max(1 << 21, 2 * n_points) // n_clusters, 1)
        if largest is not None:
            self.largest = min(self.largest, largest)
        self.count = 0
        # The nodes that a step opens.
        self.opened = np.empty(max(n_points - 1, 1), dtype=np.int64)
        self._allocate(min(2 * n_points - 1, self.largest, 256))

    def _allocate(self, capacity: int) -> None:
        self.node = np.empty(capacity, dtype=np.int64)
        self.label = np.empty(capacity, dtype=np.int32)
        self.first = np.empty(capacity, dtype=np.int64)
        self.second = np.empty(capacity, dtype=np.int64)
        self.own = np.empty(capacity)
        self.mean, self.spread, self.outside = (
            np.empty((capacity, self.n_clusters)) for _ in range(3)
        )

    def collect(self, children: Ints, node_labels: Labels) -> bool:
        """List the nodes of an assignment; return False where they are too many for a view."""
        while True:
            self.count = collect_view(
                children, node_labels, self.node, self.label, self.first, self.second
            )
            if self.count >= 0:
                return True
            capacity = len(self.node)
            if capacity >= min(self.largest, 2 * self.n_points - 1):
                return False
            self._allocate(min(4 * capacity, self.largest, 2 * self.n_points - 1))


@kernel
def collect_view(
    children: Ints, node_labels: Labels, node: Ints, label: Labels, first: Ints, second: Ints
) -> int:
    """Fill the view from the root down; return its size, or -1 where the buffers are too short."""
    n_points = children.shape[0] + 1
    node[0] = 2 * n_points - 2
    count, x = 1, 0
    while x < count:
        v = node[x]
        label[x] = node_labels[v]
        if label[x] == MIXED:
            if count + 2 > node.shape[0]:
                return -1
            first[x] = count
            second[x] = count + 1
            node[count] = children[v - n_points, 0]
            node[count + 1] = children[v - n_points, 1]
            count += 2
        x += 1
    return count


@kernel_part
def row_of(v: int, n_points: int, aggregates: Floats) -> int:
    """Return the row of a node's aggregates.

    Where every point has the weight 1, those of all leaves are the same, in row 0 of n; else each
    node has its own row.
    """
    n_without: int = 2 * n_points - 1 - aggregates.shape[0]
    return max(v - n_without, 0)


@kernel_part
def prefetch_children(aggregates: Floats, children: Ints, e: int, n_points: int) -> None:
    """Ask for the aggregates of the children of a merge that comes a while after merge e."""
    if e + AHEAD < n_points - 1:
        width = aggregates.shape[1]
        prefetch(aggregates, row_of(children[e + AHEAD, 0], n_points, aggregates) * width)
        prefetch(aggregates, row_of(children[e + AHEAD, 1], n_points, aggregates) * width)


@kernel_part
def members_and_distances(
    count: int,
    node: Ints,
    label: Labels,
    first: Ints,
    second: Ints,
    heights: Floats,
    aggregates: Floats,
    n_points: int,
    single: bool,
    members: Floats,
    distances: Floats,
) -> None:
    """Fill, for each node of the view and each cluster, two sums over the cluster's points.

    single : bool
        Whether each cluster is a single point. It then counts as one, so that its centre is its
        row to the last bit.
    members : (count, k), out
        The weight of those below the node.
    distances : (count, k), out
        The sum of distances from any one point below the node to those not below it, each times
        its weight.
    """
    k = members.shape[1]
    for x in range(count - 1, -1, -1):
        if label[x] == MIXED:
            for a in range(k):
                members[x, a] = members[first[x], a] + members[second[x], a]
        else:
            for a in range(k):
                members[x, a] = 0.0
            if label[x] < k:
                weight = aggregates[row_of(node[x], n_points, aggregates), WEIGHT]
                members[x, label[x]] = 1.0 if single else weight
    for a in range(k):
        distances[0, a] = 0.0
    for x in range(count):
        if label[x] == MIXED:
            h = heights[node[x] - n_points]
            for a in range(k):
                distances[first[x], a] = distances[x, a] + h * members[second[x], a]
                distances[second[x], a] = distances[x, a] + h * members[first[x], a]


@kernel_part
def fold_siblings(
    children: Ints, node_labels: Labels, opened: Ints, n_opened: int, view: Ints, count: int
) -> None:
    """Give a mixed node the label of its children where they now agree, from below."""
    n_points = children.shape[0] + 1
    for s in range(n_opened + count - 1, -1, -1):
        v = opened[s - count] if s >= count else view[s]
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
    node_labels[:] = points.shape[0]
    for a in range(points.shape[0]):
        v = points[a]
        node_labels[v] = a
        v = parents[v]
        while v >= 0 and node_labels[v] != MIXED:
            node_labels[v] = MIXED
            v = parents[v]


@kernel
def label_points(
    count: int,
    node: Ints,
    label: Labels,
    starts: Ints,
    sizes: Ints,
    leaf_order: Ints,
    point_labels: Labels,
) -> None:
    """Fill the labels of the points, (n,), from a view."""
    for x in range(count):
        if label[x] != MIXED:
            for p in range(starts[node[x]], starts[node[x]] + sizes[node[x]]):
                point_labels[leaf_order[p]] = label[x]
