"""New points → attachment edges, by searching the kd-tree of the points of the tree."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from isthmus._utils.parallel import Workers
from isthmus._utils.typing import Array, Floats
from isthmus.kdtree.limits import padded_dims
from isthmus.metrics.duplicates import RowIndex
from isthmus.metrics.mapped import MappedMetric, PreparedPoints
from isthmus.prediction.attach_by_rows import KernelSearch
from isthmus.prediction.attachments import Attachments
from isthmus.spanning_tree.result import KdTreeIndex
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import gaps_of_merges

if TYPE_CHECKING:  # it loads Numba
    from isthmus.prediction.kdtree_candidates import CandidateSearch

# New points that are searched for together.
_TOGETHER = 1 << 10


class KdTreeSearch(KernelSearch):
    """Points in an array of few features, searched by a kd-tree."""

    def __init__(
        self,
        points: Array,
        tree: UltrametricTree,
        metric: MappedMetric,
        index: KdTreeIndex | None = None,
    ) -> None:
        super().__init__(points, tree, metric)
        self.n_together = _TOGETHER
        self._index = index
        self._search: CandidateSearch | None = None

    @cached_property
    def _prepared(self) -> PreparedPoints:
        return super()._prepared if self._index is None else self._index.prepared

    def _build(self, n_jobs: int) -> None:
        if self._search is None:
            # Imported here: Numba's machinery loads with it.
            from isthmus.prediction.kdtree_candidates import CandidateSearch

            starts = self.tree.starts
            gaps = gaps_of_merges(self.tree.children, starts, self._heights)
            self._search = CandidateSearch(self._index or self._build_index(n_jobs), starts, gaps)

    def _build_index(self, n_jobs: int) -> KdTreeIndex:
        """Return the kd-tree of the distinct points."""
        from isthmus.kdtree.build import build_tree

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
