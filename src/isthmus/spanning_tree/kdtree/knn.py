"""The few nearest neighbours of every point.

Eight points of a leaf search together where there are few coordinates: one way through the tree,
each point that it meets compared with all eight. With many coordinates the ways of eight points
would have too little in common, and each goes its own.

Where several neighbours of a point are equally near, as on a lattice, its list ends with them:
they are what it is joined to, and to look for what lies farther away would take most of the time.
It need not even hold all of them, as long as one of two such points has the other in its list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import announced_kernel, kernel_part
from isthmus._numba.simd import (
    LANES,
    boxes_from_box,
    insert_in_lists,
    lanes_at_most,
    largest_of_eight,
    limit_lists,
    lowest_lane,
    neighbouring_float,
    point_distances,
    points_from_box,
    reach_of_lists,
    store_lists,
)
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.spanning_tree.kdtree.build import KdTree, aligned_empty
from isthmus.spanning_tree.union_find import HUGE

# Set for each specialisation: coordinates, neighbours per point, what distances accumulate, and
# how many points of a leaf search together, 8 or 1.
DIMS = 0
NEIGHBOURS = 0
KIND = 0
TOGETHER = 0

STACK = 256  # 8 nodes a level, 7 of which wait, and no more than 16 levels


class Neighbours(NamedTuple):
    """The neighbour list of every place, and what is known beyond it.

    Of n places, whole leaves of them: what is said of those beyond the last point is not used.

    Attributes
    ----------
    places : (n * NEIGHBOURS,) int32
        Each point's neighbours, nearest first, the point itself where the list is shorter; in the
        last place, perhaps, what a search has found.
    known : (n,) float64
        An accumulated distance: nothing outside the point's own component is nearer. Whatever is
        nearer than the last entry is in the list.
    used : (n,) int8
        At first, how many neighbours are as near as the first one. Later, how many entries of the
        list lie in the point's own component; NEIGHBOURS + 1 where the last entry is the nearest
        point outside, found by a search.
    """

    places: Labels
    known: Floats
    used: Labels


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
    limit : (8,) float64
        How far each list goes at most: it ends where two nearest neighbours were equally near.
    found, gaps : (8,) float64
        The distances of the points and of the boxes that were looked at last.
    power : float
        The exponent where KIND is POWERS.
    stack_distance, stack_node : (256,) float64 and int64
        Nodes still to be visited: number * 16 + level.
    """

    queries: Floats
    box: Floats
    labels: Labels
    distance: Floats
    place: Labels
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
        place=aligned_empty(LANES * neighbours, np.int32),
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
        group.stack_node[i] = (first_node + lane) * 16 + level
        height += 1
    return height


@kernel_part
def insert_points(tree: KdTree, mask: int, leaf: int, own: int, group: Group) -> int:
    """Insert a leaf's points into the lists of all queries; return the mask of those they entered.

    Eight bits higher, the mask of lists whose first two entries are equal.

    own : int
        1 where the leaf is the queries' own, otherwise 0.
    """
    if mask == 0:
        return 0
    return int(insert_in_lists(tree.blocks, leaf * LANES, mask, own, group, NEIGHBOURS, DIMS, KIND))


@kernel_part
def insert_found(mask: int, leaf: int, group: Group, query: int) -> int:
    """Insert the points of a mask, whose distances have been found, into one query's list.

    Returns how many have entered it, and, as 256, whether its first two entries are equal.
    """
    n_entered = 0
    while mask != 0:
        lane = lowest_lane(mask)
        mask &= mask - 1
        distance = group.found[lane]
        i = (NEIGHBOURS - 1) * LANES + query
        if distance >= group.distance[i]:
            continue
        while i >= LANES and group.distance[i - LANES] > distance:
            group.distance[i] = group.distance[i - LANES]
            group.place[i] = group.place[i - LANES]
            i -= LANES
        group.distance[i] = distance
        group.place[i] = leaf * LANES + lane
        n_entered += 1
    has_ties = group.distance[query] == group.distance[LANES + query]
    return n_entered + (int(has_ties) << LANES)


@kernel_part
def insert_leaf(tree: KdTree, leaf: int, group: Group, query: int, bound: float) -> int:
    """Insert a leaf's points into one query's list, or into all; return what those two return."""
    mask = points_within(tree, leaf, group, bound)
    if TOGETHER == 1:
        return insert_found(mask, leaf, group, query)
    return insert_points(tree, mask, leaf, np.int64(0), group)


