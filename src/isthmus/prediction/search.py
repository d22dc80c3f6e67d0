"""New points and a tree → their links, by the fastest way that the metric allows.

Few features: a search on a kd-tree for each new point. Everything else: its distances to all
points of the tree, a row at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import vstack

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, POWERS, SQUARES
from isthmus._utils.parallel import chunks, map_in_threads
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics.accumulate import fill_distances
from isthmus.metrics.mapped import MappedMetric, PreparedPoints, map_for_others, prepare_points
from isthmus.metrics.maps import unchanged
from isthmus.metrics.pairwise import distances_between
from isthmus.metrics.precomputed import NewDistances
from isthmus.metrics.registry import AnyMetric
from isthmus.metrics.rowwise import CallableMetric, RowMetric, first_invalid
from isthmus.prediction.attach import Attachments, attach_by_distances
from isthmus.spanning_tree.duplicates import RowIndex
from isthmus.spanning_tree.kdtree.limits import FEW_FEATURES, is_supported
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import gaps_of_merges

# Up to so many points of a tree rows of distances are fast, and need nothing to be compiled for.
_FEW_POINTS = 1000
# Beyond these magnitudes sums of squares, and of powers up to the eighth, could overflow.
_FAR, _FAR_FOR_POWERS = 1e100, 1e30
# New points whose hops are searched together, distances in rows that are held together.
_SEARCHED_TOGETHER = 1 << 10
_DISTANCES_TOGETHER = 1 << 21

Find = Callable[[Ints], Attachments]


class AttachmentSearch(ABC):
    """The points of a tree, made ready to be hopped to.

    Attributes
    ----------
    n_together : int
        How many new points it is best to ask for at once.
    """

    n_together: int

    @abstractmethod
    def prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find:
        """Return a function from the numbers of some new points, (m,) int64, to their links.

        What the metric does not take is refused here.

        Parameters
        ----------
        new : array, CSR matrix or list of objects
            Checked, of the same kind as the points of the tree.
        only_nearest : bool
            Whether the nearest point of the tree is all that is wanted.
        n_jobs : int
            Threads for what is computed once for all new points, by the first call.
        """


def attachment_search(
    points: Any,
    tree: UltrametricTree,
    metric: AnyMetric,
) -> AttachmentSearch:
    """Return the search that suits the points of a tree and their metric.

    points : (n, n_features) array or CSR matrix, or list of n objects
        As the spanning tree takes them, checked.
    """
    if isinstance(metric, CallableMetric):
        return _SearchByCallable(points, tree, metric)
    if isinstance(metric, RowMetric):
        return _SearchByRows(points, tree, metric)
    assert isinstance(metric, MappedMetric)  # precomputed distances have a search of their own
    if not isinstance(points, np.ndarray):
        return _SearchByPairs(points, tree, metric)
    search = _SearchOnTree if is_for_tree(points, metric) else _SearchByKernel
    return search(points, tree, metric)


def is_for_tree(points: Array, metric: MappedMetric) -> bool:
    """Whether a kd-tree of the points serves new ones: many points, few features."""
    few = points.shape[1] <= FEW_FEATURES and is_supported(points.shape[1], metric)
    return few and len(points) > _FEW_POINTS


class _SearchTables(AttachmentSearch):
    """Points that are rows of a table. A new row that equals one of them is the same point.

    Whatever its distance: rounding may make it more than zero, and some metrics do.
    """

    # Whether equal rows are always at distance zero.
    _exact_zeros = False

    def __init__(self, points: Any, tree: UltrametricTree) -> None:
        self.points = points
        self.tree = tree

    @cached_property
    def _rows(self) -> RowIndex:
        return RowIndex(np.ascontiguousarray(self.points))

    def prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find:
        """Return the function that finds links; see LinkSearch."""
        if self._exact_zeros:
            return self._prepare(new, only_nearest=only_nearest, n_jobs=n_jobs)
        equal = self._rows.find(new)
        find = self._prepare(new, only_nearest=only_nearest, n_jobs=n_jobs)

        def find_all(numbers: Ints) -> Attachments:
            same = equal[numbers]
            return find(numbers[same < 0]).among(same)

        return find_all

    @abstractmethod
    def _prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find: ...

    def _attach_rows(self, distances: Floats, *, only_nearest: bool) -> Attachments:
        """Return the links of new points whose distances to all points are known."""
        return attach_rows(self.tree, distances, only_nearest=only_nearest)


def attach_rows(
    tree: UltrametricTree,
    distances: Floats,
    *,
    only_nearest: bool,
    heights: Floats | None = None,
) -> Attachments:
    """Return the links of new points whose distances to all points of a tree are known.

    heights : (n - 1,) float64, optional
        Those of the tree in the unit of the distances, if it is another one.
    """
    if only_nearest:
        nearest = distances.argmin(axis=1)
        length = distances[np.arange(len(distances)), nearest]
        return Attachments(np.arange(len(distances) + 1), nearest, length)
    blocks = [(np.arange(len(distances)), distances)]
    return attach_by_distances(tree, len(distances), blocks, heights)


class _SearchByKernel(_SearchTables):
    """Points in an array, whose distances a kernel computes."""

    def __init__(
        self,
        points: Array,
        tree: UltrametricTree,
        metric: MappedMetric,
    ) -> None:
        super().__init__(points, tree)
        self.metric = metric
        self._by_pairs = _SearchByPairs(points, tree, metric)
        self._exact_zeros = metric.prepare is unchanged
        self.n_together = max(1, _DISTANCES_TOGETHER // len(points))

    @cached_property
    def _prepared(self) -> tuple[PreparedPoints, Callable[[Array], Floats]]:
        # in C order, as new points will be: sums over features then round alike
        points = np.ascontiguousarray(self.points)
        prepared = prepare_points(points, self.metric)
        return prepared, map_for_others(prepared, points)

    @cached_property
    def _columns(self) -> Array:
        return np.ascontiguousarray(self._prepared[0].points.T)

    def _prepare(self, new: Array, *, only_nearest: bool, n_jobs: int) -> Find:
        mapped = self._prepared[1](np.ascontiguousarray(new))
        limit = _FAR_FOR_POWERS if self.metric.kind == POWERS else _FAR
        with np.errstate(invalid="ignore"):
            near: Array = np.asarray((np.abs(mapped) < limit).all(axis=1))
        self._make_ready(n_jobs)
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

    @cached_property
    def _heights(self) -> Floats:
        """The heights of the tree, as distances are accumulated; powers by their sums."""
        points, kind, power = self._prepared[0].points, self.metric.kind, self.metric.power
        return accumulated_weights(points, self.tree.spanning_tree.edges, kind, power)

    def _make_ready(self, n_jobs: int) -> None:  # noqa: ARG002
        self._columns, self._heights  # noqa: B018

    def _find(self, mapped: Floats, *, only_nearest: bool) -> Attachments:
        prepared, kind, power = self._prepared[0], self.metric.kind, self.metric.power
        distances = np.empty((len(mapped), self._columns.shape[1]))
        fill_distances(mapped, self._columns, kind, power, distances)
        # as the kd-tree compares them: two distances may be equal that were not before the root
        heights = self._heights ** (1.0 / power) if kind == POWERS else self._heights
        links = attach_rows(self.tree, distances, only_nearest=only_nearest, heights=heights)
        return Attachments(links.begin, links.point, prepared.heights(links.length))


class _SearchOnTree(_SearchByKernel):
    """Points in an array of few features, by a kd-tree."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.n_together = _SEARCHED_TOGETHER
        self._hops: Any = None

    def _make_ready(self, n_jobs: int) -> None:
        if self._hops is not None:
            return
        # Imported here: Numba's machinery loads with it.
        from isthmus.prediction.kdtree_search import HopSearch

        tree, metric = self.tree, self.metric
        points = np.ascontiguousarray(self._prepared[0].points)
        gaps = gaps_of_merges(tree.children, tree.starts, self._heights)
        first = RowIndex(points).first_equal()
        distinct = np.flatnonzero(first == np.arange(len(first)))
        if len(distinct) < len(points):
            points = points[distinct]
        self._hops = HopSearch(
            points, distinct, metric.kind, metric.power, tree.starts[distinct], gaps, n_jobs
        )

    def _find(self, mapped: Floats, *, only_nearest: bool) -> Attachments:
        hops = self._hops.search(mapped, only_nearest=only_nearest)
        many = hops.n_kept < 0
        counts = np.where(many, 0, hops.n_kept)
        used = np.arange(hops.point.shape[1]) < counts[:, None]
        links = Attachments(
            np.concatenate([[0], np.cumsum(counts)]),
            hops.point[used],
            self._prepared[0].heights(hops.distance[used]),
        )
        if not many.any():
            return links
        by_rows = super()._find
        return Attachments.joined(
            [
                by_rows(mapped[i : i + 1], only_nearest=only_nearest)
                if many[i]
                else links.part(i, i + 1)
                for i in range(len(mapped))
            ]
        )


