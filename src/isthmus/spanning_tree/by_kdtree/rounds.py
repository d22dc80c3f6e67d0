"""A round of Borůvka's algorithm: every component but the largest finds its best edge.

Candidates come from the neighbour lists first. Only points whose list is used up search the tree,
and only while their last known distance to another component does not exceed their component's
best edge so far. A node of one component is pruned where a search from the centre of a ball round
its points shows that nothing outside is near enough.

The largest component does not search, so its best edge is not known and never used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import announced_kernel, kernel, kernel_part
from isthmus._numba.simd import LANES, lowest_lane, neighbouring_float, pair_distance
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.kdtree.build import KdTree, node_index
from isthmus.kdtree.traversal import (
    NOT_SEARCHING,
    NOWHERE,
    Group,
    enclose,
    level_of,
    load_leaf,
    node_of,
    stack_entry,
)
from isthmus.spanning_tree.best_edges import (
    HUGE,
    A,
    B,
    Best,
    offer_by_index,
    offer_found,
    offer_listed,
)
from isthmus.spanning_tree.by_kdtree.bounding_balls import (
    SLACK,
    UNKNOWN,
    Balls,
    distance_to_centre,
    reach_of_ball,
)
from isthmus.spanning_tree.by_kdtree.component_labels import MIXED, Forest
from isthmus.spanning_tree.by_kdtree.knn import Neighbours
from isthmus.spanning_tree.by_kdtree.query import (
    SEVERAL,
    cannot_improve,
    farthest_of_group,
    from_length,
    nearest_in_leaf,
    nearest_outside,
    to_length,
)

DIMS = 0
NEIGHBOURS = 0
KIND = 0
TOGETHER = 0


class Search(NamedTuple):
    """What a round needs; one for each thread.

    Attributes
    ----------
    tree, forest, lists, balls : records
        Shared; a thread writes only what belongs to the points it searches from.
    least : (n_blocks * 8,) float64
        For each node: no edge from one of its points to another component is shorter. Likewise.
    best, group : records
        The thread's own.
    largest : (1,) int64
        The component that does not search. An array, so that one record serves all rounds.
    radius_factor : float
        Searches go farther than the best edge, by this factor of the accumulated distance; what
        they find serves in later rounds.
    ball_factor : float
        How large the square of a ball's radius may be compared with that of the best edge.
    """

    tree: KdTree
    forest: Forest
    lists: Neighbours
    least: Floats
    balls: Balls
    best: Best
    group: Group
    largest: Ints
    radius_factor: float
    ball_factor: float


@kernel
def scan_lists(search: Search, start: int, stop: int) -> None:
    """Offer the first entry of another component in each list, for leaves start … stop - 1."""
    tree, lists, best = search.tree, search.lists, search.best
    labels = search.forest.labels
    for leaf in range(start, stop):
        component = np.int64(search.forest.node_labels[leaf])
        if component != MIXED and search.least[leaf] > best.distance[component]:
            continue
        least = HUGE
        for position in range(leaf * LANES, min(leaf * LANES + LANES, tree.order.shape[0])):
            component = np.int64(labels[position])
            distance = lists.known[position]
            if distance <= best.distance[component]:  # or it has no edge that would be taken
                if lists.n_inside[position] < NEIGHBOURS:
                    distance = advance_list(search, position, component)
                elif lists.outside[position] != NOWHERE:
                    other = np.int64(lists.outside[position])
                    if labels[other] == component:  # it was outside when it was found
                        lists.outside[position] = NOWHERE
                    else:
                        offer(search, distance, position, other)
            least = min(least, distance)
        search.least[leaf] = max(search.least[leaf], least)


@kernel_part
def advance_list(search: Search, position: int, component: int) -> float:
    """Offer a list's first entry outside the point's component, if there is one.

    Returns how far what lies outside is, at least.
    """
    lists, labels = search.lists, search.forest.labels
    first = position * NEIGHBOURS
    k = int(lists.n_inside[position])
    other = np.int64(lists.positions[first + k])
    while k < NEIGHBOURS and labels[other] == component:
        k += 1
        entry = np.int64(lists.positions[first + min(k, NEIGHBOURS - 1)])
        if entry != position:  # a list that is shorter is filled up with the point itself
            other = entry
    lists.n_inside[position] = k
    distance = pair_distance(search.tree.blocks, position, other, DIMS, KIND, search.group.power)
    lists.known[position] = distance
    if k < NEIGHBOURS:
        if search.forest.by_index:
            nearest = first_of_equals(search, position, component, k, distance)
            offer(search, distance, position, nearest)
        else:
            offer_listed(distance, position, other, labels, search.best)
    return float(distance)


@kernel_part
def first_of_equals(search: Search, position: int, component: int, k: int, distance: float) -> int:
    """Return which of a list's entries outside, from k on and equally near, has the first index.

    Where they reach to the end of the list, there may be others: then the list is used up.
    """
    lists, labels, tree = search.lists, search.forest.labels, search.tree
    first = position * NEIGHBOURS
    best = np.int64(lists.positions[first + k])
    t = k + 1
    while t < NEIGHBOURS:
        other = np.int64(lists.positions[first + t])
        if pair_distance(tree.blocks, position, other, DIMS, KIND, search.group.power) > distance:
            break
        if labels[other] != component and tree.order[other] < tree.order[best]:
            best = other
        t += 1
    if t == NEIGHBOURS:
        lists.n_inside[position] = NEIGHBOURS
    return int(best)


@kernel_part
def offer(search: Search, distance: float, a: int, b: int) -> None:
    """Offer an edge that was found to the components of both of its ends."""
    labels, best = search.forest.labels, search.best
    if search.forest.by_index:
        order = search.tree.order
        offer_by_index(np.int64(labels[a]), distance, a, b, order, best)
        offer_by_index(np.int64(labels[b]), distance, a, b, order, best)
    else:
        offer_found(distance, a, b, labels, best)


@kernel
def follow_nearest(search: Search, member: Labels, start: int, stop: int) -> None:
    """Find a good edge for components start … stop - 1, from a point to and fro between components.

    From the end of the best edge known, or any member, go to the nearest point of another
    component, from there to the nearest point outside *its* component, and so on: the steps get
    shorter, and each is an edge for both of its components.
    """
    best, group = search.best, search.group
    for c in range(start, stop):
        if c == search.largest[0]:
            continue
        position = int(member[c])
        if best.distance[c] < HUGE:
            position = end_of_best(search, c, False)
        bound = float(HUGE)
        for _ in range(8):
            slot = search_from_position(search, position, bound)
            other = int(group.position[slot])
            if other == NOWHERE or group.distance[slot] >= bound:
                break
            bound = group.distance[slot]
            offer(search, bound, position, other)
            position = other


@kernel_part
def end_of_best(search: Search, component: int, inside: bool) -> int:
    """Return the end of a component's best edge that is inside it, or the other one."""
    best = search.best
    a, b = np.int64(best.edge[component, A]), np.int64(best.edge[component, B])
    return int(a if (search.forest.labels[a] == component) == inside else b)


