"""Points, or precomputed distances → a matrix of distances, or blocks of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from isthmus._numba.accumulators import POWERS
from isthmus._utils.memory import require_memory
from isthmus._utils.parallel import chunks, map_in_threads
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics.accumulate import entries_of, fill_distances, fill_sparse_distances
from isthmus.metrics.mapped import (
    MappedMetric,
    PreparedPoints,
    in_range,
    in_range_of,
    map_by,
    prepare_points,
)
from isthmus.metrics.maps import reduce_rows
from isthmus.metrics.precomputed import (
    CondensedDistances,
    Graph,
    Precomputed,
    SquareDistances,
    condensed_positions,
)
from isthmus.metrics.registry import AnyMetric, resolve_metric
from isthmus.metrics.rowwise import CallableMetric, RowMetric

# Distances per kernel call: a few hundredths of a second, so that Ctrl-C is seen.
_WORK_PER_CALL = 4_000_000
# Beyond these magnitudes sums of squares, and of powers up to the eighth, could overflow.
_FAR, _FAR_FOR_POWERS = 1e100, 1e30

Blocks = Iterator[tuple[Ints, Floats]]


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
    points, metric = prepared.points, prepared.metric
    n_points = len(points)
    columns = np.ascontiguousarray(points.T)
    out = np.empty((n_points, n_points))

    def fill(bounds: tuple[int, int]) -> None:
        some = slice(*bounds)
        rows = np.array(points[some], order="C")  # of one layout, which is compiled for
        fill_distances(rows, columns, metric.kind, metric.power, out[some])

    map_in_threads(fill, chunks(n_points, max(1, _WORK_PER_CALL // n_points)), n_jobs)
    numbers = np.arange(n_points)
    return prepared.heights_between(out, numbers, numbers)


def _matrix_by_rows(points: Array, metric: RowMetric, n_jobs: int) -> Floats:
    rows = metric.prepare(points)
    n_points, n_features = rows.shape
    out = np.zeros((n_points, n_points))
    numbers = np.arange(n_points)
    block = metric.block_length(n_features)

    def fill(bounds: tuple[int, int]) -> None:
        for i in range(*bounds):
            for start, stop in chunks(i, block):
                metric.fill(rows[i : i + 1], rows[start:stop], out[i : i + 1, start:stop])
            metric.refuse_invalid(out[i, :i], i, numbers)
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


def distances_between(
    points: Any, sources: Ints, targets: Ints, metric: AnyMetric, n_fitted: int | None = None
) -> Blocks:
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
    n_fitted : int, optional
        Where new rows stand behind those of a fit, the number of the latter: in messages new rows
        are counted from 0.

    Yields
    ------
    numbers : (b,) int64
        Which of the sources, 0 … m - 1.
    distances : (b, n_targets) float64
        Infinite where a graph has no edge.
    """
    if isinstance(points, Precomputed):
        return _blocks_of_distances(points, sources, targets)
    if isinstance(metric, CallableMetric):
        return _blocks_by_callable(points, sources, targets, metric, n_fitted)
    if isinstance(metric, RowMetric):
        return _blocks_by_rows(points, sources, targets, metric, n_fitted)
    assert isinstance(metric, MappedMetric)
    if not isinstance(points, np.ndarray):
        assert metric.prepare_sparse is not None  # it was checked
        metric.prepare_sparse(points[n_fitted:])  # refuses what the metric does not take
        return _blocks_of_sparse(points, sources, targets, metric)
    if metric.map_of is None:
        with np.errstate(all="ignore"):
            metric.prepare(points[n_fitted:])  # the same
    of_targets = prepare_points(points[targets], metric)
    return _blocks_by_kernel(points, sources, targets, of_targets)


def is_near(mapped: Array, metric: MappedMetric) -> Array:
    """Return which points, in the scale of others, are so near that no sum overflows."""
    limit = _FAR_FOR_POWERS if metric.kind == POWERS else _FAR
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(mapped) < limit).all(axis=1))


