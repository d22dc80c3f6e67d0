"""Distances of a new point to the boxes and points of a kd-tree, and which of them it prunes."""

from __future__ import annotations

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, SQUARES
from isthmus._numba.kernel import kernel_part
from isthmus._numba.simd import LANES
from isthmus._utils.typing import Floats
from isthmus.kdtree.build import KdTree

# Set for each specialisation.
DIMS = 0
KIND = 0


@kernel_part
def accumulated(total: float, difference: float, power: float) -> float:
    """Return an accumulated distance with the difference in one more coordinate."""
    if KIND == SQUARES:
        return total + difference * difference
    if KIND == ABSOLUTES:
        return total + abs(difference)
    if KIND == MAXIMUM:
        return max(total, abs(difference))
    return float(total + abs(difference) ** power)


@kernel_part
def box_at(tree: KdTree, level: int, node: int) -> int:
    """Return where the bounds of a node begin in ``tree.boxes``; further ones follow 8 apart."""
    return int((tree.first_block[level] + (node >> 3)) * (2 * LANES * DIMS) + (node & 7))


@kernel_part
def point_at(position: int) -> int:
    """Return where the coordinates of a point begin in ``tree.blocks``; they follow 8 apart."""
    return (position >> 3) * (LANES * DIMS) + (position & 7)


@kernel_part
def fill_box_distances(tree: KdTree, box: int, x: Floats, power: float, out: Floats) -> None:
    """Fill out, (8,), with the distances of x to eight boxes, whose bounds begin at ``box``."""
    for lane in range(LANES):
        out[lane] = 0.0
    for t in range(DIMS):
        for lane in range(LANES):
            low = np.float64(tree.boxes[box + 2 * t * LANES + lane])
            high = np.float64(tree.boxes[box + (2 * t + 1) * LANES + lane])
            gap = max(low - x[t], x[t] - high)
            out[lane] = accumulated(out[lane], max(gap, 0.0), power)


@kernel_part
def fill_point_distances(tree: KdTree, leaf: int, x: Floats, power: float, out: Floats) -> None:
    """Fill out, (8,), with the distances of x to the points of a leaf."""
    base = leaf * (LANES * DIMS)
    for lane in range(LANES):
        out[lane] = 0.0
    for t in range(DIMS):
        for lane in range(LANES):
            y = np.float64(tree.blocks[base + t * LANES + lane])
            out[lane] = accumulated(out[lane], y - x[t], power)


@kernel_part
def distance_between(tree: KdTree, point: int, y: Floats, power: float) -> float:
    """Return the distance of y to the point whose coordinates begin at ``point``."""
    total = 0.0
    for t in range(DIMS):
        total = accumulated(total, np.float64(tree.blocks[point + t * LANES]) - y[t], power)
    return total


@kernel_part
def prefers(tree: KdTree, box: int, x: Floats, v: Floats, power: float, slack: float) -> bool:
    """Whether all points of a box are at least as near to v as to x; False where that is unsure.

    The corner that prefers v the least decides, for every sum over coordinates.

    slack : float
        By which share of the distances to x they must be nearer, at least.
    """
    if KIND == MAXIMUM:
        return prefers_by_maximum(tree, box, x, v, 1.0 - slack)
    to_x, to_v = 0.0, 0.0
    for t in range(DIMS):
        bound = 2 * t if v[t] > x[t] else 2 * t + 1  # the one farther towards x
        corner = np.float64(tree.boxes[box + bound * LANES])
        to_x = accumulated(to_x, corner - x[t], power)
        to_v = accumulated(to_v, corner - v[t], power)
    if slack > 0.0:
        to_x -= slack * farthest_of_box(tree, box, x, power)
    return to_v <= to_x


@kernel_part
def farthest_of_box(tree: KdTree, box: int, x: Floats, power: float) -> float:
    """Return the distance of x to the farthest corner of a box."""
    total = 0.0
    for t in range(DIMS):
        low = np.float64(tree.boxes[box + 2 * t * LANES])
        high = np.float64(tree.boxes[box + (2 * t + 1) * LANES])
        total = accumulated(total, max(x[t] - low, high - x[t]), power)
    return total


@kernel_part
def prefers_by_maximum(tree: KdTree, box: int, x: Floats, v: Floats, shrink: float) -> bool:
    """Do the same where the largest difference counts, if distances to x shrink by a factor.

    In each coordinate t a point of the box must not be farther from v than it is from x: in t, or
    in another coordinate, in which it is at least as far from x as the box is.
    """
    for t in range(DIMS):
        others = 0.0
        for s in range(DIMS):
            if s != t:
                low = np.float64(tree.boxes[box + 2 * s * LANES])
                high = np.float64(tree.boxes[box + (2 * s + 1) * LANES])
                gap = max(low - x[s], x[s] - high)
                others = max(others, gap)
        low = np.float64(tree.boxes[box + 2 * t * LANES])
        high = np.float64(tree.boxes[box + (2 * t + 1) * LANES])
        for case in range(4):
            # the bounds decide, and where one reason takes over from the other
            y = low if case == 0 else high
            if case >= 2:
                y = min(max(x[t] - others if case == 2 else x[t] + others, low), high)
            if abs(y - v[t]) > shrink * max(others, abs(y - x[t])):
                return False
    return True