@kernel_part
def search_from_position(search: Search, position: int, bound: float) -> int:
    """Search for the nearest point of another component, at most as far as the bound.

    Returns which query of the group has searched, and holds the result.
    """
    tree, forest, group = search.tree, search.forest, search.group
    leaf, lane = position >> 3, position & 7
    slot = lane if TOGETHER > 1 else 0
    component = int(forest.labels[position])
    load_leaf(tree, leaf, group)
    for i in range(LANES):
        group.labels[i] = component
        group.distance[i] = bound if i == slot else NOT_SEARCHING
        group.position[i] = NOWHERE
    enclose(1 << lane, group)
    nearest_in_leaf(tree, forest, leaf, component, group, bound)
    nearest_outside(tree, forest, np.int64(0), leaf, component, group)
    return slot


@kernel_part
def choose_searching(
    search: Search, leaf: int, first: int, centre_distance: float
) -> tuple[int, float]:
    """Decide which of a leaf's points first … first + TOGETHER - 1 must search; bound the search.

    Returns their mask, bit 0 standing for the first, and the least that is known of the others.
    """
    tree, lists, best, group = search.tree, search.lists, search.best, search.group
    searching = 0
    least = HUGE
    for slot in range(TOGETHER):
        group.distance[slot] = NOT_SEARCHING
        group.position[slot] = NOWHERE
    begin = leaf * LANES + first
    for slot in range(min(TOGETHER, tree.order.shape[0] - begin)):
        position = begin + slot
        component = np.int64(search.forest.labels[position])
        group.labels[slot] = component
        known = lists.known[position]
        searches = (
            component != search.largest[0]
            and lists.n_inside[position] == NEIGHBOURS
            and lists.outside[position] == NOWHERE
            and not cannot_improve(known, component, best)
        )
        if searches and centre_distance != UNKNOWN:
            to_centre = distance_to_centre(tree, search.balls, position, leaf, group.power)
            to_centre = to_length(to_centre, group.power) * (1.0 + SLACK)
            known = max(known, from_length(centre_distance - to_centre, group.power))
            lists.known[position] = known
            searches = not cannot_improve(known, component, best)
        if searches:
            bound = best.distance[component]
            far = bound >= HUGE / search.radius_factor
            group.distance[slot] = HUGE if far else search.radius_factor * bound
            searching |= 1 << slot
        else:
            least = min(least, known)
    return searching, least


