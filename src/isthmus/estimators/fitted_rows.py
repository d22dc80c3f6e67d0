"""Rows and their weights → the rows on the tree, and how the others attach to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.metrics.input import take_rows
from isthmus.metrics.pairwise import distances_between
from isthmus.metrics.precomputed import Precomputed
from isthmus.metrics.registry import AnyMetric
from isthmus.prediction.attach import TreeNeighborhood, attach_all, neighborhood_search
from isthmus.prediction.attach_with_neighbors import shared_blocks
from isthmus.prediction.attachments import Attachments, attach_by_distances
from isthmus.spanning_tree.result import KdTreeIndex
from isthmus.ultrametric import UltrametricTree


@contextmanager
def rows_counted(note: str) -> Iterator[None]:
    """Note on errors among which rows they count, if there is anything to note."""
    try:
        yield
    except ValueError as error:
        if note:
            error.add_note(note)
        raise


@dataclass(frozen=True, eq=False)
class FittedRows:
    """The rows of a fit. Those of weight 0 are not on the tree.

    Attributes
    ----------
    point_weights : (n_fitted,) float64 or None
        The weights above zero; None where none were given.
    is_fitted : (n_rows,) bool or None
        Which rows have one; None where all do.
    attachments : Attachments or None
        How the other rows attach to the tree.
    """

    point_weights: Floats | None = None
    is_fitted: Array | None = None
    attachments: Attachments | None = None

    @property
    def numbers(self) -> Ints | None:
        """The numbers of the rows on the tree; None where all are."""
        return None if self.is_fitted is None else np.flatnonzero(self.is_fitted)

    def on_tree(self, labels: Labels) -> Labels:
        """Return the labels of the rows on the tree, given those of all."""
        return labels if self.is_fitted is None else labels[self.is_fitted]

    def everywhere(self, fitted: Array, others: Array) -> Array:
        """Return one value for each row, given those of the rows on the tree and of the others."""
        values = np.empty((len(self.is_fitted), *fitted.shape[1:]), dtype=fitted.dtype)  # type: ignore[arg-type]
        values[self.is_fitted], values[~self.is_fitted] = fitted, others  # type: ignore[operator]
        return values

    def all_attachments(self, n_points: int) -> Attachments:
        """Return the attachments of all rows; those on the tree are attached to themselves."""
        own = np.arange(n_points)
        if self.attachments is None or self.is_fitted is None:
            return Attachments.onto(own)
        coinciding = np.full(len(self.is_fitted), -1)
        coinciding[self.is_fitted] = own
        return self.attachments.among(coinciding)


class RowsToFit:
    """Rows of which those of weight zero are set aside, before a tree is built of the others.

    Raises where the metric does not take what is set aside.

    Attributes
    ----------
    data : array, CSR matrix, list of objects or precomputed distances
        The rows with a weight above zero; of distances, those between them.
    """

    def __init__(self, data: Any, weights: Floats | None, metric: AnyMetric) -> None:
        self.data = data
        self._metric = metric
        self._weights = weights
        self._n_aside = 0
        if weights is not None and not weights.all():
            aside, fitted = np.flatnonzero(weights == 0.0), np.flatnonzero(weights)
            self._n_aside = len(aside)
            self._distances = distances_between(data, aside, fitted, metric)
            self._aside = None if isinstance(data, Precomputed) else take_rows(data, aside)
            self.data = take_rows(data, fitted)

    @property
    def is_all(self) -> bool:
        """Whether no row is set aside."""
        return self._n_aside == 0

    def attached_to(
        self,
        tree: UltrametricTree,
        neighborhood: TreeNeighborhood,
        n_jobs: int = 1,
        index: KdTreeIndex | None = None,
    ) -> FittedRows:
        """Return what a fit keeps of the rows, given the tree of those that it fits.

        neighborhood : TreeNeighborhood
            What the tree is of.
        index : KdTreeIndex, optional
            Of the points that the tree was found of.
        """
        if self.is_all or self._weights is None:
            return FittedRows(self._weights)
        if self._aside is None:
            blocks = self._distances
            if neighborhood.neighbors is not None:
                blocks = shared_blocks(blocks, neighborhood.neighbors)
            attachments = attach_by_distances(tree, self._n_aside, blocks)
        else:
            search = neighborhood_search(self.data, tree, self._metric, index, neighborhood)
            attachments = attach_all(search, self._aside, self._n_aside, n_jobs)
        is_fitted = self._weights > 0.0
        return FittedRows(self._weights[is_fitted], is_fitted, attachments)
