"""The first round of Borůvka's algorithm: each point joins its nearest neighbour, or several.

Of points that have several equally near ones, first all pairs are joined that are nearest
neighbours of each other. No point of such a set has anything nearer than these, all equally far.
So the set may then be joined to one neighbour more that is just as far, and has something nearer
itself; to two, it could close a cycle with shorter edges that are found later. All other points
join their one nearest neighbour next.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Labels
from isthmus.spanning_tree.best_edges import Joined
from isthmus.spanning_tree.by_kdtree.knn import Neighbours
from isthmus.spanning_tree.union_find import find, unite

NEIGHBOURS = 0

Flags = npt.NDArray[np.bool_]


@kernel_part
def are_mutual(lists: Neighbours, i: int, j: int) -> bool:
    """Whether nothing is nearer to j than i, which has several nearest neighbours, j among them."""
    if lists.n_nearest[j] > 1:
        return bool(lists.known[j] == lists.known[i])
    return bool(lists.positions[j * NEIGHBOURS] == i)


@kernel_part
def join(joined: Joined, i: int, j: int, n_edges: int) -> int:
    """Join two positions by an edge, unless they are in one set; return the number of edges."""
    if unite(joined.parent, i, j):
        joined.edge_a[n_edges] = i
        joined.edge_b[n_edges] = j
        n_edges += 1
    return n_edges


@kernel_part
def join_mutual(lists: Neighbours, joined: Joined) -> tuple[int, bool]:
    """Join points with several nearest neighbours to those of which they are one, too.

    Returns the number of edges, and whether there are others.
    """
    parent = joined.parent
    n_edges = int(np.int64(0))  # no literal: join would be compiled again for that
    are_left = False
    for i in range(parent.shape[0]):
        n_nearest = np.int64(lists.n_nearest[i])
        for t in range(n_nearest if n_nearest > 1 else 0):
            j = np.int64(lists.positions[i * NEIGHBOURS + t])
            if parent[i] == parent[j]:  # as most are before long
                continue
            if are_mutual(lists, i, j):
                n_edges = join(joined, i, j, n_edges)
            else:
                are_left = True
    return n_edges, are_left


@kernel_part
def join_one_more(lists: Neighbours, joined: Joined, n_edges: int, has_gone_out: Flags) -> int:
    """Join each set of points with several nearest neighbours to one that has something nearer.

    has_gone_out : (n,) bool, in and out
        Whether the set with this root has been joined so; False at first.

    Returns the number of edges.
    """
    parent = joined.parent
    for i in range(parent.shape[0]):
        n_nearest = np.int64(lists.n_nearest[i])
        for t in range(n_nearest if n_nearest > 1 else 0):
            j = np.int64(lists.positions[i * NEIGHBOURS + t])
            if parent[i] == parent[j] or are_mutual(lists, i, j):
                continue
            if has_gone_out[find(parent, i)]:
                continue
            n_before = n_edges
            n_edges = join(joined, i, j, n_edges)
            if n_edges > n_before:
                has_gone_out[find(parent, i)] = True
    return n_edges


@kernel
def join_ties(lists: Neighbours, joined: Joined, has_gone_out: Flags) -> int:
    """Join points that have several nearest neighbours to these; return the number of edges.

    joined : out
    has_gone_out : (n,) bool, scratch, all False
    """
    for i in range(joined.parent.shape[0]):
        joined.parent[i] = i
    n_edges, are_left = join_mutual(lists, joined)
    if are_left:
        n_edges = join_one_more(lists, joined, n_edges, has_gone_out)
    return n_edges


@kernel
def join_to_nearest(
    lists: Neighbours, joined: Joined, first_edge: int, waits: Flags, start: int, stop: int
) -> int:
    """Join positions start … stop - 1 to their one nearest neighbour, if it is among them.

    first_edge : int
        Where the new edges begin.
    waits : (n,) bool, out
        Set where a point's one nearest neighbour is elsewhere.

    Returns the number of new edges.
    """
    n_edges = 0
    for i in range(start, stop):
        if lists.n_nearest[i] != 1:
            continue
        nearest = np.int64(lists.positions[i * NEIGHBOURS])
        if nearest < start or nearest >= stop:
            waits[i] = True
        elif unite(joined.parent, i, nearest):
            joined.edge_a[first_edge + n_edges] = i
            joined.edge_b[first_edge + n_edges] = nearest
            n_edges += 1
    return n_edges


@kernel
def end_first_round(
    lists: Neighbours, joined: Joined, waits: Flags, n_edges: int, labels: Labels
) -> int:
    """Join the points that wait to their nearest neighbours; number the components.

    labels : (>= n,) int32, out
        The component at each position, numbered from 0.

    Returns the number of components.
    """
    for i in range(waits.shape[0]):
        if waits[i]:
            nearest = np.int64(lists.positions[i * NEIGHBOURS])
            n_edges = join(joined, i, nearest, n_edges)
    return number_sets(joined, labels)


@kernel_part
def number_sets(joined: Joined, labels: Labels) -> int:
    """Fill the labels of all positions, the sizes and a member of their sets; return how many."""
    parent, size, member = joined.parent, joined.size, joined.member
    n_sets = 0
    for i in range(parent.shape[0]):
        above = np.int64(parent[i])
        if above == i:
            label = np.int32(n_sets)
            member[n_sets] = i
            size[n_sets] = 0
            n_sets += 1
        else:  # parents come before their children, so this one has its label
            label = labels[above]
        labels[i] = label
        size[np.int64(label)] = size[np.int64(label)] + 1
    return n_sets
