"""A round of Borůvka's algorithm: every component but the largest finds its best edge.

Candidates come from the neighbour lists first. Only points whose list is used up search the tree,
and only while their last known distance to another component does not exceed their component's
best edge so far. A node of one component is passed over as a whole where a search from the centre
of a ball round its points shows that nothing outside is near enough.

The largest component does not search, so its best edge is not known and never used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import announced_kernel, kernel, kernel_part
from isthmus._numba.simd import (
    LANES,
    lowest_lane,
    neighbouring_float,
    pair_distance,
)
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.spanning_tree.kdtree.bounding_balls import (
    SLACK,
    Balls,
    distance_to_centre,
    reach_of_ball,
)
from isthmus.spanning_tree.kdtree.build import KdTree
from isthmus.spanning_tree.kdtree.knn import Group, Neighbours, enclose, load_leaf
from isthmus.spanning_tree.kdtree.query import (
    SEVERAL,
    Forest,
    cannot_improve,
    farthest_of_group,
    from_length,
    nearest_in_leaf,
    nearest_outside,
    to_length,
)
from isthmus.spanning_tree.union_find import HUGE, Best, offer_both, offer_edge

DIMS = 0
NEIGHBOURS = 0
KIND = 0
TOGETHER = 0


@kernel
def scan_lists(
    tree: KdTree,
    forest: Forest,
    lists: Neighbours,
    least_of: Floats,
    best: Best,
    power: float,
    start: int,
    stop: int,
) -> None:
    """Offer the first entry of another component in each list, for leaves start … stop - 1.

    least_of : (n_blocks * 8,) float64
        For each node: no edge from one of its points to another component is shorter.
    """
    labels = forest.labels
    for leaf in range(start, stop):
        component = np.int64(forest.node_labels[leaf])
        if component >= 0 and least_of[leaf] > best.distance[component]:
            continue
        least = HUGE
        for place in range(leaf * LANES, min(leaf * LANES + LANES, tree.order.shape[0])):
            component = np.int64(labels[place])
            distance = lists.known[place]
            k = int(lists.used[place])
            first = place * NEIGHBOURS
            if distance > best.distance[component]:
                pass  # it has no edge that its component would take
            elif k > NEIGHBOURS:
                other = np.int64(lists.places[first + NEIGHBOURS - 1])
                if labels[other] == component:
                    lists.used[place] = NEIGHBOURS
                else:
                    offer_both(distance, place, other, labels, best)
            elif k < NEIGHBOURS:
                other = np.int64(lists.places[first + k])
                while k < NEIGHBOURS and labels[other] == component:
                    k += 1
                    entry = np.int64(lists.places[first + min(k, NEIGHBOURS - 1)])
                    if entry != place:  # a list that is shorter is filled up with the point itself
                        other = entry
                lists.used[place] = k
                distance = pair_distance(tree.blocks, place, other, DIMS, KIND, power)
                lists.known[place] = distance
                if k < NEIGHBOURS:
                    offer_edge(component, distance, ~place, other, best)
                    offer_edge(np.int64(labels[other]), distance, place, other, best)
            least = min(least, distance)
        least_of[leaf] = max(least_of[leaf], least)


@kernel
def bounce(
    tree: KdTree,
    forest: Forest,
    member: Labels,
    largest: int,
    best: Best,
    group: Group,
    start: int,
    stop: int,
) -> None:
    """Find a good edge for components start … stop - 1, from a point to and fro between components.

    From the end of the best edge known, or any member, go to the nearest point of another
    component, from there to the nearest point outside *its* component, and so on: the hops get
    shorter, and each is an edge for both of its components.
    """
    for c in range(start, stop):
        if c == largest:
            continue
        place = np.int64(member[c])
        if best.distance[c] < HUGE:
            a, b = np.int64(best.a[c]), np.int64(best.b[c])
            a = max(a, ~a)
            place = b if forest.labels[a] == c else a
        bound = float(HUGE)
        for _ in range(8):
            leaf, lane = place >> 3, place & 7
            slot = lane if TOGETHER > 1 else 0
            component = forest.labels[place]
            load_leaf(tree, leaf, group)
            for i in range(LANES):
                group.labels[i] = component
                group.distance[i] = bound if i == slot else -1.0
                group.place[i] = -1
            enclose(1 << lane, group)
            nearest_in_leaf(tree, forest, leaf, component, group, bound)
            nearest_outside(tree, forest, np.int64(0), leaf, component, group)
            other = np.int64(group.place[slot])
            if other < 0 or group.distance[slot] >= bound:
                break
            bound = group.distance[slot]
            offer_both(bound, place, other, forest.labels, best)
            place = other


class Search(NamedTuple):
    """What the searches of a round need; one for each thread.

    Attributes
    ----------
    tree, forest, lists, balls : records
        Shared; a thread writes only what belongs to the points it searches from.
    least : (n_blocks * 8,) float64
        As in scan_lists; likewise.
    best, group : records
        The thread's own.
    largest : int
        The component that does not search.
    stretch : float
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
    largest: int
    stretch: float
    ball_factor: float


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
        group.distance[slot] = -1.0
        group.place[slot] = -1
    begin = leaf * LANES + first
    for slot in range(min(TOGETHER, tree.order.shape[0] - begin)):
        place = begin + slot
        component = np.int64(search.forest.labels[place])
        group.labels[slot] = component
        known = lists.known[place]
        searches = (
            component != search.largest
            and lists.used[place] == NEIGHBOURS
            and not cannot_improve(known, component, best)
        )
        if searches and centre_distance >= 0.0:
            to_centre = distance_to_centre(tree, search.balls, place, leaf, group.power)
            to_centre = to_length(to_centre, group.power) * (1.0 + SLACK)
            known = max(known, from_length(centre_distance - to_centre, group.power))
            lists.known[place] = known
            searches = not cannot_improve(known, component, best)
        if searches:
            bound = best.distance[component]
            far = bound >= HUGE / search.stretch
            group.distance[slot] = HUGE if far else search.stretch * bound
            searching |= 1 << slot
        else:
            least = min(least, known)
    return searching, least


