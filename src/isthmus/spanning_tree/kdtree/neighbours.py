"""The few nearest neighbours of every point.

Eight points of a leaf search together where there are few coordinates: one way through the tree,
each point that it meets compared with all eight. With many coordinates the ways of eight points
would have too little in common, and each goes its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._compile import kernel, kernel_part
from isthmus._typing import Floats, Ints, Labels
from isthmus.spanning_tree.boruvka import HUGE
from isthmus.spanning_tree.kdtree.tree import KdTree, aligned_empty
from isthmus.spanning_tree.simd import (
    LANES,
    boxes_from_box,
    insert_in_lists,
    largest_of_eight,
    lowest_lane,
    neighbouring_float,
    peek,
    point_distances,
    points_from_box,
    poke,
)

# Set for each specialisation: coordinates, neighbours per point, what distances accumulate, and
# how many points of a leaf search together, 8 or 1.
DIMS = 0
NEIGHBOURS = 0
KIND = 0
TOGETHER = 0

STACK = 256  # 8 nodes a level, 7 of which wait, and no more than 16 levels


class Group(NamedTuple):
    """What up to eight queries that search together need; one for each thread.

    Attributes
    ----------
    queries : (8 * dims,) float64
        Their coordinates, a block as in simd.py.
    box : (2 * dims,) float64
        Lower, then upper bounds of those that search.
    labels : (8,) int32
        Their components.
    distance, place : (8 * neighbours,) float64 and int32
        What each has found: eight first entries, eight second ones, and so on.
    found : (8,) float64
        The distances of the block that is being looked at.
    stack_distance, stack_node : (256,) float64 and int64
        Nodes still to be visited: number * 16 + level.
    """

    queries: Floats
    box: Floats
    labels: Labels
    distance: Floats
    place: Labels
    found: Floats
    stack_distance: Floats
    stack_node: Ints


def make_group(dims: int, neighbours: int) -> Group:
    """Return an uninitialised group."""
    return Group(
        queries=aligned_empty(LANES * dims, np.float64),
        box=np.empty(2 * dims),
        labels=aligned_empty(LANES, np.int32),
        distance=aligned_empty(LANES * neighbours, np.float64),
        place=aligned_empty(LANES * neighbours, np.int32),
        found=aligned_empty(LANES, np.float64),
        stack_distance=np.empty(STACK),
        stack_node=np.empty(STACK, dtype=np.int64),
    )


@kernel_part
def load_leaf(tree: KdTree, leaf: int, group: Group) -> None:
    """Fill the queries with the points of a leaf."""
    for i in range(DIMS * LANES):
        group.queries[i] = np.float64(peek(tree.blocks, leaf * (DIMS * LANES) + i))


@kernel_part
def enclose(lanes: int, group: Group) -> None:
    """Fill the box with the bounds of the queries of a mask, which must not be 0."""
    first = lowest_lane(lanes)
    for t in range(DIMS):
        low = peek(group.queries, t * LANES + first)
        high = low
        rest = lanes & (lanes - 1)
        while rest != 0:
            x = peek(group.queries, t * LANES + lowest_lane(rest))
            low = min(low, x)
            high = max(high, x)
            rest &= rest - 1
        poke(group.box, t, low)
        poke(group.box, DIMS + t, high)


@kernel_part
def points_within(tree: KdTree, leaf: int, group: Group, bound: float, power: float) -> int:
    """Return the mask of a leaf's points that are at most as far from the box as the bound."""
    base = leaf * (DIMS * LANES)
    if TOGETHER == 1:  # the box is a point
        return int(
            point_distances(tree.blocks, base, group.box, bound, group.found, DIMS, KIND, power)
        )
    return int(points_from_box(tree.blocks, base, group.box, bound, group.found, DIMS, KIND, power))


@kernel_part
def nodes_within(tree: KdTree, block: int, group: Group, bound: float, power: float) -> int:
    """Return the mask of eight nodes that are at most as far from the box as the bound."""
    base = block * (2 * LANES * DIMS)
    return int(
        boxes_from_box(tree.boxes, base, group.box, bound, group.found, TOGETHER, DIMS, KIND, power)
    )


@kernel_part
def push_nodes(mask: int, level: int, first_node: int, group: Group, height: int) -> int:
    """Push the nodes of a mask so that the nearest comes to lie on top; return the new height."""
    bottom = height
    while mask != 0:
        lane = lowest_lane(mask)
        mask &= mask - 1
        distance = peek(group.found, lane)
        i = height
        while i > bottom and peek(group.stack_distance, i - 1) < distance:
            poke(group.stack_distance, i, peek(group.stack_distance, i - 1))
            poke(group.stack_node, i, peek(group.stack_node, i - 1))
            i -= 1
        poke(group.stack_distance, i, distance)
        poke(group.stack_node, i, (first_node + lane) * 16 + level)
        height += 1
    return height


