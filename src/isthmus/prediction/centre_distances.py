"""Attachment edges of new points → squared distances to the centres of clusters, O(1) each.

The points below a node of the frontier (see frontier.py) belong to one cluster, and a centre of
any other has one coordinate for all of them. What a stretch of a way up the tree adds to a
distance is therefore known from sums that are gathered from the root down: above the frontier for
each node and cluster; below it for each node, with its own cluster apart and two sums that serve
all others. A stretch is the difference of two such sums, which are held in twice the usual
precision, so that nothing of it is lost however much lies outside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Array, Floats, Ints, Labels, index_type
from isthmus.kmeans.embedding_objective import EmbeddingObjective
from isthmus.kmeans.frontier import Frontier, frontier_of
from isthmus.kmeans.objective import TreeObjective
from isthmus.kmeans.rows_objective import RowsObjective
from isthmus.prediction.ancestors import Parts
from isthmus.prediction.centre_sums import (
    Below,
    Tables,
    fill_embedded_distances,
    fill_embedded_tables,
    fill_row_distances,
    fill_row_tables,
    hand_slots_down,
    sum_rows_below,
    sum_squares_below,
)
from isthmus.ultrametric.node_labels import MIXED

# Entries of the tables of a few clusters, beside those that every tree may have.
_ENTRIES = 1 << 22


def slots_of(children: Ints, node_labels: Labels, frontier: Frontier) -> Array:
    """Return the position of each node in a frontier, or that of the frontier node it is below."""
    slot = np.empty(len(node_labels), dtype=index_type(len(node_labels)))
    slot[frontier.node] = np.arange(len(frontier.node))
    hand_slots_down(children, node_labels, slot)
    return slot


class CentreSums(ABC):
    """The centres of a clustering, made ready for new points.

    Parameters
    ----------
    objective : RowsObjective or EmbeddingObjective
    labels : (n,) int32
        No cluster is empty.
    """

    def __init__(self, objective: TreeObjective, labels: Labels) -> None:
        self.objective = objective
        self.n_clusters = int(labels.max()) + 1
        node_labels, self.frontier = frontier_of(objective.arrays, labels)
        self._slot = slots_of(objective.tree.children, node_labels, self.frontier)
        self.point_weights = np.empty(self.n_clusters)
        self._own = np.zeros(len(self.frontier.node))
        at_once = max(_ENTRIES, 2 * len(labels)) // len(self.frontier.node)
        self._chunks = list(chunks(self.n_clusters, max(1, at_once)))
        self._tables: list[Tables] = []
        for tables in self._make_tables():
            self._tables = [tables]  # kept if it is the only one
        self.below = self._make_below()

    @property
    def is_complete(self) -> bool:
        """Whether the tables of all clusters are kept, not made for each call."""
        return len(self._chunks) == 1

    def distances(self, begin: Ints, parts: Parts) -> Iterator[tuple[int, Floats]]:
        """Yield a few clusters at a time: the first one, and squared distances, (n_new, m).

        In the kernels' scale. Parameters are the links' begin, and the parts of branches.py.
        """
        all_tables = self._tables if self.is_complete else self._make_tables()
        for (start, stop), tables in zip(self._chunks, all_tables, strict=True):
            out = np.empty((len(parts.n_parts), stop - start))
            self._fill(tables, begin, parts, out)
            yield start, out

    def _make_tables(self) -> Iterator[Tables]:
        frontier = self.frontier
        count = len(frontier.node)
        for start, stop in self._chunks:
            m = stop - start
            inside = (frontier.label >= start) & (frontier.label < stop)
            others = np.where(frontier.label == MIXED, MIXED, m)
            label = np.where(inside, frontier.label - start, others).astype(np.int32)
            mean, within_ss, outside, rest = np.empty((4, count, m))
            point_weights, halves = self.point_weights[start:stop], np.zeros(m)
            tables = Tables(label, mean, within_ss, outside, rest, point_weights, halves)
            self._fill_tables(frontier._replace(label=label), tables)
            yield tables

    @abstractmethod
    def _fill_tables(self, frontier: Frontier, tables: Tables) -> None: ...

    @abstractmethod
    def _make_below(self) -> Below: ...

    @abstractmethod
    def _fill(self, tables: Tables, begin: Ints, parts: Parts, out: Floats) -> None: ...


class RowSums(CentreSums):
    """Centres among the rows of the distance matrix."""

    objective: RowsObjective

    def _fill_tables(self, frontier: Frontier, tables: Tables) -> None:
        fill_row_tables(self.objective.arrays, frontier, tables, self._own)

    def _make_below(self) -> Below:
        sums = np.zeros((len(self._slot), 4)), np.zeros((len(self._slot), 3), np.float32)
        below = Below(self._slot, *sums, self.point_weights)
        sum_rows_below(self.objective.arrays, self.frontier, self._own, below)
        return below

    def _fill(self, tables: Tables, begin: Ints, parts: Parts, out: Floats) -> None:
        fill_row_distances(
            self.objective.arrays, self.frontier, tables, self.below, begin, parts, out
        )


class EmbeddedSums(CentreSums):
    """Centres in the embedded space."""

    objective: EmbeddingObjective

    def _fill_tables(self, frontier: Frontier, tables: Tables) -> None:
        fill_embedded_tables(self.objective.arrays, frontier, tables)

    def _make_below(self) -> Below:
        sums = np.zeros((len(self._slot), 1)), np.zeros((len(self._slot), 1), np.float32)
        below = Below(self._slot, *sums, self.point_weights)
        sum_squares_below(self.objective.arrays, self.frontier, below)
        return below

    def _fill(self, tables: Tables, begin: Ints, parts: Parts, out: Floats) -> None:
        fill_embedded_distances(
            self.objective.arrays, self.frontier, tables, self.below, begin, parts, out
        )
