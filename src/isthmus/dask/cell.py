"""The points of a cell → their own spanning tree, and nodes with boxes towards other cells."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.dask.boxes import Boxes, box_around, gaps_between, squared_diameters
from isthmus.dask.longest_edges import grow_forest, reduce_forest
from isthmus.dask.near_points import CellView, fill_inner, find_hubs
from isthmus.dask.partition import Sorted, join_pieces
from isthmus.dask.points import PointMap
from isthmus.kdtree.build import KdTree
from isthmus.metrics import MappedMetric, PreparedPoints, resolve_metric
from isthmus.metrics.duplicates import find_duplicates
from isthmus.spanning_tree.by_kdtree.boruvka import boruvka_on_kdtree
from isthmus.spanning_tree.edge_order import sort_edges
from isthmus.spanning_tree.engine import Edges

# A node is divided where another cell is nearer than this, squared, times its diameter.
_NEAR = 2.25
# Trees are found, and compared, by squared distances.
_SQUARED = cast(MappedMetric, resolve_metric("sqeuclidean"))


class Cell(NamedTuple):
    """A cell: its points in the order of a kd-tree, and their spanning tree.

    Attributes
    ----------
    number : int
    position : (n,) int32
        Where the points stand, in the order of their rows; collapsed ones share a position.
    view : CellView
        The different points by position, nodes, and the tree's forest. Weights are squared.
    a, b : (m - 1,) int32
        The positions that edges join, in the total order of edges.
    row_at : (m,) int32 or int64
        The first of the rows at each position.
    all_rows : (n,) or (0,), as row_at
        The rows of all points, ascending, where equal points were collapsed; else empty.
    equal : (n - m, 2), as row_at
        Rows that edges of length zero join, beside those.
    weights : (n,) or (0,) float64
        Of all rows, where they have any.
    summary : Summary
        What the coordinator learns of it.
    """

    number: int
    position: Labels
    view: CellView
    a: Labels
    b: Labels
    row_at: Ints
    all_rows: Ints
    equal: Ints
    weights: Floats
    summary: Summary

    @property
    def rows(self) -> Ints:
        """The rows of all its points, ascending: (n,) int32 or int64."""
        return self.all_rows if len(self.all_rows) else self.row_at[self.position]


class Summary(NamedTuple):
    """What the coordinator learns of a cell.

    Attributes
    ----------
    begin : (n_nodes + 1,) int64
        Where nodes begin.
    hub : (n_nodes,) int64
        A point of each node, see CellView.
    boxes : Boxes
    inner : (n_nodes,) float64
        The longest edge that connects a node's points with its hub, at most.
    longest : float
        The longest edge of the cell's tree.
    n_rows : int
        Of the cell.
    """

    begin: Ints
    hub: Ints
    boxes: Boxes
    inner: Floats
    longest: float
    n_rows: int


def find_tree(points: Array) -> Edges:
    """Return the spanning tree: edges in total order, squared lengths, and the kd-tree.

    Of edges of equal length, those between the first points come first.
    """
    if len(points) <= 1:
        return Edges(np.empty((0, 2), dtype=np.int64), np.empty(0))
    found = boruvka_on_kdtree(PreparedPoints(points, _SQUARED, 1.0), by_index=True)
    assert isinstance(found, Edges)
    edges = found.edges
    if (edges[:, 0] > edges[:, 1]).any():
        edges = np.sort(edges, axis=1)
    return Edges(*sort_edges(edges, found.weights), found.kdtree)


def build_cell(parts: list[Sorted], index: int, number: int, others: Boxes) -> Cell:
    """Return a cell.

    parts : list of Sorted
        All points, in the order of blocks.
    index : int
        Of the cell in these parts.
    others : Boxes
        Of all other cells.
    """
    points, rows, weights = join_pieces(parts, [index])
    n_rows, duplicates = len(rows), find_duplicates(points)
    all_rows, equal = np.empty(0, dtype=rows.dtype), np.empty((0, 2), dtype=rows.dtype)
    if duplicates is not None:
        points, equal = points[duplicates.distinct], rows[duplicates.stars]
        all_rows, rows = rows, rows[duplicates.distinct]
    tree = find_tree(points)
    order = np.arange(len(points)) if tree.kdtree is None else tree.kdtree.order
    position = np.empty(len(points), dtype=np.int32)
    placed, row_at = np.empty_like(points), np.empty_like(rows)
    place_points(order, points, rows, position, placed, row_at)
    a, b = np.empty((2, len(tree.edges)), dtype=np.int32)
    place_edges(tree.edges, position, a, b)
    longest = float(tree.weights[-1]) if len(tree.weights) else 0.0
    begin, boxes, fine = _choose_nodes(points, tree.kdtree, others, longest)
    forest = grow_forest(len(points), a, b)
    hub = np.empty(len(begin) - 1, dtype=np.int64)
    find_hubs(begin, forest.rank, hub)
    inner = np.minimum(squared_diameters(boxes), longest)
    view = CellView(placed, begin, hub, inner, forest, tree.weights)
    fill_inner(view, np.flatnonzero(fine), inner)
    if duplicates is not None:
        first = np.arange(n_rows)
        first[duplicates.stars[:, 1]] = duplicates.stars[:, 0]
        position = position[np.searchsorted(duplicates.distinct, first)]
    summary = Summary(begin, hub, boxes, inner, longest, n_rows)
    return Cell(number, position, view, a, b, row_at, all_rows, equal, weights, summary)


@kernel
def place_points(
    order: Array, points: Array, rows: Ints, position: Labels, placed: Array, row_at: Ints
) -> None:
    """Put points and their rows into an order; position, placed and row_at are filled."""
    for p in range(order.shape[0]):
        i = order[p]
        position[i] = p
        row_at[p] = rows[i]
        for t in range(points.shape[1]):
            placed[p, t] = points[i, t]


@kernel
def place_edges(edges: Ints, position: Labels, a: Labels, b: Labels) -> None:
    """Fill a and b with the positions of the points that edges join."""
    for e in range(edges.shape[0]):
        a[e] = position[edges[e, 0]]
        b[e] = position[edges[e, 1]]


def _choose_nodes(
    points: Array, tree: KdTree | None, others: Boxes, longest: float
) -> tuple[Ints, Boxes, Array]:
    """Return where nodes begin (and the last one ends), their boxes, and which are fine.

    Nodes of the kd-tree are divided, down to 64 points, while they are near another cell.
    """
    n_points, n_features = points.shape
    top = 0 if tree is None else len(tree.n_nodes) - 1
    if tree is None or top == 0:
        return np.array([0, n_points]), box_around(points), np.ones(1, dtype=bool)
    nodes = np.arange(tree.n_nodes[top])
    chosen: list[tuple[Ints, Boxes, Array]] = []
    for level in range(top, 0, -1):
        boxes = _boxes_of(tree, level, nodes, n_features)
        reach = _NEAR * np.minimum(squared_diameters(boxes), longest)
        near = np.zeros(len(nodes), dtype=bool)
        if len(others.low):
            near = gaps_between(boxes, others).min(axis=1) <= reach
        stays = np.ones(len(nodes), dtype=bool) if level == 1 else ~near
        chosen.append((nodes[stays] << 3 * (level + 1), boxes.take(stays), near[stays]))
        nodes = (nodes[near & ~stays, None] * 8 + np.arange(8)).ravel()
        nodes = nodes[nodes < tree.n_nodes[level - 1]]
    begins, all_boxes, fine = zip(*chosen, strict=True)
    begin = np.concatenate(begins)
    order = np.argsort(begin)
    low, high = (np.concatenate(each)[order] for each in zip(*all_boxes, strict=True))
    return np.append(begin[order], n_points), Boxes(low, high), np.concatenate(fine)[order]


def _boxes_of(tree: KdTree, level: int, nodes: Ints, n_features: int) -> Boxes:
    """Return the boxes of some nodes of a level."""
    by_block = tree.boxes.reshape(-1, tree.dims, 2, 8)
    block, lane = tree.first_block[level] + nodes // 8, nodes % 8
    low, high = (by_block[block, :n_features, side, lane].astype(np.float64) for side in (0, 1))
    return Boxes(low, high)


class ReducedTree(NamedTuple):
    """A cell's tree between terminals; see Reduced.

    Attributes
    ----------
    a, b, edge : (m,) int64
    weights : (m,) float64
    i, j : (m,) int32 or int64
        The rows that the edges join, the smaller one first.
    """

    a: Ints
    b: Ints
    edge: Ints
    weights: Floats
    i: Ints
    j: Ints


def reduce_cell(cell: Cell, terminals: Ints) -> ReducedTree:
    """Return what a cell's tree joins of some positions, ascending."""
    reduced = reduce_forest(cell.view.forest, terminals)
    i, j = cell.row_at[cell.a[reduced.edge]], cell.row_at[cell.b[reduced.edge]]
    weights = cell.view.weights[reduced.edge]
    return ReducedTree(*reduced, weights, np.minimum(i, j), np.maximum(i, j))