@kernel_part
def search_from_leaf(search: Search, leaf: int, centre_distance: float) -> float:
    """Let the points of a leaf search whose lists are used up; return the leaf's new least.

    centre_distance : float
        How far the centre of the leaf's ball is from other components; -1 if that is not known.
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
        component = group.labels[lowest_lane(searching)]
        rest = searching & (searching - 1)
        while rest != 0:
            if group.labels[lowest_lane(rest)] != component:
                component = np.int32(SEVERAL)
            rest &= rest - 1
        bound = farthest_of_group(group)
        nearest_in_leaf(tree, forest, leaf, component, group, bound)
        nearest_outside(tree, forest, np.int64(0), leaf, component, group)
        while searching != 0:
            slot = lowest_lane(searching)
            searching &= searching - 1
            place = leaf * LANES + first + slot
            distance, other = group.distance[slot], np.int64(group.place[slot])
            if other >= 0:
                lists.places[place * NEIGHBOURS + NEIGHBOURS - 1] = other
                lists.used[place] = NEIGHBOURS + 1
                offer_both(distance, place, other, forest.labels, search.best)
            else:  # nothing is as near as the bound
                distance = neighbouring_float(distance, 1)
            lists.known[place] = distance
            least = min(least, distance)
    return least


@announced_kernel("the search for spanning trees with up to {DIMS} features")
def search_tree(search: Search, top: int, start: int, stop: int, node_stack: Ints) -> None:
    """Search from all points below nodes start … stop - 1 of level ``top``.

    node_stack : (STACK,) int64, scratch
    """
    tree, forest, least_of, balls = search.tree, search.forest, search.least, search.balls
    best, power = search.best, search.group.power
    for top_node in range(start, stop):
        node_stack[0] = top_node * 16 + top
        height = 1
        while height > 0:
            height -= 1
            level, node = node_stack[height] & 15, node_stack[height] >> 4
            index = tree.first_block[level] * LANES + node
            component = np.int64(forest.node_labels[index])
            centre_distance = -1.0
            if component >= 0:
                if component == search.largest or cannot_improve(least_of[index], component, best):
                    continue
                if best.distance[component] < HUGE:
                    centre_distance = reach_of_ball(
                        tree,
                        forest,
                        balls,
                        level,
                        node,
                        best.distance[component],
                        search.ball_factor,
                        search.group,
                    )
                    least = from_length(centre_distance - balls.radii[index], power)
                    least_of[index] = max(least_of[index], least)
                    if cannot_improve(least, component, best):
                        continue
            if level > 0:
                n_below = tree.n_nodes[level - 1]
                for child in range(min(LANES, n_below - node * LANES) - 1, -1, -1):
                    node_stack[height] = (node * LANES + child) * 16 + level - 1
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
    """Turn the places of edges start … stop - 1 into points, and measure the edges."""
    for e in range(start, stop):
        a, b = np.int64(edge_a[e]), np.int64(edge_b[e])
        accumulated[e] = pair_distance(tree.blocks, a, b, DIMS, KIND, power)
        i, j = tree.order[a], tree.order[b]
        edges[e, 0] = min(i, j)
        edges[e, 1] = max(i, j)