@kernel_part
def note_ties(group: Group, lane: int) -> None:
    """Let lists end with their first two entries, where these are equal: of one query, or all."""
    if TOGETHER > 1:
        limit_lists(group)
    elif group.distance[lane] == group.distance[LANES + lane]:
        group.limit[lane] = group.distance[lane]


@kernel_part
def farthest_needed(group: Group, lane: int, limited: bool, ties: int) -> float:
    """Return how far new neighbours may be, of the one query or of any of the eight.

    They are nearer than the last one. If limited, they are nearer than the limit, too; or, if ties
    is 1, just at the limit.
    """
    last = (NEIGHBOURS - 1) * LANES
    if TOGETHER > 1:
        if limited:
            reach = reach_of_lists(group, NEIGHBOURS, ties)
        else:
            reach = largest_of_eight(group.distance, last)
    else:
        reach = group.distance[last + lane]
        if limited:
            reach = min(reach, neighbouring_float(group.limit[lane], ties))
    return float(neighbouring_float(reach, -1))


@kernel_part
def search_lists(tree: KdTree, leaf: int, first: int, limited: bool, group: Group) -> int:
    """Complete the lists of queries first … first + TOGETHER - 1 with points of other leaves.

    limited : bool
        Whether a list has a limit already.

    Returns the number of blocks that were looked at.
    """
    n_levels: int = tree.n_nodes.shape[0]
    bound = farthest_needed(group, first, limited, np.int64(1))
    n_blocks = n_levels
    node = leaf
    for level in range(n_levels):
        # the siblings of the node that holds the leaf
        block = tree.first_block[level] + (node >> 3)
        mask = nodes_within(tree, block, group, bound) & ~(1 << (node & 7))
        if limited and mask != 0:
            # Of two points that are equally near to each other as to others the first finds both.
            earlier = (1 << (node & 7)) - 1
            nearer = farthest_needed(group, first, limited, np.int64(0))
            mask &= lanes_at_most(group.gaps, nearer) | ~earlier
        node >>= 3
        height = np.int64(0)
        below, parent = level, node  # what the mask is of: nodes of this level, with this parent
        while True:
            if below > 0:
                height = np.int64(push_nodes(mask, below, parent * LANES, group, height))
                mask = 0
            while mask != 0:  # leaves are looked at as they come: sorting costs more than it saves
                lane = lowest_lane(mask)
                mask &= mask - 1
                if group.gaps[lane] > bound:
                    continue
                n_blocks += 1
                entered = insert_leaf(tree, parent * LANES + lane, group, first, bound)
                if entered & 255 != 0:
                    if entered > 255:
                        limited = True
                        note_ties(group, first)
                    bound = farthest_needed(group, first, limited, np.int64(1))
            while height > 0 and group.stack_distance[height - 1] > bound:
                height -= 1
            if height == 0:
                break
            height -= 1
            n_blocks += 1
            entry = group.stack_node[height]
            below, parent = (entry & 15) - 1, entry >> 4
            block = tree.first_block[below] + parent
            mask = nodes_within(tree, block, group, bound)
    return n_blocks


@announced_kernel("the search for neighbours among up to {DIMS} features")
def nearest_neighbours(tree: KdTree, start: int, stop: int, group: Group, found: Neighbours) -> int:
    """Fill the neighbour lists of the points in leaves start … stop - 1.

    Parameters
    ----------
    group : scratch
    found : out
        There must be more points than NEIGHBOURS.

    Returns the number of blocks that were looked at.
    """
    n_points = tree.order.shape[0]
    n_blocks = 0
    for leaf in range(start, stop):
        n_here = min(LANES, n_points - leaf * LANES)
        load_leaf(tree, leaf, group)
        for lane in range(LANES):
            group.limit[lane] = HUGE
            for t in range(NEIGHBOURS):
                # a lane without a point has neighbours that nothing is nearer than
                group.distance[t * LANES + lane] = HUGE if lane < n_here else 0.0
        entered = insert_points(tree, (1 << n_here) - 1, leaf, np.int64(1), group)
        for first in range(0, n_here, TOGETHER):
            if entered > 255:
                note_ties(group, first)
            enclose(((1 << min(TOGETHER, n_here)) - 1) << first, group)
            n_blocks += search_lists(tree, leaf, first, entered > 255, group)
        store_lists(group, leaf, found, NEIGHBOURS)
    return n_blocks
