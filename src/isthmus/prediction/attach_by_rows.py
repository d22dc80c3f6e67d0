"""New points → attachment edges, by rows of distances to all points of the tree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import vstack

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, POWERS, SQUARES
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics.accumulate import fill_distances
from isthmus.metrics.duplicates import RowIndex
from isthmus.metrics.mapped import (
    MappedMetric,
    PreparedPoints,
    map_by,
    map_for_others,
    prepare_points,
)
from isthmus.metrics.maps import unchanged
from isthmus.metrics.pairwise import distances_between, is_near
from isthmus.metrics.precomputed import NewDistances
from isthmus.metrics.rowwise import CallableMetric, RowMetric, first_invalid
from isthmus.metrics.tiny_differences import has_tiny_entries, without_tiny
from isthmus.prediction.attachments import Attachments, attach_by_distances
from isthmus.spanning_tree import SpanningTree
from isthmus.ultrametric import UltrametricTree

# Distances that are held together.
_DISTANCES_TOGETHER = 1 << 21

Find = Callable[[Ints], Attachments]


class AttachmentSearch(ABC):
    """The points of a tree, to which new points are attached.

    Attributes
    ----------
    n_together : int
        The best number of new points to ask for at once.
    """

    n_together: int
    # Whether a new row that equals a row of the tree is that point, whatever their distance:
    # rounding may make it more than zero, and some metrics do.
    _identifies_rows = False

    def __init__(self, points: Any, tree: UltrametricTree) -> None:
        self.points = points
        self.tree = tree

    @cached_property
    def _rows(self) -> RowIndex:
        return RowIndex(np.ascontiguousarray(self.points))

    def prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find:
        """Return a function from the numbers of some new points, (m,) int64, to attachments.

        New points that the metric does not take are refused here.

        Parameters
        ----------
        new : array, CSR matrix or list of objects
            Checked, of the same kind as the points of the tree.
        only_nearest : bool
            Whether the nearest point of the tree is all that is wanted.
        n_jobs : int
            Threads for what the first call computes for all new points.
        """
        find = self._prepare(new, only_nearest=only_nearest, n_jobs=n_jobs)
        if not self._identifies_rows:
            return find
        equal = self._rows.find(new)

        def find_all(numbers: Ints) -> Attachments:
            same = equal[numbers]
            return find(numbers[same < 0]).among(same)

        return find_all

    @abstractmethod
    def _prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find:
        """Do the same without regard to equal rows."""


def attach_rows(
    tree: UltrametricTree, distances: Floats, *, only_nearest: bool, heights: Floats | None = None
) -> Attachments:
    """Return the attachments of new points whose distances to all points of a tree are known.

    heights : (n - 1,) float64, optional
        Those of the tree in the unit of the distances, if it is another one.
    """
    if only_nearest:
        nearest = distances.argmin(axis=1)
        length = distances[np.arange(len(distances)), nearest]
        return Attachments(np.arange(len(distances) + 1), nearest, length)
    blocks = [(np.arange(len(distances)), distances)]
    return attach_by_distances(tree, len(distances), blocks, heights)


class _RowSearch(AttachmentSearch):
    """Points whose distances come in rows, for each new point to all points of the tree."""

    @abstractmethod
    def distances(self, new: Any) -> Callable[[Ints], Floats]:
        """Return a function from the numbers of some new points to their rows of distances."""

    def _prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find:  # noqa: ARG002
        rows = self.distances(new)
        return lambda numbers: attach_rows(self.tree, rows(numbers), only_nearest=only_nearest)


class ScipySearch(_RowSearch):
    """Points in an array, whose distances SciPy computes."""

    _identifies_rows = True

    def __init__(self, points: Array, tree: UltrametricTree, metric: RowMetric) -> None:
        super().__init__(points, tree)
        self.metric = metric
        self.n_together = max(1, _DISTANCES_TOGETHER // len(points))

    @cached_property
    def _prepared(self) -> Floats:
        return self.metric.prepare(self.points)

    def distances(self, new: Array) -> Callable[[Ints], Floats]:
        """Return what SciPy computes."""
        mapped, points = self.metric.prepare(new), self._prepared

        def rows(numbers: Ints) -> Floats:
            distances = np.empty((len(numbers), len(points)))
            for row, i in zip(distances, numbers, strict=True):
                self.metric.fill(mapped[i : i + 1], points, row[None, :])
                if (j := first_invalid(row)) is not None:
                    raise ValueError(
                        f"The distance of row {i} to row {j} of the fit by "
                        f"metric={self.metric.name!r} is {row[j]}. {self.metric.undefined}"
                    )
            return distances

        return rows


class CallableSearch(_RowSearch):
    """Rows of a table, or any objects, whose distances Python computes."""

    n_together = 1

    def __init__(self, points: Any, tree: UltrametricTree, metric: CallableMetric) -> None:
        super().__init__(points, tree)
        self.metric = metric
        self._identifies_rows = not isinstance(points, list)  # of objects only the metric knows

    def distances(self, new: Any) -> Callable[[Ints], Floats]:
        """Return what the function computes."""
        items, n_points = [*self.points, *new], len(self.points)

        def rows(numbers: Ints) -> Floats:
            distances = np.empty((len(numbers), n_points))
            for row, i in zip(distances, numbers, strict=True):
                row[:] = self.metric.distances(items, n_points + int(i), range(n_points), n_points)
            return distances

        return rows


class GivenDistances(_RowSearch):
    """Points known by their distances only; new ones come as their distances to all rows of a fit.

    Parameters
    ----------
    tree : UltrametricTree
    is_fitted : (n_rows,) bool, optional
        Which rows are on the tree; all, if None.
    """

    def __init__(self, tree: UltrametricTree, is_fitted: Array | None) -> None:
        super().__init__(None, tree)
        self._columns = None if is_fitted is None else np.flatnonzero(is_fitted)
        self.n_together = max(1, _DISTANCES_TOGETHER // tree.n_points)

    def distances(self, new: NewDistances) -> Callable[[Ints], Floats]:
        """Return what was given, to the rows on the tree."""

        def rows(numbers: Ints) -> Floats:
            distances = new.rows(numbers)
            if self._columns is not None:
                distances = distances[:, self._columns]
            unreachable = np.flatnonzero(np.isinf(distances).all(axis=1))
            if unreachable.size:
                raise ValueError(
                    f"Row {numbers[unreachable[0]]} has no distance to a row of the fit (with a "
                    "weight above 0), so nothing says where it belongs."
                )
            return distances

        return rows


class PairSearch(AttachmentSearch):
    """Points of any kind, joined with the new ones: sparse rows, and points very far away."""

    def __init__(self, points: Any, tree: UltrametricTree, metric: MappedMetric) -> None:
        super().__init__(points, tree)
        self.metric = metric
        # not too few, since each call copies all points
        self.n_together = max(64, _DISTANCES_TOGETHER // points.shape[0])

    def _prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find:  # noqa: ARG002
        dense = isinstance(new, np.ndarray)
        if not dense:
            prepare_points(new, self.metric)
        n_points = self.points.shape[0]
        targets: Ints = np.arange(n_points)

        def find(numbers: Ints) -> Attachments:
            both = [self.points, new[numbers]]
            joined = np.concatenate(both) if dense else vstack(both, format="csr")
            sources: Ints = np.arange(n_points, n_points + len(numbers))
            found: dict[int, Attachments] = {}
            for some, distances in distances_between(
                joined, sources, targets, self.metric, n_points
            ):
                attached = attach_rows(self.tree, distances, only_nearest=only_nearest)
                found.update((int(i), attached.part(j, j + 1)) for j, i in enumerate(some))
            return Attachments.joined([found[i] for i in range(len(numbers))])

        return find


class KernelSearch(AttachmentSearch):
    """Points in an array, whose distances a kernel computes."""

    def __init__(self, points: Array, tree: UltrametricTree, metric: MappedMetric) -> None:
        super().__init__(points, tree)
        self.metric = metric
        self._by_pairs = PairSearch(points, tree, metric)
        self._identifies_rows = metric.prepare is not unchanged  # otherwise they are at distance 0
        self.n_together = max(1, _DISTANCES_TOGETHER // len(points))

    @cached_property
    def _prepared(self) -> PreparedPoints:
        # in C order, as new points will be: sums over features then round alike
        return prepare_points(np.ascontiguousarray(self.points), self.metric)

    @cached_property
    def _map(self) -> Callable[[Array], Floats]:
        return map_for_others(self._prepared, np.ascontiguousarray(self.points))

    @cached_property
    def _columns(self) -> Array:
        return np.ascontiguousarray(self._prepared.points.T)

    @cached_property
    def _map_unscaled(self) -> Callable[[Array], Array]:
        return map_by(self.metric, np.ascontiguousarray(self.points))

    @cached_property
    def _unscaled(self) -> Array:
        """The points as they are mapped, before a scale makes zeros of the smallest numbers."""
        if self._prepared.scale == 1.0:
            return np.asarray(self._prepared.points)
        return self._map_unscaled(np.ascontiguousarray(self.points))

    @cached_property
    def _has_tiny(self) -> bool:
        return has_tiny_entries(self._unscaled, self._prepared.limits.entry)

    @cached_property
    def _alike(self) -> tuple[RowIndex, Array]:
        """The points without tiny entries, and which of them are alike to one with such entries."""
        points, limit = self._unscaled, self._prepared.limits.entry
        rows = RowIndex(without_tiny(points, limit))
        first = rows.first_equal()
        tiny = np.zeros(len(points), dtype=bool)
        tiny[first[((points != 0.0) & (np.abs(points) < limit)).any(axis=1)]] = True
        return rows, tiny[first]

    def _is_lossy(self, new: Array) -> Array:
        """Which new points, mapped but not scaled, may be so near that their distance is lost."""
        limit = self._prepared.limits.entry
        if not self._has_tiny and not has_tiny_entries(new, limit):
            return np.zeros(len(new), dtype=bool)
        rows, is_alike_to_tiny = self._alike
        found = rows.find(without_tiny(new, limit))
        own = ((new != 0.0) & (np.abs(new) < limit)).any(axis=1)
        return np.asarray((found >= 0) & (own | is_alike_to_tiny[found]))

    @cached_property
    def _heights(self) -> Floats:
        """The heights of the tree, as distances are accumulated; powers by their sums."""
        return _accumulated_lengths(self._prepared.points, self.tree.spanning_tree, self.metric)

    def _prepare(self, new: Array, *, only_nearest: bool, n_jobs: int) -> Find:
        new = np.ascontiguousarray(new)
        mapped = self._map(new)
        near = is_near(mapped, self.metric)
        unscaled = mapped if self._prepared.scale == 1.0 else self._map_unscaled(new)
        near[near] = ~self._is_lossy(unscaled[near])
        self._build(n_jobs)
        others = self._by_pairs.prepare(new, only_nearest=only_nearest, n_jobs=n_jobs)

        def find(numbers: Ints) -> Attachments:
            own = near[numbers]
            if own.all():
                return self._find(mapped[numbers], only_nearest=only_nearest)
            by_kernel = self._find(mapped[numbers[own]], only_nearest=only_nearest)
            return by_kernel.mixed_with(others(numbers[~own]), own)

        return find

    def _build(self, n_jobs: int) -> None:  # noqa: ARG002
        """Compute what all calls share, before threads do."""
        self._columns, self._heights  # noqa: B018

    def _find(self, mapped: Floats, *, only_nearest: bool) -> Attachments:
        kind, power = self.metric.kind, self.metric.power
        distances = np.empty((len(mapped), self._columns.shape[1]))
        fill_distances(mapped, self._columns, kind, power, distances)
        # as the kd-tree compares them: two distances may be equal that were not before the root
        heights = self._heights ** (1.0 / power) if kind == POWERS else self._heights
        found = attach_rows(self.tree, distances, only_nearest=only_nearest, heights=heights)
        return Attachments(found.begin, found.point, self._prepared.heights(found.length))


def _accumulated_lengths(points: Array, tree: SpanningTree, metric: MappedMetric) -> Floats:
    """Return the lengths of a tree's edges, as kernels accumulate them.

    Those of Minkowski's distances are sums of powers. Edges of weight 0 may join rows that belong
    together, wherever these are.
    """
    edges = tree.edges
    total = np.zeros(len(edges))
    for feature in points.T:
        difference = np.abs(
            feature[edges[:, 0]].astype(np.float64) - feature[edges[:, 1]].astype(np.float64)
        )
        if metric.kind == MAXIMUM:
            np.maximum(total, difference, out=total)
        else:
            total += difference ** {SQUARES: 2.0, ABSOLUTES: 1.0}.get(metric.kind, metric.power)
    total[tree.weights == 0.0] = 0.0
    # rounding may have made some lengths equal
    return np.asarray(np.maximum.accumulate(total))
