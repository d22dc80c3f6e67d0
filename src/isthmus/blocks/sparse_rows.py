"""Sparse rows: their inner products, and their distances, in the time that their entries take.

They are not shifted, since that would fill them. Entries that are not stored are zeros, and add
nothing to a sum: distances are those of the dense rows, to the last bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import Workers
from isthmus._utils.typing import Floats, Labels
from isthmus.blocks.bounds import EXACT, Blocks, Singles, even_starts
from isthmus.metrics.accumulate import Entries, entries_of
from isthmus.metrics.maps import reduce_rows


class Inverted(NamedTuple):
    """A block's entries by feature: scratch of a thread.

    Attributes
    ----------
    starts : (n_features + 1,) int32
    columns, values : (n_entries,) int32 and float32
    """

    starts: Labels
    columns: Labels
    values: Singles


class SparseRows:
    """Rows of a sparse matrix."""

    sparse = True

    def __init__(self, given: Entries, singles: Singles, n_features: int, size: int) -> None:
        self.given = given
        self.singles = Entries(singles, given.features, given.starts)
        self.n_features = n_features
        self.size = size
        counts = np.diff(given.starts)
        self.n_summands = 2 * int(counts.max())  # of a distance: all entries of two rows
        self._all = np.arange(len(counts), dtype=np.int32)

    def products(
        self, rows: slice | Labels, columns: slice, out: Singles, scratch: Inverted
    ) -> None:
        """Fill out, (n_rows, >= n_columns), with the inner products of positions."""
        sparse_products(self.singles, self._all[rows], columns.start, columns.stop, scratch, out)

    def along(self, positions: slice | Labels, direction: Floats) -> Floats:
        """Return the inner products of positions with a vector, computed in float32."""
        entries = self.singles
        products = entries.values * direction.astype(np.float32)[entries.features]
        sums = reduce_rows(np.add, products.astype(np.float64), entries.starts)
        return np.asarray(sums[positions], dtype=np.float64)

    def scratch(self) -> Inverted:
        """Return the memory in which a block's entries are sorted by feature."""
        starts = self.given.starts
        n_points = len(starts) - 1
        most = max(
            int(starts[min(first + self.size, n_points)] - starts[first])
            for first in even_starts((0, n_points), self.size)[:-1]
        )
        return Inverted(
            np.empty(self.n_features + 1, dtype=np.int32),
            np.empty(most, dtype=np.int32),
            np.empty(most, dtype=np.float32),
        )


def sparse_blocks(points: Any, _: Workers, size: int) -> Blocks:
    """Put the rows of a CSR matrix, its indices sorted, into blocks, as they come.

    size : int
        The most points to a block.
    """
    n_points, n_features = points.shape
    given = entries_of(points)
    values = given.values.astype(np.float64)
    squares = reduce_rows(np.add, values**2, given.starts)
    exact = bool((values == np.rint(values)).all() and squares.max() <= EXACT)
    largest = np.abs(values).max(initial=0.0)
    scale = 1.0 if exact else float(np.ldexp(1.0, int(np.frexp(largest)[1])))
    starts = even_starts((0, n_points), size)
    return Blocks(
        SparseRows(given, (values / scale).astype(np.float32), n_features, size),
        np.arange(n_points, dtype=np.int32),
        starts,
        squares / scale**2,
        np.zeros((1, 0)),
        np.zeros(len(starts) - 1),
        scale,
        exact,
        size,
    )


@kernel
def sparse_products(
    entries: Entries, rows: Labels, first: int, stop: int, inverted: Inverted, out: Singles
) -> None:
    """Fill out[:, :stop - first] with the inner products of rows with rows first … stop - 1."""
    invert(entries, first, stop, inverted)
    for r in range(rows.shape[0]):
        row = out[r]
        for c in range(stop - first):
            row[c] = np.float32(0.0)
        for entry in range(entries.starts[rows[r]], entries.starts[rows[r] + 1]):
            value = entries.values[entry]
            feature = entries.features[entry]
            for t in range(inverted.starts[feature], inverted.starts[feature + 1]):
                row[inverted.columns[t]] += value * inverted.values[t]


@kernel_part
def invert(entries: Entries, first: int, stop: int, inverted: Inverted) -> None:
    """Sort the entries of rows first … stop - 1 by feature, and by row where these are equal."""
    starts = inverted.starts
    begin, end = entries.starts[first], entries.starts[stop]
    for feature in range(starts.shape[0]):
        starts[feature] = 0
    for entry in range(begin, end):
        starts[entries.features[entry]] += 1
    total = 0
    for feature in range(starts.shape[0]):
        total += starts[feature]
        starts[feature] = total
    for row in range(stop - 1, first - 1, -1):
        for entry in range(entries.starts[row + 1] - 1, entries.starts[row] - 1, -1):
            feature = entries.features[entry]
            starts[feature] -= 1
            inverted.columns[starts[feature]] = row - first
            inverted.values[starts[feature]] = entries.values[entry]
