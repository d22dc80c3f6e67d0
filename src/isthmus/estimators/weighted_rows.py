"""Rows and their weights → what is fitted, and the labels of what is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kmeans import TreeClusterer
from isthmus.metrics.cross_distances import distances_between
from isthmus.metrics.precomputed import (
    CondensedDistances,
    Graph,
    Precomputed,
    SquareDistances,
    condensed_places,
)
from isthmus.prediction.attach import Links, label_new_points, links_to_tree
from isthmus.prediction.search import find_links_of_all, link_search
from isthmus.ultrametric import UltrametricTree


@dataclass(frozen=True)
class WeightedRows:
    """The rows of a fit.

    Attributes
    ----------
    masses : (n_fitted,) float64 or None
        The weights above zero; None where none were given.
    is_fitted : (n_rows,) bool or None
        Which rows have one; None where all do.
    links : Links or None
        How the other rows hang on the tree of these.
    """

    masses: Floats | None = None
    is_fitted: Array | None = None
    links: Links | None = None

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
        metric: str | Callable[..., float],
        metric_params: dict[str, Any] | None,
    ) -> None:
        self.points = points
        self._metric = metric, metric_params
        self._weights = weights
        self._aside: Any = []
        self._n_aside = 0
        self._blocks: Iterator[tuple[Ints, Floats]] = iter(())
        if weights is not None and not weights.all():
            aside, fitted = np.flatnonzero(weights == 0.0), np.flatnonzero(weights)
            self._n_aside = len(aside)
            # refuses what the metric does not take
            self._blocks = distances_between(points, aside, fitted, metric, metric_params)
            self.points = _take(points, fitted)
            if not isinstance(points, Precomputed):
                self._aside = _take(points, aside)

    def hung_on(self, tree: UltrametricTree, n_jobs: int = 1) -> WeightedRows:
        """Return what a fit keeps of the rows, given the tree of those that it fits."""
        if self._weights is None:
            return WeightedRows()
        if self._n_aside == 0:
            return WeightedRows(self._weights)
        if isinstance(self.points, Precomputed):
            links = links_to_tree(tree, self._n_aside, self._blocks)
        else:
            search = link_search(self.points, tree, *self._metric)
            links = find_links_of_all(search, self._aside, self._n_aside, n_jobs)
        is_fitted = self._weights > 0.0
        return WeightedRows(self._weights[is_fitted], is_fitted, links)


def _take(points: Any, rows: Ints) -> Any:
    """Return some rows, in ascending order, of checked data of any kind."""
    if isinstance(points, list):
        return [points[i] for i in rows]
    if isinstance(points, SquareDistances):
        return SquareDistances(points.matrix[np.ix_(rows, rows)])
    if isinstance(points, CondensedDistances):
        i, j = (rows[ends] for ends in np.triu_indices(len(rows), 1))
        places = condensed_places(i, j, points.n_points)
        return CondensedDistances(points.values[places], len(rows))
    if isinstance(points, Graph):
        number = np.full(points.n_points, -1)
        number[rows] = np.arange(len(rows))
        edges = number[points.edges]
        inside = (edges >= 0).all(axis=1)
        return Graph(edges[inside], points.weights[inside], len(rows))
    return points[rows]
