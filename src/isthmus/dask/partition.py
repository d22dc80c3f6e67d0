"""Blocks of rows → cells of points that are near each other.

A kd-tree of a sample divides the space into cells. Blocks are put into the order of cells, and a
cell takes its piece of each. Where many points are equal, or the sample was bad, cells
are of unequal size: that costs time, never exactness.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.dask.boxes import Boxes
from isthmus.dask.halfspaces import Halfspaces
from isthmus.dask.points import PointMap

# Points of the sample for each cell.
SAMPLED_PER_CELL = 300
# A cut may have this much more or less than its share of the points below, relative to that,
_UNEVEN = 0.3
# if it has only this share of the points that the even cut has near it, and fewer by this number of
# standard deviations of their count: in samples of uniform points, cuts are even,
_FAR_FEWER, _SIGNIFICANT = 0.7, 2.0
# where near is this share of the largest extent, on either side.
_NEAR = 0.02


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

    def cells_of(self, points: Array) -> Array:
        """Return the cell of each point: (n,) int16."""
        cells = np.empty(len(points), dtype=np.int16)
        find_cells(points, self, cells)
        return cells


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
        n_left = count // 2
        split, cut = choose_split(points, extent, n_left / count)
        below = points[:, split] < cut
        feature[node], value[node] = split, cut
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


def choose_split(points: Floats, extent: Floats, share: float) -> tuple[int, float]:
    """Return the feature to split by, and where; about a share of the points lie below.

    Points near a cut must be compared with those on the other side. So it is across the widest
    feature, unless another cut, even enough, has far fewer points near it: in a gap of clusters.
    """
    widest = int(np.argmax(extent))
    x = np.sort(points[:, widest])
    cut = x[int(len(x) * share)]
    if cut == x[0]:  # both sides must get something
        cut = x[np.searchsorted(x, cut, side="right")]
    width = _NEAR * extent[widest]
    chosen, n_near = (widest, float(cut)), np.count_nonzero(np.abs(x - cut) <= width)
    fewest = _FAR_FEWER * n_near - _SIGNIFICANT * np.sqrt(n_near)
    for t in range(len(extent)):
        x = np.sort(points[:, t])
        first = max(1, int(len(x) * share * (1 - _UNEVEN)))
        last = max(first, int(len(x) * share * (1 + _UNEVEN)))
        cuts = (x[first - 1 : last - 1] + x[first:last]) / 2.0
        cuts = cuts[cuts > x[0]]
        near = np.searchsorted(x, cuts + width) - np.searchsorted(x, cuts - width)
        if len(cuts) and near.min() < fewest:
            fewest, chosen = float(near.min()), (t, float(cuts[np.argmin(near)]))
    return chosen


@kernel
def find_cells(points: Array, splits: Splits, cells: Array) -> None:
    """Fill cells, (n,) int16, with the cell of each point."""
    for p in range(points.shape[0]):
        node = np.int64(0)
        while splits.feature[node] >= 0:
            side = int(points[p, splits.feature[node]] >= splits.value[node])
            node = splits.child[node, side]
        cells[p] = splits.child[node, 0]


class Sorted(NamedTuple):
    """Points of some blocks, in the order of cells.

    Attributes
    ----------
    points : (n, d) float
        As the metric maps them.
    rows : (n,) int32 or int64
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
    """How a number of points are divided into cells."""

    splits: Splits | Halfspaces
    n_cells: int
    mapping: PointMap
    n_points: int


