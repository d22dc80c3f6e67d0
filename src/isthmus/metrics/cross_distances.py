"""The distances of some points to others: of new points to those of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES, POWERS, SQUARES
from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics.pairwise import Entries, distances_to_column, entries_of, sparse_distance
from isthmus.metrics.precomputed import (
    CondensedDistances,
    Graph,
    Precomputed,
    SquareDistances,
    condensed_places,
)
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
# Metrics whose map of the points depends on all of them.
_OF_ALL_POINTS = ("seuclidean", "mahalanobis")
# A point so many times farther out than others is mapped without these, or they would be blurred;
# where points are centred it is not to shift the centre by much.
_FAR, _FAR_OF_CENTRE = 1e100, 1e3
# So many times farther out than all others, where points are centred, nothing is any farther.
_FARTHEST = 1e50


@kernel
def fill_distances_between(
    columns: Array, n_targets: int, kind: int, power: float, first: int, out: Floats
) -> None:
    """Fill out, (m, n_targets), with accumulated distances of points to the first n_targets.

    Row i of out is that of the point in column n_targets + first + i.
    """
    for i in range(out.shape[0]):
        distances_to_column(columns, n_targets + first + i, n_targets, kind, power, out[i])


@kernel
def fill_distances_from(rows: Floats, columns: Array, kind: int, power: float, out: Floats) -> None:
    """Fill out, (m, n), with accumulated distances of m points, in rows, to n others, in columns.

    As :func:`isthmus.metrics.pairwise.distances_to_column` computes them.
    """
    for i in range(rows.shape[0]):
        distances_from_row(rows[i], columns, kind, out[i])
        if kind == POWERS:
            powers_from_row(rows[i], columns, power, out[i])


@kernel_part
def distances_from_row(point: Floats, columns: Array, kind: int, row: Floats) -> None:
    """Fill row, (n,), for one point; with the largest differences where powers are summed."""
    for j in range(row.shape[0]):
        row[j] = 0.0
    for f in range(columns.shape[0]):
        x, column = point[f], columns[f]
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


@kernel_part
def powers_from_row(point: Floats, columns: Array, power: float, row: Floats) -> None:
    """Turn the largest differences in row, (n,), into Minkowski's distances."""
    for j in range(row.shape[0]):
        largest = row[j]
        if largest > 0.0:
            total = 0.0
            for f in range(columns.shape[0]):
                difference = abs(np.float64(columns[f, j]) - point[f])
                total += (difference / largest) ** power
            row[j] = largest * total ** (1.0 / power)


@kernel
def fill_sparse_distances_between(
    entries: Entries, sources: Ints, targets: Ints, out: Floats
) -> None:
    """Fill out, (m, n_targets), with the squared distances of sparse rows."""
    for i in range(sources.shape[0]):
        for j in range(targets.shape[0]):
            out[i, j] = sparse_distance(entries, sources[i], targets[j])


def distances_between(
    points: Any,
    sources: Ints,
    targets: Ints,
    metric: AnyMetric,
) -> Iterator[tuple[Ints, Floats]]:
    """Return an iterator over the distances of some of the points to others, in blocks.

    Points that the metric does not take are refused at once; distances are computed when asked
    for. What a metric takes from the points, such as variances, it takes from the targets.

    Parameters
    ----------
    points : (n, n_features) array or CSR matrix, list of n objects, or precomputed distances
        As the spanning tree takes them, checked.
    sources, targets : (m,) and (n_targets,) int64
        Rows of points.
    metric : a resolved metric

    Yields
    ------
    places : (b,) int64
        Which of the sources, 0 … m - 1.
    distances : (b, n_targets) float64
        Infinite where a graph has no edge.
    """
    if isinstance(points, Precomputed):
        return _blocks_of_distances(points, sources, targets)
    if isinstance(metric, CallableMetric):
        return _blocks_by_callable(points, sources, targets, metric)
    if isinstance(metric, RowMetric):
        return _blocks_by_rows(points, sources, targets, metric)
    assert isinstance(metric, MappedMetric)
    if not isinstance(points, np.ndarray):
        return _blocks_of_sparse(prepare_points(points, metric), sources, targets)
    return _blocks_by_kernel(points, sources, targets, metric)


