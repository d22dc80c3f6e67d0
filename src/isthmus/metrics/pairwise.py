"""Points → rows and matrices of distances, the one place where base distances are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, SQUARES
from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.memory import require_memory
from isthmus._utils.parallel import chunks, map_in_threads
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics.registry import (
    AnyMetric,
    MappedMetric,
    PreparedPoints,
    prepare_points,
    resolve_metric,
)
from isthmus.metrics.rowwise import CallableMetric, RowMetric

# Distances per kernel call.
_WORK_PER_CALL = 4_000_000


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
def distances_to_column(
    columns: Array, j0: int, stop: int, kind: int, power: float, row: Floats
) -> None:
    """Fill row[:stop] with the accumulated distances of columns 0 … stop - 1 to column j0.

    Parameters
    ----------
    columns : (n_features, n) float32 or float64, in
        Coordinates, features first, so that the inner loop runs over neighbouring points.
    j0, stop : int
    kind, power : int, float
        What to accumulate; see metrics.py. Differences and sums are float64 whatever the input.
    row : (>= stop,) float64, out
    """
    for j in range(stop):
        row[j] = 0.0
    for f in range(columns.shape[0]):
        x = np.float64(columns[f, j0])
        column = columns[f]
        if kind == SQUARES:
            for j in range(stop):
                difference = np.float64(column[j]) - x
                row[j] += difference * difference
        elif kind == ABSOLUTES:
            for j in range(stop):
                row[j] += abs(np.float64(column[j]) - x)
        else:
            for j in range(stop):
                row[j] = max(row[j], abs(np.float64(column[j]) - x))
    if kind in (SQUARES, ABSOLUTES, MAXIMUM):
        return
    # Minkowski: the largest difference is factored out, so that no power over- or underflows.
    for j in range(stop):
        largest = row[j]
        if largest > 0.0:
            total = 0.0
            for f in range(columns.shape[0]):
                difference = abs(np.float64(columns[f, j]) - np.float64(columns[f, j0]))
                total += (difference / largest) ** power
            row[j] = largest * total ** (1.0 / power)


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
def fill_distance_rows(
    columns: Array, kind: int, power: float, start: int, stop: int, out: Floats
) -> None:
    """Fill rows start … stop - 1 of out, (n, n) float64, with accumulated distances."""
    for i in range(start, stop):
        distances_to_column(columns, i, columns.shape[1], kind, power, out[i])


def distance_matrix(
    points: Any,
    metric: str | Callable[..., float] | AnyMetric = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int = 1,
) -> Floats:
    """Return the dense (n, n) matrix of base distances of checked points.

    Its entries equal the weights of a spanning tree of the same points: to the last bit but for
    Minkowski's distances, whose powers the kd-tree sums in another way, and Jensen's and
    Shannon's, which SciPy rounds differently from j to i. The diagonal is zero.
    """
    resolved = resolve_metric(metric, metric_params)
    n_points = len(points)
    require_memory(
        2 * n_points**2 * 8,
        f"The distance matrix of {n_points} points",
        "TransitiveCut and TransitiveKMeans work without it.",
    )
    if isinstance(resolved, CallableMetric):
        return _matrix_by_callable(points, resolved)
    if isinstance(resolved, RowMetric):
        return _matrix_by_rows(points, resolved, n_jobs)
    assert isinstance(resolved, MappedMetric)
    return _matrix_by_kernel(prepare_points(points, resolved), n_jobs)


def _matrix_by_kernel(prepared: PreparedPoints, n_jobs: int) -> Floats:
    n_points = len(prepared.points)
    columns = np.ascontiguousarray(prepared.points.T)
    out = np.empty((n_points, n_points))
    kind, power = prepared.metric.kind, prepared.metric.power

    def fill(bounds: tuple[int, int]) -> None:
        fill_distance_rows(columns, kind, power, *bounds, out)

    map_in_threads(fill, chunks(n_points, max(1, _WORK_PER_CALL // n_points)), n_jobs)
    return prepared.heights(out)


def _matrix_by_rows(points: Array, metric: RowMetric, n_jobs: int) -> Floats:
    rows = metric.prepare(points)
    n_points, n_features = rows.shape
    out = np.zeros((n_points, n_points))
    places = np.arange(n_points)
    block = metric.block_length(n_features)

    def fill(bounds: tuple[int, int]) -> None:
        for i in range(*bounds):
            for start, stop in chunks(i, block):
                metric.fill(rows[i : i + 1], rows[start:stop], out[i : i + 1, start:stop])
            metric.refuse_invalid(out[i, :i], i, places)
            out[:i, i] = out[i, :i]

    map_in_threads(fill, chunks(n_points, max(1, block // n_points)), n_jobs)
    return out


def _matrix_by_callable(items: Sequence[Any], metric: CallableMetric) -> Floats:
    metric.check_symmetry(items)
    out = np.zeros((len(items), len(items)))
    for i in range(1, len(items)):
        out[i, :i] = out[:i, i] = metric.distances(items, i, range(i))
        for j in (int(out[i, :i].argmin()), i // 2):
            metric.check_pair(items, i, j, out[i, j])
    return out
