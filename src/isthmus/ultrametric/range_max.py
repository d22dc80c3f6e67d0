"""Transitive distances of pairs, rows and the full matrix, from the leaf order alone.

The transitive distance of two leaves is the largest gap between them in leaf order: a range
maximum. Ranges are cut into blocks. A sparse table of maxima over 1, 2, 4, … blocks answers for
complete blocks, a scan for the ends. The table has n / 32 · log2(n / 32) entries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import chunks, map_in_threads
from isthmus._utils.typing import Floats, Ints

BLOCK = 32


class RangeMaxima(NamedTuple):
    """Numbers between neighbours in leaf order, indexed for maxima over ranges.

    Attributes
    ----------
    gaps : (n - 1,) float64
    table : (n_levels, n_blocks) float64
        table[level, block] is the largest gap in the 2**level blocks from that block on.
    """

    gaps: Floats
    table: Floats

    @classmethod
    def of(cls, gaps: Floats) -> RangeMaxima:
        """Return the index of some gaps."""
        n_blocks = -(-len(gaps) // BLOCK)
        n_levels = max(n_blocks, 1).bit_length()
        table = np.full((n_levels, n_blocks), -np.inf)
        table[0] = maxima_of_blocks(gaps, BLOCK)
        for level in range(1, n_levels):
            half = 1 << (level - 1)
            stop = n_blocks - 2 * half + 1
            table[level, :stop] = np.maximum(
                table[level - 1, :stop], table[level - 1, half : half + stop]
            )
        return cls(gaps, table)

    def between(self, first: Ints, second: Ints) -> Floats:
        """Return the largest gap between each two positions in leaf order, in either order."""
        out = np.empty(len(first))
        fill_largest_gaps(self, first, second, out)
        return out


def maxima_of_blocks(numbers: Floats, size: int) -> Floats:
    """Return the largest of each ``size`` numbers, and of the rest: (n_blocks,) float64."""
    maxima = np.empty(-(-len(numbers) // size))
    fill_maxima(numbers, size, maxima)  # in a tenth of the time of np.maximum.reduceat
    return maxima


@kernel
def fill_maxima(numbers: Floats, size: int, maxima: Floats) -> None:
    """Fill the largest number of each block."""
    for block in range(maxima.shape[0]):
        largest = -np.inf
        for i in range(block * size, min((block + 1) * size, numbers.shape[0])):
            largest = max(largest, numbers[i])
        maxima[block] = largest


@kernel_part
def largest_gap(maxima: RangeMaxima, low: int, high: int) -> float:
    """Return the largest gap between two positions in leaf order, the lower one first."""
    gaps, table = maxima.gaps, maxima.table
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
def fill_largest_gaps(maxima: RangeMaxima, first: Ints, second: Ints, out: Floats) -> None:
    """Fill out[q] with the largest gap between positions first[q] and second[q]."""
    for q in range(out.shape[0]):
        out[q] = largest_gap(maxima, min(first[q], second[q]), max(first[q], second[q]))


@kernel
def fill_rows(gaps: Floats, leaf_order: Ints, starts: Ints, points: Ints, out: Floats) -> None:
    """Fill out[r, j] with the transitive distance of point points[r] to every point j."""
    n_points = leaf_order.shape[0]
    for r in range(points.shape[0]):
        position = starts[points[r]]
        out[r, points[r]] = 0.0
        largest = 0.0
        for p in range(position, n_points - 1):
            largest = max(largest, gaps[p])
            out[r, leaf_order[p + 1]] = largest
        largest = 0.0
        for p in range(position - 1, -1, -1):
            largest = max(largest, gaps[p])
            out[r, leaf_order[p]] = largest


def distance_rows(
    gaps: Floats, leaf_order: Ints, starts: Ints, points: Ints, n_jobs: int = 1
) -> Floats:
    """Return the rows of the transitive distance matrix that belong to ``points``."""
    out = np.empty((len(points), len(leaf_order)))
    size = max(1, (1 << 22) // len(leaf_order))

    def fill(bounds: tuple[int, int]) -> None:
        start, stop = bounds
        fill_rows(gaps, leaf_order, starts, points[start:stop], out[start:stop])

    map_in_threads(fill, chunks(len(points), size), n_jobs)
    return out
