"""New rows → the clusters of the nearest rows of a fit, block by block.

A block goes from cell to cell, and takes along the nearest row so far: cells whose box is farther
away are not searched. Where there are no cells, it goes from block to block of the fit, and is
compared with all rows, as one machine would.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.dask.boxes import Boxes, gaps_between
from isthmus.dask.cell import Cell
from isthmus.dask.contraction import RowLabels
from isthmus.dask.points import PointMap, as_table
from isthmus.metrics import AnyMetric
from isthmus.prediction.attach import attachment_search
from isthmus.prediction.attach_by_rows import AttachmentSearch
from isthmus.spanning_tree.result import trusted_tree
from isthmus.ultrametric import UltrametricTree


class CellIndex(NamedTuple):
    """A cell, ready to be searched.

    Attributes
    ----------
    tree : cKDTree
        Of its different points.
    rows, labels : (m,) int32 or int64, and int32
        The first row at each point, and its label.
    """

    tree: Any
    rows: Ints
    labels: Labels


def index_cell(cell: Cell, labels: RowLabels) -> CellIndex:
    """Return a cell, ready to be searched."""
    by_position = np.empty(len(cell.row_at), dtype=np.int32)
    by_position[cell.position] = labels.labels
    return CellIndex(cKDTree(cell.view.points.astype(np.float64)), cell.row_at, by_position)


class Search(NamedTuple):
    """New points, and the nearest rows that were found so far.

    Attributes
    ----------
    points : (n, d) float64
    squares : (n,) float64
        How far the nearest row is, squared.
    rows, labels : (n,) int64 and int32
    """

    points: Floats
    squares: Floats
    rows: Ints
    labels: Labels


def begin_search(block: Any, mapping: PointMap, n_features: int) -> Search:
    """Return the mapped points of a block; ValueError where it does not suit."""
    points = mapping(_checked(block, n_features)).astype(np.float64)
    n = len(points)
    return Search(points, np.full(n, np.inf), np.full(n, -1), np.zeros(n, dtype=np.int32))


def _checked(block: Any, n_features: int) -> Array:
    """Return a block of new rows as an array."""
    table = as_table(block)
    if table.shape[1] != n_features:
        raise ValueError(f"X has {table.shape[1]} features, but the fit was on {n_features}.")
    if not np.isfinite(table).all():
        raise ValueError("X has an entry that is missing or infinite. Remove such rows first.")
    return table


def search_cell(search: Search, index: CellIndex, box: Boxes) -> Search:
    """Return the nearest rows of a cell, where they are nearer than those so far."""
    gaps = gaps_between(Boxes(search.points, search.points), box)[:, 0]
    near = np.flatnonzero(gaps <= search.squares)
    if not len(near):
        return search
    points = search.points[near]
    _, found = index.tree.query(points)
    differences = points - index.tree.data[found]
    squares = np.einsum("ij,ij->i", differences, differences)
    rows = index.rows[found]
    known, known_rows = search.squares[near], search.rows[near]
    better = (squares < known) | ((squares == known) & (rows < known_rows))
    chosen = near[better]
    new = Search._make([search.points, *(each.copy() for each in search[1:])])
    new.squares[chosen], new.rows[chosen] = squares[better], rows[better]
    new.labels[chosen] = index.labels[found[better]]
    return new


def index_block(block: Any, dtype: Any, metric: AnyMetric) -> AttachmentSearch:
    """Return a block of the fit, at least one row, ready to be searched."""
    points = as_table(block).astype(dtype, copy=False)
    # The nearest row is all that is asked for, so any tree will do.
    rows = np.arange(len(points))
    path = trusted_tree(np.column_stack([rows[:-1], rows[1:]]), np.zeros(len(points) - 1), "dask")
    return attachment_search(points, UltrametricTree.from_spanning_tree(path), metric)


class BlockSearch(NamedTuple):
    """New rows, and the nearest rows of a fit that were found so far.

    Attributes
    ----------
    rows : (n, d) float
    length : (n,) float64
        How far the nearest row is.
    labels : (n,) int32
    """

    rows: Array
    length: Floats
    labels: Labels


def begin_block_search(block: Any, n_features: int) -> BlockSearch:
    """Return the rows of a block; ValueError where it does not suit."""
    table = _checked(block, n_features)
    return BlockSearch(table, np.full(len(table), np.inf), np.zeros(len(table), dtype=np.int32))


def search_block(search: BlockSearch, index: AttachmentSearch, labels: Labels) -> BlockSearch:
    """Return the nearest rows of a block of the fit, where they are nearer than those so far.

    Of equally near rows the first one counts: blocks come in their order.
    """
    find = index.prepare(search.rows, only_nearest=True, n_jobs=1)
    length, own = search.length.copy(), search.labels.copy()
    for start in range(0, len(search.rows), index.n_together):
        numbers = np.arange(start, min(start + index.n_together, len(search.rows)))
        found = find(numbers)
        better = found.length < length[numbers]
        length[numbers[better]] = found.length[better]
        own[numbers[better]] = labels[found.nearest[better]]
    return search._replace(length=length, labels=own)


def labels_of(search: Search | BlockSearch) -> Labels:
    """Return the labels of a search's nearest rows."""
    return search.labels
