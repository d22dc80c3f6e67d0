"""Two points → the way between them along the spanning tree.

The tree is hung up at point 0; then a way leads up from both ends until they meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Ints, index_type
from isthmus.ultrametric.rooted import NEIGHBOUR, enter_edge, take_leaves_off


class TransitiveEdge(NamedTuple):
    """The edge that decides how far apart two points are; of arrays of points, arrays.

    Attributes
    ----------
    a, b : int
        Its ends, a on the side of the first point and b on that of the second.
    length : float
        Its weight, the transitive distance of the two points.
    """

    a: Any
    b: Any
    length: Any


class HungTree(NamedTuple):
    """A spanning tree hung up at point 0.

    Attributes
    ----------
    parent : (n,) int64
        The next point on the way to point 0; -1 for that one itself.
    depth : (n,) int64
        The number of edges on that way.
    """

    parent: Ints
    depth: Ints


def hang_up(edges: Ints) -> HungTree:
    """Return the tree of n - 1 edges, (n - 1, 2), hung up at point 0, in O(n)."""
    n_points = len(edges) + 1
    rows = np.zeros((n_points, 4), dtype=index_type(n_points))
    parent, depth, order = np.empty((3, n_points), dtype=np.int64)
    hang_points(edges, rows, order, parent, depth)
    return HungTree(parent, depth)


@kernel
def hang_points(edges: Ints, rows: Ints, order: Ints, parent: Ints, depth: Ints) -> None:
    """Fill parent and depth, (n,); rows, (n, 4) and zero on entry, and order, (n,), are scratch."""
    for e in range(edges.shape[0]):
        enter_edge(rows, edges[e, 0], edges[e, 1], e)
    n_taken = take_leaves_off(rows, np.int64(0), order)
    parent[0] = -1
    depth[0] = 0
    for t in range(n_taken - 1, -1, -1):
        point = order[t]
        parent[point] = rows[point, NEIGHBOUR]
        depth[point] = depth[parent[point]] + 1


def path_between(tree: HungTree, i: int, j: int) -> Ints:
    """Return the points on the way from i to j, both included, in O(its length)."""
    path = np.empty(count_steps(tree.parent, tree.depth, i, j) + 1, dtype=np.int64)
    fill_path(tree.parent, tree.depth, i, j, path)
    return path


@kernel
def count_steps(parent: Ints, depth: Ints, i: int, j: int) -> int:
    """Return the number of edges between points i and j."""
    steps = 0
    while i != j:
        if depth[i] >= depth[j]:
            i = parent[i]
        else:
            j = parent[j]
        steps += 1
    return steps


@kernel
def fill_path(parent: Ints, depth: Ints, i: int, j: int, path: Ints) -> None:
    """Fill path, out, with the points from i to j, from both its ends."""
    low, high = 0, path.shape[0] - 1
    path[low] = i
    path[high] = j
    while i != j:
        if depth[i] >= depth[j]:
            i = parent[i]
            low += 1
            path[low] = i
        else:
            j = parent[j]
            high -= 1
            path[high] = j
