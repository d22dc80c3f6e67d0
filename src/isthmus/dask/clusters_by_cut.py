"""A tree of cells → clusters by CUT, from the contracted tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isthmus._utils.memory import require_memory
from isthmus._utils.rounding import to_twelve_digits, unit_of
from isthmus._utils.typing import Array, Labels
from isthmus.cut.divisive import TooFewCutsError, cut_contracted_tree
from isthmus.cut.parts import CutTree
from isthmus.cut.settings import CutSettings
from isthmus.dask.cell import edges_and_weights
from isthmus.dask.contraction import (
    Contraction,
    FactsView,
    contract,
    facts_across,
    facts_of_cell,
    label_as_one,
    label_cells,
)
from isthmus.dask.executors import Executor, for_each
from isthmus.dask.spanning_tree import CellTree
from isthmus.spanning_tree import SpanningTree
from isthmus.spanning_tree.result import trusted_tree

# Edges that the coordinator looks at first, and by how many times more where they do not suffice.
_FEW, _PER_CLUSTER, _MORE = 4096, 8, 8
# What cutting takes, for each edge that the coordinator looks at.
_BYTES_PER_EDGE = 400


@dataclass
class Cutter:
    """Cuts a tree of cells into any number of clusters.

    Attributes
    ----------
    executor : Executor
    tree : CellTree
    unit : float
        What weights of rows are divided by.
    has_weights : bool
        Whether rows have weights of their own.
    """

    executor: Executor
    tree: CellTree
    unit: float = 1.0
    has_weights: bool = False
    _contraction: Contraction | None = field(default=None, repr=False)

    def labels(self, settings: CutSettings) -> list[Any]:
        """Return handles of RowLabels, one for each cell."""
        if settings.n_clusters == 1:
            return label_as_one(self.executor, self.tree)
        contraction, cut = self._cut(settings)
        labels = cut.labels(settings.n_clusters)
        sizes = np.bincount(labels, weights=contraction.components.component_weights)
        sizes = to_twelve_digits(sizes)
        order = np.argsort(-sizes)
        if len(np.unique(sizes)) < len(sizes):
            order = self._order_of_equals(contraction, labels, sizes)
        number = np.empty(len(sizes), dtype=np.int32)
        number[order] = np.arange(len(sizes))
        return label_cells(self.executor, self.tree, contraction, number[labels])

    def _cut(self, settings: CutSettings) -> tuple[Contraction, CutTree]:
        """Return a contraction that is fine enough, and how it is cut."""
        k = settings.n_clusters
        least = 0.0 if settings.min_cluster_size is None else settings.min_cluster_size / self.unit
        n_edges = max(_FEW, _PER_CLUSTER * k)
        contraction = self._contraction
        while True:
            if contraction is None:
                n_heaviest = min(n_edges, self.tree.n_points)
                require_memory(
                    _BYTES_PER_EDGE * n_heaviest,
                    f"Cutting a tree of {self.tree.n_points:,} points at its {n_heaviest:,} "
                    "heaviest edges",
                    "Clusters that overlap need many edges: ask for fewer clusters, or take a "
                    "coordinator with more memory.",
                )
                contraction = contract(self.executor, self.tree, n_edges, self.unit)
            components = contraction.components
            cut = None
            if k <= len(components):
                weights = components.component_weights
                as_weights = weights if self.has_weights else None
                try:
                    cut = cut_contracted_tree(components, k, as_weights, least)
                except TooFewCutsError as error:
                    if contraction.is_whole:
                        raise _too_few(settings, error) from None
            if cut is not None:
                self._contraction = contraction
                return contraction, cut
            if contraction.is_whole:
                raise NeedsAllPointsError
            contraction, n_edges = None, _MORE * max(n_edges, len(components))

    def _order_of_equals(self, contraction: Contraction, labels: Labels, sizes: Array) -> Any:
        """Return the order of clusters where some are equally large."""
        tree, executor, k = self.tree, self.executor, len(sizes)
        unit = unit_of(contraction.components.tree.heights)
        cells, ends = tree.cross.cells, tree.cross.positions
        view = FactsView(contraction.limit, k, tree.mapping, unit)
        found = for_each(
            executor,
            "facts",
            facts_of_cell,
            tree.cells,
            [
                (gone, of_parts, view, ends[cells == c])
                for c, (gone, of_parts) in enumerate(
                    zip(tree.dropped, contraction.labels_of_parts(labels), strict=True)
                )
            ],
        )
        clusters = np.zeros(ends.shape, dtype=np.int32)
        for c, (_, at_ends) in enumerate(found):
            clusters[cells == c] = at_ends
        across = facts_across(clusters, tree.mapping.heights(tree.cross.weights) / unit, k)
        facts = [*(of_cell for of_cell, _ in found), across]
        inside = to_twelve_digits(sum(fact.inside for fact in facts))
        outside = to_twelve_digits(sum(fact.outside for fact in facts))
        first = np.minimum.reduce([fact.first_row for fact in facts])
        return np.lexsort((first, outside, inside, -sizes))


class NeedsAllPointsError(Exception):
    """Equal rows are to be spread over clusters."""


def _too_few(settings: CutSettings, error: TooFewCutsError) -> ValueError:
    return ValueError(
        f"n_clusters={settings.n_clusters}, but with min_cluster_size="
        f"{settings.min_cluster_size:g} the spanning tree can be cut into {error.n_parts} only. "
        f"Ask for at most {error.n_parts} "
        f"{'cluster' if error.n_parts == 1 else 'clusters'}, or for smaller ones."
    )


def gather_tree(executor: Executor, tree: CellTree) -> SpanningTree:
    """Return the spanning tree in this process's memory."""
    require_memory(
        72 * tree.n_points,
        f"The whole spanning tree of {tree.n_points:,} points",
        "Give n_clusters as a number.",
    )
    arguments = [(gone, tree.mapping) for gone in tree.dropped]
    parts = for_each(executor, "edges", edges_and_weights, tree.cells, arguments)
    parts.append(tree.edges_across())
    edges, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    return trusted_tree(edges, weights, "dask")
