"""Equal points, collapsed before an engine sees them.

Of a group of equal points the smallest index represents them all; edges of length zero connect
the others to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import Workers
from isthmus._utils.typing import Array, Ints

Hashes = npt.NDArray[np.uint64]

# One row in this many, chosen by its hash, tells how many have an equal: equal rows are chosen
# together.
_SAMPLED = 16
# Rows per task.
_BLOCK = 1 << 17
# Collapsing pays where at least this share of rows has an equal that comes before it.
_WORTHWHILE = 0.25


class Duplicates(NamedTuple):
    """How points are collapsed.

    Attributes
    ----------
    distinct : (m,) int64
        The first of each group of equal points, ascending.
    stars : (n - m, 2) int64
        Edges of length zero, from the first of a group to each of the others.
    """

    distinct: Ints
    stars: Ints


def find_duplicates(points: Array, n_jobs: int = 1) -> Duplicates | None:
    """Return how points are collapsed; None where few have an equal."""
    first = representatives(points, n_jobs)
    if first is None:
        return None
    is_first = first == np.arange(len(first))
    repeated = np.flatnonzero(~is_first)
    return Duplicates(np.flatnonzero(is_first), np.column_stack([first[repeated], repeated]))


def representatives(points: Array, n_jobs: int = 1) -> Ints | None:
    """Return, for each point, the first one equal to it; None where few points have an equal.

    Points that are not recognised as equal do no harm: their distance is found to be zero.
    """
    rows = np.ascontiguousarray(points)
    n_points = len(rows)
    samples: dict[int, Hashes] = {}
    counts: dict[int, int] = {}

    def work(_: int, start: int, stop: int) -> None:
        sample = np.empty((stop - start) // _SAMPLED * 2 + 64, dtype=np.uint64)
        counts[start] = sample_hashes(rows[start:stop], sample)
        samples[start] = sample[: counts[start]]

    with Workers(n_jobs) as workers:
        workers.in_blocks(n_points, _BLOCK, work)
    # A sample much larger or smaller than it should be means few different rows, often repeated.
    n_sampled = sum(counts.values())
    expected = n_points / _SAMPLED
    if abs(n_sampled - expected) <= 6.0 * np.sqrt(expected):
        ranked = np.sort(np.concatenate(list(samples.values())))
        if np.count_nonzero(ranked[1:] == ranked[:-1]) <= _WORTHWHILE * max(n_sampled, 1):
            return None
    return RowIndex(rows).first_equal()


class RowIndex:
    """Rows, to be found by what they hold.

    Parameters
    ----------
    rows : (n, n_features) array in C order
        Rows are equal if all entries are; two missing ones (NaN) are.
    """

    def __init__(self, rows: Array) -> None:
        self.rows = rows
        # Numbers are sorted several times faster than indices by them: the last bits of each hash
        # give way to the row's index.
        self._n_bits = max(len(rows) - 1, 1).bit_length()
        self._keys = np.empty(len(rows), dtype=np.uint64)
        hash_rows(rows, self._n_bits, self._keys)
        self._keys.sort()

    def first_equal(self) -> Ints:
        """Return, for each row, the first one equal to it, (n,); see join_equal_rows."""
        first = np.arange(len(self.rows))
        join_equal_rows(self.rows, self._keys, self._n_bits, first)
        return first

    def find(self, rows: Array) -> Ints:
        """Return the first row that equals each of others, -1 where there is none."""
        found = np.empty(len(rows), dtype=np.int64)
        find_rows(self.rows, self._keys, self._n_bits, np.ascontiguousarray(rows), found)
        return found


@kernel_part
def hash_row(points: Array, i: int) -> np.uint64:
    """Return a number that is equal for equal rows, and hardly ever otherwise."""
    multiplier = np.uint64(0x9E3779B97F4A7C15)
    mixed = np.uint64(points.shape[1])
    for t in range(points.shape[1]):
        # + 0.0: a negative zero is a zero
        x: float = np.float64(points[i, t] + 0.0)
        if np.isnan(x):  # there are many, by their bits
            x = np.nan
        bits = np.float64(x).view(np.uint64)
        mixed = (mixed ^ bits) * multiplier
        mixed ^= mixed >> np.uint64(32)
    # once more: small integers differ in few bits, all of them high ones
    mixed *= multiplier
    return mixed ^ (mixed >> np.uint64(29))


@kernel_part
def are_equal(points: Array, i: int, others: Array, j: int) -> bool:
    """Whether two rows are equal; what is missing in both is."""
    for t in range(points.shape[1]):
        x, y = points[i, t], others[j, t]
        if not (x == y or (np.isnan(x) and np.isnan(y))):
            return False
    return True


@kernel
def sample_hashes(points: Array, sample: Hashes) -> int:
    """Fill sample with the hashes that are multiples of _SAMPLED; return how many there are.

    The count goes on where the sample is full.
    """
    n_sampled = 0
    for i in range(points.shape[0]):
        mixed = hash_row(points, i)
        if mixed % np.uint64(_SAMPLED) == 0:
            if n_sampled < sample.shape[0]:
                sample[n_sampled] = mixed
            n_sampled += 1
    return n_sampled


@kernel
def hash_rows(points: Array, n_bits: int, keys: Hashes) -> None:
    """Fill keys, (n,), with the hash of each row, its last n_bits replaced by the row's index."""
    for i in range(points.shape[0]):
        keys[i] = ((hash_row(points, i) >> np.uint64(n_bits)) << np.uint64(n_bits)) | np.uint64(i)


@kernel
def join_equal_rows(points: Array, keys: Hashes, n_bits: int, first: Ints) -> None:
    """Fill first[i] with the smallest index of a row equal to row i; keys are sorted.

    Where rows that differ have the same hash, those unlike the first of them are left alone.
    """
    mask = (np.uint64(1) << np.uint64(n_bits)) - np.uint64(1)
    begin = 0
    while begin < keys.shape[0]:
        hashed = keys[begin] >> np.uint64(n_bits)
        smallest = np.int64(keys[begin] & mask)  # indices ascend where hashes are equal
        end = begin + 1
        while end < keys.shape[0] and keys[end] >> np.uint64(n_bits) == hashed:
            i = np.int64(keys[end] & mask)
            if are_equal(points, i, points, smallest):
                first[i] = smallest
            end += 1
        begin = end


@kernel
def find_rows(points: Array, keys: Hashes, n_bits: int, rows: Array, found: Ints) -> None:
    """Fill found[q] with the smallest index of a point equal to row q, or -1; keys are sorted."""
    shift = np.uint64(n_bits)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    for q in range(rows.shape[0]):
        hashed = hash_row(rows, q) >> shift
        low, high = 0, keys.shape[0]
        while low < high:
            middle = (low + high) // 2
            if keys[middle] >> shift < hashed:
                low = middle + 1
            else:
                high = middle
        found[q] = -1
        while low < keys.shape[0] and keys[low] >> shift == hashed:
            i = np.int64(keys[low] & mask)
            if are_equal(points, i, rows, q):
                found[q] = i
                break
            low += 1
