"""Kernels for the distances of points, as accumulated over features: the one definition of them.

Differences and sums are float64 whatever the type of the coordinates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES, POWERS, SQUARES
from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints


class Entries(NamedTuple):
    """The stored entries of sparse rows, features ascending.

    Attributes
    ----------
    values : (n_entries,) float32 or float64
    features : (n_entries,) int64
    starts : (n + 1,) int64
    """

    values: Array
    features: Ints
    starts: Ints


def entries_of(points: Any) -> Entries:
    """Return the entries of a CSR matrix whose indices are sorted."""
    features, starts = points.indices.astype(np.int64), points.indptr.astype(np.int64)
    return Entries(points.data, features, starts)


@kernel_part
def accumulate_row(point: Array, columns: Array, kind: int, power: float, row: Floats) -> None:
    """Fill row with the accumulated distances of a point to the first points in columns.

    Parameters
    ----------
    point : (n_features,) float32 or float64, in
    columns : (n_features, >= m) float32 or float64, in
        Coordinates, features first, so that the inner loop runs over neighbouring points.
    kind, power : int, float
        What to accumulate: SQUARES, ABSOLUTES, MAXIMUM, or POWERS and their exponent.
    row : (m,) float64, out
    """
    for j in range(row.shape[0]):
        row[j] = 0.0
    for f in range(columns.shape[0]):
        x, column = np.float64(point[f]), columns[f]
        if kind == SQUARES:
            for j in range(row.shape[0]):
                difference = np.float64(column[j]) - x
                row[j] += difference * difference
        elif kind == ABSOLUTES:
            for j in range(row.shape[0]):
                row[j] += abs(np.float64(column[j]) - x)
        else:
            for j in range(row.shape[0]):
                row[j] = max(row[j], abs(np.float64(column[j]) - x))
    # Minkowski: the largest difference is factored out, so that no power over- or underflows.
    for j in range(row.shape[0] if kind == POWERS else 0):
        largest = row[j]
        if largest > 0.0:
            total = 0.0
            for f in range(columns.shape[0]):
                difference = abs(np.float64(columns[f, j]) - np.float64(point[f]))
                total += (difference / largest) ** power
            row[j] = largest * total ** (1.0 / power)


@kernel
def fill_distances(rows: Array, columns: Array, kind: int, power: float, out: Floats) -> None:
    """Fill out, (m, n), with accumulated distances of m points, in rows, to n others, in columns.

    rows : (m, n_features) float32 or float64
    columns : (n_features, >= n) float32 or float64
    """
    for i in range(rows.shape[0]):
        accumulate_row(rows[i], columns, kind, power, out[i])


@kernel_part
def sparse_distance(entries: Entries, i: int, j: int) -> float:
    """Return the squared distance of two rows, summed feature by feature."""
    here, end_here = entries.starts[i], entries.starts[i + 1]
    there, end_there = entries.starts[j], entries.starts[j + 1]
    total = 0.0
    while here < end_here or there < end_there:
        x = y = 0.0
        one = here < end_here and (
            there >= end_there or entries.features[here] <= entries.features[there]
        )
        other = there < end_there and (
            here >= end_here or entries.features[there] <= entries.features[here]
        )
        if one:
            x = np.float64(entries.values[here])
            here += 1
        if other:
            y = np.float64(entries.values[there])
            there += 1
        difference = y - x
        total += difference * difference
    return total


@kernel
def fill_sparse_distances(entries: Entries, sources: Ints, targets: Ints, out: Floats) -> None:
    """Fill out, (m, n_targets), with the squared distances of sparse rows."""
    for i in range(sources.shape[0]):
        for j in range(targets.shape[0]):
            out[i, j] = sparse_distance(entries, sources[i], targets[j])
