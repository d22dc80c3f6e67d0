"""Forests that remember which edge joined what: the longest edge between two points, in O(log n).

Kruskal's algorithm joins trees by size and never shortens paths. ``rank[x]`` is the edge that
joined x to its parent, so ranks ascend on the path to a root, and the last edge on the path between
two points is found by going up from both, always from the one of lower rank.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Ints, Labels

# The rank of a root.
NEVER = np.iinfo(np.int32).max


class Forest(NamedTuple):
    """A forest of n points.

    Attributes
    ----------
    parent, rank : (n,) int32
        A root is its own parent, and its rank is NEVER.
    """

    parent: Labels
    rank: Labels


def grow_forest(n_points: int, a: Array, b: Array) -> Forest:
    """Return the forest of edges, given in Kruskal's order, between points 0 … n_points - 1."""
    forest = Forest(np.arange(n_points, dtype=np.int32), np.full(n_points, NEVER, dtype=np.int32))
    sets, sizes = forest.parent.copy(), np.ones(n_points, dtype=np.int32)
    ends = [np.ascontiguousarray(each, dtype=np.int32) for each in (a, b)]
    join_edges(*ends, forest, sets, sizes)
    return forest


@kernel
def join_edges(a: Labels, b: Labels, forest: Forest, sets: Labels, sizes: Labels) -> None:
    """Join points along edges.

    forest : in and out
    sets, sizes : (n,) int32, scratch
        Disjoint sets whose paths are shortened, and how many points each root has.
    """
    for e in range(a.shape[0]):
        x, y = np.int64(a[e]), np.int64(b[e])
        while sets[x] != x:
            sets[x] = sets[sets[x]]
            x = np.int64(sets[x])
        while sets[y] != y:
            sets[y] = sets[sets[y]]
            y = np.int64(sets[y])
        if x == y:
            continue
        if sizes[x] < sizes[y]:
            x, y = y, x
        sets[y] = x
        forest.parent[y] = x
        forest.rank[y] = e
        sizes[x] += sizes[y]


@kernel_part
def last_edge(forest: Forest, x: int, y: int) -> int:
    """Return the last edge on the path between x and y: -1 if they are one, NEVER without one."""
    last = np.int64(-1)
    while x != y:
        if forest.rank[x] > forest.rank[y]:
            x, y = y, x
        last = np.int64(forest.rank[x])
        if last == NEVER:
            break
        x = int(forest.parent[x])
    return int(last)


@kernel
def last_edges(forest: Forest, x: Ints, y: Ints, last: Ints) -> None:
    """Fill last, (m,), with the last edges between x and y, both (m,) int64."""
    for t in range(x.shape[0]):
        last[t] = last_edge(forest, x[t], y[t])


class Reduced(NamedTuple):
    """The tree between some points of a forest.

    Attributes
    ----------
    a, b : (m,) int64
        Pairs of these points, by their numbers.
    edge : (m,) int64
        The edge of the forest that joins their parts.
    """

    a: Ints
    b: Ints
    edge: Ints


def reduce_forest(forest: Forest, terminals: Ints) -> Reduced:
    """Return which terminals (different points) the forest joins, and by which edges.

    An edge that joins, in Kruskal's order, a part without terminals is not among them: it is the
    first edge out of that part, whatever else there is between terminals.
    """
    owner = np.full(len(forest.parent), -1, dtype=np.int32)
    owner[terminals] = np.arange(len(terminals), dtype=np.int32)
    seen = np.zeros(len(forest.parent), dtype=np.bool_)
    nodes = np.empty(len(forest.parent), dtype=np.int64)
    nodes = nodes[: mark_paths(forest, terminals, seen, nodes)]
    nodes = nodes[np.argsort(forest.rank[nodes], kind="stable")]
    found = np.empty((3, len(nodes)), dtype=np.int64)
    n_found = join_terminals(forest, nodes, owner, found)
    return Reduced(*found[:, :n_found])


@kernel
def mark_paths(forest: Forest, terminals: Ints, seen: Array, nodes: Ints) -> int:
    """Fill nodes with all on the paths from terminals to roots, without roots; return how many."""
    n_nodes = 0
    for t in range(terminals.shape[0]):
        x = np.int64(terminals[t])
        while not seen[x]:
            seen[x] = True
            if forest.rank[x] != NEVER:
                nodes[n_nodes] = x
                n_nodes += 1
            x = np.int64(forest.parent[x])
    return n_nodes


@kernel
def join_terminals(forest: Forest, nodes: Ints, owner: Labels, found: Ints) -> int:
    """Fill found, (3, m), with pairs of terminals and edges; nodes ascend by rank.

    owner : (n,) int32, in and out
        The terminal that each part is known by, at its root; -1 where there is none.
    """
    n_found = 0
    for t in range(nodes.shape[0]):
        x = nodes[t]
        above = np.int64(forest.parent[x])
        if owner[above] < 0:
            owner[above] = owner[x]
        else:
            found[0, n_found] = owner[x]
            found[1, n_found] = owner[above]
            found[2, n_found] = forest.rank[x]
            n_found += 1
    return n_found


def roots_of(forest: Forest, points: Ints) -> Ints:
    """Return the roots of some points."""
    roots = np.asarray(points)
    while (forest.parent[roots] != roots).any():
        roots = forest.parent[roots]
    return roots.astype(np.int64)
