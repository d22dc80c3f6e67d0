"""Neighbourhoods that are shared: distances times the Jaccard distance of neighbour sets.

Two sets of K points that have s in common have the Jaccard distance 1 - s / (2 K - s).
"""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import Workers
from isthmus._utils.typing import Floats, Labels
from isthmus.neighbors.sorted_lists import Neighbors, empty_neighbors, keep_nearest_of_rows

# Points per task.
_PER_TASK = 1 << 12
# Multiplying by this spreads indices over a table (Knuth's multiplicative hashing).
_SPREAD = 2654435769


def shared_distances(neighbors: Neighbors, n_jobs: int = 1) -> Floats:
    """Return the distances of neighbours times the Jaccard distance of their neighbour sets.

    neighbors : Neighbors
        Its distances become the result.
    """
    n_points, n_neighbors = neighbors.indices.shape
    n_bits = _n_bits(n_neighbors)
    with Workers(n_jobs) as workers:
        tables = [np.empty(1 << n_bits, dtype=np.int32) for _ in range(n_jobs)]
        kernels = [
            multiply_by_jaccard.bound(neighbors.indices, table, neighbors.distances, n_bits)
            for table in tables
        ]
        workers.in_blocks(
            n_points, _PER_TASK, lambda worker, start, stop: kernels[worker](start, stop)
        )
    return neighbors.distances


def share_distances_of_new(rows: Floats, neighbors: Labels) -> None:
    """Multiply, in full rows of distances, those of each new point's own neighbours.

    rows : (m, n) float64, in and out
        The distances of new points to all points.
    neighbors : (n, n_neighbors) int32
        A new point's neighbours are itself and its n_neighbors - 1 nearest, in the same order.
    """
    n_points, n_neighbors = neighbors.shape
    found = empty_neighbors(len(rows), n_neighbors - 1)
    found.indices[:], found.distances[:] = -1, np.inf
    names, no_own = np.arange(n_points, dtype=np.int32), np.full(len(rows), -1, dtype=np.int32)
    keep_nearest_of_rows(rows, names, no_own, found)
    too_few = np.isinf(found.distances).any(axis=1)
    if too_few.any():
        n_edges = int(np.isfinite(rows[np.argmax(too_few)]).sum())
        raise ValueError(
            f"A new row has {n_edges} finite distances; the neighbourhoods of the fit take "
            f"{n_neighbors - 1}."
        )
    n_bits = _n_bits(n_neighbors)
    table = np.empty(1 << n_bits, dtype=np.int32)
    multiply_new_by_jaccard(neighbors, found.indices, table, rows, n_bits)


def _n_bits(n_neighbors: int) -> int:
    """Return the bits of a table that a neighbourhood fills to a quarter at most."""
    return int(np.ceil(np.log2(4 * n_neighbors)))


@kernel_part
def slot_of(index: int, n_bits: int) -> int:
    """Return where an index stands in a table, if nothing else does."""
    return ((index * _SPREAD) & 0xFFFFFFFF) >> (32 - n_bits)


@kernel_part
def insert_in_table(table: Labels, index: int, n_bits: int) -> None:
    """Insert an index into a table with free slots, which hold -1."""
    slot = slot_of(index, n_bits)
    while table[slot] >= 0:
        slot = (slot + 1) & (table.shape[0] - 1)
    table[slot] = index


@kernel_part
def count_shared(table: Labels, indices: Labels, n_bits: int) -> int:
    """Return how many of some indices are in a table."""
    n_shared = 0
    for t in range(indices.shape[0]):
        index = np.int64(indices[t])
        slot = slot_of(index, n_bits)
        while table[slot] >= 0 and table[slot] != index:
            slot = (slot + 1) & (table.shape[0] - 1)
        n_shared += int(table[slot] == index)
    return n_shared


@kernel_part
def jaccard_distance(n_shared: int, size: int) -> float:
    """Return the Jaccard distance of two sets of one size."""
    return 1.0 - n_shared / (2.0 * size - n_shared)


@kernel
def multiply_by_jaccard(
    indices: Labels, table: Labels, distances: Floats, n_bits: int, start: int, stop: int
) -> None:
    """Multiply the distances of points start … stop - 1 and their neighbours.

    indices : (n, n_neighbors) int32, in
    table : (2 ** n_bits,) int32, scratch
    distances : (n, n_neighbors) float64, in and out
    """
    size = indices.shape[1]
    for i in range(start, stop):
        for slot in range(table.shape[0]):
            table[slot] = -1
        for t in range(size):
            insert_in_table(table, np.int64(indices[i, t]), n_bits)
        for t in range(1, size):
            n_shared = count_shared(table, indices[np.int64(indices[i, t])], n_bits)
            distances[i, t] *= jaccard_distance(n_shared, size)


@kernel
def multiply_new_by_jaccard(
    indices: Labels, order: Labels, table: Labels, rows: Floats, n_bits: int
) -> None:
    """Multiply the distances of new points to their own neighbours.

    indices : (n, n_neighbors) int32, in
    order : (m, n_neighbors - 1) int32, in
        The nearest points of each new point.
    rows : (m, n) float64, in and out
    """
    size = indices.shape[1]
    for i in range(order.shape[0]):
        for slot in range(table.shape[0]):
            table[slot] = -1
        for t in range(size - 1):
            insert_in_table(table, np.int64(order[i, t]), n_bits)
        for t in range(size - 1):
            j = np.int64(order[i, t])
            rows[i, j] *= jaccard_distance(count_shared(table, indices[j], n_bits), size)
