"""Cells → the tree of what is left when light edges are contracted; and labels back to rows.

CUT looks for heavy edges between large parts. So edges up to a height are contracted, cell by
cell, and only the components and the edges between them come to the coordinator.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.cut.contracted import GivenComponents
from isthmus.dask.cell import Cell, kept_edges
from isthmus.dask.executors import Executor, for_each, groups
from isthmus.dask.longest_edges import NEVER, Forest
from isthmus.dask.points import PointMap
from isthmus.dask.spanning_tree import CellTree
from isthmus.spanning_tree import SpanningTree
from isthmus.ultrametric import UltrametricTree


class CellParts(NamedTuple):
    """The components of a cell.

    Attributes
    ----------
    weights : (m,) int64 or float64
        The number of rows in each component, or the sum of their weights.
    sizes : (m,) int64
        The number of rows.
    a, b : (k,) int64
        The components that heavier edges join.
    squares : (k,) float64
        The squared lengths of these edges.
    i, j : (k,) int32 or int64
        The rows that they join, the smaller one first.
    at : (l,) int64
        The components of some positions that were asked for.
    """

    weights: Array
    sizes: Ints
    a: Ints
    b: Ints
    squares: Floats
    i: Ints
    j: Ints
    at: Ints


@kernel
def find_components(forest: Forest, weights: Floats, limit: float, root: Labels) -> None:
    """Fill root, (n,), with where paths of edges up to a limit end."""
    for x in range(root.shape[0]):
        y = np.int64(x)
        while forest.rank[y] != NEVER and weights[np.int64(forest.rank[y])] <= limit:
            y = np.int64(forest.parent[y])
        root[x] = y


def components_of(cell: Cell, limit: float) -> tuple[Ints, int]:
    """Return the component of each position, numbered from 0, and how many there are."""
    root = np.empty(len(cell.row_at), dtype=np.int32)
    find_components(cell.view.forest, cell.view.weights, limit, root)
    is_root = root == np.arange(len(root))
    return (np.cumsum(is_root) - 1)[root], int(np.count_nonzero(is_root))


def contract_cell(cell: Cell, dropped: Ints, limit: float, positions: Ints) -> CellParts:
    """Return the components that edges of squares up to a limit leave."""
    part, n_parts = components_of(cell, limit)
    part_of_row = part[cell.position]
    sizes = np.bincount(part_of_row, minlength=n_parts)
    weights = sizes
    if len(cell.weights):
        weights = np.bincount(part_of_row, cell.weights, n_parts)
    heavy = cell.view.weights > limit
    heavy[dropped] = False
    a, b = cell.a[heavy], cell.b[heavy]
    i, j = cell.row_at[a], cell.row_at[b]
    return CellParts(
        weights,
        sizes,
        part[a],
        part[b],
        cell.view.weights[heavy],
        np.minimum(i, j),
        np.maximum(i, j),
        part[positions],
    )


def heaviest(cell: Cell, dropped: Ints, n_edges: int) -> Floats:
    """Return the squared lengths of a cell's heaviest edges, in any order."""
    return cell.view.weights[kept_edges(cell, dropped)][-n_edges:]


class Contraction(NamedTuple):
    """A tree with its light edges contracted.

    Attributes
    ----------
    limit : float
        Up to which squares.
    first : (n_cells + 1,) int64
        Where the components of each cell begin, in ``component``.
    component : (m,) int64
        Which component of the whole tree each component of a cell is part of.
    components : GivenComponents
    """

    limit: float
    first: Ints
    component: Ints
    components: GivenComponents

    @property
    def is_whole(self) -> bool:
        """Whether nothing that is longer than zero is contracted."""
        return self.limit <= 0.0

    def labels_of_parts(self, labels: Labels) -> list[Labels]:
        """Return, for each cell, the labels of its components from those of the whole tree's."""
        return np.split(labels[self.component], self.first[1:-1])


