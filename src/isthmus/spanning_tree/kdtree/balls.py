"""Balls round the points of a node: one search from the centre speaks for all of them."""

from __future__ import annotations

import numpy as np

from isthmus._compile import kernel_part
from isthmus._typing import Array, Floats, Ints, Labels
from isthmus.metrics import ABSOLUTES, MAXIMUM, SQUARES
from isthmus.spanning_tree.kdtree.search import from_length, nearest_outside, to_length
from isthmus.spanning_tree.kdtree.simd import LANES

DIMS = 0
KIND = 0

# Rounding in lengths, much above what any of the computations here can lose.
SLACK = 1e-12


@kernel_part
def make_ball(
    blocks: Array,
    n_points: int,
    level: int,
    node: int,
    power: float,
    query: Floats,
    centres: Floats,
    radii: Floats,
    index: int,
) -> None:
    """Fill the centre and the radius of a ball round the points of a node."""
    begin = (node << (3 * level)) * LANES
    end = min(n_points, ((node + 1) << (3 * level)) * LANES)
    for t in range(DIMS):
        query[t] = 0.0
    for place in range(begin, end):
        for t in range(DIMS):
            query[t] += np.float64(blocks[((place >> 3) * DIMS + t) * LANES + (place & 7)])
    for t in range(DIMS):
        centres[index * DIMS + t] = query[t] / (end - begin)
    farthest = 0.0
    for place in range(begin, end):
        farthest = max(farthest, distance_to_centre(blocks, place, centres, index, power))
    radii[index] = to_length(farthest, power) * (1.0 + SLACK)


@kernel_part
def distance_to_centre(
    blocks: Array, place: int, centres: Floats, index: int, power: float
) -> float:
    """Return the accumulated distance of the point at a place to the centre of a ball."""
    total = 0.0
    for t in range(DIMS):
        x = np.float64(blocks[((place >> 3) * DIMS + t) * LANES + (place & 7)])
        difference = abs(x - centres[index * DIMS + t])
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
    n_points: int,
    blocks: Array,
    boxes: Array,
    first_block: Ints,
    n_levels: int,
    order: Labels,
    labels: Labels,
    node_labels: Labels,
    level: int,
    node: int,
    best: float,
    power: float,
    ball_factor: float,
    centres: Floats,
    radii: Floats,
    scratch: Floats,
    stack_node: Ints,
) -> float:
    """Return how far the centre of a node's ball is from other components, at least.

    -1 where the ball is too large, compared with the component's best edge, to be of use.
    """
    index = first_block[level] * LANES + node
    query = scratch[LANES : LANES + DIMS]
    if radii[index] < 0.0:
        make_ball(blocks, n_points, level, node, power, query, centres, radii, index)
    radius = radii[index]
    length = to_length(best, power)
    if radius * radius > ball_factor * length * length:
        return -1.0
    for t in range(DIMS):
        query[t] = centres[index * DIMS + t]
    # Farther than any point below the node can be from an edge as short as the best one.
    reach = from_length((length + radius) * (1.0 + 4.0 * SLACK), power)
    reach, _ = nearest_outside(
        blocks,
        boxes,
        first_block,
        n_levels,
        order,
        labels,
        node_labels,
        query,
        node_labels[index],
        level,
        node,
        power,
        scratch[:LANES],
        scratch[LANES + DIMS :],
        stack_node,
        reach,
        -1,
    )
    return to_length(reach, power) * (1.0 - SLACK)
