"""Edges of a tree → the tree rooted at a point, and paths along it.

Rooting needs no adjacency lists. A row for each vertex holds its degree and the exclusive or of
its neighbours: that of a leaf is its one neighbour. Pruning a leaf removes it from its neighbour's
row, until only the root is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Ints, index_type

# Columns of a vertex's row: its degree, the exclusive or of its neighbours and of the edges to
# them, and the size of its branch, 1 at first. Once it is pruned: 0, its parent, the edge to it,
# and the size of the complete branch.
DEGREE, NEIGHBOUR, EDGE, COUNT = range(4)


class RootedTree(NamedTuple):
    """A spanning tree rooted at point 0.

    Attributes
    ----------
    parent : (n,) int64
        The next point on the path to the root; -1 for the root.
    depth : (n,) int64
        The number of edges on that path.
    """

    parent: Ints
    depth: Ints


def root_tree(edges: Ints) -> RootedTree:
    """Return the tree of n - 1 edges, (n - 1, 2), rooted at point 0, in O(n)."""
    n_points = len(edges) + 1
    rows = np.zeros((n_points, 4), dtype=index_type(n_points))
    parent, depth, order = np.empty((3, n_points), dtype=np.int64)
    fill_parents(edges, rows, order, RootedTree(parent, depth))
    return RootedTree(parent, depth)


def path_between(tree: RootedTree, i: int, j: int) -> Ints:
    """Return the points on the path from i to j, both included, in O(its length)."""
    path = np.empty(count_edges(tree, i, j) + 1, dtype=np.int64)
    fill_path(tree, i, j, path)
    return path


@kernel_part
def add_edge(rows: Ints, a: int, b: int, e: int) -> None:
    """Add edge e, between a and b, to the rows, (m, 4)."""
    for x, y in ((a, b), (b, a)):
        rows[x, DEGREE] += 1
        rows[x, NEIGHBOUR] ^= y
        rows[x, EDGE] ^= e


@kernel_part
def prune_leaves(rows: Ints, root: int, order: Ints) -> int:
    """Prune all vertices but the root; return their number. order, (m,), out: as they go."""
    rows[root, DEGREE] += 2  # so that the root never becomes a leaf
    n_pruned = 0
    for v in range(rows.shape[0]):
        u = v
        while rows[u, DEGREE] == 1:
            above = rows[u, NEIGHBOUR]
            order[n_pruned] = u
            n_pruned += 1
            rows[u, DEGREE] = 0
            rows[above, DEGREE] -= 1
            rows[above, NEIGHBOUR] ^= u
            rows[above, EDGE] ^= rows[u, EDGE]
            rows[above, COUNT] += rows[u, COUNT]
            if above > v:  # the loop over v will reach it
                break
            u = above
    return n_pruned


@kernel
def fill_parents(edges: Ints, rows: Ints, order: Ints, tree: RootedTree) -> None:
    """Fill a rooted tree; rows, (n, 4) and zero on entry, and order, (n,), are scratch."""
    for e in range(edges.shape[0]):
        add_edge(rows, edges[e, 0], edges[e, 1], e)
    n_pruned = prune_leaves(rows, np.int64(0), order)
    tree.parent[0] = -1
    tree.depth[0] = 0
    for t in range(n_pruned - 1, -1, -1):
        point = order[t]
        tree.parent[point] = rows[point, NEIGHBOUR]
        tree.depth[point] = tree.depth[tree.parent[point]] + 1


@kernel
def count_edges(tree: RootedTree, i: int, j: int) -> int:
    """Return the number of edges between points i and j."""
    n_edges = 0
    while i != j:
        if tree.depth[i] >= tree.depth[j]:
            i = tree.parent[i]
        else:
            j = tree.parent[j]
        n_edges += 1
    return n_edges


@kernel
def fill_path(tree: RootedTree, i: int, j: int, path: Ints) -> None:
    """Fill path, out, with the points from i to j, from both its ends."""
    low, high = 0, path.shape[0] - 1
    path[low] = i
    path[high] = j
    while i != j:
        if tree.depth[i] >= tree.depth[j]:
            i = tree.parent[i]
            low += 1
            path[low] = i
        else:
            j = tree.parent[j]
            high -= 1
            path[high] = j
