"""A spanning tree and edges to new points → the spanning tree of all points.

Let T be the minimum spanning tree of the old points, edges compared by (length, smaller index,
larger index). An edge of two old points that is not in T closes a cycle with edges of T, all of
which come before it; so it is not in the tree of all points either. What is left are the edges of
T, those of the tree of the new points among themselves, by the same argument, and those between an
old and a new point: of these the *candidates* (kdtree_candidates.py, attachments.py) are enough.

Of T only a contraction matters. Take the old points that candidates end at, in leaf order. Between
each and the next the last merge is where T would be cut to part them. When Kruskal's algorithm
reaches any other edge of T, one of the components that it joins has no candidate, so it is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import AHEAD, kernel, kernel_part, prefetch
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.spanning_tree.kruskal import choose_edges
from isthmus.spanning_tree.result import SpanningTree, tree_in_order
from isthmus.ultrametric import UltrametricTree


class NewEdges(NamedTuple):
    """Edges that have a new point at one end, or at both.

    Attributes
    ----------
    edges : (m, 2) int64
        The smaller index first. New points are numbered behind the old ones.
    lengths : (m,) float64
        As edges are compared; of the tree's edges the heights are.
    """

    edges: Ints
    lengths: Floats


def joined_edges(parts: list[NewEdges]) -> NewEdges:
    """Return the edges of several lists."""
    return NewEdges(
        np.concatenate([part.edges for part in parts]),
        np.concatenate([part.lengths for part in parts]),
    )


class ComparedTree(NamedTuple):
    """The tree of the old points, its edges in the order in which they are compared.

    Attributes
    ----------
    tree : UltrametricTree
        Its edges and merges; the heights are not used.
    bounds : (n - 1,) float64
        The lengths of its edges, as they are compared, but for rounding.
    lengths : callable
        From merges, (m,) int64, to exactly these lengths.
    merges, gaps : (n - 1,) int and float64
        In leaf order, the merge between each leaf and the next one, and its bound.
    positions : (n - 1,) int64 or None
        Where each edge was, if they are in another order than before.
    """

    tree: UltrametricTree
    bounds: Floats
    lengths: Callable[[Ints], Floats]
    merges: Ints
    gaps: Floats
    positions: Ints | None

    @classmethod
    def of(
        cls,
        tree: UltrametricTree,
        bounds: Floats,
        lengths: Callable[[Ints], Floats],
        positions: Ints | None = None,
    ) -> ComparedTree:
        """Return the record of a tree."""
        merges, gaps = np.empty_like(tree.children[:, 0]), np.empty(len(bounds))
        fill_gaps(tree.children, tree.starts, bounds, merges, gaps)
        return cls(tree, bounds, lengths, merges, gaps, positions)


def last_merges(compared: ComparedTree, positions: Ints) -> Ints:
    """Return the last merge between each two neighbours of some positions in leaf order.

    positions : (m,) int
        Ascending, at least one.
    """
    if len(positions) == 1:
        return np.empty(0, dtype=np.int64)
    merges = np.maximum.reduceat(compared.merges[: positions[-1]], positions[:-1])
    return merges.astype(np.int64)


@kernel
def fill_gaps(children: Ints, starts: Ints, bounds: Floats, merges: Ints, gaps: Floats) -> None:
    """Fill the merge between each leaf and the next one, in leaf order, and its bound.

    A merge lies between the last leaf of its first child and the first leaf of its second.

    children, starts : (n - 1, 2) and (2n - 1,) int, in
    bounds : (n - 1,) float64, in
    merges, gaps : (n - 1,) int and float64, out
    """
    for e in range(children.shape[0]):
        if e + 2 * AHEAD < children.shape[0]:
            prefetch(starts, children[e + 2 * AHEAD, 1])
            soon = np.int64(starts[children[e + AHEAD, 1]])
            prefetch(merges, soon)
            prefetch(gaps, soon)
        gap = np.int64(starts[children[e, 1]]) - 1
        merges[gap] = e
        gaps[gap] = bounds[e]


def choose_extended(compared: ComparedTree, n_new: int, new: NewEdges) -> tuple[Ints, Array]:
    """Return the edges of the tree that leave, and which of the new ones come: (m,) bool.

    Parameters
    ----------
    compared : ComparedTree
        Of the old points.
    n_new : int
        At least one.
    new : NewEdges
        The candidates, with which all points are connected.
    """
    n_old = compared.tree.n_points
    # The old points that candidates end at are numbered in leaf order, new ones behind them.
    is_old = new.edges[:, 0] < n_old
    positions, numbers = np.unique(compared.tree.starts[new.edges[is_old, 0]], return_inverse=True)
    n_touched = len(positions)
    numbered = new.edges + (n_touched - n_old)
    numbered[is_old, 0] = numbers
    merges = last_merges(compared, positions)
    between = np.column_stack([np.arange(n_touched - 1), np.arange(1, n_touched)])
    lengths = np.concatenate([compared.lengths(merges), new.lengths])
    indices = np.concatenate([compared.tree.spanning_tree.edges[merges], new.edges])
    ordered = _total_order(indices, lengths)
    edges = np.concatenate([between, numbered])[ordered]
    n_left = n_touched + n_new
    chosen = np.empty(n_left - 1, dtype=np.int64)
    n_chosen = choose_edges(edges, 0, len(edges), np.arange(n_left), chosen, 0)
    assert n_chosen == n_left - 1  # candidates connect every new point
    is_chosen = np.zeros(len(edges), dtype=np.bool_)
    is_chosen[ordered[chosen]] = True
    leaving = merges[~is_chosen[: len(merges)]]
    if compared.positions is not None:
        leaving = compared.positions[leaving]
    return leaving, is_chosen[len(merges) :]


def _total_order(edges: Ints, lengths: Floats) -> Ints:
    """Return the order of edges by length, and of equal ones by indices."""
    order = np.argsort(lengths)
    ascending = lengths[order]
    if (ascending[1:] == ascending[:-1]).any():
        return np.lexsort((edges[:, 1], edges[:, 0], lengths))
    return order


def joined_tree(old: SpanningTree, leaving: Ints, edges: Ints, weights: Floats) -> SpanningTree:
    """Return the tree in which some edges of another have left, and new ones have come.

    leaving : (k,) int64
        Positions in ``old.edges``.
    edges, weights : (m, 2) and (m,)
        The new edges in any order, the smaller index first.
    """
    order = _total_order(edges, weights)
    n_edges = len(old.weights) - len(leaving) + len(order)
    merged = EdgeList(np.empty((n_edges, 2), dtype=np.int64), np.empty(n_edges))
    leaves = np.concatenate([np.sort(leaving), [len(old.weights)]])
    new = EdgeList(edges[order], weights[order])
    merge_edges(EdgeList(old.edges, old.weights), leaves, new, merged)
    return tree_in_order(*merged, old.engine, by_index=True)


class EdgeList(NamedTuple):
    """Edges in total order: (m, 2) int64 and (m,) float64."""

    edges: Ints
    weights: Floats


@kernel
def merge_edges(old: EdgeList, leaves: Ints, new: EdgeList, merged: EdgeList) -> None:
    """Merge two lists of edges into one.

    leaves : (k + 1,) int64, in
        Old edges that are left out, ascending; the last entry is the number of old edges.
    merged : out
    """
    n_new, n_left, count = 0, 0, 0
    for e in range(old.weights.shape[0]):
        if e == leaves[n_left]:
            n_left += 1
            continue
        while n_new < new.weights.shape[0] and comes_first(new, n_new, old, e):
            copy_edge(new, n_new, merged, count)
            n_new += 1
            count += 1
        copy_edge(old, e, merged, count)
        count += 1
    while n_new < new.weights.shape[0]:
        copy_edge(new, n_new, merged, count)
        n_new += 1
        count += 1


@kernel_part
def copy_edge(source: EdgeList, e: int, target: EdgeList, position: int) -> None:
    """Copy edge e to a position of another list."""
    target.edges[position, 0] = source.edges[e, 0]
    target.edges[position, 1] = source.edges[e, 1]
    target.weights[position] = source.weights[e]


@kernel_part
def comes_first(one: EdgeList, e: int, other: EdgeList, f: int) -> bool:
    """Whether edge e of a list comes before edge f of another one."""
    if one.weights[e] != other.weights[f]:
        return bool(one.weights[e] < other.weights[f])
    a, b = one.edges[e, 0], other.edges[f, 0]
    return bool(a < b or (a == b and one.edges[e, 1] < other.edges[f, 1]))