def contract(executor: Executor, tree: CellTree, n_edges: int, unit: float) -> Contraction:
    """Return the tree of about the n_edges heaviest edges.

    unit : float
        What weights of rows are divided by.
    """
    limit = _limit_for(executor, tree, n_edges)
    ends, cells = tree.cross.positions, tree.cross.cells
    arguments = [(gone, limit, ends[cells == c]) for c, gone in enumerate(tree.dropped)]
    parts: list[CellParts] = for_each(executor, "contract", contract_cell, tree.cells, arguments)
    first = np.concatenate([[0], np.cumsum([len(part.sizes) for part in parts])])
    number = np.empty(ends.shape, dtype=np.int64)
    for c, part in enumerate(parts):
        number[cells == c] = first[c] + part.at
    light = tree.cross.weights <= limit
    n_parts, size = int(first[-1]), int(np.count_nonzero(light))
    graph = coo_array((np.ones(size), tuple(number[light].T)), shape=(n_parts, n_parts))
    n_components, component = connected_components(graph, directed=False)
    sizes = np.concatenate([part.sizes for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    of_component = np.zeros(n_components, dtype=weights.dtype)
    np.add.at(of_component, component, weights)
    if weights.dtype == np.float64:
        of_component /= unit
    heights = np.where(
        np.bincount(component, sizes, n_components) > 1, _height(tree, limit), -np.inf
    )
    small = _tree_of_components(tree, parts, first, number[~light], ~light, component)
    given = GivenComponents.of_tree(small, of_component, heights)
    return Contraction(limit, first, component, given)


def _height(tree: CellTree, limit: float) -> float:
    return float(tree.mapping.heights(np.array([max(limit, 0.0)]))[0])


def _limit_for(executor: Executor, tree: CellTree, n_edges: int) -> float:
    """Return a squared length that about n_edges edges are above; 0 where that is nearly all."""
    if 2 * n_edges >= tree.n_points:
        return 0.0
    n_each = -(-4 * n_edges // len(tree.cells))
    arguments = [(gone, n_each) for gone in tree.dropped]
    parts = for_each(executor, "heaviest", heaviest, tree.cells, arguments)
    found = np.sort(np.concatenate([*parts, tree.cross.weights]))
    return float(found[-n_edges - 1]) if len(found) > n_edges else 0.0


def _tree_of_components(
    tree: CellTree, parts: list[CellParts], first: Ints, ends: Ints, heavy: Array, component: Ints
) -> UltrametricTree:
    """Return the tree of components; its edges are in the order of those between rows."""
    cross = tree.cross
    a = np.concatenate([*(first[c] + part.a for c, part in enumerate(parts)), ends[:, 0]])
    b = np.concatenate([*(first[c] + part.b for c, part in enumerate(parts)), ends[:, 1]])
    squares = np.concatenate([*(part.squares for part in parts), cross.weights[heavy]])
    i = np.concatenate([*(part.i for part in parts), cross.i[heavy]])
    j = np.concatenate([*(part.j for part in parts), cross.j[heavy]])
    weights = tree.mapping.heights(squares)
    order = np.lexsort((j, i, weights))
    edges = np.sort(np.column_stack([component[a], component[b]]), axis=1)
    small = SpanningTree(edges[order].astype(np.int64), weights[order], "dask")
    return UltrametricTree.from_spanning_tree(small)


class RowLabels(NamedTuple):
    """The labels of a cell's rows, which ascend."""

    rows: Ints
    labels: Labels


def label_cell(cell: Cell, limit: float, label_of_part: Labels) -> RowLabels:
    """Return the labels of a cell's rows from those of its components."""
    part, _ = components_of(cell, limit)
    return RowLabels(cell.rows, label_of_part[part][cell.position])


def label_cells(
    executor: Executor, tree: CellTree, contraction: Contraction, labels: Labels
) -> list[Any]:
    """Return handles of the labels of each cell's rows, from those of components."""
    of_parts = contraction.labels_of_parts(labels)
    limit = contraction.limit
    return [
        executor.submit(
            "label-cell", label_cell, tree.cells[c], limit, of_parts[c], where=g, large=True
        )
        for g, group in enumerate(groups(len(tree.cells), executor))
        for c in group
    ]


def label_as_one(executor: Executor, tree: CellTree) -> list[Any]:
    """Return handles of the labels of each cell's rows, where all are one cluster."""
    return [
        executor.submit("label-cell", _first_label, tree.cells[c], where=g, large=True)
        for g, group in enumerate(groups(len(tree.cells), executor))
        for c in group
    ]


def _first_label(cell: Cell) -> RowLabels:
    return RowLabels(cell.rows, np.zeros(len(cell.position), dtype=np.int32))


class ClusterFacts(NamedTuple):
    """What decides how equally large clusters are numbered; one number for each cluster.

    Attributes
    ----------
    inside, outside : (k,) float64
        The lengths of edges within a cluster, and out of it, in a unit.
    first_row : (k,) int64
    """

    inside: Floats
    outside: Floats
    first_row: Ints


class FactsView(NamedTuple):
    """What all cells need to know for that: the contraction's limit, and units."""

    limit: float
    n_clusters: int
    mapping: PointMap
    unit: float


def facts_of_cell(
    cell: Cell, dropped: Ints, label_of_part: Labels, view: FactsView, ends: Ints
) -> tuple[ClusterFacts, Labels]:
    """Return what a cell's edges and rows add to the facts, and the labels of some positions."""
    part, _ = components_of(cell, view.limit)
    label = label_of_part[part]
    keep = kept_edges(cell, dropped)
    both = np.column_stack([label[cell.a[keep]], label[cell.b[keep]]])
    lengths = view.mapping.heights(cell.view.weights[keep]) / view.unit
    inside, outside = _sums(both, lengths, view.n_clusters)
    first = np.full(view.n_clusters, np.iinfo(np.int64).max)
    np.minimum.at(first, label[cell.position], cell.rows)
    return ClusterFacts(inside, outside, first), label[ends]


def _sums(ends: Labels, weights: Floats, n_clusters: int) -> tuple[Array, Array]:
    same = ends[:, 0] == ends[:, 1]
    across = np.repeat(weights[~same], 2)
    return (
        np.bincount(ends[same, 0], weights[same], n_clusters),
        np.bincount(ends[~same].ravel(), across, n_clusters),
    )


def facts_across(ends: Labels, weights: Floats, n_clusters: int) -> ClusterFacts:
    """Return what edges between cells add to the facts.

    ends : (m, 2) int32
        The clusters that they join.
    """
    none = np.full(n_clusters, np.iinfo(np.int64).max)
    return ClusterFacts(*_sums(ends, weights, n_clusters), none)


def take_rows(labels: RowLabels, start: int, stop: int) -> RowLabels:
    """Return the labels of rows start … stop - 1 that are in a cell."""
    begin, end = np.searchsorted(labels.rows, np.array([start, stop], dtype=labels.rows.dtype))
    return RowLabels(labels.rows[begin:end], labels.labels[begin:end])


def join_rows(parts: list[RowLabels], start: int, stop: int) -> Labels:
    """Return the labels of rows start … stop - 1, from all cells."""
    joined = np.empty(stop - start, dtype=np.int32)
    for part in parts:
        rows, labels = take_rows(part, start, stop)
        joined[rows - start] = labels
    return joined
