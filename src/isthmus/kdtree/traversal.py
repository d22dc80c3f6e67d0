"""What all searches in a kd-tree do: look at boxes and leaves, nearest nodes first.

Up to eight points, the queries of a group, search together. The search compares a box round them
with eight boxes, or eight points, at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel_part
from isthmus._numba.simd import (
    LANES,
    boxes_from_box,
    lowest_lane,
    point_distances,
    points_from_box,
)
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.kdtree.build import KdTree, aligned_empty

# Set for each specialisation: coordinates, what distances accumulate, and how many points of a
# leaf search together, 8 or 1.
DIMS = 0
KIND = 0
TOGETHER = 0

STACK = 256  # 8 nodes a level, 7 of which wait, and no more than 16 levels

# The distance of a query that does not search, and the position of one that has found nothing.
NOT_SEARCHING = -1.0
NOWHERE = -1


class Group(NamedTuple):
    """What up to eight queries that search together need; one for each thread.

    Attributes
    ----------
    queries : (8 * dims,) float64
        Their coordinates, a block like those of the kd-tree.
    box : (2 * dims,) float64
        Lower, then upper bounds of those that search.
    labels : (8,) int32
        Their components.
    distance, position : (8 * neighbours,) float64 and int32
        What each has found: eight first entries, eight second ones, and so on.
    limit : (8,) float64
        How far each list goes at most: it ends where two nearest neighbours were equally near.
    found, gaps : (8,) float64
        The distances of the points and of the boxes that were looked at last.
    power : float
        The exponent where KIND is POWERS.
    stack_distance, stack_node : (256,) float64 and int64
        Nodes still to be visited, as stack_entry makes them.
    """

    queries: Floats
    box: Floats
    labels: Labels
    distance: Floats
    position: Labels
    limit: Floats
    found: Floats
    gaps: Floats
    power: float
    stack_distance: Floats
    stack_node: Ints


def make_group(dims: int, neighbours: int, power: float) -> Group:
    """Return an uninitialised group."""
    return Group(
        queries=aligned_empty(LANES * dims, np.float64),
        box=aligned_empty(2 * dims, np.float64),
        labels=aligned_empty(LANES, np.int32),
        distance=aligned_empty(LANES * neighbours, np.float64),
        position=aligned_empty(LANES * neighbours, np.int32),
        limit=aligned_empty(LANES, np.float64),
        found=aligned_empty(LANES, np.float64),
        gaps=aligned_empty(LANES, np.float64),
        power=float(power),
        stack_distance=np.empty(STACK),
        stack_node=np.empty(STACK, dtype=np.int64),
    )


@kernel_part
def load_leaf(tree: KdTree, leaf: int, group: Group) -> None:
    """Fill the queries with the points of a leaf."""
    for i in range(DIMS * LANES):
        group.queries[i] = np.float64(tree.blocks[leaf * (DIMS * LANES) + i])


@kernel_part
def enclose(lanes: int, group: Group) -> None:
    """Fill the box with the bounds of the queries of a mask, which must not be 0."""
    first = lowest_lane(lanes)
    for t in range(DIMS):
        low = group.queries[t * LANES + first]
        high = low
        rest = lanes & (lanes - 1)
        while rest != 0:
            x = group.queries[t * LANES + lowest_lane(rest)]
            low = min(low, x)
            high = max(high, x)
            rest &= rest - 1
        group.box[t] = low
        group.box[DIMS + t] = high


@kernel_part
def points_within(tree: KdTree, leaf: int, group: Group, bound: float) -> int:
    """Return the mask of a leaf's points that are at most as far from the box as the bound."""
    base = leaf * (DIMS * LANES)
    if TOGETHER == 1:  # the box is a point
        return int(point_distances(tree.blocks, base, group, bound, DIMS, KIND))
    return int(points_from_box(tree.blocks, base, group, bound, DIMS, KIND))


@kernel_part
def nodes_within(tree: KdTree, block: int, group: Group, bound: float) -> int:
    """Return the mask of eight nodes that are at most as far from the box as the bound."""
    base = block * (2 * LANES * DIMS)
    return int(boxes_from_box(tree.boxes, base, group, bound, TOGETHER, DIMS, KIND))


@kernel_part
def stack_entry(level: int, node: int) -> int:
    """Return a node as one number: a stack of pairs takes longer to sort."""
    return node * 16 + level


@kernel_part
def level_of(entry: int) -> int:
    """Return the level of a node on a stack."""
    return entry & 15


@kernel_part
def node_of(entry: int) -> int:
    """Return the number, within its level, of a node on a stack."""
    return entry >> 4


@kernel_part
def push_nodes(mask: int, level: int, first_node: int, group: Group, height: int) -> int:
    """Push the nodes of a mask so that the nearest comes to lie on top; return the new height."""
    bottom = height
    while mask != 0:
        lane = lowest_lane(mask)
        mask &= mask - 1
        distance = group.gaps[lane]
        i = height
        while i > bottom and group.stack_distance[i - 1] < distance:
            group.stack_distance[i] = group.stack_distance[i - 1]
            group.stack_node[i] = group.stack_node[i - 1]
            i -= 1
        group.stack_distance[i] = distance
        group.stack_node[i] = stack_entry(level, first_node + lane)
        height += 1
    return height