@kernel_part
def insert_points(
    tree: KdTree, mask: int, leaf: int, group: Group, lanes: int, power: float
) -> int:
    """Insert the points of a mask into the lists of some queries; return those that they entered.

    Points never enter their own lists if ``leaf`` is not where the queries come from.
    """
    entered = 0
    while mask != 0:
        lane = lowest_lane(mask)
        mask &= mask - 1
        entered |= insert_in_lists(
            tree.blocks,
            leaf * LANES + lane,
            group.queries,
            lanes,
            group.distance,
            group.place,
            NEIGHBOURS,
            DIMS,
            KIND,
            power,
        )
    return entered


@kernel_part
def insert_found(mask: int, leaf: int, group: Group, query: int) -> int:
    """Insert the points of a mask, whose distances have been found, into one query's list.

    Returns how many have entered it.
    """
    n_entered = 0
    while mask != 0:
        lane = lowest_lane(mask)
        mask &= mask - 1
        distance = peek(group.found, lane)
        i = (NEIGHBOURS - 1) * LANES + query
        if distance >= peek(group.distance, i):
            continue
        while i >= LANES and peek(group.distance, i - LANES) > distance:
            poke(group.distance, i, peek(group.distance, i - LANES))
            poke(group.place, i, peek(group.place, i - LANES))
            i -= LANES
        poke(group.distance, i, distance)
        poke(group.place, i, np.int32(leaf * LANES + lane))
        n_entered += 1
    return n_entered


@kernel_part
def farthest_last(group: Group, lane: int) -> float:
    """Return a bound that new neighbours are below: of the one query, or of all eight."""
    last = (NEIGHBOURS - 1) * LANES
    if TOGETHER == 1:
        return float(neighbouring_float(peek(group.distance, last + lane), -1))
    return float(neighbouring_float(largest_of_eight(group.distance, last), -1))


@kernel_part
def search_lists(tree: KdTree, leaf: int, first: int, group: Group, power: float) -> int:
    """Complete the lists of queries first … first + TOGETHER - 1 with points of other leaves.

    Returns the number of blocks that were looked at.
    """
    n_levels: int = tree.n_nodes.shape[0]
    bound = farthest_last(group, first)
    n_blocks = n_levels
    node = leaf
    for level in range(n_levels):
        # the siblings of the node that holds the leaf, nearest first
        mask = nodes_within(tree, peek(tree.first_block, level) + (node >> 3), group, bound, power)
        mask &= ~(1 << (node & 7))
        node >>= 3
        height = push_nodes(mask, level, node * LANES, group, 0)
        while height > 0:
            height -= 1
            if peek(group.stack_distance, height) > bound:
                continue
            n_blocks += 1
            entry = peek(group.stack_node, height)
            entry_level, entry_node = entry & 15, entry >> 4
            if entry_level == 0:
                mask = points_within(tree, entry_node, group, bound, power)
                if TOGETHER == 1:
                    entered = insert_found(mask, entry_node, group, first)
                else:
                    entered = insert_points(tree, mask, entry_node, group, 255, power)
                if entered != 0:
                    bound = farthest_last(group, first)
            else:
                block = peek(tree.first_block, entry_level - 1) + entry_node
                mask = nodes_within(tree, block, group, bound, power)
                height = push_nodes(mask, entry_level - 1, entry_node * LANES, group, height)
    return n_blocks


@kernel
def nearest_neighbours(
    tree: KdTree,
    power: float,
    start: int,
    stop: int,
    group: Group,
    places: Labels,
    known: Floats,
) -> int:
    """Fill the neighbour lists of the points in leaves start … stop - 1.

    Parameters
    ----------
    power : float
        The exponent where KIND is POWERS.
    group : scratch
    places : (n * NEIGHBOURS,) int32, out
        The neighbours of each place, nearest first. There must be more points than NEIGHBOURS.
    known : (n,) float64, out
        The accumulated distance of the last neighbour.

    Returns the number of blocks that were looked at.
    """
    n_points = tree.order.shape[0]
    n_blocks = 0
    for leaf in range(start, stop):
        n_here = min(LANES, n_points - leaf * LANES)
        load_leaf(tree, leaf, group)
        for t in range(NEIGHBOURS):
            for lane in range(LANES):
                # a lane without a point has neighbours that nothing is nearer than
                group.distance[t * LANES + lane] = HUGE if lane < n_here else 0.0
        for lane in range(n_here):
            insert_points(tree, 1 << lane, leaf, group, 255 - (1 << lane), power)
        for first in range(0, n_here, TOGETHER):
            enclose(((1 << min(TOGETHER, n_here)) - 1) << first, group)
            n_blocks += search_lists(tree, leaf, first, group, power)
        for lane in range(n_here):
            out = (leaf * LANES + lane) * NEIGHBOURS
            for t in range(NEIGHBOURS):
                places[out + t] = group.place[t * LANES + lane]
            known[leaf * LANES + lane] = group.distance[(NEIGHBOURS - 1) * LANES + lane]
    return n_blocks
