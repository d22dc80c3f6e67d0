"""Points that differ by too little, beside others, for what kernels accumulate.

Squares of differences below 1e-154 vanish, and a scale that brings larger coordinates into range
makes more of them. But whatever is accumulated to 2^-1000 or more has kept all its digits. Let t
be the least difference of which that is true, in one feature. Two numbers of which one is not
below t 2^54 differ by more than t, or not at all. So rows whose distance may be wrong

- are equal in all features but those in which both are below t 2^54: they are *alike*, and
- can be brought into range by another scale, once the features in which they are equal are zeros.

Hardly any data have such rows. To know that, it is enough to look for entries below t 2^54.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, POWERS, SQUARES
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics.maps import reduce_rows

# Sums that are not below this have lost no digits to underflow.
LOST = 2.0**-1000
# Sums of higher powers are computed in units of the largest difference: they lose nothing.
_LARGEST_POWER = 8.0
_ENTRIES = 1 << 16
_ROWS = 1 << 12


class Limits(NamedTuple):
    """Below which magnitudes digits may be lost, in units of the points before they were scaled.

    Attributes
    ----------
    difference : float
        Distances of rows that differ by this, or more, in some feature are right.
    entry : float
        Rows that differ by less are alike: they differ in entries below this.
    """

    difference: float
    entry: float

    @classmethod
    def of(cls, kind: int, power: float, scale: float) -> Limits:
        """Return the limits of points that were divided by a scale."""
        exponent = {SQUARES: 2.0, POWERS: min(power, _LARGEST_POWER)}.get(kind, 1.0)
        least = LOST ** (1.0 / exponent)
        return cls(least * scale, least * 2.0**54 * scale)


def has_tiny_entries(points: Any, limit: float) -> bool:
    """Whether some entries are below a limit, and not zero."""
    entries = points if isinstance(points, np.ndarray) else points.data
    if entries.size == 0 or limit <= np.finfo(entries.dtype).smallest_subnormal:
        return False
    entries = entries.ravel(order="K")
    return any(
        _has_tiny(entries[start:stop], limit) for start, stop in chunks(len(entries), _ENTRIES)
    )


def _has_tiny(entries: Array, limit: float) -> bool:
    below = np.abs(entries) < limit
    return bool(below.any() and entries[below].any())


def has_tiny_differences(points: Any, limits: Limits) -> bool:
    """Whether some rows are alike, but not equal."""
    if not has_tiny_entries(points, limits.entry):
        return False
    others = points[_first_alike(points, limits.entry)]
    if isinstance(points, np.ndarray):
        return not np.array_equal(points, others)
    return bool((points - others).data.any())


def groups_of_alike(points: Any, limit: float) -> list[Ints]:
    """Return groups, of two rows at least, that differ only in entries below a limit."""
    first = _first_alike(points, limit)
    order = np.argsort(first, kind="stable")
    begins = np.flatnonzero(np.diff(first[order], prepend=-1))
    return [rows for rows in np.split(order, begins[1:]) if len(rows) > 1]


def _first_alike(points: Any, limit: float) -> Ints:
    """Return, for each row, the first one that is alike."""
    if isinstance(points, np.ndarray):
        from isthmus.metrics.duplicates import RowIndex

        return RowIndex(without_tiny(points, limit)).first_equal()
    rows = without_tiny(points, limit)
    numbers: dict[tuple[bytes, bytes], int] = {}
    first = np.empty(rows.shape[0], dtype=np.int64)
    for i, (start, stop) in enumerate(zip(rows.indptr[:-1], rows.indptr[1:], strict=True)):
        key = rows.indices[start:stop].tobytes(), rows.data[start:stop].tobytes()
        first[i] = numbers.setdefault(key, i)
    return first


def without_tiny(points: Any, limit: float) -> Any:
    """Return points with zeros in place of entries below a limit."""
    if isinstance(points, np.ndarray):
        return np.ascontiguousarray(np.where(np.abs(points) < limit, 0.0, points))
    return _with_zeros(points, np.abs(points.data) < limit)


def only_tiny(points: Any, limit: float) -> Any:
    """Return rows that are alike with zeros in place of all entries in which they are equal."""
    if isinstance(points, np.ndarray):
        return np.where(np.abs(points) < limit, points, 0.0)
    return _with_zeros(points, ~(np.abs(points.data) < limit))


def _with_zeros(points: Any, where: Array) -> Any:
    changed = points.astype(np.float64, copy=True)
    changed.data[where] = 0.0
    changed.eliminate_zeros()
    return changed


def largest_differences(points: Any, pairs: Ints) -> Floats:
    """Return how much pairs of rows, (m, 2), differ in some feature at most."""
    largest = np.empty(len(pairs))
    for start, stop in chunks(len(pairs), _ROWS):
        largest[start:stop] = _Differences(points, pairs[start:stop]).largest
    return largest


def exact_lengths(points: Any, pairs: Ints, kind: int, power: float) -> Floats:
    """Return the distances of pairs of rows, (m, 2), however small.

    What is accumulated as squares comes as its root.
    """
    lengths = np.empty(len(pairs))
    for start, stop in chunks(len(pairs), _ROWS):
        differences = _Differences(points, pairs[start:stop])
        largest = differences.largest
        if kind == MAXIMUM:
            lengths[start:stop] = largest
        elif kind == ABSOLUTES:
            lengths[start:stop] = differences.sums(1.0)
        else:
            # the largest difference is factored out, so that no power over- or underflows
            p = 2.0 if kind == SQUARES else power
            differences.divide(np.where(largest > 0.0, largest, 1.0))
            lengths[start:stop] = largest * differences.sums(p) ** (1.0 / p)
    return lengths


class _Differences:
    """The absolute differences of pairs of rows, dense or sparse."""

    def __init__(self, points: Any, pairs: Ints) -> None:
        a, b = points[pairs[:, 0]], points[pairs[:, 1]]
        with np.errstate(over="ignore"):
            rows: Any = abs(a.astype(np.float64) - b)
        self.is_dense = isinstance(rows, np.ndarray)
        self.values: Floats = rows if self.is_dense else rows.data
        self._starts = None if self.is_dense else rows.indptr

    @property
    def largest(self) -> Floats:
        return self._reduced(np.maximum, self.values)

    def divide(self, divisors: Floats) -> None:
        """Divide each row by a number."""
        by_row = divisors[:, None]
        if self._starts is not None:
            by_row = np.repeat(divisors, np.diff(self._starts))
        self.values = self.values / by_row

    def sums(self, power: float) -> Floats:
        """Return the sum of powers of each row."""
        with np.errstate(under="ignore"):
            return self._reduced(np.add, self.values**power)

    def _reduced(self, function: np.ufunc, values: Floats) -> Floats:
        if self._starts is not None:
            return reduce_rows(function, values, self._starts)
        reduced: Floats = function.reduce(values, axis=1)
        return reduced
