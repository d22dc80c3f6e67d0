"""Points in blocks → their spanning tree, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.typing import Floats, Ints
from isthmus.dask.boundary import Boundary, Log
from isthmus.dask.boxes import Boxes
from isthmus.dask.cell import CrossEdges, box_of, build_cell, edges_of, summary_of
from isthmus.dask.executors import Executor
from isthmus.dask.partition import (
    SAMPLED_PER_CELL,
    Division,
    Splits,
    counts_of,
    join_pieces,
    sort_block,
    split_space,
    take_piece,
)
from isthmus.dask.points import Look, PointMap, look_at
from isthmus.metrics import MappedMetric

# A cell has at most about this many points, and at least so many where there are few.
_MOST, _FEWEST = 1_000_000, 5_000


Report = Callable[[str, int, int], None]
"""Called as report(stage, done, total)."""


class Blocks(NamedTuple):
    """Handles of the input's blocks.

    Attributes
    ----------
    points : list of handles
        Of arrays or data frames.
    weights : list of handles or None
        Of the weights of their rows.
    """

    points: list[Any]
    weights: list[Any] | None = None


@dataclass(frozen=True, eq=False)
class CellTree:
    """The spanning tree of points in cells.

    Attributes
    ----------
    starts : (n_blocks + 1,) int64
        The row that each block begins with, and the number of rows.
    mapping : PointMap
    splits : Splits
    cells : list of handles
        Of Cell.
    cross : CrossEdges
        The edges between cells that are in the tree.
    dropped : list of (m,) int64
        The edges of each cell's own tree that are not.
    n_rows : list of int
        Of each cell.
    boxes : Boxes
        Of each cell.
    log : Log
    """

    starts: Ints
    mapping: PointMap
    splits: Splits
    cells: list[Any]
    cross: CrossEdges
    dropped: list[Ints]
    n_rows: list[int]
    boxes: Boxes
    log: Log

    @property
    def n_points(self) -> int:
        """The number of points."""
        return int(self.starts[-1])

    def edges_of_cells(self, executor: Executor) -> list[Any]:
        """Return handles of the edges and weights of each cell."""
        return [
            executor.submit("edges", edges_of, cell, dropped, self.mapping, where=c)
            for c, (cell, dropped) in enumerate(zip(self.cells, self.dropped, strict=True))
        ]

    def edges_across(self) -> tuple[Ints, Floats]:
        """Return the edges between cells, and their weights."""
        edges = np.column_stack([self.cross.i, self.cross.j])
        return edges, self.mapping.heights(self.cross.weights)


def find_cell_tree(
    executor: Executor,
    blocks: Blocks,
    looks: Sequence[Look],
    mapping: PointMap,
    n_cells: int | None,
    report: Report,
) -> CellTree:
    """Return the spanning tree of the points of some blocks.

    looks : sequence of Look
        What was found in each block; there is at least one point.
    """
    starts = np.concatenate([[0], np.cumsum([look.n_rows for look in looks])])
    n_cells = n_cells or default_n_cells(int(starts[-1]), executor.n_threads)
    splits = split_space(_sample(looks, mapping), n_cells)
    division = Division(splits, n_cells, mapping)
    pieces = _pieces_of_cells(executor, blocks, starts, division, report)
    boxes = _joined_boxes(
        executor.gather(
            [executor.submit("box", box_of, piece, where=c) for c, piece in enumerate(pieces)]
        )
    )
    cells = []
    for c, piece in enumerate(pieces):
        others = np.delete(np.arange(len(pieces)), c)
        cells.append(
            executor.submit(
                "local-tree", build_cell, piece, c, boxes.take(others), where=c, large=True
            )
        )
    del pieces
    summaries = [
        executor.submit("summary", summary_of, cell, where=c) for c, cell in enumerate(cells)
    ]
    found = []
    for c, summary in enumerate(summaries):
        found += executor.gather([summary])
        report("local trees", c + 1, len(cells))
    boundary = Boundary(executor, cells, found, lambda: report("boundaries", 0, 1))
    boundary.find(found)
    report("boundaries", 1, 1)
    used = CrossEdges._make(each[boundary.is_used] for each in boundary.cross)
    n_rows = [summary.n_rows for summary in found]
    return CellTree(
        starts, mapping, splits, cells, used, boundary.dropped, n_rows, boxes, boundary.log
    )


def default_n_cells(n_points: int, n_threads: int) -> int:
    """Return as many cells as keep all threads busy, none of them too large or very small."""
    wanted = max(4 * n_threads, -(-n_points // _MOST))
    return max(1, min(wanted, n_points // _FEWEST))


def _sample(looks: Sequence[Look], mapping: PointMap) -> Floats:
    """Return mapped points of all blocks, as many of each as it has rows, in proportion."""
    most = max(look.n_rows for look in looks)
    parts = []
    for look in looks:
        n_taken = -(-len(look.sample) * look.n_rows // most)
        parts.append(look.sample[:n_taken])
    sampled: Floats = mapping(np.concatenate([part for part in parts if len(part)]))
    return sampled.astype(np.float64, copy=False)


def _pieces_of_cells(
    executor: Executor,
    blocks: Blocks,
    starts: Ints,
    division: Division,
    report: Report,
) -> list[Any]:
    """Return the points of each cell that has any."""
    weights = blocks.weights or [None] * len(blocks.points)
    ordered = [
        executor.submit(
            "sort-block",
            sort_block,
            block,
            weights[b],
            int(starts[b]),
            division,
            where=b,
            large=True,
        )
        for b, block in enumerate(blocks.points)
    ]
    counts = []
    for b, block in enumerate(ordered):
        counts += executor.gather([executor.submit("count", counts_of, block, where=b)])
        report("partition", b + 1, len(ordered))
    by_cell = np.array(counts)
    pieces: list[Any] = []
    for cell in np.flatnonzero(by_cell.sum(axis=0)).tolist():
        parts = [
            executor.submit("take-piece", take_piece, ordered[b], cell, where=b)
            for b in np.flatnonzero(by_cell[:, cell]).tolist()
        ]
        where = len(pieces)
        pieces.append(executor.submit("join-pieces", join_pieces, parts, where=where, large=True))
    return pieces


def _joined_boxes(boxes: list[Boxes]) -> Boxes:
    return Boxes(*(np.concatenate(each) for each in zip(*boxes, strict=True)))


def look_at_blocks(
    executor: Executor,
    blocks: Sequence[Any],
    n_cells: int | None,
    metric: MappedMetric,
    report: Report,
) -> list[Look]:
    """Return what a first look at each block finds."""
    n_sample = max(64, SAMPLED_PER_CELL * (n_cells or 4 * executor.n_threads) // len(blocks))
    tasks = [
        executor.submit("look", look_at, block, n_sample, b, metric)
        for b, block in enumerate(blocks)
    ]
    looks = []
    for b, task in enumerate(tasks):
        looks += executor.gather([task])
        report("input", b + 1, len(tasks))
    return looks
