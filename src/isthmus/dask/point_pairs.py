"""Points of two cells that an edge of the tree may join: those that are compared.

All distances are squared, as the kernels of spanning trees accumulate them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.dask.boxes import gap_of_point
from isthmus.dask.node_pairs import Pairs


class Side(NamedTuple):
    """Points of one cell that are compared with those of another.

    Attributes
    ----------
    points : (m, d) float
    key : (m,) float64
        The longest edge between each point and its node's hub.
    node, begin : (k,) and (k + 1,) int64
        The nodes that they are of, ascending, and where the points of each begin.
    low, high, most : (k, d), (k, d) and (k,) float64
        Bounds of a node's points, and the largest of their keys.
    """

    points: Array
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
        for t in range(side.points.shape[1]):
            side.low[s, t] = np.inf
            side.high[s, t] = -np.inf
        for p in range(side.begin[s], side.begin[s + 1]):
            side.most[s] = max(side.most[s], side.key[p])
            for t in range(side.points.shape[1]):
                x = np.float64(side.points[p, t])
                side.low[s, t] = min(side.low[s, t], x)
                side.high[s, t] = max(side.high[s, t], x)


class Marks(NamedTuple):
    """What is known of the points of a side.

    Attributes
    ----------
    keep : (m,) bool
        Whether a point is to be compared.
    nearest : (m,) float64
        Scratch: how far the nearest point of another node is.
    """

    keep: Array
    nearest: Floats


def no_marks(side: Side) -> Marks:
    """Return marks of points that are not to be compared."""
    return Marks(np.zeros(len(side.key), dtype=np.bool_), np.empty(len(side.key)))


@kernel
def mark_mutual(
    own: Side, other: Side, pairs: Pairs, share: float, marks: Marks, others: Marks
) -> None:
    """Set keep where two points may be joined by an edge of the tree.

    Their distance is at most the longest edge that connects them so far. And of the points of a
    node that shorter edges connect with each other, only the nearest one can be joined: any
    other edge from the same point to them is the longest in a cycle.

    pairs : Pairs
        Of nodes, by their numbers in own and other, as slots.
    """
    for r in range(pairs.x.shape[0]):
        x, y, longest = pairs.x[r], pairs.y[r], pairs.longest[r]
        if not find_nearest(own, other, x, y, longest, share, marks, others):
            continue
        for p in range(own.begin[x], own.begin[x + 1]):
            limit = max(longest, own.key[p])
            apart = gap_of_point(own.points, p, other.low, other.high, y, share)
            if apart > max(limit, other.most[y]):
                continue
            for q in range(other.begin[y], other.begin[y + 1]):
                if apart > max(limit, other.key[q]) or (marks.keep[p] and others.keep[q]):
                    continue
                total = squared_distance(own.points, p, other.points, q)
                if total * share > max(limit, other.key[q]):
                    continue
                near, near_too = marks.nearest[p], others.nearest[q]
                if total * share > near and other.key[q] < near * share:
                    continue
                if total * share > near_too and own.key[p] < near_too * share:
                    continue
                marks.keep[p] = True
                others.keep[q] = True


@kernel_part
def find_nearest(
    own: Side,
    other: Side,
    x: int,
    y: int,
    longest: float,
    share: float,
    marks: Marks,
    others: Marks,
) -> bool:
    """Fill in how far the nearest points of two nodes are that shorter edges connect with hubs.

    Returns whether there are points that are not too far apart.
    """
    found = False
    for q in range(other.begin[y], other.begin[y + 1]):
        others.nearest[q] = np.inf
    for p in range(own.begin[x], own.begin[x + 1]):
        marks.nearest[p] = np.inf
        limit = max(longest, own.key[p])
        apart = gap_of_point(own.points, p, other.low, other.high, y, share)
        if apart > max(limit, other.most[y]):
            continue
        for q in range(other.begin[y], other.begin[y + 1]):
            if apart > max(limit, other.key[q]):
                continue
            total = squared_distance(own.points, p, other.points, q)
            if total * share > max(limit, other.key[q]):
                continue
            found = True
            if other.key[q] < total * share:
                marks.nearest[p] = min(marks.nearest[p], total)
            if own.key[p] < total * share:
                others.nearest[q] = min(others.nearest[q], total)
    return found


@kernel_part
def squared_distance(points: Array, p: int, others: Array, q: int) -> float:
    """Return the squared distance of two points, as computed."""
    total = 0.0
    for t in range(points.shape[1]):
        difference = np.float64(points[p, t]) - np.float64(others[q, t])
        total += difference * difference
    return total
