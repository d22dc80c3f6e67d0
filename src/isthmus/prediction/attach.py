"""New points and a tree → their attachment edges, by the fastest search that the metric allows.

Few features and many points: a search of a kd-tree for each new point. Otherwise: its distances to
all points of the tree, a row at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import vstack

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, POWERS, SQUARES
from isthmus._utils.parallel import Workers, chunks, map_in_threads
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics.accumulate import fill_distances
from isthmus.metrics.mapped import MappedMetric, PreparedPoints, map_for_others, prepare_points
from isthmus.metrics.maps import unchanged
from isthmus.metrics.pairwise import distances_between
from isthmus.metrics.precomputed import NewDistances
from isthmus.metrics.registry import AnyMetric
from isthmus.metrics.rowwise import CallableMetric, RowMetric, first_invalid
from isthmus.prediction.attachments import Attachments, attach_by_distances
from isthmus.spanning_tree.duplicates import RowIndex
from isthmus.spanning_tree.kdtree.limits import FEW_FEATURES, is_supported, padded_dims
from isthmus.spanning_tree.result import KdTreeIndex
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import gaps_of_merges

if TYPE_CHECKING:  # it loads Numba
    from isthmus.prediction.attach_by_kdtree import CandidateSearch

# Up to this many points rows of distances are fast, and nothing large needs to be compiled.
_FEW_POINTS = 1000
# Beyond these magnitudes sums of squares, and of powers up to the eighth, could overflow.
_FAR, _FAR_FOR_POWERS = 1e100, 1e30
# New points that are searched for together, and distances that are held together.
_SEARCHED_TOGETHER = 1 << 10
_DISTANCES_TOGETHER = 1 << 21

Find = Callable[[Ints], Attachments]


def attachment_search(
    points: Any, tree: UltrametricTree, metric: AnyMetric, index: KdTreeIndex | None = None
) -> AttachmentSearch:
    """Return the search that suits the points of a tree and their metric.

    points : (n, n_features) array or CSR matrix, or list of n objects
        As the spanning tree takes them, checked.
    index : KdTreeIndex, optional
        The kd-tree that found the spanning tree, if one did; it is built where it is needed.
    """
    if isinstance(metric, CallableMetric):
        return _CallableSearch(points, tree, metric)
    if isinstance(metric, RowMetric):
        return _ScipySearch(points, tree, metric)
    assert isinstance(metric, MappedMetric)  # precomputed distances have a search of their own
    if not isinstance(points, np.ndarray):
        return _PairSearch(points, tree, metric)
    if is_for_tree(points, metric):
        return _KdTreeSearch(points, tree, metric, index)
    return _KernelSearch(points, tree, metric)


def is_for_tree(points: Array, metric: MappedMetric) -> bool:
    """Whether a kd-tree of the points serves new ones: many points, few features."""
    few = points.shape[1] <= FEW_FEATURES and is_supported(points.shape[1], metric)
    return few and len(points) > _FEW_POINTS


def attach_all(search: AttachmentSearch, new: Any, n_new: int, n_jobs: int = 1) -> Attachments:
    """Return the attachments of all new points, found on some threads."""
    find = search.prepare(new, only_nearest=False, n_jobs=n_jobs)
    blocks = chunks(n_new, search.n_together)
    return Attachments.joined(map_in_threads(lambda block: find(np.arange(*block)), blocks, n_jobs))


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
    def _distances(self, new: Any) -> Callable[[Ints], Floats]:
        """Return a function from the numbers of some new points to their rows of distances."""

    def _prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find:  # noqa: ARG002
        rows = self._distances(new)
        return lambda numbers: attach_rows(self.tree, rows(numbers), only_nearest=only_nearest)


class _ScipySearch(_RowSearch):
    """Points in an array, whose distances SciPy computes."""

    _identifies_rows = True

    def __init__(self, points: Array, tree: UltrametricTree, metric: RowMetric) -> None:
        super().__init__(points, tree)
        self.metric = metric
        self.n_together = max(1, _DISTANCES_TOGETHER // len(points))

    @cached_property
    def _prepared(self) -> Floats:
        return self.metric.prepare(self.points)

    def _distances(self, new: Array) -> Callable[[Ints], Floats]:
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


class _CallableSearch(_RowSearch):
    """Rows of a table, or any objects, whose distances Python computes."""

    n_together = 1

    def __init__(self, points: Any, tree: UltrametricTree, metric: CallableMetric) -> None:
        super().__init__(points, tree)
        self.metric = metric
        self._identifies_rows = not isinstance(points, list)  # of objects only the metric knows

    def _distances(self, new: Any) -> Callable[[Ints], Floats]:
        items, n_points = [*self.points, *new], len(self.points)

        def rows(numbers: Ints) -> Floats:
            distances = np.empty((len(numbers), n_points))
            for row, i in zip(distances, numbers, strict=True):
                row[:] = self.metric.distances(items, n_points + int(i), range(n_points))
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

    def _distances(self, new: NewDistances) -> Callable[[Ints], Floats]:
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


class _PairSearch(AttachmentSearch):
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
            for some, distances in distances_between(joined, sources, targets, self.metric):
                attached = attach_rows(self.tree, distances, only_nearest=only_nearest)
                found.update((int(i), attached.part(j, j + 1)) for j, i in enumerate(some))
            return Attachments.joined([found[i] for i in range(len(numbers))])

        return find


class _KernelSearch(AttachmentSearch):
    """Points in an array, whose distances a kernel computes."""

    def __init__(self, points: Array, tree: UltrametricTree, metric: MappedMetric) -> None:
        super().__init__(points, tree)
        self.metric = metric
        self._by_pairs = _PairSearch(points, tree, metric)
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
    def _heights(self) -> Floats:
        """The heights of the tree, as distances are accumulated; powers by their sums."""
        edges = self.tree.spanning_tree.edges
        return _accumulated_lengths(self._prepared.points, edges, self.metric)

    def _prepare(self, new: Array, *, only_nearest: bool, n_jobs: int) -> Find:
        mapped = self._map(np.ascontiguousarray(new))
        limit = _FAR_FOR_POWERS if self.metric.kind == POWERS else _FAR
        with np.errstate(invalid="ignore"):
            near: Array = np.asarray((np.abs(mapped) < limit).all(axis=1))
        self._build(n_jobs)
        far = self._by_pairs.prepare(new, only_nearest=only_nearest, n_jobs=n_jobs)

        def find(numbers: Ints) -> Attachments:
            if near[numbers].all():
                return self._find(mapped[numbers], only_nearest=only_nearest)
            return Attachments.joined(
                [
                    self._find(mapped[i : i + 1], only_nearest=only_nearest)
                    if near[i]
                    else far(np.array([i]))
                    for i in numbers
                ]
            )

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


class _KdTreeSearch(_KernelSearch):
    """Points in an array of few features, searched by a kd-tree."""

    def __init__(
        self,
        points: Array,
        tree: UltrametricTree,
        metric: MappedMetric,
        index: KdTreeIndex | None = None,
    ) -> None:
        super().__init__(points, tree, metric)
        self.n_together = _SEARCHED_TOGETHER
        self._index = index
        self._search: CandidateSearch | None = None

    @cached_property
    def _prepared(self) -> PreparedPoints:
        return super()._prepared if self._index is None else self._index.prepared

    def _build(self, n_jobs: int) -> None:
        if self._search is None:
            # Imported here: Numba's machinery loads with it.
            from isthmus.prediction.attach_by_kdtree import CandidateSearch

            starts = self.tree.starts
            gaps = gaps_of_merges(self.tree.children, starts, self._heights)
            self._search = CandidateSearch(self._index or self._build_index(n_jobs), starts, gaps)

    def _build_index(self, n_jobs: int) -> KdTreeIndex:
        """Return the kd-tree of the distinct points."""
        from isthmus.spanning_tree.kdtree.build import build_tree

        points = np.ascontiguousarray(self._prepared.points)
        first = RowIndex(points).first_equal()
        distinct = np.flatnonzero(first == np.arange(len(first)))
        if len(distinct) < len(points):
            points = points[distinct]
        with Workers(n_jobs) as workers:
            kdtree = build_tree(points, padded_dims(points.shape[1]), workers)
        return KdTreeIndex(self._prepared, distinct, kdtree)

    def _find(self, mapped: Floats, *, only_nearest: bool) -> Attachments:
        assert self._search is not None  # _build came first
        found = self._search.candidates(mapped, only_nearest=only_nearest)
        too_many = found.n_found < 0
        counts = np.where(too_many, 0, found.n_found)
        used = np.arange(found.point.shape[1]) < counts[:, None]
        attached = Attachments(
            np.concatenate([[0], np.cumsum(counts)]),
            found.point[used],
            self._prepared.heights(found.distance[used]),
        )
        if not too_many.any():
            return attached
        by_rows = super()._find
        return Attachments.joined(
            [
                by_rows(mapped[i : i + 1], only_nearest=only_nearest)
                if too_many[i]
                else attached.part(i, i + 1)
                for i in range(len(mapped))
            ]
        )


def _accumulated_lengths(points: Array, edges: Ints, metric: MappedMetric) -> Floats:
    """Return the lengths of edges, from the shortest to the longest, as kernels accumulate them.

    Those of Minkowski's distances are sums of powers.
    """
    total = np.zeros(len(edges))
    for feature in points.T:
        difference = np.abs(
            feature[edges[:, 0]].astype(np.float64) - feature[edges[:, 1]].astype(np.float64)
        )
        if metric.kind == MAXIMUM:
            np.maximum(total, difference, out=total)
        else:
            total += difference ** {SQUARES: 2.0, ABSOLUTES: 1.0}.get(metric.kind, metric.power)
    # rounding may have made some lengths equal
    return np.asarray(np.maximum.accumulate(total))
