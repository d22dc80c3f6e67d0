"""Two points → the way between them along the spanning tree.

The tree is hung up at point 0; then a way leads up from both ends until they meet.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._compile import kernel
from isthmus._typing import Ints


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
    degree, partner = np.zeros((2, n_points), dtype=np.int64)
    parent, order = np.full((2, n_points), -1, dtype=np.int64)
    take_leaves_off(edges, degree, partner, parent, order)
    return HungTree(parent, degree)


@kernel
def take_leaves_off(edges: Ints, degree: Ints, partner: Ints, parent: Ints, order: Ints) -> None:
    """Fill parent and depth: a leaf's only neighbour is its parent; without it, go on.

    No lists of neighbours are needed: of each point their exclusive or is kept, which for a leaf
    is the one neighbour.

    Parameters
    ----------
    edges : (n - 1, 2) int64, in
    degree : (n,) int64, zero on entry; out: the depth of each point
    partner : (n,) int64, zero on entry; scratch
    parent : (n,) int64, -1 on entry; out
    order : (n,) int64, scratch
        The points in the order in which they were taken off.
    """
    for e in range(edges.shape[0]):
        a, b = edges[e, 0], edges[e, 1]
        degree[a] += 1
        degree[b] += 1
        partner[a] ^= b
        partner[b] ^= a
    taken = 0
    for i in range(1, parent.shape[0]):
        point = np.int64(i)
        while point != 0 and degree[point] == 1:
            above = partner[point]
            parent[point] = above
            degree[point] = 0
            partner[above] ^= point
            degree[above] -= 1
            order[taken] = point
            taken += 1
            point = above
    for t in range(taken - 1, -1, -1):
        degree[order[t]] = degree[parent[order[t]]] + 1


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
