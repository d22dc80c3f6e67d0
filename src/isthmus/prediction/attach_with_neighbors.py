"""New points → attachment edges, where the fit was of neighbourhoods.

A new point's neighbourhood is itself and its n_neighbors - 1 nearest points of the fit. With
"mean" the mean of it is attached to the means of the fit. With "shared" its distances to these
neighbours are multiplied by the Jaccard distances of the neighbourhoods, and others are as they
are. A new point that equals one of the fit is that point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse, vstack

from isthmus._utils.parallel import Workers, chunks
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kdtree.limits import FEW_FEATURES, is_supported
from isthmus.metrics.mapped import MappedMetric, map_for_others, prepare_points
from isthmus.metrics.pairwise import distances_between, is_near
from isthmus.metrics.precomputed import NewDistances
from isthmus.metrics.registry import AnyMetric
from isthmus.metrics.tiny_differences import has_tiny_entries
from isthmus.neighbors.means import neighborhood_means
from isthmus.neighbors.shared import share_distances_of_new
from isthmus.neighbors.sorted_lists import (
    Neighbors,
    empty_neighbors,
    keep_nearest_of_rows,
    with_heights,
)
from isthmus.prediction.attach_by_rows import AttachmentSearch, Find, GivenDistances, attach_rows
from isthmus.prediction.attachments import Attachments
from isthmus.ultrametric import UltrametricTree

# Distances that are held together.
_DISTANCES_TOGETHER = 1 << 21
# Up to this many points all distances are computed: nothing large has to be compiled.
_FEW_POINTS = 2_000


class MeanSearch(AttachmentSearch):
    """Points that were replaced by the means of their neighbourhoods.

    Parameters
    ----------
    points : array or CSR matrix
        As they were given.
    metric : MappedMetric
    neighbors : (n, n_neighbors) int32
    of_means : AttachmentSearch
        Of the means.
    """

    def __init__(
        self, points: Any, metric: MappedMetric, neighbors: Labels, of_means: AttachmentSearch
    ) -> None:
        super().__init__(points, of_means.tree)
        self.n_together = of_means.n_together
        self._metric = metric
        self._neighbors = neighbors
        self._of_means = of_means
        self._identifies_rows = isinstance(points, np.ndarray)

    def _prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find:
        size, n_points = self._neighbors.shape[1], self.points.shape[0]
        found = nearest_of_new(self.points, new, self._metric, size - 1, n_jobs)
        own = np.arange(n_points, n_points + new.shape[0], dtype=np.int32)
        lists = np.column_stack([own, found.indices])
        together = stacked(self.points, new)
        means = neighborhood_means(together, lists, self._metric, n_jobs)
        find = self._of_means.prepare(means, only_nearest=only_nearest, n_jobs=n_jobs)
        if self._identifies_rows:
            return find
        same = np.where(found.distances[:, 0] == 0.0, found.indices[:, 0], -1).astype(np.int64)
        return lambda numbers: find(numbers[same[numbers] < 0]).among(same[numbers])


class SharedSearch(AttachmentSearch):
    """Points whose distances were multiplied by those of their neighbourhoods.

    Parameters
    ----------
    points : array, CSR matrix or list of objects; None where distances were given
    tree : UltrametricTree
    metric : a resolved metric
    neighbors : (n, n_neighbors) int32
    is_fitted : (n_rows,) bool or None
        Which columns of given distances are of points on the tree; None: all.
    """

    def __init__(
        self,
        points: Any,
        tree: UltrametricTree,
        metric: AnyMetric,
        neighbors: Labels,
        is_fitted: Array | None = None,
    ) -> None:
        super().__init__(points, tree)
        self.n_together = max(1, _DISTANCES_TOGETHER // tree.n_points)
        self._metric = metric
        self._neighbors = neighbors
        self._given = GivenDistances(tree, is_fitted)
        self._identifies_rows = isinstance(points, np.ndarray)

    def _prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find:  # noqa: ARG002
        n_points = self.tree.n_points
        if isinstance(new, NewDistances):
            return self._finder(self._given.distances(new), only_nearest=only_nearest)
        together = stacked(self.points, new)

        def rows_of(numbers: Ints) -> Floats:
            rows = np.empty((len(numbers), n_points))
            sources, targets = n_points + numbers, np.arange(n_points)
            metric = self._metric
            for some, row in distances_between(together, sources, targets, metric, n_points):
                rows[some] = row
            return rows

        return self._finder(rows_of, only_nearest=only_nearest)

    def _finder(self, rows_of: Callable[[Ints], Floats], *, only_nearest: bool) -> Find:
        def find(numbers: Ints) -> Attachments:
            rows = share_rows(rows_of(numbers), self._neighbors)
            return attach_rows(self.tree, rows, only_nearest=only_nearest)

        return find


def share_rows(rows: Floats, neighbors: Labels) -> Floats:
    """Return full rows of distances of new points, those of their neighbours multiplied.

    A row that begins with a distance of 0 is that of a point of the fit, and stays as it is.
    """
    is_new = rows.min(axis=1) > 0.0
    some = rows[is_new]
    share_distances_of_new(some, neighbors)
    rows[is_new] = some
    return rows


def shared_blocks(
    blocks: Iterator[tuple[Ints, Floats]], neighbors: Labels
) -> Iterator[tuple[Ints, Floats]]:
    """Yield blocks of the distances of new points, those of their neighbours multiplied."""
    for numbers, rows in blocks:
        yield numbers, share_rows(rows, neighbors)


def nearest_of_new(
    points: Any, new: Any, metric: AnyMetric, n_neighbors: int, n_jobs: int = 1
) -> Neighbors:
    """Return the nearest points of new ones: lists in the order of (distance, index).

    points, new : arrays, CSR matrices or lists of objects, checked
    """
    n_new = len(new) if isinstance(new, list) else new.shape[0]
    found = empty_neighbors(n_new, n_neighbors)
    found.indices[:], found.distances[:] = -1, np.inf
    if (
        isinstance(points, np.ndarray)
        and isinstance(metric, MappedMetric)
        and points.shape[1] <= FEW_FEATURES
        and len(points) > _FEW_POINTS
        and is_supported(points.shape[1], metric)
        and _fill_by_kdtree(points, new, metric, found, n_jobs)
    ):
        return found
    n_points = len(points) if isinstance(points, list) else points.shape[0]
    names, none = np.arange(n_points, dtype=np.int32), np.int32(-1)
    together = stacked(points, new)
    for start, stop in chunks(n_new, max(1, _DISTANCES_TOGETHER // n_points)):
        sources = np.arange(n_points + start, n_points + stop)
        targets = np.arange(n_points)
        for numbers, rows in distances_between(together, sources, targets, metric, n_points):
            some = start + numbers
            part = Neighbors(found.indices[some], found.distances[some])
            keep_nearest_of_rows(rows, names, np.full(len(rows), none), part)
            found.indices[some], found.distances[some] = part
    return found


def _fill_by_kdtree(
    points: Array, new: Array, metric: MappedMetric, found: Neighbors, n_jobs: int
) -> bool:
    """Fill the lists of new points; return False where some distances are out of range."""
    from isthmus.neighbors.by_kdtree import KdTreeNeighbors

    points = np.ascontiguousarray(points)
    prepared = prepare_points(points, metric)
    mapped = map_for_others(prepared, points)(np.ascontiguousarray(new))
    limit = replace(prepared, scale=1.0).limits.entry
    if has_tiny_entries(prepared.points, limit) or has_tiny_entries(mapped, limit):
        return False
    if not is_near(mapped, metric).all():
        return False
    with Workers(n_jobs) as workers:
        KdTreeNeighbors(prepared, workers).fill_for(mapped, found)
    with_heights(found, prepared)
    return True


def stacked(points: Any, new: Any) -> Any:
    """Return points and new ones together."""
    if isinstance(points, list):
        return [*points, *new]
    return vstack([points, new], format="csr") if issparse(points) else np.vstack([points, new])
