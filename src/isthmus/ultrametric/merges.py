"""Sorted edges → merges, and merges → the leaf order. No recursion: a tree may be one long path.

Nodes are numbered as in SciPy: leaves 0 … n - 1, then one node per merge, n … 2n - 2, from the
lowest to the highest. A parent's number is larger than its children's, so a loop over merges is
a pass up the tree and the loop backwards a pass down.
"""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import AHEAD, kernel, prefetch
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Array, Floats, Ints, index_type

# Edges or merges per kernel call: well under a second, so that Ctrl-C is seen.
CHUNK = 1 << 20

# Columns of the disjoint sets; a fourth pads their rows to 16 bytes.
PARENT, NODE, SIZE = 0, 1, 2


def merges_of_edges(edges: Ints) -> tuple[Ints, Ints]:
    """Return the children of each merge and the sizes of all nodes.

    Parameters
    ----------
    edges : (n - 1, 2) int64
        The edges of a tree, from the lightest to the heaviest.

    Returns
    -------
    children : (n - 1, 2) int32, or int64 where there are too many nodes for that
        The two nodes that each merge joins, the smaller number first.
    sizes : (2n - 1,) of the same type
        The number of leaves below each node.
    """
    n_points = len(edges) + 1
    number = index_type(2 * n_points)
    sets = np.empty((n_points, 4), dtype=number)
    children = np.empty((n_points - 1, 2), dtype=number)
    sizes = np.empty(2 * n_points - 1, dtype=number)
    sizes[:n_points] = 1
    for start, stop in chunks(n_points - 1, CHUNK):
        cycle = join_edges(edges, sets, children, sizes, start, stop)
        if cycle >= 0:
            i, j = edges[cycle]
            raise ValueError(
                f"The edges do not form a tree: edge ({i}, {j}) closes a cycle, so some points "
                "are not connected."
            )
    return children, sizes


@kernel
def join_edges(edges: Ints, sets: Array, children: Ints, sizes: Ints, start: int, stop: int) -> int:
    """Merge along edges start … stop - 1; return the first edge that closes a cycle, or -1.

    Parameters
    ----------
    edges : (n - 1, 2) int64, in
    sets : (n, 4) int, in and out; begun anew by edge 0
        Disjoint sets of points: the parent of each; and, of the root of each set, the node of
        the tree that it has become and its size. In one row, since they are read together.
    children, sizes : out
    """
    n_points = sets.shape[0]
    if start == 0:
        for i in range(n_points):
            sets[i, PARENT] = i
            sets[i, NODE] = i
            sets[i, SIZE] = 1
    for e in range(start, stop):
        if e + AHEAD < stop:
            prefetch(sets, edges[e + AHEAD, 0] * 4)
            prefetch(sets, edges[e + AHEAD, 1] * 4)
            # Half that distance ahead their rows are loaded, so their parents are known.
            prefetch(sets, sets[edges[e + AHEAD // 2, 0], PARENT] * 4)
            prefetch(sets, sets[edges[e + AHEAD // 2, 1], PARENT] * 4)
        a, b = edges[e, 0], edges[e, 1]
        while sets[a, PARENT] != a:
            sets[a, PARENT] = sets[sets[a, PARENT], PARENT]
            a = np.int64(sets[a, PARENT])
        while sets[b, PARENT] != b:
            sets[b, PARENT] = sets[sets[b, PARENT], PARENT]
            b = np.int64(sets[b, PARENT])
        if a == b:
            return e
        children[e, 0] = min(sets[a, NODE], sets[b, NODE])
        children[e, 1] = max(sets[a, NODE], sets[b, NODE])
        if sets[a, SIZE] < sets[b, SIZE]:
            a, b = b, a
        sets[b, PARENT] = a
        sets[a, NODE] = n_points + e
        sets[a, SIZE] += sets[b, SIZE]
        sizes[n_points + e] = sets[a, SIZE]
    return -1


@kernel
def fill_leaf_starts(children: Ints, sizes: Ints, starts: Ints, start: int, stop: int) -> None:
    """Fill the position in leaf order where each child of merges stop - 1 … start begins.

    starts : (2n - 1,) int, in and out; the root begins at 0, the first child where its parent
    does, the second right behind the first.
    """
    n_points = children.shape[0] + 1
    for e in range(stop - 1, start - 1, -1):
        if e - AHEAD >= start:
            prefetch(starts, children[e - AHEAD, 0])
            prefetch(starts, children[e - AHEAD, 1])
            prefetch(sizes, children[e - AHEAD, 0])
        first, second = children[e, 0], children[e, 1]
        starts[first] = starts[n_points + e]
        starts[second] = starts[n_points + e] + sizes[first]


def leaf_starts(children: Ints, sizes: Ints) -> Ints:
    """Return where each node's slice of the leaf order begins: (2n - 1,), of the type of sizes."""
    starts = np.zeros_like(sizes)
    for start, stop in reversed(list(chunks(len(children), CHUNK))):
        fill_leaf_starts(children, sizes, starts, start, stop)
    return starts


def gaps_of_merges(children: Ints, starts: Ints, heights: Floats) -> Floats:
    """Return the transitive distance of each leaf to the next one in leaf order: (n - 1,).

    A merge lies between the last leaf of its first child and the first leaf of its second.
    """
    gaps = np.empty(len(heights))
    gaps[starts[children[:, 1]] - 1] = heights
    return gaps


def merges_of_gaps(children: Ints, starts: Ints) -> Ints:
    """Return the merge that lies between each leaf and the next one in leaf order: (n - 1,).

    Of the merges between two leaves the last one, of the largest number, is where they meet.
    """
    merges = np.empty(len(children), dtype=np.int64)
    merges[starts[children[:, 1]] - 1] = np.arange(len(children))
    return merges


def tops_of_ties(children: Ints, heights: Floats) -> Ints:
    """Return the highest ancestor of each merge that only merges of its own height lie between.

    Merges with the same top are one event: several groups that become one at the same height.
    """
    tops = np.arange(len(heights))
    propagate_tops(children, heights, tops)
    return tops


@kernel
def propagate_tops(children: Ints, heights: Floats, tops: Ints) -> None:
    """Give children of the height of their parent its top; tops[e], in and out, is e on entry."""
    n_points = children.shape[0] + 1
    for e in range(n_points - 2, -1, -1):
        for side in range(2):
            below = children[e, side] - n_points
            if below >= 0 and heights[below] == heights[e]:
                tops[below] = tops[e]


def require_finite(heights: Floats, what: str) -> None:
    """Raise ValueError where points are infinitely far apart, which ``what`` does not allow."""
    if not np.isfinite(heights[-1:]).all():
        raise ValueError(
            f"{what} needs finite distances, and some points of this tree are infinitely far "
            "apart. Join the components of the graph by a number: disconnected=<number>."
        )
