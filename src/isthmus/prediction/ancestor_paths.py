"""Attachment edges of a new point → segments of ancestor paths, whose sums are known.

Let A be the highest node above the end of an attachment edge that is not higher than the edge is
long. All points below A are as far from the new point as the edge is long. Every other point is as
far as the lowest merge is high that joins it with one of the nodes A. So the distances of a new
point to all points are made up of

- the *nodes* A, each with the length of its edge, and
- *segments* of the ancestor paths from there, on which each merge adds the points of its other
  side.

At a merge where two ancestor paths meet, both sides are known: a segment ends below it, and the
next one begins there.

An ancestor path can be as long as the tree has points, so none is walked step by step: each node
knows its parent and an ancestor further up, chosen so that any ancestor is O(log n) steps away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import announced_kernel, kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints, Labels, index_type
from isthmus.prediction.attachments import Attachments
from isthmus.ultrametric import UltrametricTree

PARENT, JUMP = 0, 1
# In place of the upper end of a segment: it is a node.
NODE = -1
# A new point with more attachment edges than these is better served by its row of distances.
MOST_EDGES = 64
TOO_MANY = -1


class Ancestry(NamedTuple):
    """A tree with pointers to ancestors.

    Attributes
    ----------
    up : (2n - 1, 2) int32 or int64
        The parent of each node, and an ancestor further up; the root is its own.
    children : (n - 1, 2) int
    heights : (n - 1,) float64
    starts, sizes : (2n - 1,) int32 or int64
        The first position of each node's points in leaf order, and their number.
    """

    up: Array
    children: Ints
    heights: Floats
    starts: Ints
    sizes: Ints

    @classmethod
    def of_tree(cls, tree: UltrametricTree) -> Ancestry:
        """Return a tree with pointers to ancestors."""
        n_nodes = 2 * tree.n_points - 1
        up = np.empty((n_nodes, 2), dtype=index_type(n_nodes))
        fill_ancestors(tree.children, up, np.empty(n_nodes, dtype=up.dtype))
        return cls(up, tree.children, tree.heights, tree.starts, tree.sizes)


class Segments(NamedTuple):
    """The nodes and path segments of new points.

    Attributes
    ----------
    begin : (n_new,) int64
        Where those of each new point begin in the arrays below.
    n_segments : (n_new,) int32
        Their number, or TOO_MANY where a new point has more than MOST_EDGES attachment edges.
    low, high : (3 n_edges,) int64
        A segment: the merges above node ``low`` up to node ``high``, itself included. Or a node,
        ``low``, with NODE in place of ``high``.
    length : (3 n_edges,) float64
        The distance of the points below such a node.
    """

    begin: Ints
    n_segments: Labels
    low: Ints
    high: Ints
    length: Floats

    @classmethod
    def of(cls, attachments: Attachments, ancestry: Ancestry, lengths: Floats) -> Segments:
        """Return the segments of new points.

        lengths : (n_edges,) float64
            The lengths of the attachment edges in the unit of the segments.
        """
        n_new, size = len(attachments), 3 * len(attachments.point)
        low, high = np.empty((2, size), dtype=np.int64)
        n_segments = np.empty(n_new, dtype=np.int32)
        segments = cls(3 * attachments.begin[:-1], n_segments, low, high, np.empty(size))
        begin, point, length = attachments.begin, attachments.point, attachments.length
        positions = np.empty(MOST_EDGES, dtype=np.int64)
        find_segments(ancestry, begin, point, length, lengths, positions, segments)
        return segments


@kernel
def fill_ancestors(children: Ints, up: Array, depth: Array) -> None:
    """Fill the parents and jumps, from the root down. depth, (2n - 1,), is scratch."""
    n_points = children.shape[0] + 1
    root = 2 * n_points - 2
    up[root, PARENT] = up[root, JUMP] = root
    depth[root] = 0
    for e in range(n_points - 2, -1, -1):
        v = n_points + e
        far = up[v, JUMP]
        # As in counting with digits 0, 1 and 2: two jumps of one length become a longer one.
        equal = depth[v] - depth[far] == depth[far] - depth[up[far, JUMP]]
        for side in range(2):
            child = children[e, side]
            depth[child] = depth[v] + 1
            up[child, PARENT] = v
            up[child, JUMP] = up[far, JUMP] if equal else v


@kernel_part
def highest_within(ancestry: Ancestry, v: int, length: float) -> int:
    """Return the highest ancestor of a leaf, or itself, that is not above a length."""
    up, heights = ancestry.up, ancestry.heights
    n_points = heights.shape[0] + 1
    while True:
        parent, far = up[v, PARENT], up[v, JUMP]
        if parent == v or heights[parent - n_points] > length:
            return v
        v = far if heights[far - n_points] <= length else parent


@kernel_part
def holds_none(ancestry: Ancestry, v: int, positions: Ints, n_positions: int) -> bool:
    """Whether no point below a node is at one of some positions in leaf order."""
    start = ancestry.starts[v]
    stop = start + ancestry.sizes[v]
    for i in range(n_positions):  # noqa: SIM110  (compiled)
        if start <= positions[i] < stop:
            return False
    return True


@kernel_part
def highest_apart(ancestry: Ancestry, v: int, positions: Ints, n_positions: int) -> int:
    """Return the highest ancestor of a node, or itself, that holds none of some positions."""
    up = ancestry.up
    while True:
        parent, far = up[v, PARENT], up[v, JUMP]
        if not holds_none(ancestry, parent, positions, n_positions):
            return v
        v = far if holds_none(ancestry, far, positions, n_positions) else parent


@kernel_part
def is_node(segments: Segments, s: int) -> bool:
    """Whether it is a node, and not a segment of an ancestor path."""
    return bool(segments.high[s] == NODE)


@kernel_part
def segment_through(
    ancestry: Ancestry, segments: Segments, begin: int, end: int, merge: int
) -> int:
    """Return which of the segments begin … end - 1 a merge belongs to."""
    starts, sizes = ancestry.starts, ancestry.sizes
    for s in range(begin, end):
        low, high = segments.low[s], segments.high[s]
        below = starts[merge] <= starts[low] < starts[merge] + sizes[merge]
        if not is_node(segments, s) and below and sizes[low] < sizes[merge] <= sizes[high]:
            return s
    return -1


@kernel_part
def sibling_of(ancestry: Ancestry, v: int) -> int:
    """Return the other child of a node's parent."""
    e = ancestry.up[v, PARENT] - (ancestry.children.shape[0] + 1)
    first = ancestry.children[e, 0]
    return int(ancestry.children[e, 1] if first == v else first)


