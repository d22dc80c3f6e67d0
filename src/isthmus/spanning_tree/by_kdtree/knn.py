"""The few nearest neighbours of every point.

Eight points of a leaf search together where there are few coordinates: one path through the tree,
each point that it meets compared with all eight. With many coordinates the paths of eight points
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
    insert_in_lists,
    lanes_at_most,
    largest_of_eight,
    limit_lists,
    lowest_lane,
    neighbouring_float,
    reach_of_lists,
    store_lists,
)
from isthmus._utils.typing import Floats, Labels
from isthmus.kdtree.build import KdTree
from isthmus.kdtree.traversal import (
    NOWHERE,
    Group,
    enclose,
    level_of,
    load_leaf,
    node_of,
    nodes_within,
    points_within,
    push_nodes,
)
from isthmus.spanning_tree.best_edges import HUGE

# Set for each specialisation: coordinates, neighbours per point, what distances accumulate, and
# how many points of a leaf search together, 8 or 1.
DIMS = 0
NEIGHBOURS = 0
KIND = 0
TOGETHER = 0


class Neighbours(NamedTuple):
    """The neighbour list of every point, and what is known beyond it.

    Of n positions, in full leaves: what is said of those beyond the last point is not used.

    Attributes
    ----------
    positions : (n * NEIGHBOURS,) int32
        Each point's neighbours, nearest first; the point itself where the list is shorter.
    known : (n,) float64
        An accumulated distance: nothing outside the point's own component is nearer. Whatever is
        nearer than the last entry is in the list.
    n_nearest : (n,) int8
        How many entries are as near as the first one.
    n_inside : (n,) int8
        How many entries, from the first on, lie in the point's own component. Set by the first
        round.
    outside : (n,) int32
        Where the list is used up: the nearest point of another component, found by a search;
        NOWHERE where it must be searched for.
    """

    positions: Labels
    known: Floats
    n_nearest: Labels
    n_inside: Labels
    outside: Labels


def make_neighbours(n_positions: int, length: int) -> Neighbours:
    """Return uninitialised lists, and nothing found by searches."""
    return Neighbours(
        positions=np.empty(n_positions * length, dtype=np.int32),
        known=np.empty(n_positions),
        n_nearest=np.empty(n_positions, dtype=np.int8),
        n_inside=np.empty(n_positions, dtype=np.int8),
        outside=np.full(n_positions, NOWHERE, dtype=np.int32),
    )


@kernel_part
def insert_points(tree: KdTree, mask: int, leaf: int, own: int, group: Group) -> int:
    """Insert a leaf's points into the lists of all queries; return the mask of those they entered.

    own : int
        1 where the leaf is the queries' own, otherwise 0.
    """
    if mask == 0:
        return 0
    return int(insert_in_lists(tree.blocks, leaf * LANES, mask, own, group, NEIGHBOURS, DIMS, KIND))


@kernel_part
def insert_found(mask: int, leaf: int, group: Group, query: int) -> int:
    """Insert points of a mask, whose distances were found, into one query's list; count them."""
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
            group.position[i] = group.position[i - LANES]
            i -= LANES
        group.distance[i] = distance
        group.position[i] = leaf * LANES + lane
        n_entered += 1
    return n_entered


@kernel_part
def insert_leaf(tree: KdTree, leaf: int, group: Group, query: int, bound: float) -> int:
    """Insert a leaf's points into one query's list, or into all; return 0 where none entered."""
    mask = points_within(tree, leaf, group, bound)
    if TOGETHER == 1:
        return insert_found(mask, leaf, group, query)
    return insert_points(tree, mask, leaf, np.int64(0), group)


@kernel_part
def limit_by_ties(group: Group, lane: int) -> bool:
    """Let lists end with their first two entries, where these are equal: of one query, or all.

    Returns whether there are such lists.
    """
    if TOGETHER > 1:
        return bool(limit_lists(group) != 0)
    has_tie = group.distance[lane] == group.distance[LANES + lane]
    if has_tie:
        group.limit[lane] = group.distance[lane]
    return bool(has_tie)


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
def search_lists(tree: KdTree, leaf: int, first: int, group: Group) -> int:
    """Complete the lists of queries first … first + TOGETHER - 1 with points of other leaves.

    Returns the number of blocks that were looked at.
    """
    n_levels: int = tree.n_nodes.shape[0]
    limited = limit_by_ties(group, first)
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
                if insert_leaf(tree, parent * LANES + lane, group, first, bound) != 0:
                    limited = limit_by_ties(group, first) or limited
                    bound = farthest_needed(group, first, limited, np.int64(1))
            while height > 0 and group.stack_distance[height - 1] > bound:
                height -= 1
            if height == 0:
                break
            height -= 1
            n_blocks += 1
            entry = group.stack_node[height]
            below, parent = level_of(entry) - 1, node_of(entry)
            block = tree.first_block[below] + parent
            mask = nodes_within(tree, block, group, bound)
    return n_blocks


@announced_kernel("the search for neighbours among up to {DIMS} features")
def nearest_neighbours(tree: KdTree, group: Group, lists: Neighbours, start: int, stop: int) -> int:
    """Fill the neighbour lists of the points in leaves start … stop - 1.

    Parameters
    ----------
    group : scratch
    lists : out
        Positions, known distances and ties. There must be more points than NEIGHBOURS.

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
        insert_points(tree, (1 << n_here) - 1, leaf, np.int64(1), group)
        for first in range(0, n_here, TOGETHER):
            enclose(((1 << min(TOGETHER, n_here)) - 1) << first, group)
            n_blocks += search_lists(tree, leaf, first, group)
        store_lists(group, leaf, lists, NEIGHBOURS)
    return n_blocks
