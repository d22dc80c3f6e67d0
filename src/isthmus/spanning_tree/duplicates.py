"""Equal points, put together before an engine sees them.

Of a group of equal points the smallest index represents them all; the others hang on it by edges
of length zero.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from isthmus._compile import kernel
from isthmus._typing import Array, Ints

Hashes = npt.NDArray[np.uint64]

# One in so many rows, chosen by their hash, tells how many have an equal: equal rows are chosen
# together.
_SAMPLED = 16
# Putting together pays where at least this share of rows has an equal that comes before it.
_WORTHWHILE = 0.05


def representatives(points: Array) -> Ints | None:
    """Return, for each point, the first one equal to it; None where few points have an equal.

    Points that are not recognised as equal do no harm: their distance is found to be zero.
    """
    hashes = np.empty(len(points), dtype=np.uint64)
    hash_rows(np.ascontiguousarray(points), hashes)
    sample = hashes[hashes % np.uint64(_SAMPLED) == 0]
    repeated = len(sample) - len(np.unique(sample))
    # A sample much larger or smaller than it should be means few different rows, often repeated.
    expected = len(points) / _SAMPLED
    likely = abs(len(sample) - expected) <= 6.0 * np.sqrt(expected)
    if likely and repeated <= _WORTHWHILE * max(len(sample), 1):
        return None
    order = np.argsort(hashes)
    first = np.arange(len(points))
    join_equal_rows(points, hashes, order, first)
    return first


@kernel
def hash_rows(points: Array, hashes: Hashes) -> None:
    """Fill hashes, (n,), with numbers that are equal for equal rows, and hardly ever otherwise."""
    multiplier = np.uint64(0x9E3779B97F4A7C15)
    for i in range(points.shape[0]):
        mixed = np.uint64(points.shape[1])
        for t in range(points.shape[1]):
            # + 0.0: a negative zero is a zero
            bits = np.float64(points[i, t] + 0.0).view(np.uint64)
            mixed = (mixed ^ bits) * multiplier
            mixed ^= mixed >> np.uint64(32)
        hashes[i] = mixed


@kernel
def join_equal_rows(points: Array, hashes: Hashes, order: Ints, first: Ints) -> None:
    """Fill first[i] with the smallest index of a row equal to row i, rows being sorted by hash.

    Where rows that differ have the same hash, those unlike the first of them are left alone.
    """
    begin = 0
    while begin < order.shape[0]:
        end = begin + 1
        while end < order.shape[0] and hashes[order[end]] == hashes[order[begin]]:
            end += 1
        smallest = order[begin]
        for r in range(begin + 1, end):
            smallest = min(smallest, order[r])
        for r in range(begin, end):
            i = order[r]
            equal = True
            for t in range(points.shape[1]):
                equal = equal and points[i, t] == points[smallest, t]
            if equal:
                first[i] = smallest
        begin = end
