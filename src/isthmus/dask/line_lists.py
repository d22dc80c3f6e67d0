"""Rows of several bundles → the nearest rows of each of them: a task of nearest_lists.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from isthmus._utils.parallel import Workers
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.blocks.bounds import Blocks
from isthmus.blocks.dense_rows import DenseRows, dense_blocks
from isthmus.blocks.nearest import ComparedBlocks, NearestLists
from isthmus.dask.partition import Sorted, join_pieces
from isthmus.metrics.tiny_differences import Limits, has_tiny_differences
from isthmus.spanning_tree.by_blocks.searching import (
    NEIGHBOURS,
    Answer,
    Components,
    queries,
    search_outside,
)

# Rows to a block of matrix products, at most.
_BLOCK_SIZE = 1024


class PackedBlocks(NamedTuple):
    """Blocks of dense rows as a record, which may be moved between processes: executors.py.

    Attributes
    ----------
    points, singles : arrays
        Of the rows; see DenseRows.
    others : tuple
        The other fields of Blocks.
    """

    points: Array
    singles: Array
    others: tuple[Any, ...]

    @classmethod
    def of(cls, blocks: Blocks) -> PackedBlocks:
        """Return blocks as a record."""
        assert isinstance(blocks.rows, DenseRows)
        others = (getattr(blocks, each.name) for each in fields(blocks) if each.name != "rows")
        return cls(blocks.rows.given, blocks.rows.singles, tuple(others))

    def unpacked(self) -> Blocks:
        """Return the blocks."""
        return Blocks(DenseRows(self.points, self.singles), *self.others)


class Line(NamedTuple):
    """The rows of a task's bundles, in blocks of near ones.

    Attributes
    ----------
    packed : PackedBlocks
    rows : (n,) int32
        The row that each position has.
    first : (n_bundles + 1,) int64
        The position that each bundle begins with, and the number of rows.
    met : (n_blocks, n_blocks) bool
        Which blocks are compared in this task.
    is_lossy : bool
        Whether distances of rows would underflow.
    """

    packed: PackedBlocks
    rows: Labels
    first: Ints
    met: Array
    is_lossy: bool


def build_line(parts: list[Sorted], bundles: Sequence[int], limits: Limits) -> Line:
    """Return the rows of some bundles.

    parts : list of Sorted
        All points, in the order of blocks.
    bundles : sequence of int
        Their numbers in these parts. The first one is compared with itself in this task.
    limits : Limits
        Below which magnitudes distances underflow.
    """
    points, rows, _ = join_pieces(parts, bundles)
    sizes = sum(np.diff(part.bounds)[list(bundles)] for part in parts)
    first = np.concatenate([[0], np.cumsum(sizes)])
    with Workers(1) as workers, threadpool_limits(1, user_api="blas"):
        blocks = dense_blocks(points, workers, _BLOCK_SIZE, first.tolist())
    bundle = np.searchsorted(first, blocks.starts[:-1], side="right") - 1
    met = (bundle[:, None] != bundle) | ((bundle[:, None] == 0) & (bundle == 0))
    is_lossy = has_tiny_differences(points, limits)
    return Line(PackedBlocks.of(blocks), rows[blocks.order].astype(np.int32), first, met, is_lossy)


def find_own(line: Line) -> Answer | None:
    """Return the nearest rows of each row of a task's first bundle there; None if it is lossy."""
    if line.is_lossy:
        return None
    of_first = line.packed.unpacked().starts[:-1] < line.first[1]
    own = _find(line, of_first[:, None] & of_first)
    return Answer._make((*(each[: line.first[1]] for each in own[:3]), 0))


def find_others(line: Line, farthest: Floats) -> Answer:
    """Return the nearest rows of each row of a task in its other bundles.

    farthest : (n,) float64
        Squared distances, in the order of bundles and rows, beyond which that is of no interest.
    """
    blocks = line.packed.unpacked()
    bundle = np.searchsorted(line.first, blocks.starts[:-1], side="right")
    return _find(line, bundle[:, None] != bundle, farthest[blocks.order])


def _find(line: Line, meet: Array, farthest: Floats | None = None) -> Answer:
    """Return the nearest rows of each row, in the order of bundles and rows."""
    blocks = line.packed.unpacked()
    with Workers(1) as workers, threadpool_limits(1, user_api="blas"):
        lists = NearestLists(blocks, workers, NEIGHBOURS)
        lists.find(_ignore, meet, farthest)
    names = np.where(lists.positions < 0, np.int32(-1), line.rows[lists.positions])
    at = positions_of(blocks)
    return Answer(names[at], lists.distances[at], lists.reach[at], 0)


def _ignore(_: float) -> None:
    pass


def positions_of(blocks: Blocks) -> Labels:
    """Return the position of each point."""
    positions = np.empty(blocks.n_points, dtype=np.int32)
    positions[blocks.order] = np.arange(blocks.n_points, dtype=np.int32)
    return positions


def search_line(line: Line, labels: Labels, searching: Ints, known: Floats) -> Answer:
    """Return the nearest rows of other components that a task sees.

    labels : (n,) int32
        Of the task's rows, in the order of bundles and rows.
    searching, known : (m,) int64 and float64
        Which of these search, ascending, and the length of an edge out of the component of each.
    """
    blocks = line.packed.unpacked()
    at = positions_of(blocks)[searching]
    order = np.argsort(at)
    at, known = at[order], known[order]
    components = Components.of(blocks, labels[blocks.order], line.rows)
    answers = []
    with Workers(1) as workers, threadpool_limits(1, user_api="blas"):
        compared = ComparedBlocks(blocks, workers)
        for begin, end in pairwise(np.searchsorted(at, line.first)):
            for query in queries(blocks, at[begin:end], known[begin:end]):
                met = line.met[query.block]
                answers.append(
                    search_outside(compared, components, query, compared.buffers[0], met)
                )
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    names, distances, reach, measured = zip(*answers, strict=True)
    return Answer(
        np.concatenate(names)[back],
        np.concatenate(distances)[back],
        np.concatenate(reach)[back],
        sum(measured),
    )
