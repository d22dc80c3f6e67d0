"""Points → the means of their neighbourhoods."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from isthmus._numba.kernel import kernel
from isthmus._utils.parallel import Workers
from isthmus._utils.typing import Array, Floats, Labels
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.maps import (
    centred_unit_rows,
    reduce_rows,
    sparse_unit_rows,
    unit_rows,
)
from isthmus.metrics.sphere import on_latitudes, unit_of
from isthmus.metrics.validation import canonical

# Numbers that are added up per task.
_PER_TASK = 1 << 23


def neighborhood_means(
    points: Any, neighbors: Labels, metric: MappedMetric, n_jobs: int = 1
) -> Any:
    """Return, for each list of neighbours, the mean of these points.

    What a metric does not look at takes no part: for cosine and angular distances rows are brought
    to unit length before and after, for correlations they are centred and brought to unit length
    before, for Hellinger distances divided by their sums, and for haversine distances means are
    taken on the sphere. Of others the coordinates are averaged. Neighbours are added in the order
    of their indices, so that equal neighbourhoods have equal means.

    Parameters
    ----------
    points : (n, n_features) array or CSR matrix
        Checked; float32 stays float32, but sums are float64.
    neighbors : (m, n_neighbors) int32
        Rows of points.
    """
    neighbors = np.sort(neighbors, axis=1)
    if issparse(points):
        return _sparse_means(points, neighbors, metric)
    if metric.name in ("cosine", "angular"):
        unit = unit_rows(points).astype(points.dtype, copy=False)
        means = _means(unit, neighbors, n_jobs)
        _refuse_cancelled(np.abs(means).max(axis=1), means.dtype, metric)
        return unit_rows(means).astype(points.dtype, copy=False)
    if metric.name == "correlation":
        means = _means(centred_unit_rows(points), neighbors, n_jobs)
        _refuse_cancelled(np.abs(means).max(axis=1), means.dtype, metric)
        return means
    if metric.name == "hellinger":
        points = points / points.sum(axis=1, dtype=np.float64, keepdims=True)
    if metric.name == "haversine":
        means = _means(metric.prepare(points), neighbors, n_jobs)
        _refuse_cancelled(np.abs(means).max(axis=1), means.dtype, metric)
        return on_latitudes(means, unit_of(metric.prepare))
    return _means(points, neighbors, n_jobs)


def _refuse_cancelled(largest: Array, dtype: Any, metric: MappedMetric) -> None:
    """Refuse neighbourhoods whose mean, of vectors of length 1, is zero but for rounding.

    largest : (m,)
        The largest entry of each mean.
    """
    cancelled = np.flatnonzero(largest <= 4.0 * np.finfo(dtype).eps)
    if cancelled.size:
        raise ValueError(
            f"The neighbours of row {cancelled[0]} point in opposite directions: their mean is "
            f"zero and has no direction, which metric={metric.name!r} compares. Use another "
            "n_neighbors, or neighborhood='shared', which takes no means."
        )


def _means(points: Array, neighbors: Labels, n_jobs: int) -> Array:
    points = np.ascontiguousarray(points)
    out = np.empty((len(neighbors), points.shape[1]), dtype=points.dtype)
    sums = [np.empty(points.shape[1]) for _ in range(n_jobs)]
    kernels = [fill_means.bound(points, neighbors, each, out) for each in sums]
    per_task = max(1, _PER_TASK // (neighbors.shape[1] * points.shape[1]))
    with Workers(n_jobs) as workers:
        workers.in_blocks(
            len(neighbors), per_task, lambda worker, start, stop: kernels[worker](start, stop)
        )
    return out


def _sparse_means(points: Any, neighbors: Labels, metric: MappedMetric) -> Any:
    n_lists, n_neighbors = neighbors.shape
    is_direction = metric.name in ("cosine", "angular")
    rows = sparse_unit_rows(points) if is_direction else points
    if metric.name == "hellinger":
        rows = points.multiply(1.0 / points.sum(axis=1).reshape(-1, 1)).tocsr()
    starts = np.arange(0, neighbors.size + 1, n_neighbors)
    shape = n_lists, points.shape[0]
    averaging = csr_array(
        (np.full(neighbors.size, 1.0 / n_neighbors), neighbors.ravel(), starts), shape
    )
    means = canonical(csr_array(averaging @ rows))
    if not is_direction:
        return means
    largest = reduce_rows(np.maximum, np.abs(means.data), means.indptr)
    _refuse_cancelled(largest, means.dtype, metric)
    return sparse_unit_rows(means)


@kernel
def fill_means(
    points: Array, neighbors: Labels, total: Floats, out: Array, start: int, stop: int
) -> None:
    """Fill the means of neighbourhoods start … stop - 1.

    points : (n, n_features), in
    neighbors : (m, n_neighbors) int32, in
    total : (n_features,) float64, scratch
    out : (m, n_features), out
    """
    n_features, n_neighbors = points.shape[1], neighbors.shape[1]
    for i in range(start, stop):
        for f in range(n_features):
            total[f] = 0.0
        for t in range(n_neighbors):
            row = points[np.int64(neighbors[i, t])]
            for f in range(n_features):
                total[f] += np.float64(row[f])
        for f in range(n_features):
            out[i, f] = total[f] / n_neighbors
