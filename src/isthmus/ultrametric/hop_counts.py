"""Base distances and their tree → how many vertices the transitive distance of a pair needs.

D(i, j) is reached by paths whose hops are all at most D(i, j), and of these the one with the
fewest hops counts: a breadth-first search among the points that are so near. Each merge of the
tree settles the pairs across it by one search from every point of its smaller side, so there are
at most n log2(n) / 2 searches, each over a dense part of the matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.parallel import chunks, map_in_threads
from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric.merges import tops_of_ties
from isthmus.ultrametric.tree import UltrametricTree

# Distances looked at per kernel call.
_WORK_PER_CALL = 20_000_000


class Searches(NamedTuple):
    """Searches by places in the leaf order, one row each.

    Attributes
    ----------
    source : (m,) int64
        Where the search begins.
    reached : (m, 2) int64
        The first place that it reaches, and the one behind the last.
    wanted : (m, 2) int64
        The same of the points whose number of hops is asked for.
    limit : (m,) float64
        The longest hop.
    """

    source: Ints
    reached: Ints
    wanted: Ints
    limit: Floats


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
        part = (column[slice(*bounds)] for column in searches)
        hops, left, queue = np.empty((3, n_points), dtype=np.int64)
        count_hops(in_leaf_order, tree.leaf_order, *part, hops, left, queue, orders)

    per_call = max(1, _WORK_PER_CALL // n_points**2)
    map_in_threads(search, chunks(len(searches.source), per_call), n_jobs)
    return orders


def searches_of_merges(tree: UltrametricTree) -> Searches:
    """Return one search for each point of the smaller side of each merge."""
    n_points, sizes, starts = tree.n_points, tree.sizes, tree.starts
    first_larger = sizes[tree.children[:, 0]] > sizes[tree.children[:, 1]]
    smaller = np.where(first_larger, tree.children[:, 1], tree.children[:, 0])
    larger = np.where(first_larger, tree.children[:, 0], tree.children[:, 1])
    # hops of equal length may lead through what later merges of the same height join
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
    base: Floats,
    leaf_order: Ints,
    source: Ints,
    reached: Ints,
    wanted: Ints,
    limit: Floats,
    hops: Ints,
    left: Ints,
    queue: Ints,
    orders: Ints,
) -> None:
    """Fill orders, (n, n), for the pairs of each search's source and the points it wants.

    Parameters
    ----------
    base : (n, n) float64, in
        Distances, rows and columns in leaf order.
    leaf_order : (n,) int64, in
    source, reached, wanted, limit : in
        The searches.
    hops, left, queue : (n,) int64, scratch
        The hops to each place, the places not yet reached, and those from which to go on.
    orders : (n, n) int64, out
    """
    for s in range(source.shape[0]):
        n_left = 0
        for p in range(reached[s, 0], reached[s, 1]):
            if p != source[s]:
                left[n_left] = p
                n_left += 1
        hops[source[s]] = 0
        queue[0] = source[s]
        head, tail = 0, 1
        while n_left > 0 and head < tail:
            here = queue[head]
            head += 1
            kept = 0
            for q in range(n_left):
                p = left[q]
                if base[here, p] <= limit[s]:
                    hops[p] = hops[here] + 1
                    queue[tail] = p
                    tail += 1
                else:
                    left[kept] = p
                    kept += 1
            n_left = kept
        i = leaf_order[source[s]]
        for p in range(wanted[s, 0], wanted[s, 1]):
            order = hops[p] + 1 if hops[p] > 1 else 1
            orders[i, leaf_order[p]] = order
            orders[leaf_order[p], i] = order
