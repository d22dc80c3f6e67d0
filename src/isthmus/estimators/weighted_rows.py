"""Rows and their weights → what is fitted, and the labels of what is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kmeans import TreeClusterer
from isthmus.metrics.input import take_rows
from isthmus.metrics.pairwise import distances_between
from isthmus.metrics.precomputed import Precomputed
from isthmus.metrics.registry import AnyMetric
from isthmus.prediction.attach import Attachments, attach_by_distances, label_new_points
from isthmus.prediction.search import attach_all, attachment_search
from isthmus.ultrametric import UltrametricTree


@dataclass(frozen=True)
class WeightedRows:
    """The rows of a fit.

    Attributes
    ----------
    point_weights : (n_fitted,) float64 or None
        The weights above zero; None where none were given.
    is_fitted : (n_rows,) bool or None
        Which rows have one; None where all do.
    links : Attachments or None
        How the other rows hang on the tree of these.
    """

    point_weights: Floats | None = None
    is_fitted: Array | None = None
    links: Attachments | None = None

    def labels(self, clusterer: TreeClusterer, tree: UltrametricTree, labels: Labels) -> Labels:
        """Return the labels of all rows, given those of the fitted ones."""
        if self.is_fitted is None or self.links is None:
            return labels
        everywhere = np.empty(len(self.is_fitted), dtype=labels.dtype)
        everywhere[self.is_fitted] = labels
        everywhere[~self.is_fitted] = label_new_points(clusterer, tree, labels, self.links)
        return everywhere

    def fitted(self, labels: Labels) -> Labels:
        """Return the labels of the fitted rows, given those of all."""
        return labels if self.is_fitted is None else labels[self.is_fitted]


class RowsToFit:
    """Rows of which those of weight zero are set aside, before a tree is built of the others.

    Attributes
    ----------
    points : array, CSR matrix, list of objects or precomputed distances
        The rows with a weight above zero; of distances, those between them.
    """

    def __init__(
        self,
        points: Any,
        weights: Floats | None,
        metric: AnyMetric,
    ) -> None:
        self.points = points
        self._metric = metric
        self._weights = weights
        self._aside: Any = []
        self._n_aside = 0
        self._blocks: Iterator[tuple[Ints, Floats]] = iter(())
        if weights is not None and not weights.all():
            aside, fitted = np.flatnonzero(weights == 0.0), np.flatnonzero(weights)
            self._n_aside = len(aside)
            # refuses what the metric does not take
            self._blocks = distances_between(points, aside, fitted, metric)
            self.points = take_rows(points, fitted)
            if not isinstance(points, Precomputed):
                self._aside = take_rows(points, aside)

    def hung_on(self, tree: UltrametricTree, n_jobs: int = 1) -> WeightedRows:
        """Return what a fit keeps of the rows, given the tree of those that it fits."""
        if self._weights is None:
            return WeightedRows()
        if self._n_aside == 0:
            return WeightedRows(self._weights)
        if isinstance(self.points, Precomputed):
            links = attach_by_distances(tree, self._n_aside, self._blocks)
        else:
            search = attachment_search(self.points, tree, self._metric)
            links = attach_all(search, self._aside, self._n_aside, n_jobs)
        is_fitted = self._weights > 0.0
        return WeightedRows(self._weights[is_fitted], is_fitted, links)