def _blocks_by_kernel(
    points: Array, sources: Ints, targets: Ints, metric: MappedMetric
) -> Iterator[tuple[Ints, Floats]]:
    if metric.name not in _OF_ALL_POINTS:
        with np.errstate(all="ignore"):
            metric.prepare(points)
        largest = np.maximum(points.max(axis=1), -points.min(axis=1)).astype(np.float64)
        with np.errstate(over="ignore"):
            far = largest > largest[targets].max() * _FAR
        return _blocks_of_points(points, sources, targets, metric, far)
    prepare_points(points[targets], metric)
    # In units in which features of the targets are near 1; where variances are not given, the
    # metric does not depend on units.
    units = np.ldexp(1.0, np.frexp(np.abs(points[targets]).max(axis=0))[1] - 1)
    with np.errstate(over="ignore"):
        points = np.clip(points, -_FARTHEST * units, _FARTHEST * units)
    scaled = points / units
    far = np.abs(scaled).max(axis=1) > _FAR_OF_CENTRE
    if not metric.is_estimated:
        return _blocks_of_points(points, sources, targets, metric, far)
    variances = np.cov(scaled[targets], rowvar=False).reshape(2 * points.shape[1:])
    if metric.name == "seuclidean":
        variances = np.diagonal(variances)
    of_targets = resolve_metric(metric.name, {"V": variances})
    assert isinstance(of_targets, MappedMetric)  # a metric of that name
    return _blocks_of_points(scaled, sources, targets, of_targets, far)


def _blocks_of_points(
    points: Array, sources: Ints, targets: Ints, metric: MappedMetric, far: Array
) -> Iterator[tuple[Ints, Floats]]:
    near = np.flatnonzero(~far[sources])
    alone = np.flatnonzero(far[sources])
    for group in (near, *alone[:, None]):
        if len(group) == 0:
            continue
        prepared = prepare_points(points[np.concatenate([targets, sources[group]])], metric)
        columns = np.ascontiguousarray(prepared.points.T)
        for start, stop in chunks(len(group), max(1, _WORK_PER_CALL // len(targets))):
            out = np.empty((stop - start, len(targets)))
            fill_distances_between(columns, len(targets), metric.kind, metric.power, start, out)
            yield group[start:stop], prepared.heights(out)


def _blocks_of_sparse(
    prepared: PreparedPoints, sources: Ints, targets: Ints
) -> Iterator[tuple[Ints, Floats]]:
    entries = entries_of(prepared.points)
    for start, stop in chunks(len(sources), max(1, _WORK_PER_CALL // len(targets))):
        out = np.empty((stop - start, len(targets)))
        fill_sparse_distances_between(entries, sources[start:stop], targets, out)
        yield np.arange(start, stop), prepared.heights(out)


def _blocks_by_rows(
    points: Array, sources: Ints, targets: Ints, metric: RowMetric
) -> Iterator[tuple[Ints, Floats]]:
    rows = metric.prepare(points)
    others = rows[targets]
    for place, i in enumerate(sources):
        out = np.empty((1, len(targets)))
        metric.fill(rows[i : i + 1], others, out)
        metric.refuse_invalid(out[0], int(i), targets)
        yield np.array([place]), out


def _blocks_by_callable(
    items: Any, sources: Ints, targets: Ints, metric: CallableMetric
) -> Iterator[tuple[Ints, Floats]]:
    for place, i in enumerate(sources):
        yield np.array([place]), metric.distances(items, int(i), targets.tolist())[None, :]


def _blocks_of_distances(
    distances: Precomputed, sources: Ints, targets: Ints
) -> Iterator[tuple[Ints, Floats]]:
    if isinstance(distances, Graph):
        _refuse_unlinked(distances, sources, targets)
    return (
        (np.array([place]), _row_of(distances, int(i), targets)[None, :])
        for place, i in enumerate(sources)
    )


def _row_of(distances: Precomputed, i: int, targets: Ints) -> Floats:
    """Return the distances of point i to others."""
    if isinstance(distances, SquareDistances):
        return np.asarray(distances.matrix[i, targets], dtype=np.float64)
    if isinstance(distances, CondensedDistances):
        places = condensed_places(i, targets, distances.n_points)
        return np.asarray(distances.values[places], dtype=np.float64)
    row = np.full(distances.n_points, np.inf)
    for end in (0, 1):
        own = distances.edges[:, end] == i
        row[distances.edges[own, 1 - end]] = distances.weights[own]
    return row[targets]


def _refuse_unlinked(graph: Graph, sources: Ints, targets: Ints) -> None:
    is_target = np.zeros(graph.n_points, dtype=bool)
    is_target[targets] = True
    linked = is_target.copy()
    for end in (0, 1):
        linked[graph.edges[is_target[graph.edges[:, 1 - end]], end]] = True
    if not linked[sources].all():
        row = int(sources[~linked[sources]][0])
        raise ValueError(
            f"Row {row} has weight 0 and no edge to a row with a weight above 0, so nothing says "
            "where it belongs. Remove it, or add an edge."
        )
