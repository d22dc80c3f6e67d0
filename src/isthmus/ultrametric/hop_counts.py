"""Base distances and their tree → how many vertices the transitive distance of a pair needs.

D(i, j) is reached by paths whose edges are at most D(i, j) long; the one with the fewest edges
counts, and breadth-first search finds it. Each merge of the tree settles the pairs across it by one
search from every point of its smaller side: at most n log2(n) / 2 searches, each over a dense block
of the matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.parallel import chunks, map_in_threads
from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric.merges import tops_of_ties
from isthmus.ultrametric.tree import UltrametricTree

# Distances read per kernel call.
_WORK_PER_CALL = 20_000_000


class Searches(NamedTuple):
    """Breadth-first searches among positions in leaf order, one row each.

    Attributes
    ----------
    source : (m,) int64
        The position where the search begins.
    reached : (m, 2) int64
        The range of positions that it reaches.
    wanted : (m, 2) int64
        The range of positions whose number of hops is wanted.
    limit : (m,) float64
        The length of the longest edge that may be used.
    """

    source: Ints
    reached: Ints
    wanted: Ints
    limit: Floats


class Scratch(NamedTuple):
    """Buffers of a search: (n,) int64 each.

    Attributes
    ----------
    hops : the number of edges to each position
    left : positions not reached yet
    queue : positions reached, in that order
    """

    hops: Ints
    left: Ints
    queue: Ints


def orders_of_pairs(base: Floats, tree: UltrametricTree, n_jobs: int = 1) -> Ints:
    """Return the smallest order at which each pair has its transitive distance: (n, n) int64.

    A pair that is joined directly has it at order 1, as order 1 is the base distance, too.

    Parameters
    ----------
    base : (n, n) float64
        Distances, symmetric.
    tree : UltrametricTree
        Their tree; its heights are entries of ``base``.
    """
    n_points = len(base)
    orders = np.ones((n_points, n_points), dtype=np.int64)
    searches = searches_of_merges(tree)
    in_leaf_order = base[np.ix_(tree.leaf_order, tree.leaf_order)]

    def search(bounds: tuple[int, int]) -> None:
        some = Searches._make(column[slice(*bounds)] for column in searches)
        scratch = Scratch(*np.empty((3, n_points), dtype=np.int64))
        count_hops(in_leaf_order, tree.leaf_order, some, scratch, orders)

    per_call = max(1, _WORK_PER_CALL // n_points**2)
    map_in_threads(search, chunks(len(searches.source), per_call), n_jobs)
    return orders


def searches_of_merges(tree: UltrametricTree) -> Searches:
    """Return one search for each point of the smaller side of each merge."""
    n_points, sizes, starts = tree.n_points, tree.sizes, tree.starts
    first_larger = sizes[tree.children[:, 0]] > sizes[tree.children[:, 1]]
    smaller = np.where(first_larger, tree.children[:, 1], tree.children[:, 0])
    larger = np.where(first_larger, tree.children[:, 0], tree.children[:, 1])
    # paths may lead through what later merges of the same height join
    tops = tops_of_ties(tree.children, tree.heights) + n_points
    counts = sizes[smaller]
    merge = np.repeat(np.arange(n_points - 1), counts)
    within = np.arange(len(merge)) - np.repeat(np.cumsum(counts) - counts, counts)

    def slices(nodes: Ints) -> Ints:
        return np.column_stack([starts[nodes], starts[nodes] + sizes[nodes]])

    return Searches(
        starts[smaller[merge]] + within,
        slices(tops[merge]),
        slices(larger[merge]),
        tree.heights[merge],
    )


@kernel
def count_hops(
    base: Floats, leaf_order: Ints, searches: Searches, scratch: Scratch, orders: Ints
) -> None:
    """Fill orders, (n, n), for the pairs of each search's source and the points it wants.

    base : (n, n) float64, in
        Distances, rows and columns in leaf order.
    """
    hops, left, queue = scratch.hops, scratch.left, scratch.queue
    for s in range(searches.source.shape[0]):
        source, limit = searches.source[s], searches.limit[s]
        n_left = 0
        for p in range(searches.reached[s, 0], searches.reached[s, 1]):
            if p != source:
                left[n_left] = p
                n_left += 1
        hops[source] = 0
        queue[0] = source
        head, tail = 0, 1
        while n_left > 0 and head < tail:
            here = queue[head]
            head += 1
            kept = 0
            for q in range(n_left):
                p = left[q]
                if base[here, p] <= limit:
                    hops[p] = hops[here] + 1
                    queue[tail] = p
                    tail += 1
                else:
                    left[kept] = p
                    kept += 1
            n_left = kept
        i = leaf_order[source]
        for p in range(searches.wanted[s, 0], searches.wanted[s, 1]):
            order = hops[p] + 1 if hops[p] > 1 else 1
            orders[i, leaf_order[p]] = order
            orders[leaf_order[p], i] = order