@kernel_part
def component_of_group(group: Group, searching: int) -> int:
    """Return the component of the queries of a mask, or SEVERAL."""
    component = int(group.labels[lowest_lane(searching)])
    rest = searching & (searching - 1)
    while rest != 0:
        if group.labels[lowest_lane(rest)] != component:
            component = SEVERAL
        rest &= rest - 1
    return component


@kernel_part
def search_from_leaf(search: Search, leaf: int, centre_distance: float) -> float:
    """Let the points of a leaf search whose lists are used up; return the leaf's new least.

    centre_distance : float
        How far the centre of the leaf's ball is from other components, at least, or UNKNOWN.
    """
    tree, forest, lists, group = search.tree, search.forest, search.lists, search.group
    least = HUGE
    loaded = False
    for first in range(0, LANES, TOGETHER):
        searching, known = choose_searching(search, leaf, first, centre_distance)
        least = min(least, known)
        if searching == 0:
            continue
        if not loaded:
            load_leaf(tree, leaf, group)
            loaded = True
        enclose(searching << first, group)
        component = component_of_group(group, searching)
        bound = farthest_of_group(group)
        nearest_in_leaf(tree, forest, leaf, component, group, bound)
        nearest_outside(tree, forest, np.int64(0), leaf, component, group)
        while searching != 0:
            slot = lowest_lane(searching)
            searching &= searching - 1
            position = leaf * LANES + first + slot
            distance, other = group.distance[slot], np.int64(group.position[slot])
            if other != NOWHERE:
                lists.outside[position] = other
                offer(search, distance, position, other)
            else:  # nothing is as near as the bound
                distance = neighbouring_float(distance, 1)
            lists.known[position] = distance
            least = min(least, distance)
    return least


@announced_kernel("the search for spanning trees with up to {DIMS} features")
def search_tree(search: Search, top: int, stack: Ints, start: int, stop: int) -> None:
    """Search from all points below nodes start … stop - 1 of level ``top``.

    stack : (STACK,) int64, scratch
    """
    tree, forest, least_of, balls = search.tree, search.forest, search.least, search.balls
    best, group, largest = search.best, search.group, search.largest[0]
    for top_node in range(start, stop):
        stack[0] = stack_entry(top, top_node)
        height = 1
        while height > 0:
            height -= 1
            level, node = level_of(stack[height]), node_of(stack[height])
            index = node_index(tree, level, node)
            component = np.int64(forest.node_labels[index])
            centre_distance = UNKNOWN
            if component != MIXED:
                if component == largest or cannot_improve(least_of[index], component, best):
                    continue
                longest = best.distance[component]
                if longest < HUGE:
                    centre_distance = reach_of_ball(
                        tree, forest, balls, level, node, longest, search.ball_factor, group
                    )
                    least = from_length(centre_distance - balls.radii[index], group.power)
                    least_of[index] = max(least_of[index], least)
                    if cannot_improve(least, component, best):
                        continue
            if level > 0:
                n_below = tree.n_nodes[level - 1]
                for child in range(min(LANES, n_below - node * LANES) - 1, -1, -1):
                    stack[height] = stack_entry(level - 1, node * LANES + child)
                    height += 1
                continue
            least = search_from_leaf(search, node, centre_distance)
            least_of[index] = max(least_of[index], least)


@kernel
def measure_edges(
    tree: KdTree,
    edge_a: Labels,
    edge_b: Labels,
    power: float,
    edges: Ints,
    accumulated: Floats,
    start: int,
    stop: int,
) -> None:
    """Turn the positions of edges start … stop - 1 into points, and measure the edges."""
    for e in range(start, stop):
        a, b = np.int64(edge_a[e]), np.int64(edge_b[e])
        accumulated[e] = pair_distance(tree.blocks, a, b, DIMS, KIND, power)
        i, j = tree.order[a], tree.order[b]
        edges[e, 0] = min(i, j)
        edges[e, 1] = max(i, j)
