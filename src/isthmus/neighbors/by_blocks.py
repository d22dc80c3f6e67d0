"""Many features: lists by blocked matrix products, measured exactly, and searched again if unsure.

A list has a few entries more than are wanted. Nothing that is not in it is nearer than its reach;
so the neighbours are certain where the last of them is nearer than that.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from isthmus._numba.kernel import kernel
from isthmus._utils.parallel import Workers
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Floats, Labels
from isthmus.blocks import candidates
from isthmus.blocks.bounds import GROUP
from isthmus.blocks.candidates import Lists, Searching
from isthmus.blocks.dense_rows import dense_blocks
from isthmus.blocks.nearest import Buffers, NearestLists
from isthmus.blocks.sparse_rows import sparse_blocks
from isthmus.metrics import PreparedPoints
from isthmus.neighbors.sorted_lists import Neighbors, empty_neighbors, offer_neighbor, with_heights

# Entries of a list beyond those that are wanted.
_SPARE = 6


def list_length(n_neighbors: int) -> int:
    """Return the length of lists, of other points, in which neighbours are certain as a rule."""
    return n_neighbors - 1 + _SPARE if n_neighbors > 1 else 0


def neighbors_by_blocks(
    prepared: PreparedPoints,
    n_neighbors: int,
    n_jobs: int = 1,
    progress: Progress | None = None,
    block_size: int = 1024,
) -> Neighbors:
    """Return the neighbours of at least two points, n_neighbors > 1, by matrix products."""
    # Threads work on products of their own; the matrix products inside must not start others.
    with Workers(n_jobs) as workers, threadpool_limits(1, user_api="blas"):
        points = prepared.points
        make = sparse_blocks if issparse(points) else dense_blocks
        blocks = make(points, workers, block_size)
        lists = NearestLists(blocks, workers, list_length(n_neighbors))

        def report(share: float) -> None:
            if progress is not None:
                progress(int(share * blocks.n_points), blocks.n_points)

        lists.find(report)
        return neighbors_from_lists(lists, prepared, n_neighbors)


def neighbors_from_lists(
    lists: NearestLists, prepared: PreparedPoints, n_neighbors: int
) -> Neighbors:
    """Return the neighbours that lists of at least list_length(n_neighbors) hold."""
    n_points, n_others = lists.blocks.n_points, n_neighbors - 1
    found = empty_neighbors(n_points, n_neighbors)
    order = lists.blocks.order
    take = take_from_lists.bound(order, lists.positions, lists.distances, found)
    lists.workers.in_blocks(n_points, 1 << 13, lambda _, start, stop: take(start, stop))
    unsure = np.flatnonzero(lists.distances[:, n_others - 1] >= lists.reach).astype(np.int32)
    labels = np.arange(n_points, dtype=np.int32)
    groups = list(lists.blocks.groups(unsure, GROUP))

    def work(worker: int, number: int, _: int) -> None:
        rows, block = groups[number]
        limits = lists.distances[rows, n_others - 1]
        search = Searching(rows, labels, order, lists.unit, lists.never)
        nearest = Lists(
            distances=np.full((len(rows), n_others), np.inf),
            positions=np.full((len(rows), n_others), -1, dtype=np.int32),
            limits=(limits / lists.unit).astype(np.float32),
        )
        _search_group(lists, search, block, nearest, lists.buffers[worker])
        found.indices[order[rows], 1:] = nearest.positions
        found.distances[order[rows], 1:] = nearest.distances

    lists.workers.in_blocks(len(groups), 1, work)
    return with_heights(found, prepared)


def _search_group(
    lists: NearestLists, search: Searching, block: int, nearest: Lists, buffers: Buffers
) -> None:
    """Fill the nearest others of positions of a block, as far as their limits."""
    blocks, rows = lists.blocks, search.positions
    kernel = candidates.keep_nearest_exactly.specialised(lists.kernels)
    offer_pairs = kernel.bound(lists.exact, search, nearest)
    gaps = blocks.gaps(block)
    for other in np.argsort(gaps, kind="stable").tolist():
        if gaps[other] > nearest.limits.max():
            break
        chosen, separation = blocks.facing(rows, block, other, nearest.limits)
        if len(chosen) > 0:
            products = buffers.products(blocks, rows[chosen], other, separation)
            offer_pairs(products, chosen)


@kernel
def take_from_lists(
    order: Labels, positions: Labels, distances: Floats, found: Neighbors, start: int, stop: int
) -> None:
    """Fill the neighbours of positions start … stop - 1 with the nearest that their lists hold.

    order : (n,) int32, in
        The point at each position.
    positions, distances : (n, length), in
    found : out
        Of each row the entries after the first.
    """
    for i in range(start, stop):
        row = np.int64(order[i])
        own_distances, own_indices = found.distances[row, 1:], found.indices[row, 1:]
        for t in range(positions.shape[1]):
            if distances[i, t] > own_distances[own_distances.shape[0] - 1]:
                break
            index = np.int64(order[positions[i, t]])
            offer_neighbor(own_distances, own_indices, distances[i, t], index)