def _blocks_by_kernel(
    points: Array, sources: Ints, targets: Ints, of_targets: PreparedPoints
) -> Blocks:
    """Yield distances in the scale of the targets; of points far from these, one at a time.

    So no point depends on which others are asked for with it.
    """
    metric, targets_alone = of_targets.metric, points[targets]
    n_targets = len(targets)
    prepare = map_by(metric, targets_alone)
    mapped = prepare(points[sources])
    with np.errstate(over="ignore"):
        near = is_near(mapped / of_targets.scale, metric)
    unscaled = None
    for group in (np.flatnonzero(near), *np.flatnonzero(~near)[:, None]):
        if len(group) == 0:
            continue
        if unscaled is None:
            unscaled = prepare(targets_alone)
        prepared = in_range_of(unscaled, mapped[group], of_targets, is_far=not near[group[0]])
        columns = np.ascontiguousarray(prepared.points[:n_targets].T)
        for start, stop in chunks(len(group), max(1, _WORK_PER_CALL // n_targets)):
            out = np.empty((stop - start, n_targets))
            rows = np.array(prepared.points[n_targets + start : n_targets + stop], order="C")
            fill_distances(rows, columns, metric.kind, metric.power, out)
            numbers = np.arange(n_targets + start, n_targets + stop)
            yield group[start:stop], prepared.heights_between(out, numbers, np.arange(n_targets))


def _blocks_of_sparse(points: Any, sources: Ints, targets: Ints, metric: MappedMetric) -> Blocks:
    """Do the same for sparse points, whose maps do not depend on one another."""
    assert metric.prepare_sparse is not None  # it was checked
    with np.errstate(all="ignore"):
        mapped = metric.prepare_sparse(points)
    return _blocks_of_mapped_sparse(mapped, sources, targets, in_range(mapped[targets], metric))


def _blocks_of_mapped_sparse(
    mapped: Any, sources: Ints, targets: Ints, of_targets: PreparedPoints
) -> Blocks:
    n_targets = len(targets)
    rows, scale = mapped[sources], of_targets.scale
    largest = reduce_rows(np.maximum, np.abs(rows.data).astype(np.float64), rows.indptr)
    with np.errstate(over="ignore"):
        near = is_near(largest[:, None] / scale, of_targets.metric)
    for group in (np.flatnonzero(near), *np.flatnonzero(~near)[:, None]):
        if len(group) == 0:
            continue
        is_far = not near[group[0]]
        prepared = in_range_of(mapped[targets], rows[group], of_targets, is_far=is_far)
        entries, columns = entries_of(prepared.points), np.arange(n_targets)
        for start, stop in chunks(len(group), max(1, _WORK_PER_CALL // n_targets)):
            out = np.empty((stop - start, n_targets))
            numbers = np.arange(n_targets + start, n_targets + stop)
            fill_sparse_distances(entries, numbers, columns, out)
            yield group[start:stop], prepared.heights_between(out, numbers, columns)


def _blocks_by_rows(
    points: Array, sources: Ints, targets: Ints, metric: RowMetric, n_fitted: int | None
) -> Blocks:
    rows = metric.prepare(points)
    others = rows[targets]
    for number, i in enumerate(sources):
        out = np.empty((1, len(targets)))
        metric.fill(rows[i : i + 1], others, out)
        metric.refuse_invalid(out[0], int(i), targets, n_fitted)
        yield np.array([number]), out


def _blocks_by_callable(
    items: Any, sources: Ints, targets: Ints, metric: CallableMetric, n_fitted: int | None
) -> Blocks:
    for number, i in enumerate(sources):
        row = metric.distances(items, int(i), targets.tolist(), n_fitted)
        yield np.array([number]), row[None, :]


def _blocks_of_distances(distances: Precomputed, sources: Ints, targets: Ints) -> Blocks:
    if isinstance(distances, Graph):
        _refuse_unconnected(distances, sources, targets)
    return (
        (np.array([number]), _row_of(distances, int(i), targets)[None, :])
        for number, i in enumerate(sources)
    )


def _row_of(distances: Precomputed, i: int, targets: Ints) -> Floats:
    """Return the distances of point i to others."""
    if isinstance(distances, SquareDistances):
        return np.asarray(distances.matrix[i, targets], dtype=np.float64)
    if isinstance(distances, CondensedDistances):
        positions = condensed_positions(i, targets, distances.n_points)
        return np.asarray(distances.values[positions], dtype=np.float64)
    row = np.full(distances.n_points, np.inf)
    for end in (0, 1):
        own = distances.edges[:, end] == i
        row[distances.edges[own, 1 - end]] = distances.weights[own]
    return row[targets]


def _refuse_unconnected(graph: Graph, sources: Ints, targets: Ints) -> None:
    is_target = np.zeros(graph.n_points, dtype=bool)
    is_target[targets] = True
    connected = is_target.copy()
    for end in (0, 1):
        connected[graph.edges[is_target[graph.edges[:, 1 - end]], end]] = True
    if not connected[sources].all():
        row = int(sources[~connected[sources]][0])
        raise ValueError(
            f"Row {row} has weight 0 and no edge to a row with a weight above 0, so nothing says "
            "where it belongs. Remove it, or add an edge."
        )
