"""The few nearest neighbours of every point.

For a given point, edges are ordered by (distance, index of the other end): the same order as the
one of all edges, (distance, smaller index, larger index), restricted to its own. Each list is
in that order, so its first entry in another component is the point's best edge, ties included.
"""

from __future__ import annotations

import numpy as np

from isthmus._compile import kernel, kernel_part
from isthmus._typing import Array, Floats, Ints, Labels
from isthmus.spanning_tree.kdtree.simd import (
    LANES,
    box_distances,
    lowest_lane,
    peek,
    point_distances,
    poke,
)

# Set for each specialisation: coordinates, neighbours per point, what distances accumulate.
DIMS = 0
NEIGHBOURS = 0
KIND = 0

# No distance is larger; infinity marks places beyond the last point.
HUGE = float(np.finfo(np.float64).max)

STACK = 256  # 8 nodes a level, 7 of which wait, and no more than 16 levels


@kernel_part
def push_nodes(
    mask: int,
    distances: Floats,
    level: int,
    first_node: int,
    stack_distance: Floats,
    stack_node: Ints,
    height: int,
) -> int:
    """Push the nodes of a mask so that the nearest comes to lie on top; return the new height."""
    bottom = height
    while mask != 0:
        lane = lowest_lane(mask)
        mask &= mask - 1
        distance = peek(distances, lane)
        i = height
        while i > bottom and peek(stack_distance, i - 1) < distance:
            poke(stack_distance, i, peek(stack_distance, i - 1))
            poke(stack_node, i, peek(stack_node, i - 1))
            i -= 1
        poke(stack_distance, i, distance)
        poke(stack_node, i, (first_node + lane) * 16 + level)
        height += 1
    return height


@kernel_part
def insert_neighbours(
    mask: int,
    distances: Floats,
    first: int,
    order: Labels,
    list_distance: Floats,
    list_place: Labels,
    bound: float,
) -> float:
    """Put the points of a mask into the list; return the distance of its last entry."""
    while mask != 0:
        lane = lowest_lane(mask)
        mask &= mask - 1
        distance = peek(distances, lane)
        if distance > bound:
            continue
        place = first + lane
        i = NEIGHBOURS
        # One slot more than the list has: what falls off the end falls into it.
        while i > 0 and (
            peek(list_distance, i - 1) > distance
            or (
                peek(list_distance, i - 1) == distance
                and peek(order, np.int64(peek(list_place, i - 1))) > peek(order, place)
            )
        ):
            poke(list_distance, i, peek(list_distance, i - 1))
            poke(list_place, i, peek(list_place, i - 1))
            i -= 1
        poke(list_distance, i, distance)
        poke(list_place, i, np.int32(place))
        bound = peek(list_distance, NEIGHBOURS - 1)
    return bound


@kernel
def nearest_neighbours(
    blocks: Array,
    boxes: Array,
    first_block: Ints,
    n_levels: int,
    order: Labels,
    power: float,
    start: int,
    stop: int,
    scratch: Floats,
    stack_node: Ints,
    list_place: Labels,
    distances: Floats,
    places: Labels,
) -> None:
    """Fill the neighbour lists of the points in leaves start … stop - 1.

    Parameters
    ----------
    blocks, boxes, first_block, n_levels, order : in
        The tree.
    power : float
        The exponent where KIND is POWERS.
    scratch : (>= 8 + DIMS + NEIGHBOURS + 1 + STACK,) float64
    stack_node, list_place : (STACK,) int64 and (NEIGHBOURS + 1,) int32, scratch
    distances, places : (n * NEIGHBOURS,) float64 and int32, out
        The accumulated distances and the places of the neighbours of each place. There must be
        more points than NEIGHBOURS.
    """
    n_points = order.shape[0]
    found = scratch[:LANES]
    query = scratch[LANES : LANES + DIMS]
    list_distance = scratch[LANES + DIMS : LANES + DIMS + NEIGHBOURS + 1]
    stack_distance = scratch[LANES + DIMS + NEIGHBOURS + 1 :]
    for leaf in range(start, stop):
        for lane in range(min(LANES, n_points - leaf * LANES)):
            for t in range(DIMS):
                query[t] = np.float64(blocks[(leaf * DIMS + t) * LANES + lane])
            for t in range(NEIGHBOURS):
                list_distance[t] = HUGE
                list_place[t] = -1
            mask = point_distances(
                blocks, leaf * (DIMS * LANES), query, HUGE, found, DIMS, KIND, power
            )
            mask &= ~(1 << lane)
            bound = insert_neighbours(
                mask, found, leaf * LANES, order, list_distance, list_place, HUGE
            )
            node = leaf
            for level in range(n_levels):
                # the siblings of the node that holds the point, nearest first
                block = peek(first_block, level) + (node >> 3)
                mask = box_distances(
                    boxes, block * (2 * LANES * DIMS), query, bound, found, DIMS, KIND, power
                )
                mask &= ~(1 << (node & 7))
                node >>= 3
                height = push_nodes(mask, found, level, node * LANES, stack_distance, stack_node, 0)
                while height > 0:
                    height -= 1
                    if peek(stack_distance, height) > bound:
                        continue
                    entry = peek(stack_node, height)
                    entry_level = entry & 15
                    entry_node = entry >> 4
                    if entry_level == 0:
                        mask = point_distances(
                            blocks,
                            entry_node * (DIMS * LANES),
                            query,
                            bound,
                            found,
                            DIMS,
                            KIND,
                            power,
                        )
                        bound = insert_neighbours(
                            mask,
                            found,
                            entry_node * LANES,
                            order,
                            list_distance,
                            list_place,
                            bound,
                        )
                    else:
                        block = peek(first_block, entry_level - 1) + entry_node
                        mask = box_distances(
                            boxes,
                            block * (2 * LANES * DIMS),
                            query,
                            bound,
                            found,
                            DIMS,
                            KIND,
                            power,
                        )
                        height = push_nodes(
                            mask,
                            found,
                            entry_level - 1,
                            entry_node * LANES,
                            stack_distance,
                            stack_node,
                            height,
                        )
            out = (leaf * LANES + lane) * NEIGHBOURS
            for t in range(NEIGHBOURS):
                distances[out + t] = list_distance[t]
                places[out + t] = list_place[t]
