"""Points of cells that face each other → the edges between them that may be in the tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints
from isthmus.dask.boxes import Boxes, gaps_of_pairs, safe_share, squared_diameters
from isthmus.dask.cell import Cell, find_tree
from isthmus.dask.near_points import Near, fill_keys, mark_near
from isthmus.dask.node_pairs import LinkedPairs
from isthmus.dask.point_pairs import (
    Marks,
    Side,
    SlotPairs,
    describe_side,
    find_nearest,
    forget_nearest,
    mark_mutual,
    no_marks,
)


class Chosen(NamedTuple):
    """Points of a cell that are compared with those of others.

    Attributes
    ----------
    cell : int
        The number of the cell.
    position, row : (m,) int64, and int32 or int64
        Where they stand, ascending, and their rows.
    side : Side
    """

    cell: int
    position: Ints
    row: Ints
    side: Side


def choose_points(cell: Cell, near: Near) -> Chosen:
    """Return the points of a cell that are near some boxes."""
    view = cell.view
    keep = np.zeros(len(view.points), dtype=np.bool_)
    mark_near(view, near, safe_share(view.points.shape[1]), keep)
    position = np.flatnonzero(keep)
    node = np.searchsorted(view.begin, position, side="right") - 1
    key = np.empty(len(position))
    fill_keys(view, position, node, key)
    nodes, begin = np.unique(node, return_index=True)
    low, high = np.empty((2, len(nodes), view.points.shape[1]))
    begin = np.append(begin, len(node))
    columns = np.ascontiguousarray(view.points[position].T)
    side = Side(columns, key, nodes, begin, low, high, np.empty(len(nodes)))
    describe_side(side)
    return Chosen(cell.number, position, cell.row_at[position], side)


class Wanted(NamedTuple):
    """The points that a cell is to send to another one, of some number."""

    cell: int
    near: Near


def choose_for_all(cells: list[Cell], wanted: list[list[Wanted]]) -> dict[tuple[int, int], Chosen]:
    """Return the points that cells send, by the number of the receiver and of the sender."""
    return {
        (each.cell, cell.number): choose_points(cell, each.near)
        for cell, of_cell in zip(cells, wanted, strict=True)
        for each in of_cell
    }


class CrossEdges(NamedTuple):
    """Edges between cells.

    Attributes
    ----------
    cells, positions : (m, 2) int64
        The ends of each.
    weights : (m,) float64
        Squared lengths.
    i, j : (m,) int32 or int64
        The rows that they join, the smaller one first; int64 once joined to NO_EDGES.
    """

    cells: Ints
    positions: Ints
    weights: Floats
    i: Ints
    j: Ints

    @classmethod
    def joined(cls, parts: list[CrossEdges]) -> CrossEdges:
        """Return the edges of several records, each once."""
        cells, positions, weights, i, j = (
            np.concatenate(each) for each in zip(*parts, strict=True)
        )
        _, once = np.unique(np.column_stack([i, j]), axis=0, return_index=True)
        return cls(cells[once], positions[once], weights[once], i[once], j[once])


_NO_PAIRS, _NO_ROWS = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64)
NO_EDGES = CrossEdges(_NO_PAIRS, _NO_PAIRS, np.empty(0), _NO_ROWS, _NO_ROWS)


class Meeting(NamedTuple):
    """What is compared with points of another cell.

    Attributes
    ----------
    cell : int
        The number of the other cell.
    near : Near
        The points of the own cell.
    pairs : LinkedPairs
        Nodes of the own cell, of the other one, and what connects them.
    """

    cell: int
    near: Near
    pairs: LinkedPairs


def compare_all(
    cells: list[Cell],
    meetings: list[list[Meeting]],
    senders: list[Cell],
    wanted: list[list[Wanted]],
    sent: list[dict[tuple[int, int], Chosen]],
) -> list[tuple[CrossEdges, int]]:
    """Return what each cell finds; see compare.

    senders, wanted : list
        Cells of the same group, and what they send.
    sent : list
        What those of other groups have sent.
    """
    chosen = choose_for_all(senders, wanted)
    for part in sent:
        chosen |= part
    return [
        compare(cell, of_cell, [chosen[cell.number, meeting.cell] for meeting in of_cell])
        for cell, of_cell in zip(cells, meetings, strict=True)
    ]


def compare(cell: Cell, meetings: list[Meeting], others: list[Chosen]) -> tuple[CrossEdges, int]:
    """Return the edges between cells of the tree of some points, and how many points these are."""
    own = choose_points(cell, Near.joined([meeting.near for meeting in meetings]))
    marks = no_marks(own.side)
    together = []
    for meeting, other in zip(meetings, others, strict=True):
        of_other = no_marks(other.side)
        forget_nearest(marks)
        _mark(own.side, other.side, meeting, marks, of_other)
        together.append((other, of_other.keep))
    together.append((own, marks.keep))
    cells = np.repeat([c.cell for c, _ in together], [np.count_nonzero(k) for _, k in together])
    position, rows = (
        np.concatenate([getattr(c, name)[k] for c, k in together]) for name in ("position", "row")
    )
    points = np.concatenate([c.side.columns[:, k].T for c, k in together])
    order = np.argsort(rows)  # of edges of equal length those of the first rows come first
    tree = find_tree(points[order])
    ends = order[tree.edges]
    across = cells[ends[:, 0]] != cells[ends[:, 1]]
    ends = ends[across]
    i, j = rows[ends].T
    found = CrossEdges(cells[ends], position[ends], tree.weights[across], i, j)
    return found, len(points)


def _mark(own: Side, other: Side, meeting: Meeting, marks: Marks, others: Marks) -> None:
    """Mark the points that are to be compared."""
    if len(meeting.near.limit) and meeting.near.limit[0] < 0.0:  # the nearest points of each pair
        marks.keep[:] = others.keep[:] = True
        return
    pairs = meeting.pairs
    x, has_x = _slots(own.node, pairs.x)
    y, has_y = _slots(other.node, pairs.y)
    both = has_x & has_y
    if not both.any():
        return
    boxes, boxes_too = Boxes(own.low, own.high), Boxes(other.low, other.high)
    # The nearest nodes come first, since what they have makes others superfluous.
    apart = gaps_of_pairs(boxes, x, boxes_too, y)
    order = np.flatnonzero(both)[np.argsort(apart[both], kind="stable")]
    slots = SlotPairs(x[order], y[order], *(each[order] for each in pairs[2:]))
    # A point of the sparser node is compared with all points of the denser one.
    sparse = squared_diameters(boxes)[slots.x] >= squared_diameters(boxes_too)[slots.y]
    share, row = safe_share(len(own.columns)), np.empty(max(len(own.key), len(other.key)))
    turns = (
        (own, other, slots.take(sparse), share, marks, others, row),
        (other, own, slots.take(~sparse).swapped(), share, others, marks, row),
    )
    for turn in turns:
        find_nearest(*turn)
    for turn in turns:
        mark_mutual(*turn)


def _slots(nodes: Ints, wanted: Ints) -> tuple[Ints, Array]:
    """Return where nodes stand among others, and whether they do."""
    slots = np.minimum(np.searchsorted(nodes, wanted), max(len(nodes) - 1, 0))
    found = nodes[slots] == wanted if len(nodes) else np.zeros(len(wanted), dtype=bool)
    return slots, found
