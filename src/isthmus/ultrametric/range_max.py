"""Transitive distances of pairs, rows and the whole matrix, from the leaf order alone.

Laid out in leaf order, the transitive distance of two leaves is the largest gap between them:
a maximum over a range. Ranges are cut into blocks; whole blocks are answered by a table of
maxima over 1, 2, 4, … blocks, the ends by looking. The table has n / 32 · log2(n / 32) entries.
"""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import chunks, map_in_threads
from isthmus._utils.typing import Array, Floats, Ints

BLOCK = 32


def block_maxima(gaps: Floats) -> Floats:
    """Return table[level, block]: the largest gap in the 2**level blocks from that block on."""
    n_blocks = -(-len(gaps) // BLOCK)
    n_levels = max(n_blocks, 1).bit_length()
    table = np.full((n_levels, n_blocks), -np.inf)
    padded = np.full(n_blocks * BLOCK, -np.inf)
    padded[: len(gaps)] = gaps
    table[0] = padded.reshape(n_blocks, BLOCK).max(axis=1)
    for level in range(1, n_levels):
        half = 1 << (level - 1)
        stop = n_blocks - 2 * half + 1
        table[level, :stop] = np.maximum(
            table[level - 1, :stop], table[level - 1, half : half + stop]
        )
    return table


@kernel_part
def largest_gap(gaps: Floats, table: Floats, low: int, high: int) -> float:
    """Return the largest gap between two leaf places, the lower one first."""
    largest = 0.0
    low_block, high_block = (low + BLOCK - 1) // BLOCK, high // BLOCK
    if low_block >= high_block:
        for p in range(low, high):
            largest = max(largest, gaps[p])
        return largest
    for p in range(low, low_block * BLOCK):
        largest = max(largest, gaps[p])
    for p in range(high_block * BLOCK, high):
        largest = max(largest, gaps[p])
    level = 0
    while (2 << level) <= high_block - low_block:
        level += 1
    largest = max(largest, table[level, low_block])
    return float(max(largest, table[level, high_block - (1 << level)]))


@kernel
def largest_gaps(gaps: Floats, table: Floats, first: Ints, second: Ints, out: Floats) -> None:
    """Fill out[q] with the largest gap between leaf places first[q] and second[q]."""
    for q in range(out.shape[0]):
        low, high = min(first[q], second[q]), max(first[q], second[q])
        out[q] = largest_gap(gaps, table, low, high)


@kernel
def fill_rows(gaps: Floats, leaf_order: Ints, places: Ints, points: Ints, out: Floats) -> None:
    """Fill out[r, j] with the transitive distance of point points[r] to every point j."""
    n_points = leaf_order.shape[0]
    for r in range(points.shape[0]):
        place = places[points[r]]
        out[r, points[r]] = 0.0
        largest = 0.0
        for p in range(place, n_points - 1):
            largest = max(largest, gaps[p])
            out[r, leaf_order[p + 1]] = largest
        largest = 0.0
        for p in range(place - 1, -1, -1):
            largest = max(largest, gaps[p])
            out[r, leaf_order[p]] = largest


def distance_rows(
    gaps: Floats, leaf_order: Ints, places: Ints, points: Ints, n_jobs: int = 1
) -> Floats:
    """Return the rows of the transitive distance matrix that belong to ``points``."""
    out = np.empty((len(points), len(leaf_order)))
    size = max(1, (1 << 22) // len(leaf_order))

    def fill(bounds: tuple[int, int]) -> None:
        start, stop = bounds
        fill_rows(gaps, leaf_order, places, points[start:stop], out[start:stop])

    map_in_threads(fill, chunks(len(points), size), n_jobs)
    return out


def resolve_indices(indices: Array, n_points: int) -> Ints:
    """Return indices as int64 from 0 to n_points - 1; negative ones count from the end."""
    if indices.size and not np.issubdtype(indices.dtype, np.integer):
        raise IndexError(f"Points are numbered by whole numbers, got dtype {indices.dtype}.")
    wrong = (indices < -n_points) | (indices >= n_points)
    if wrong.any():
        raise IndexError(
            f"Point {indices[wrong].flat[0]} is out of range: the tree has {n_points} points."
        )
    resolved = indices.astype(np.int64)
    return np.where(resolved < 0, resolved + n_points, resolved)