def accumulated_weights(points: Array, edges: Ints, kind: int, power: float) -> Floats:
    """Return the lengths of edges, from the shortest to the longest, as kernels accumulate them.

    Those of Minkowski's distances are sums of powers.
    """
    total = np.zeros(len(edges))
    for feature in points.T:
        difference = np.abs(
            feature[edges[:, 0]].astype(np.float64) - feature[edges[:, 1]].astype(np.float64)
        )
        if kind == MAXIMUM:
            np.maximum(total, difference, out=total)
        else:
            total += difference ** {SQUARES: 2.0, ABSOLUTES: 1.0}.get(kind, power)
    # rounding may have made the lengths of some equal
    return np.asarray(np.maximum.accumulate(total))


class _SearchByRows(_SearchTables):
    """Points in an array, whose distances SciPy computes."""

    def __init__(self, points: Array, tree: UltrametricTree, metric: RowMetric) -> None:
        super().__init__(points, tree)
        self.metric = metric
        self.n_together = max(1, _DISTANCES_TOGETHER // len(points))

    @cached_property
    def _prepared(self) -> Floats:
        return self.metric.prepare(self.points)

    def _prepare(self, new: Array, *, only_nearest: bool, n_jobs: int) -> Find:  # noqa: ARG002
        mapped, points = self.metric.prepare(new), self._prepared

        def find(numbers: Ints) -> Attachments:
            distances = np.empty((len(numbers), len(points)))
            for row, i in zip(distances, numbers, strict=True):
                self.metric.fill(mapped[i : i + 1], points, row[None, :])
                self._refuse_invalid(row, i)
            return self._attach_rows(distances, only_nearest=only_nearest)

        return find

    def _refuse_invalid(self, row: Floats, i: int) -> None:
        place = first_invalid(row)
        if place is not None:
            raise ValueError(
                f"The distance of row {i} to row {place} of the fit by "
                f"metric={self.metric.name!r} is {row[place]}. {self.metric.undefined}"
            )


class _SearchByCallable(_SearchTables):
    """Rows of a table, or any objects, whose distances Python computes."""

    n_together = 1

    def __init__(self, points: Any, tree: UltrametricTree, metric: CallableMetric) -> None:
        super().__init__(points, tree)
        self.metric = metric
        self._exact_zeros = isinstance(points, list)  # objects are what the metric says they are

    def _prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find:  # noqa: ARG002
        items, n_points = [*self.points, *new], len(self.points)

        def find(numbers: Ints) -> Attachments:
            distances = np.empty((len(numbers), n_points))
            for row, i in zip(distances, numbers, strict=True):
                row[:] = self.metric.distances(items, n_points + int(i), range(n_points))
            return self._attach_rows(distances, only_nearest=only_nearest)

        return find


class _SearchByPairs(AttachmentSearch):
    """Points of any kind, beside the new ones: sparse rows, and those that are very far away."""

    def __init__(
        self,
        points: Any,
        tree: UltrametricTree,
        metric: MappedMetric,
    ) -> None:
        self.points = points
        self.tree = tree
        self.metric = metric
        # each time all points are copied
        self.n_together = max(64, _DISTANCES_TOGETHER // points.shape[0])

    def prepare(self, new: Any, *, only_nearest: bool, n_jobs: int) -> Find:  # noqa: ARG002
        """Return the function that finds links; see LinkSearch."""
        if not isinstance(new, np.ndarray):
            prepare_points(new, self.metric)
        n_points = self.points.shape[0]
        targets: Ints = np.arange(n_points)

        def find(numbers: Ints) -> Attachments:
            join = np.concatenate if isinstance(new, np.ndarray) else _stacked
            sources: Ints = np.arange(n_points, n_points + len(numbers))
            blocks = distances_between(
                join([self.points, new[numbers]]), sources, targets, self.metric
            )
            found: list[Attachments | None] = [None] * len(numbers)
            for places, distances in blocks:
                links = attach_rows(self.tree, distances, only_nearest=only_nearest)
                for j, place in enumerate(places):
                    found[place] = links.part(j, j + 1)
            return Attachments.joined(found)  # type: ignore[arg-type]

        return find


class GivenDistances(AttachmentSearch):
    """Points of which nothing is known; new ones come as their distances to all rows of a fit.

    Parameters
    ----------
    tree : UltrametricTree
    is_fitted : (n_rows,) bool, optional
        Which rows are on the tree; all, if None.
    """

    def __init__(self, tree: UltrametricTree, is_fitted: Array | None) -> None:
        self.tree = tree
        self._columns = None if is_fitted is None else np.flatnonzero(is_fitted)
        self.n_together = max(1, _DISTANCES_TOGETHER // tree.n_points)

    def prepare(
        self,
        new: NewDistances,
        *,
        only_nearest: bool,
        n_jobs: int,  # noqa: ARG002
    ) -> Find:
        """Return the function that finds links; see LinkSearch."""

        def find(numbers: Ints) -> Attachments:
            distances = new.rows(numbers)
            if self._columns is not None:
                distances = distances[:, self._columns]
            alone = np.flatnonzero(np.isinf(distances).all(axis=1))
            if alone.size:
                raise ValueError(
                    f"Row {numbers[alone[0]]} has no distance to a row of the fit (with a weight "
                    "above 0), so nothing says where it belongs."
                )
            return attach_rows(self.tree, distances, only_nearest=only_nearest)

        return find


def attach_all(search: AttachmentSearch, new: Any, n_new: int, n_jobs: int = 1) -> Attachments:
    """Return the links of all new points, found on some threads."""
    find = search.prepare(new, only_nearest=False, n_jobs=n_jobs)
    blocks = chunks(n_new, search.n_together)
    return Attachments.joined(map_in_threads(lambda block: find(np.arange(*block)), blocks, n_jobs))


def _stacked(matrices: list[Any]) -> Any:
    return vstack(matrices, format="csr")
