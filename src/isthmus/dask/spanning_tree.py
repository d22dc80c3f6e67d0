"""Points in blocks → their spanning tree, in blocks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.typing import Floats, Ints
from isthmus.dask.boundary import Boundary
from isthmus.dask.boxes import Boxes
from isthmus.dask.cell import Cell, Summary, build_cell
from isthmus.dask.comparison import CrossEdges
from isthmus.dask.executors import Executor, for_each, groups
from isthmus.dask.log import Log
from isthmus.dask.partition import (
    SAMPLED_PER_CELL,
    Division,
    Splits,
    extents_of,
    joined_extents,
    sort_blocks,
    split_space,
    take_cells,
)
from isthmus.dask.points import Look, PointMap, look_at
from isthmus.metrics import AnyMetric

# The largest number of points in a cell, about, and the smallest, where there are few points.
_MOST, _FEWEST = 1_000_000, 5_000
# The number of portions in which the points of a group of cells are moved.
_PORTIONS = 4


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
    splits = split_space(sample_of(looks, mapping), n_cells)
    division = Division(splits, n_cells, mapping, int(starts[-1]))
    ordered = sorted_blocks(executor, blocks, starts, division)
    extents = joined_extents(for_each(executor, "extents", extents_of, ordered))
    report("partition", 1, 1)
    filled = np.flatnonzero(extents.counts)
    boxes = extents.boxes.take(filled)
    cells = _build_cells(executor, ordered, filled, boxes)
    del ordered
    summaries = _summaries(executor, cells, report)
    boundary = Boundary(executor, cells, summaries, lambda: report("boundaries", 0, 1))
    boundary.find(summaries)
    report("boundaries", 1, 1)
    n_rows = extents.counts[filled].tolist()
    return CellTree(
        starts,
        mapping,
        splits,
        cells,
        boundary.cross,
        boundary.dropped,
        n_rows,
        boxes,
        boundary.log,
    )


def default_n_cells(n_points: int, n_threads: int) -> int:
    """Return as many cells as keep all threads busy, none of them too large or very small."""
    wanted = max(4 * n_threads, -(-n_points // _MOST))
    return max(1, min(wanted, n_points // _FEWEST))


def sample_of(looks: Sequence[Look], mapping: PointMap) -> Floats:
    """Return mapped points of all blocks, as many of each as it has rows, in proportion."""
    most = max(look.n_rows for look in looks)
    parts = []
    for look in looks:
        n_taken = -(-len(look.sample) * look.n_rows // most)
        parts.append(look.sample[:n_taken])
    sampled: Floats = mapping(np.concatenate([part for part in parts if len(part)]))
    return sampled.astype(np.float64, copy=False)


def sorted_blocks(
    executor: Executor, blocks: Blocks, starts: Ints, division: Division
) -> list[Any]:
    """Return handles of Sorted, of the blocks of each group; blocks may be forgotten then."""
    weights = blocks.weights or [None] * len(blocks.points)
    ordered = [
        executor.submit(
            "sort-blocks",
            sort_blocks,
            [blocks.points[b] for b in group],
            [weights[b] for b in group],
            [int(starts[b]) for b in group],
            division,
            where=g,
            large=True,
        )
        for g, group in enumerate(groups(len(blocks.points), executor))
    ]
    blocks.points.clear()
    return ordered


def _build_cells(executor: Executor, ordered: list[Any], filled: Ints, boxes: Boxes) -> list[Any]:
    """Return handles of the cells that have points.

    All points are taken out of the blocks first, so that these are forgotten before trees are
    found; and each portion is forgotten when its trees have been found.

    filled : (n,) int64
        Their numbers in the division of space.
    """
    portions = [
        (g, some, taken_cells(executor, ordered, filled[some].tolist()))
        for g, some in _in_portions(groups(len(filled), executor), executor)
    ]
    cells: list[Any] = [None] * len(filled)
    for g, some, (parts, indices) in portions:
        for c, index in zip(some, indices, strict=True):
            others = boxes.take(np.delete(np.arange(len(filled)), c))
            args = parts, index, c, others
            cells[c] = executor.submit(
                "local-tree", build_cell, *args, where=g, large=True, copies=True
            )
    return cells


def taken_cells(
    executor: Executor, ordered: list[Any], cells: list[int]
) -> tuple[list[Any], list[int]]:
    """Return handles of Sorted that hold some cells, and the numbers that these have there."""
    if executor.shares_memory:
        return ordered, cells
    parts = [
        executor.submit("take-cells", take_cells, part, cells, where=source, copies=True)
        for source, part in enumerate(ordered)
    ]
    return parts, list(range(len(cells)))


def _in_portions(in_groups: list[range], executor: Executor) -> list[tuple[int, range]]:
    """Return cells whose points are moved together, and their groups: each group in turn."""
    if executor.shares_memory:
        return list(enumerate(in_groups))
    portions = []
    for p in range(_PORTIONS):
        for g, group in enumerate(in_groups):
            size = -(-len(group) // _PORTIONS)
            portions.append((g, group[p * size : (p + 1) * size]))
    return [(g, some) for g, some in portions if len(some)]


def _summaries(executor: Executor, cells: list[Any], report: Report) -> list[Summary]:
    """Return what the coordinator learns of each cell, when their trees have been found."""
    tasks = [
        executor.submit("summary", _summaries_of, [cells[c] for c in group], where=g)
        for g, group in enumerate(groups(len(cells), executor))
    ]
    found: list[Summary] = []
    for task in tasks:
        found += executor.gather([task])[0]
        report("local trees", len(found), len(cells))
    return found


def _summaries_of(cells: list[Cell]) -> list[Summary]:
    # Copied: an array of a cell in a file would keep the whole file mapped.
    return [copy.deepcopy(cell.summary) for cell in cells]


def look_at_blocks(
    executor: Executor,
    blocks: Sequence[Any],
    n_cells: int | None,
    metric: AnyMetric,
    report: Report,
) -> list[Look]:
    """Return what a first look at each block finds."""
    n_sample = max(64, SAMPLED_PER_CELL * (n_cells or 4 * executor.n_threads) // len(blocks))
    tasks = [
        executor.submit(
            "look", _looks_at, [blocks[b] for b in group], n_sample, group[0], metric, where=g
        )
        for g, group in enumerate(groups(len(blocks), executor))
    ]
    looks: list[Look] = []
    for task in tasks:
        looks += executor.gather([task])[0]
        report("input", len(looks), len(blocks))
    return looks


def _looks_at(blocks: list[Any], n_sample: int, first: int, metric: AnyMetric) -> list[Look]:
    return [look_at(block, n_sample, first + b, metric) for b, block in enumerate(blocks)]