def sort_blocks(
    blocks: list[Any], weights: list[Any], starts: list[int], division: Division
) -> Sorted:
    """Return the points of blocks that follow each other, in the order of cells.

    weights : list of (n,) array or None
        Of the rows of each block.
    starts : list of int
        The row that each block begins with.
    """
    splits, n_cells, mapping, n_points = division
    mapped = [mapping(block) for block in blocks]
    cells = [splits.cells_of(points) for points in mapped]
    counts = sum(np.bincount(of_block, minlength=n_cells) for of_block in cells)
    bounds = np.concatenate([[0], np.cumsum(counts)])
    given = [np.empty(0) if each is None else np.asarray(each, np.float64) for each in weights]
    n_rows, n_features = int(bounds[-1]), mapped[0].shape[1]
    ordered = Sorted(
        np.empty((n_rows, n_features), mapped[0].dtype),
        np.empty(n_rows, dtype=np.int32 if n_points <= np.iinfo(np.int32).max else np.int64),
        np.empty(sum(len(each) for each in given)),
        bounds,
    )
    ends = bounds[:-1].copy()
    for points, of_rows, of_block, start in zip(mapped, given, cells, starts, strict=True):
        move_to_cells(points, of_rows, of_block, start, ends, ordered)
    return ordered


@kernel
def move_to_cells(
    points: Array, weights: Floats, cells: Array, start: int, ends: Ints, out: Sorted
) -> None:
    """Put the points of a block into the order of their cells.

    ends : (n_cells,) int64, in and out
        Where the next point of each cell goes.
    """
    for p in range(points.shape[0]):
        here = ends[cells[p]]
        ends[cells[p]] = here + 1
        out.rows[here] = start + p
        if weights.shape[0] > 0:
            out.weights[here] = weights[p]
        for t in range(points.shape[1]):
            out.points[here, t] = points[p, t]


class Extents(NamedTuple):
    """How many points there are in each cell, and their bounds.

    Attributes
    ----------
    counts : (n_cells,) int64
    boxes : Boxes
        Of each cell; from infinity to minus infinity where it is empty.
    """

    counts: Ints
    boxes: Boxes


def extents_of(points: Sorted) -> Extents:
    """Return how many points there are in each cell, and their bounds."""
    counts, shape = np.diff(points.bounds), (len(points.bounds) - 1, points.points.shape[1])
    boxes = Boxes(np.full(shape, np.inf), np.full(shape, -np.inf))
    enclose_cells(points.points, points.bounds, boxes)
    return Extents(counts, boxes)


@kernel
def enclose_cells(points: Array, bounds: Ints, boxes: Boxes) -> None:
    """Extend the box of each cell to its points."""
    for cell in range(bounds.shape[0] - 1):
        for p in range(bounds[cell], bounds[cell + 1]):
            for t in range(points.shape[1]):
                x = np.float64(points[p, t])
                boxes.low[cell, t] = min(boxes.low[cell, t], x)
                boxes.high[cell, t] = max(boxes.high[cell, t], x)


def joined_extents(parts: list[Extents]) -> Extents:
    """Return the extents of all blocks together."""
    return Extents(
        np.sum([part.counts for part in parts], axis=0),
        Boxes(
            np.min([part.boxes.low for part in parts], axis=0),
            np.max([part.boxes.high for part in parts], axis=0),
        ),
    )


def take_cells(points: Sorted, cells: Sequence[int]) -> Sorted:
    """Return the points of some cells, copied; they are cells 0, 1, and so on then."""
    pieces = [slice(points.bounds[cell], points.bounds[cell + 1]) for cell in cells]
    sizes = [piece.stop - piece.start for piece in pieces]
    taken, rows, weights = (
        np.concatenate([each[piece] for piece in pieces])
        for each in (points.points, points.rows, points.weights)
    )
    return Sorted(taken, rows, weights, np.concatenate([[0], np.cumsum(sizes)]))


class Piece(NamedTuple):
    """The points of cells, their rows, which ascend in each cell, and the weights of these."""

    points: Array
    rows: Ints
    weights: Floats


def join_pieces(parts: list[Sorted], cells: Sequence[int]) -> Piece:
    """Return the points of cells, one after the other; the parts are of blocks in their order."""
    pieces = []
    for cell in cells:
        for part in parts:
            own = slice(part.bounds[cell], part.bounds[cell + 1])
            pieces.append((part.points[own], part.rows[own], part.weights[own]))
    return Piece(*(np.concatenate(each) for each in zip(*pieces, strict=True)))
