"""Rows that were not in the fit → their clusters, and their distances to the centres."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isthmus._utils.parallel import Workers, chunks
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array, Floats, Labels
from isthmus.estimators.weighted_rows import WeightedRows
from isthmus.kmeans import TreeClusterer
from isthmus.metrics.precomputed import NewDistances
from isthmus.metrics.registry import AnyMetric, resolve_metric
from isthmus.prediction.attach import Attachments, NewPoints
from isthmus.prediction.search import AttachmentSearch, GivenDistances, attachment_search
from isthmus.ultrametric import UltrametricTree


@dataclass
class NewRows:
    """A fit, made ready for rows that were not in it.

    What they need is computed when the first ones come, and kept; pickles do without.

    Attributes
    ----------
    points : array, CSR matrix, list of objects, or None where distances were given
        The fitted rows.
    rows : WeightedRows
    tree : UltrametricTree
    labels : (n_rows,) int32
        Of all rows of the fit; the public ones are a copy, which a user may change.
    objective, power : str, float
    metric, metric_params : str or callable, mapping
    clusterer : TreeClusterer or None
        Of the tree; made again where it is missing.
    """

    points: Any
    rows: WeightedRows
    tree: UltrametricTree
    labels: Labels
    objective: str
    power: float
    metric: str | Callable[..., float]
    metric_params: Mapping[str, Any] | None
    clusterer: TreeClusterer | None = None
    resolved: AnyMetric | None = None

    @property
    def resolved_metric(self) -> AnyMetric:
        """The metric as an object; of pickles made again."""
        return self.resolved or resolve_metric(self.metric, self.metric_params)

    @cached_property
    def _search(self) -> AttachmentSearch:
        if self.points is None:
            return GivenDistances(self.tree, self.rows.is_fitted)
        return attachment_search(self.points, self.tree, self.resolved_metric)

    @cached_property
    def _centres(self) -> NewPoints:
        clusterer = self.clusterer or TreeClusterer(
            self.tree,
            objective=self.objective,
            power=self.power,
            point_weights=self.rows.point_weights,
        )
        return NewPoints(clusterer, self.tree, self.rows.fitted(self.labels))

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return self._centres.n_clusters

    def label(self, new: Any, n_jobs: int = 1, bar: Progress | None = None) -> Labels:
        """Return the clusters of checked new rows, (n_new,)."""
        out = np.empty(_length(new), dtype=np.int32)
        self._fill(new, out, self._centres.label, n_jobs, bar, nearest=self.objective == "cut")
        return out

    def distances(self, new: Any, n_jobs: int = 1, bar: Progress | None = None) -> Floats:
        """Return the distances of checked new rows to the centres, (n_new, n_clusters)."""
        out = np.empty((_length(new), self.n_clusters))
        self._fill(new, out, self._distances, n_jobs, bar, nearest=False)
        return out

    def distances_of_fit(self) -> Floats:
        """Return the distances of all rows of the fit to the centres."""
        own = np.arange(self.tree.n_points)
        links = Attachments.onto(own)
        if self.rows.is_fitted is not None and self.rows.links is not None:
            coinciding = np.full(len(self.rows.is_fitted), -1)
            coinciding[self.rows.is_fitted] = own
            links = self.rows.links.among(coinciding)
        return self._distances(links)

    def _distances(self, links: Attachments) -> Floats:
        return self._centres.clusterer.lengths(self._centres.squared_distances(links))

    def _fill(
        self,
        new: Any,
        out: Array,
        function: Callable[[Attachments], Array],
        n_jobs: int,
        bar: Progress | None,
        *,
        nearest: bool,
    ) -> None:
        """Fill out, (n_new, …), by a function of links; each row the same for any other rows."""
        find = self._search.prepare(new, only_nearest=nearest, n_jobs=n_jobs)
        self._centres.make_ready(distances=not nearest)
        at_once = together = self._search.n_together
        if not nearest:
            together = max(together, self._centres.n_together)
        done = [0] * n_jobs

        def work(worker: int, start: int, stop: int) -> None:
            parts = (np.arange(start + a, start + b) for a, b in chunks(stop - start, at_once))
            out[start:stop] = function(Attachments.joined([find(numbers) for numbers in parts]))
            done[worker] += stop - start
            if worker == 0 and bar is not None and sum(done) < len(out):
                bar(sum(done), len(out))

        with Workers(n_jobs) as workers:
            workers.in_blocks(len(out), together, work)
        if bar is not None:
            bar(len(out), len(out))

    def __getstate__(self) -> dict[str, Any]:
        derived = {"_search": None, "_centres": None}
        state = {name: value for name, value in self.__dict__.items() if name not in derived}
        return {**state, "clusterer": None, "resolved": None}


def _length(new: Array | list[Any] | NewDistances) -> int:
    return len(new) if isinstance(new, list) else int(new.shape[0])
