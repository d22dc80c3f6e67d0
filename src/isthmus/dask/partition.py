"""Blocks of rows → cells of points that are near each other.

A kd-tree of a sample divides the space into cells. Each block is put into the order of cells, and
a cell takes its piece of every block. Where many points are equal, or the sample was bad, cells
are of unequal size: that costs time, never exactness.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.dask.points import PointMap

# Points of the sample for each cell.
SAMPLED_PER_CELL = 300


class Splits(NamedTuple):
    """A kd-tree whose leaves are cells.

    Attributes
    ----------
    feature : (m,) int64
        By which a node splits; -1 for a leaf.
    value : (m,) float64
        Points of at least this coordinate go to the second child.
    child : (m, 2) int64
        The children; of a leaf, the cell.
    """

    feature: Ints
    value: Floats
    child: Ints


def split_space(sample: Floats, n_cells: int) -> Splits:
    """Return splits that divide a sample into about equally many points for each cell."""
    feature: list[int] = []
    value: list[float] = []
    child: list[list[int]] = []

    def grow(points: Floats, first_cell: int, count: int) -> int:
        node = len(feature)
        feature.append(-1)
        value.append(0.0)
        child.append([first_cell, 0])
        extent = np.ptp(points, axis=0) if len(points) > 1 else np.zeros(1)
        if count == 1 or extent.max() == 0.0:
            return node
        widest, n_left = int(np.argmax(extent)), count // 2
        x = np.sort(points[:, widest])
        cut = x[len(x) * n_left // count]
        if cut == x[0]:  # both sides must get something
            cut = x[np.searchsorted(x, cut, side="right")]
        below = points[:, widest] < cut
        feature[node], value[node] = widest, float(cut)
        child[node] = [
            grow(points[below], first_cell, n_left),
            grow(points[~below], first_cell + n_left, count - n_left),
        ]
        return node

    grow(sample, 0, n_cells)
    return Splits(
        np.array(feature, dtype=np.int64),
        np.array(value),
        np.array(child, dtype=np.int64).reshape(-1, 2),
    )


@kernel
def find_cells(points: Array, splits: Splits, cells: Array) -> None:
    """Fill cells, (n,) int16, with the cell of each point."""
    for p in range(points.shape[0]):
        node = np.int64(0)
        while splits.feature[node] >= 0:
            side = int(points[p, splits.feature[node]] >= splits.value[node])
            node = splits.child[node, side]
        cells[p] = splits.child[node, 0]


class SortedBlock(NamedTuple):
    """A block in the order of cells.

    Attributes
    ----------
    points : (n, d) float
        As the metric maps them.
    rows : (n,) int64
        The rows of these points in the whole input; ascending in each cell.
    weights : (n,) or (0,) float64
        Of these rows, where they have any.
    bounds : (n_cells + 1,) int64
        Where each cell begins.
    """

    points: Array
    rows: Ints
    weights: Floats
    bounds: Ints


class Division(NamedTuple):
    """How points are divided into cells."""

    splits: Splits
    n_cells: int
    mapping: PointMap


def sort_block(block: Any, weights: Any, start: int, division: Division) -> SortedBlock:
    """Return a block in the order of cells; it begins with row ``start``.

    weights : (n,) array or None
    """
    splits, n_cells, mapping = division
    points = mapping(block)
    given = np.empty(0) if weights is None else np.asarray(weights, dtype=np.float64)
    cells = np.empty(len(points), dtype=np.int16)
    find_cells(points, splits, cells)
    bounds = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=n_cells))])
    rows = np.empty(len(points), dtype=np.int64)
    ordered = SortedBlock(np.empty_like(points), rows, np.empty_like(given), bounds)
    move_to_cells(points, given, cells, start, bounds[:-1].copy(), ordered)
    return ordered


@kernel
def move_to_cells(
    points: Array, weights: Floats, cells: Array, start: int, ends: Ints, out: SortedBlock
) -> None:
    """Put points into the order of their cells.

    ends : (n_cells,) int64, in and out
        Where each cell begins; then, where it ends.
    """
    for p in range(points.shape[0]):
        here = ends[cells[p]]
        ends[cells[p]] = here + 1
        out.rows[here] = start + p
        if weights.shape[0] > 0:
            out.weights[here] = weights[p]
        for t in range(points.shape[1]):
            out.points[here, t] = points[p, t]


class Piece(NamedTuple):
    """The points of a block that are in one cell, their rows, and the weights of these."""

    points: Array
    rows: Ints
    weights: Floats


def take_piece(block: SortedBlock, cell: int) -> Piece:
    """Return a cell's piece of a block, copied."""
    part = slice(block.bounds[cell], block.bounds[cell + 1])
    return Piece(block.points[part].copy(), block.rows[part].copy(), block.weights[part].copy())


def join_pieces(pieces: list[Piece]) -> Piece:
    """Return the points of a cell, their rows ascending."""
    return Piece(*(np.concatenate(each) for each in zip(*pieces, strict=True)))


def counts_of(block: SortedBlock) -> Labels:
    """Return how many points of a block are in each cell."""
    return np.diff(block.bounds)
