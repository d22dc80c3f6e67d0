"""Checked data and a resolved metric → nearest neighbours, by the search that suits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from scipy.sparse import issparse

from isthmus._numba.accumulators import SQUARES
from isthmus._utils.memory import Budget
from isthmus._utils.parallel import Workers
from isthmus._utils.progress import Progress
from isthmus.kdtree.limits import FEW_FEATURES, is_supported
from isthmus.metrics import MappedMetric, PreparedPoints, prepare_points
from isthmus.metrics.input import n_points_of
from isthmus.metrics.mapped import in_range
from isthmus.metrics.precomputed import Graph
from isthmus.metrics.registry import AnyMetric
from isthmus.neighbors.by_rows import (
    neighbors_by_kernel,
    neighbors_by_rows,
    neighbors_in_graph,
)
from isthmus.neighbors.copies import find_copies
from isthmus.neighbors.sorted_lists import Neighbors, empty_neighbors, with_heights
from isthmus.neighbors.tiny_distances import replace_lost_neighbors

# Up to this many points all distances are computed: nothing large has to be compiled.
_FEW_POINTS = 2_000
# Bytes for each point beside its list, and of small things.
_PER_POINT, _FIXED = 120, 1 << 20
# Points to a block of matrix products, the fastest first.
_BLOCK_SIZES = (1024, 512, 256)


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
    found = _found(data, metric, n_neighbors, n_jobs, progress, budget or Budget(None))
    if progress is not None:
        progress(len(found.indices), len(found.indices))
    return found


def _found(
    data: Any,
    metric: AnyMetric,
    n_neighbors: int,
    n_jobs: int,
    progress: Progress | None,
    budget: Budget,
) -> Neighbors:
    n_points = n_points_of(data)
    needed = _FIXED + n_points * (12 * n_neighbors + _PER_POINT)
    budget.require(needed, _what(n_neighbors, n_points))
    if n_neighbors == 1:
        return empty_neighbors(n_points, 1)
    if isinstance(data, Graph):
        return neighbors_in_graph(data, n_neighbors)
    if not isinstance(metric, MappedMetric):
        return neighbors_by_rows(data, metric, n_neighbors, progress)
    return _of_prepared(
        prepare_points(data, metric), _Search(n_neighbors, n_jobs, progress, budget)
    )


def _of_prepared(prepared: PreparedPoints, search: _Search) -> Neighbors:
    find = search.by_blocks if issparse(prepared.points) else search.of_dense_points
    found = find(prepared)
    if prepared.unscaled is not None:
        replace_lost_neighbors(prepared, found, partial(_of_mapped_points, prepared, search))
    return found


def _of_mapped_points(prepared: PreparedPoints, search: _Search, points: Any) -> Neighbors:
    """Return the neighbours of some mapped points, with the lengths of differences."""
    part = in_range(points, prepared.metric.plain())
    size = min(search.n_neighbors, part.points.shape[0])
    return _of_prepared(part, replace(search, n_neighbors=size, progress=None))


def _what(n_neighbors: int, n_points: int) -> str:
    return f"The search for {n_neighbors} neighbours of {n_points:,} points"


@dataclass(frozen=True)
class _Search:
    """Searches among prepared points, and what they may use."""

    n_neighbors: int
    n_jobs: int
    progress: Progress | None
    budget: Budget

    def of_dense_points(self, prepared: PreparedPoints) -> Neighbors:
        """Search in the way that suits."""
        points, metric = prepared.points, prepared.metric
        if len(points) <= _FEW_POINTS:
            return self.by_kernel(prepared)
        copies = find_copies(points, self.n_neighbors, self.n_jobs)
        if copies is not None:
            prepared = PreparedPoints(points[copies.kept], metric, prepared.scale)
        # In between a kd-tree, where matrix products do not serve, is still faster than all
        # distances.
        n_features, has_products = points.shape[1], metric.kind == SQUARES
        is_few = n_features <= FEW_FEATURES or not has_products
        if is_few and is_supported(n_features, metric):
            found = self.by_kdtree(prepared)
        else:
            found = self.by_blocks(prepared) if has_products else self.by_kernel(prepared)
        return found if copies is None else copies.with_others(found, len(points))

    def by_kernel(self, prepared: PreparedPoints) -> Neighbors:
        """Compute all distances."""
        return neighbors_by_kernel(prepared, self.n_neighbors, self.n_jobs, self.progress)

    def by_kdtree(self, prepared: PreparedPoints) -> Neighbors:
        """Search a kd-tree."""
        # Imported here: Numba's machinery loads with it.
        from isthmus.neighbors.by_kdtree import KdTreeNeighbors

        found = empty_neighbors(len(prepared.points), self.n_neighbors)
        with Workers(self.n_jobs) as workers:
            KdTreeNeighbors(prepared, workers).fill(found, self.progress)
        return with_heights(found, prepared)

    def by_blocks(self, prepared: PreparedPoints) -> Neighbors:
        """Bound distances by matrix products, in blocks as large as memory allows."""
        from isthmus.neighbors.by_blocks import neighbors_by_blocks

        n_points = prepared.points.shape[0]
        for size in _BLOCK_SIZES:
            if self.budget.allows(self._bytes_of_blocks(prepared, size)):
                break
        needed = self._bytes_of_blocks(prepared, size)
        self.budget.require(needed, _what(self.n_neighbors, n_points))
        return neighbors_by_blocks(prepared, self.n_neighbors, self.n_jobs, self.progress, size)

    def _bytes_of_blocks(self, prepared: PreparedPoints, size: int) -> int:
        points: Any = prepared.points
        n_points, n_features = points.shape
        size = min(size, n_points)
        held = 12 * points.nnz if issparse(points) else 4 * n_points * n_features
        rows = 32 * size * (n_features if not issparse(points) else 1)
        lists = n_points * (28 * self.n_neighbors + 200)
        return int(_FIXED + held + lists + self.n_jobs * (8 * size**2 + rows))
