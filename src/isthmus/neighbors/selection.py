"""Checked data and a resolved metric → nearest neighbours, by the search that suits."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse

from isthmus._numba.accumulators import SQUARES
from isthmus._utils.memory import Budget
from isthmus._utils.parallel import Workers
from isthmus._utils.progress import Progress
from isthmus.kdtree.limits import FEW_FEATURES, is_supported
from isthmus.metrics import MappedMetric, PreparedPoints, prepare_points
from isthmus.metrics.input import n_points_of
from isthmus.metrics.precomputed import Graph
from isthmus.metrics.registry import AnyMetric
from isthmus.neighbors.by_rows import (
    neighbors_by_kernel,
    neighbors_by_rows,
    neighbors_in_graph,
)
from isthmus.neighbors.copies import find_copies
from isthmus.neighbors.lists import Neighbors, empty_neighbors, with_heights

# Up to this many points all distances are computed: nothing large has to be compiled.
_FEW_POINTS = 2_000
# Bytes for each point beside its list.
_PER_POINT, _FIXED = 120, 1 << 20


def find_neighbors(
    data: Any,
    metric: AnyMetric,
    n_neighbors: int,
    *,
    n_jobs: int = 1,
    progress: Progress | None = None,
    budget: Budget | None = None,
) -> Neighbors:
    """Return the nearest neighbours of checked data, each point itself first.

    n_neighbors : int
        From 1 to the number of points.
    """
    n_points = n_points_of(data)
    needed = _FIXED + n_points * (12 * n_neighbors + _PER_POINT)
    (budget or Budget(None)).require(needed, f"The {n_neighbors} neighbours of {n_points:,} points")
    if n_neighbors == 1:
        return empty_neighbors(n_points, 1)
    if isinstance(data, Graph):
        return neighbors_in_graph(data, n_neighbors)
    if not isinstance(metric, MappedMetric):
        return neighbors_by_rows(data, metric, n_neighbors, progress)
    prepared = prepare_points(data, metric)
    if issparse(prepared.points):
        return _by_blocks(prepared, n_neighbors, n_jobs, progress)
    return _of_dense_points(prepared, n_neighbors, n_jobs, progress)


def _of_dense_points(
    prepared: PreparedPoints, n_neighbors: int, n_jobs: int, progress: Progress | None
) -> Neighbors:
    points, metric = prepared.points, prepared.metric
    if len(points) <= _FEW_POINTS:
        return neighbors_by_kernel(prepared, n_neighbors, n_jobs, progress)
    copies = find_copies(points, n_neighbors, n_jobs)
    if copies is not None:
        prepared = PreparedPoints(points[copies.kept], metric, prepared.scale)
    # In between a kd-tree, where matrix products do not serve, is still faster than all distances.
    n_features = points.shape[1]
    if is_supported(n_features, metric) and (n_features <= FEW_FEATURES or metric.kind != SQUARES):
        search = _by_kdtree
    else:
        search = _by_blocks if metric.kind == SQUARES else neighbors_by_kernel
    found = search(prepared, n_neighbors, n_jobs, progress)
    return found if copies is None else copies.with_others(found, len(points))


def _by_kdtree(
    prepared: PreparedPoints, n_neighbors: int, n_jobs: int, progress: Progress | None
) -> Neighbors:
    # Imported here: Numba's machinery loads with it.
    from isthmus.neighbors.by_kdtree import KdTreeNeighbors

    found = empty_neighbors(len(prepared.points), n_neighbors)
    with Workers(n_jobs) as workers:
        KdTreeNeighbors(prepared, workers).fill(found, progress)
    return with_heights(found, prepared)


def _by_blocks(
    prepared: PreparedPoints, n_neighbors: int, n_jobs: int, progress: Progress | None
) -> Neighbors:
    from isthmus.neighbors.by_blocks import neighbors_by_blocks

    return neighbors_by_blocks(prepared, n_neighbors, n_jobs, progress)