def reduce_cells(cells: list[Cell], terminals: list[Ints]) -> list[ReducedTree]:
    """Return what the trees of cells join of some positions of each."""
    return [reduce_cell(*both) for both in zip(cells, terminals, strict=True)]


def kept_edges(cell: Cell, dropped: Ints) -> Array:
    """Return which of a cell's own edges are in the tree: (m - 1,) bool."""
    keep = np.ones(len(cell.a), dtype=np.bool_)
    keep[dropped] = False
    return keep


def edges_of(cell: Cell, dropped: Ints) -> Ints:
    """Return a cell's share of the tree: rows, the smaller one first."""
    n_equal, n_kept = len(cell.equal), len(cell.a) - len(dropped)
    edges = np.empty((n_equal + n_kept, 2), dtype=np.int64)
    edges[:n_equal] = cell.equal
    fill_edges(cell.a, cell.b, cell.row_at, kept_edges(cell, dropped), edges[n_equal:])
    return edges


def weights_of(cell: Cell, dropped: Ints, mapping: PointMap) -> Floats:
    """Return the weights of these edges."""
    squares = np.zeros(len(cell.equal) + len(cell.a) - len(dropped))
    squares[len(cell.equal) :] = cell.view.weights[kept_edges(cell, dropped)]
    return mapping.heights(squares)


def edges_and_weights(cell: Cell, dropped: Ints, mapping: PointMap) -> tuple[Ints, Floats]:
    """Return a cell's share of the tree."""
    return edges_of(cell, dropped), weights_of(cell, dropped, mapping)


@kernel
def fill_edges(a: Labels, b: Labels, row_at: Ints, keep: Array, edges: Ints) -> None:
    """Fill edges with those that are kept."""
    n_edges = 0
    for e in range(a.shape[0]):
        if keep[e]:
            i, j = row_at[a[e]], row_at[b[e]]
            edges[n_edges, 0] = min(i, j)
            edges[n_edges, 1] = max(i, j)
            n_edges += 1
