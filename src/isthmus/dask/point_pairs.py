"""Points of two cells that an edge of the tree may join: those that are compared.

A point p of a sparse region may be near thousands of points of a dense one. Shorter edges connect
these, so only the nearest of them can be joined with p: an edge (p, q) is the longest in a cycle if
there is a nearer point r, and edges shorter than (p, q) connect r and q. What connects r and q is
known by the hubs of their nodes: it is no longer than what connects r with its hub, this hub with
that of a reference node, and so on back to q.

All distances are squared, as the kernels of spanning trees accumulate them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.dask.boxes import beyond


class Side(NamedTuple):
    """Points of one cell that are compared with those of another.

    Attributes
    ----------
    columns : (d, m) float
        Their coordinates.
    key : (m,) float64
        The longest edge between each point and its node's hub.
    node, begin : (k,) and (k + 1,) int64
        The nodes that they are of, ascending, and where the points of each begin.
    low, high, most : (k, d), (k, d) and (k,) float64
        Bounds of a node's points, and the largest of their keys.
    """

    columns: Array
    key: Floats
    node: Ints
    begin: Ints
    low: Floats
    high: Floats
    most: Floats


@kernel
def describe_side(side: Side) -> None:
    """Fill the bounds and the largest keys of all nodes."""
    for s in range(side.node.shape[0]):
        side.most[s] = 0.0
        for p in range(side.begin[s], side.begin[s + 1]):
            side.most[s] = max(side.most[s], side.key[p])
        for t in range(side.columns.shape[0]):
            side.low[s, t] = np.inf
            side.high[s, t] = -np.inf
            for p in range(side.begin[s], side.begin[s + 1]):
                x = np.float64(side.columns[t, p])
                side.low[s, t] = min(side.low[s, t], x)
                side.high[s, t] = max(side.high[s, t], x)


class SlotPairs(NamedTuple):
    """Pairs of nodes, by their numbers in two sides; (m,) each.

    Attributes
    ----------
    x, y : int64
    longest : float64
        The longest edge between their hubs.
    link_x : float64
        The longest edge between the hubs of x and of the reference node of y, on the side of x.
    link_y : float64
        The same of y.
    """

    x: Ints
    y: Ints
    longest: Floats
    link_x: Floats
    link_y: Floats

    def take(self, rows: Any) -> SlotPairs:
        """Return some of the pairs."""
        return SlotPairs._make(each[rows] for each in self)

    def swapped(self) -> SlotPairs:
        """Return the pairs with their sides exchanged."""
        return SlotPairs(self.y, self.x, self.longest, self.link_y, self.link_x)


class Marks(NamedTuple):
    """What is known of the points of a side.

    Attributes
    ----------
    keep : (m,) bool
        Whether a point is to be compared.
    nearest : (m,) float64
        How far the nearest point of the other side is that shorter edges connect with the
        reference of the own node.
    """

    keep: Array
    nearest: Floats


def no_marks(side: Side) -> Marks:
    """Return marks of points that are not to be compared."""
    return Marks(np.zeros(len(side.key), dtype=np.bool_), np.full(len(side.key), np.inf))


def forget_nearest(marks: Marks) -> None:
    """Make marks ready for another side."""
    marks.nearest[:] = np.inf


@kernel
def find_nearest(
    own: Side, other: Side, pairs: SlotPairs, share: float, marks: Marks, others: Marks, row: Floats
) -> None:
    """Fill in how far the nearest points of both sides are.

    share : float
        See safe_share.
    row : (l,) float64, scratch
        At least as long as the largest node.
    """
    for r in range(pairs.x.shape[0]):
        x, y, longest = pairs.x[r], pairs.y[r], pairs.longest[r]
        for p in range(own.begin[x], own.begin[x + 1]):
            limit = max(longest, own.key[p])
            apart = gap_of_column(own.columns, p, other.low, other.high, y, share)
            if apart > max(limit, other.most[y]) or apart >= marks.nearest[p]:
                continue
            fill_row(own.columns, p, other.columns, other.begin[y], other.begin[y + 1], row)
            level = max(own.key[p], pairs.link_x[r])
            nearest = marks.nearest[p]
            for q in range(other.begin[y], other.begin[y + 1]):
                total = row[q - other.begin[y]]
                safe = total * share
                if total < nearest and max(other.key[q], pairs.link_y[r]) < safe:
                    nearest = total
                if total < others.nearest[q] and level < safe:
                    others.nearest[q] = total
            marks.nearest[p] = nearest


@kernel
def mark_mutual(
    own: Side, other: Side, pairs: SlotPairs, share: float, marks: Marks, others: Marks, row: Floats
) -> None:
    """Set keep where two points may be joined by an edge of the tree.

    Their distance is at most the longest edge that connects them so far, and neither of them has a
    nearer point on the other side that shorter edges connect with the other one; see above.
    """
    for r in range(pairs.x.shape[0]):
        x, y, longest, link_y = pairs.x[r], pairs.y[r], pairs.longest[r], pairs.link_y[r]
        for p in range(own.begin[x], own.begin[x + 1]):
            limit, nearest = max(longest, own.key[p]), marks.nearest[p]
            apart = gap_of_column(own.columns, p, other.low, other.high, y, share)
            if apart > max(limit, other.most[y]):
                continue
            if apart > nearest and apart > max(other.most[y], link_y):
                continue
            fill_row(own.columns, p, other.columns, other.begin[y], other.begin[y + 1], row)
            level = max(own.key[p], pairs.link_x[r])
            for q in range(other.begin[y], other.begin[y + 1]):
                safe = row[q - other.begin[y]] * share
                if safe > max(limit, other.key[q]):
                    continue
                if safe > nearest and max(other.key[q], link_y) < safe:
                    continue
                if safe > others.nearest[q] and level < safe:
                    continue
                marks.keep[p] = True
                others.keep[q] = True


@kernel_part
def gap_of_column(columns: Array, p: int, low: Floats, high: Floats, r: int, share: float) -> float:
    """Return a lower bound of the squared distances of a point to those in a box."""
    total = 0.0
    for t in range(columns.shape[0]):
        apart = beyond(np.float64(columns[t, p]), low[r, t], high[r, t])
        total += apart * apart
    return total * share


@kernel_part
def fill_row(columns: Array, p: int, others: Array, begin: int, end: int, row: Floats) -> None:
    """Fill row with the squared distances of a point to points begin … end - 1 of others."""
    for s in range(end - begin):
        row[s] = 0.0
    for t in range(columns.shape[0]):
        x = np.float64(columns[t, p])
        for s in range(end - begin):
            difference = x - np.float64(others[t, begin + s])
            row[s] += difference * difference