@announced_kernel("the distances of new points to clusters")
def find_segments(
    ancestry: Ancestry,
    begin: Ints,
    point: Ints,
    length: Floats,
    lengths: Floats,
    positions: Ints,
    segments: Segments,
) -> None:
    """Fill the segments of new points.

    Parameters
    ----------
    begin, point, length : in
        Edges of each new point, the shortest first. Those that are not needed, since a shorter one
        and the tree lead as far, are recognised.
    lengths : in
        The same lengths in the unit of the segments.
    positions : (MOST_EDGES,) int64, scratch
        The ends of the edges that are needed, in leaf order.
    segments : out; their ``begin`` is given
    """
    root = 2 * ancestry.children.shape[0]
    for i in range(segments.begin.shape[0]):
        first = segments.begin[i]
        end, n_edges = first, 0
        for edge in range(begin[i], begin[i + 1]):
            node = highest_within(ancestry, point[edge], length[edge])
            if not holds_none(ancestry, node, positions, n_edges):
                continue
            if n_edges == MOST_EDGES:
                n_edges = TOO_MANY
                break
            top = root
            if n_edges > 0:
                top = highest_apart(ancestry, node, positions, n_edges)
                merge = ancestry.up[top, PARENT]
                cut = segment_through(ancestry, segments, first, end, merge)
                segments.low[end], segments.high[end] = merge, segments.high[cut]
                segments.high[cut] = sibling_of(ancestry, top)
                end += 1
            segments.low[end], segments.high[end] = node, top
            segments.low[end + 1], segments.high[end + 1] = node, NODE
            segments.length[end + 1] = lengths[edge]
            end += 2
            positions[n_edges] = ancestry.starts[point[edge]]
            n_edges += 1
        segments.n_segments[i] = end - first if n_edges != TOO_MANY else TOO_MANY
