"""Attachment edges of a new point → the ways from it up the tree, in parts whose sums are known.

With x hung on the tree by its links, everything below the highest node A that a link reaches
without a longer hop is as far from x as the link is long. All other points are as far as the
lowest merge is high that joins them with one of these nodes A. So the row of x is made of two
kinds of *parts*: a node A and its link's length; and stretches of the ways up from there, on which
each merge brings in the points of its other side. Where two ways meet, no other side is left, and
a stretch ends there and the next one begins.

Ways up can be as long as the tree has points, so none is walked step by step: each node knows its
parent and one ancestor far above, chosen so that any ancestor is O(log n) steps away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints, Labels, index_type
from isthmus.ultrametric import UltrametricTree

PARENT, JUMP = 0, 1
# In place of the upper end of a stretch: the part is a node.
WHOLE = -1
# A new point with more links than these is better served by its whole row.
MOST_EDGES = 64


class Ancestry(NamedTuple):
    """A tree made ready to be climbed.

    Attributes
    ----------
    up : (2n - 1, 2) int32 or int64
        The parent of each node, and an ancestor farther up; the root is its own.
    heights : (n - 1,) float64
    starts, sizes : (2n - 1,) int32 or int64
        Where the points of each node stand in leaf order, and how many they are.
    """

    up: Array
    heights: Floats
    starts: Ints
    sizes: Ints


class Parts(NamedTuple):
    """The parts of the rows of new points.

    Those of the new point whose links are numbered from b on begin at place 3 b.

    Attributes
    ----------
    n_parts : (n_new,) int32
        How many parts; -1 where a new point has more than MOST_LINKS links.
    low, high : (3 n_links,) int64
        A stretch: the merges above node ``low`` up to the node ``high``, itself included. Or a
        node, ``low``, with WHOLE in place of ``high``.
    length : (3 n_links,) float64
        How far the points below such a node are.
    """

    n_parts: Labels
    low: Ints
    high: Ints
    length: Floats


def ancestry_of(tree: UltrametricTree) -> Ancestry:
    """Return a tree made ready to be climbed."""
    n_nodes = 2 * tree.n_points - 1
    number = index_type(n_nodes)
    up = np.empty((n_nodes, 2), dtype=number)
    fill_jumps(tree.children, up, np.empty(n_nodes, dtype=number))
    return Ancestry(up, tree.heights, tree.starts, tree.sizes)


@kernel
def fill_jumps(children: Ints, up: Array, depth: Array) -> None:
    """Fill the ways up, from the root down. depth, (2n - 1,), is scratch."""
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
    """Return the highest of a leaf's ancestors, or itself, that is not above a length."""
    up, heights = ancestry.up, ancestry.heights
    n_points = heights.shape[0] + 1
    while True:
        parent, far = up[v, PARENT], up[v, JUMP]
        if parent == v or heights[parent - n_points] > length:
            return v
        v = far if heights[far - n_points] <= length else parent


@kernel_part
def holds_none(ancestry: Ancestry, v: int, places: Ints, n_places: int) -> bool:
    """Whether none of some places in leaf order is one of a node's."""
    start = ancestry.starts[v]
    stop = start + ancestry.sizes[v]
    for i in range(n_places):  # noqa: SIM110  (compiled)
        if start <= places[i] < stop:
            return False
    return True


@kernel_part
def highest_apart(ancestry: Ancestry, v: int, places: Ints, n_places: int) -> int:
    """Return the highest ancestor of a node, or itself, that holds none of at least one place."""
    up = ancestry.up
    while True:
        parent, far = up[v, PARENT], up[v, JUMP]
        if not holds_none(ancestry, parent, places, n_places):
            return v
        v = far if holds_none(ancestry, far, places, n_places) else parent


@kernel_part
def stretch_through(ancestry: Ancestry, parts: Parts, begin: int, end: int, merge: int) -> int:
    """Return which of the parts begin … end - 1 is the stretch that a merge belongs to."""
    starts, sizes = ancestry.starts, ancestry.sizes
    for p in range(begin, end):
        low, high = parts.low[p], parts.high[p]
        below = starts[merge] <= starts[low] < starts[merge] + sizes[merge]
        if high != WHOLE and below and sizes[low] < sizes[merge] <= sizes[high]:
            return p
    return -1


@kernel
def find_parts(
    ancestry: Ancestry,
    children: Ints,
    begin: Ints,
    point: Ints,
    length: Floats,
    lengths: Floats,
    places: Ints,
    parts: Parts,
    start: int,
    stop: int,
) -> None:
    """Fill the parts of new points start … stop - 1 from hops onto the tree.

    Parameters
    ----------
    begin, point, length : in
        Hops of each new point, the shortest first. Those that are no links, since a shorter one
        and the tree lead as far, are recognised.
    lengths : in
        The same lengths in the unit in which the parts are to have them.
    places : (MOST_LINKS,) int64, scratch
    parts : out
    """
    n_points = children.shape[0] + 1
    root = 2 * n_points - 2
    for i in range(start, stop):
        first = 3 * begin[i]
        end, n_attached = first, 0
        for hop in range(begin[i], begin[i + 1]):
            node = highest_within(ancestry, point[hop], length[hop])
            if not holds_none(ancestry, node, places, n_attached):
                continue
            if n_attached == MOST_EDGES:
                n_attached = -1
                break
            top = root
            if n_attached > 0:
                top = highest_apart(ancestry, node, places, n_attached)
                merge = ancestry.up[top, PARENT]
                other = children[merge - n_points, 0]
                if other == top:
                    other = children[merge - n_points, 1]
                cut = stretch_through(ancestry, parts, first, end, merge)
                parts.low[end], parts.high[end] = merge, parts.high[cut]
                parts.high[cut] = other
                end += 1
            parts.low[end], parts.high[end] = node, top
            parts.low[end + 1], parts.high[end + 1] = node, WHOLE
            parts.length[end + 1] = lengths[hop]
            end += 2
            places[n_attached] = ancestry.starts[point[hop]]
            n_attached += 1
        parts.n_parts[i] = end - first if n_attached >= 0 else -1
