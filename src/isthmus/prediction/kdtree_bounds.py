"""How far new points are from the boxes and points of a kd-tree; which of these they leave out."""

from __future__ import annotations

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, SQUARES
from isthmus._numba.kernel import kernel_part
from isthmus._numba.simd import LANES
from isthmus._utils.typing import Floats
from isthmus.spanning_tree.kdtree.build import KdTree

# Set for each specialisation.
DIMS = 0
KIND = 0


@kernel_part
def added(total: float, difference: float, power: float) -> float:
    """Return what distances accumulate, with the difference in one more coordinate."""
    if KIND == SQUARES:
        return total + difference * difference
    if KIND == ABSOLUTES:
        return total + abs(difference)
    if KIND == MAXIMUM:
        return max(total, abs(difference))
    return float(total + abs(difference) ** power)


@kernel_part
def distances_of_boxes(tree: KdTree, block: int, x: Floats, power: float, found: Floats) -> None:
    """Fill found, (8,), with how far x is from the boxes of a block."""
    base = block * (2 * LANES * DIMS)
    for lane in range(LANES):
        found[lane] = 0.0
    for t in range(DIMS):
        for lane in range(LANES):
            low = np.float64(tree.boxes[base + 2 * t * LANES + lane])
            high = np.float64(tree.boxes[base + (2 * t + 1) * LANES + lane])
            gap = max(low - x[t], x[t] - high)
            found[lane] = added(found[lane], max(gap, 0.0), power)


@kernel_part
def distances_of_leaf(tree: KdTree, leaf: int, x: Floats, power: float, found: Floats) -> None:
    """Fill found, (8,), with how far x is from the points of a leaf."""
    base = leaf * (LANES * DIMS)
    for lane in range(LANES):
        found[lane] = 0.0
    for t in range(DIMS):
        for lane in range(LANES):
            y = np.float64(tree.blocks[base + t * LANES + lane])
            found[lane] = added(found[lane], y - x[t], power)


@kernel_part
def prefers(tree: KdTree, box: int, x: Floats, v: Floats, power: float) -> bool:
    """Whether all points of a box are at least as near to v as to x. False if that is unsure."""
    if KIND == MAXIMUM:
        return prefers_by_maximum(tree, box, x, v)
    to_x, to_v = 0.0, 0.0
    for t in range(DIMS):
        # the farther towards x, the less it prefers v
        bound = 2 * t if v[t] > x[t] else 2 * t + 1
        corner = np.float64(tree.boxes[box + bound * LANES])
        to_x = added(to_x, corner - x[t], power)
        to_v = added(to_v, corner - v[t], power)
    return to_v <= to_x


@kernel_part
def prefers_by_maximum(tree: KdTree, box: int, x: Floats, v: Floats) -> bool:
    """Do the same where the largest difference counts.

    In each coordinate t a point of the box must not be farther from v than it is from x: by t,
    or by another coordinate, in which it is at least as far from x as the box is.
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
        for place in range(4):
            # it is decided at the bounds, and where one reason takes over from the other
            y = low if place == 0 else high
            if place >= 2:
                y = min(max(x[t] - others if place == 2 else x[t] + others, low), high)
            if abs(y - v[t]) > max(others, abs(y - x[t])):
                return False
    return True
