"""Balls round the points of a node: one search from the centre bounds the distances of all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, SQUARES
from isthmus._numba.kernel import kernel_part
from isthmus._numba.simd import LANES
from isthmus._utils.typing import Floats
from isthmus.kdtree.build import KdTree, coordinate, node_index
from isthmus.kdtree.traversal import NOT_SEARCHING, NOWHERE, Group, enclose
from isthmus.spanning_tree.by_kdtree.component_labels import Forest
from isthmus.spanning_tree.by_kdtree.query import from_length, nearest_outside, to_length

DIMS = 0
KIND = 0

# Rounding in lengths, much above what any of the computations here can lose.
SLACK = 1e-12
# The radius of a ball that has not been made, and the reach of one that is too large to be of use.
NOT_MADE = -1.0
UNKNOWN = -1.0


class Balls(NamedTuple):
    """A ball round the points of each node.

    Attributes
    ----------
    centres : (n_blocks * 8 * dims,) float64
    radii : (n_blocks * 8,) float64
        NOT_MADE where it has not been needed yet.
    """

    centres: Floats
    radii: Floats


@kernel_part
def make_ball(tree: KdTree, balls: Balls, level: int, node: int, index: int, power: float) -> None:
    """Fill the centre and the radius of a ball round the points of a node."""
    begin = (node << (3 * level)) * LANES
    end = min(tree.order.shape[0], ((node + 1) << (3 * level)) * LANES)
    for t in range(DIMS):
        total = 0.0
        for position in range(begin, end):
            total += coordinate(tree, position, t)
        balls.centres[index * DIMS + t] = total / (end - begin)
    farthest = 0.0
    for position in range(begin, end):
        farthest = max(farthest, distance_to_centre(tree, balls, position, index, power))
    balls.radii[index] = to_length(farthest, power) * (1.0 + SLACK)


@kernel_part
def distance_to_centre(
    tree: KdTree, balls: Balls, position: int, index: int, power: float
) -> float:
    """Return the accumulated distance of the point at a position to the centre of a ball."""
    total = 0.0
    for t in range(DIMS):
        x = coordinate(tree, position, t)
        difference = abs(x - balls.centres[index * DIMS + t])
        if KIND == SQUARES:
            total += difference * difference
        elif KIND == ABSOLUTES:
            total += difference
        elif KIND == MAXIMUM:
            total = max(total, difference)
        else:
            total += difference**power
    return total


@kernel_part
def reach_of_ball(
    tree: KdTree,
    forest: Forest,
    balls: Balls,
    level: int,
    node: int,
    best: float,
    ball_factor: float,
    group: Group,
) -> float:
    """Return how far the centre of a node's ball is from other components, at least.

    UNKNOWN where the ball is too large, compared with the component's best edge, to be of use.
    """
    power = group.power
    index = node_index(tree, level, node)
    if balls.radii[index] == NOT_MADE:
        make_ball(tree, balls, level, node, index, power)
    radius = balls.radii[index]
    length = to_length(best, power)
    if radius * radius > ball_factor * length * length:
        return UNKNOWN
    for lane in range(LANES):
        group.distance[lane] = NOT_SEARCHING
        group.position[lane] = NOWHERE
    for t in range(DIMS):
        group.queries[t * LANES] = balls.centres[index * DIMS + t]
    group.labels[0] = forest.node_labels[index]
    # What is farther than this from the centre is too far from any point below the node.
    group.distance[0] = from_length((length + radius) * (1.0 + 4.0 * SLACK), power)
    enclose(np.int64(1), group)
    nearest_outside(tree, forest, level, node, int(forest.node_labels[index]), group)
    return to_length(group.distance[0], power) * (1.0 - SLACK)
