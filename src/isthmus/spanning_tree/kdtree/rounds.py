"""A round of Borůvka's algorithm: every component but the largest finds its best edge.

Candidates come from the neighbour lists first. Only points whose list is used up search the tree,
and only while their last known distance to another component does not exceed their component's
best edge so far. A node of one component is passed over as a whole where a search from the centre
of a ball round its points shows that nothing outside is near enough.

The largest component does not search, so its best edge is not known and never used.
"""

from __future__ import annotations

import numpy as np

from isthmus._compile import kernel, kernel_part
from isthmus._typing import Array, Floats, Ints, Labels
from isthmus.spanning_tree.kdtree.balls import SLACK, distance_to_centre, reach_of_ball
from isthmus.spanning_tree.kdtree.neighbours import HUGE
from isthmus.spanning_tree.kdtree.search import (
    from_length,
    nearest_in_leaf,
    nearest_outside,
    offer_both,
    to_length,
)
from isthmus.spanning_tree.kdtree.simd import LANES, pair_distance, peek

DIMS = 0
NEIGHBOURS = 0
KIND = 0


@kernel
def scan_lists(
    n_points: int,
    order: Labels,
    labels: Labels,
    node_labels: Labels,
    distances: Floats,
    places: Labels,
    used: Labels,
    node_least: Floats,
    best_distance: Floats,
    best_a: Labels,
    best_b: Labels,
    start: int,
    stop: int,
) -> None:
    """Offer the first entry of another component in each list, for leaves start … stop - 1.

    used : (n,) int8, in and out
        How many entries of each list lie in the point's own component.
    node_least : in and out
        No edge from a point of the leaf to another component is shorter.
    best_… : in and out
        Each component's best edge so far.
    """
    for leaf in range(start, stop):
        component = node_labels[leaf]
        if component >= 0 and node_least[leaf] > best_distance[component]:
            continue
        least = HUGE
        for place in range(leaf * LANES, min(leaf * LANES + LANES, n_points)):
            component = labels[place]
            k = np.int64(used[place])
            while k < NEIGHBOURS and (
                peek(labels, np.int64(peek(places, place * NEIGHBOURS + k))) == component
            ):
                k += 1
            used[place] = k
            if k < NEIGHBOURS:
                distance = peek(distances, place * NEIGHBOURS + k)
                other = np.int64(peek(places, place * NEIGHBOURS + k))
                offer_both(distance, place, other, labels, order, best_distance, best_a, best_b)
            else:
                distance = peek(distances, place * NEIGHBOURS + NEIGHBOURS - 1)
            least = min(least, distance)
        node_least[leaf] = max(node_least[leaf], least)


@kernel_part
def load_point(blocks: Array, place: int, query: Floats) -> None:
    """Fill query with the coordinates of the point at a place."""
    for t in range(DIMS):
        query[t] = np.float64(blocks[((place >> 3) * DIMS + t) * LANES + (place & 7)])


@kernel
def bounce(
    blocks: Array,
    boxes: Array,
    first_block: Ints,
    n_levels: int,
    order: Labels,
    labels: Labels,
    node_labels: Labels,
    member: Labels,
    n_components: int,
    largest: int,
    power: float,
    scratch: Floats,
    stack_node: Ints,
    best_distance: Floats,
    best_a: Labels,
    best_b: Labels,
) -> None:
    """Find a good edge for each component, from one point to and fro between components.

    From the end of the best edge known, or any member, go to the nearest point of another
    component, from there to the nearest point outside *its* component, and so on: the hops get
    shorter, and each is an edge for both of its components.
    """
    found = scratch[:LANES]
    query = scratch[LANES : LANES + DIMS]
    stack_distance = scratch[LANES + DIMS :]
    for c in range(n_components):
        if c == largest:
            continue
        place = int(member[c])
        if best_distance[c] < HUGE:
            place = int(best_b[c] if labels[best_a[c]] == c else best_a[c])
        bound = float(HUGE)
        for _ in range(8):
            component = labels[place]
            leaf = place >> 3
            load_point(blocks, place, query)
            shorter, other = nearest_in_leaf(
                blocks, order, labels, leaf, query, component, power, found, bound, -1
            )
            shorter, other = nearest_outside(
                blocks,
                boxes,
                first_block,
                n_levels,
                order,
                labels,
                node_labels,
                query,
                component,
                0,
                leaf,
                power,
                found,
                stack_distance,
                stack_node,
                shorter,
                other,
            )
            if other < 0 or shorter >= bound:
                break
            bound = shorter
            offer_both(bound, place, other, labels, order, best_distance, best_a, best_b)
            place = other


@kernel_part
def search_from_leaf(
    n_points: int,
    blocks: Array,
    boxes: Array,
    first_block: Ints,
    n_levels: int,
    order: Labels,
    labels: Labels,
    node_labels: Labels,
    distances: Floats,
    places: Labels,
    used: Labels,
    centres: Floats,
    centre_distance: float,
    best_distance: Floats,
    best_a: Labels,
    best_b: Labels,
    largest: int,
    power: float,
    stretch: float,
    leaf: int,
    scratch: Floats,
    stack_node: Ints,
) -> float:
    """Let the points of a leaf search whose lists are used up; return the leaf's new least.

    centre_distance : float
        How far the centre of the leaf's ball is from other components; -1 if that is not known.
    """
    found = scratch[:LANES]
    query = scratch[LANES : LANES + DIMS]
    stack_distance = scratch[LANES + DIMS :]
    least = HUGE
    for place in range(leaf * LANES, min(leaf * LANES + LANES, n_points)):
        component = labels[place]
        k = np.int64(used[place])
        entry = place * NEIGHBOURS + (k if k < NEIGHBOURS else NEIGHBOURS - 1)
        known = distances[entry]
        bound: float = best_distance[component]
        searches = component != largest and used[place] >= NEIGHBOURS and known <= bound
        if searches and centre_distance >= 0.0:
            to_centre = distance_to_centre(blocks, place, centres, leaf, power)
            to_centre = to_length(to_centre, power) * (1.0 + SLACK)
            known = max(known, from_length(centre_distance - to_centre, power))
            distances[entry] = known
            searches = known <= bound
        if not searches:
            least = min(least, known)
            continue
        load_point(blocks, place, query)
        bound = stretch * bound if bound < HUGE / stretch else HUGE
        bound, other = nearest_in_leaf(
            blocks, order, labels, leaf, query, component, power, found, bound, -1
        )
        bound, other = nearest_outside(
            blocks,
            boxes,
            first_block,
            n_levels,
            order,
            labels,
            node_labels,
            query,
            component,
            0,
            leaf,
            power,
            found,
            stack_distance,
            stack_node,
            bound,
            other,
        )
        if other >= 0:
            places[entry] = other
            used[place] = NEIGHBOURS - 1
            offer_both(bound, place, other, labels, order, best_distance, best_a, best_b)
        else:  # nothing is as near as the bound
            bound *= 1.0 + 2.0**-52
        distances[entry] = bound
        least = min(least, bound)
    return least


@kernel
def search_tree(
    n_points: int,
    blocks: Array,
    boxes: Array,
    first_block: Ints,
    n_nodes: Ints,
    order: Labels,
    labels: Labels,
    node_labels: Labels,
    distances: Floats,
    places: Labels,
    used: Labels,
    node_least: Floats,
    centres: Floats,
    radii: Floats,
    best_distance: Floats,
    best_a: Labels,
    best_b: Labels,
    largest: int,
    power: float,
    stretch: float,
    ball_factor: float,
    top: int,
    start: int,
    stop: int,
    scratch: Floats,
    stack_node: Ints,
    node_stack: Ints,
) -> None:
    """Let the points below nodes start … stop - 1 of level ``top`` search, where they must.

    Parameters
    ----------
    distances, places, used : in and out
        The neighbour lists. The last entry of a list that is used up is what the last search
        found, or a lower bound.
    node_least : in and out
        Lower bounds on edges from a node to other components.
    centres, radii : in and out
        Balls, made when first needed; radius -1 before.
    best_… : in and out
    largest : int
        The component that does not search.
    stretch : float
        Searches look this much farther than needed (in accumulated distance): what they find
        saves searches in later rounds.
    ball_factor : float
        A ball is tried where the square of its radius is at most this times the squared length of
        the component's best edge.
    scratch, stack_node, node_stack : scratch
    """
    n_levels = n_nodes.shape[0]
    for root in range(start, stop):
        node_stack[0] = root * 16 + top
        height = 1
        while height > 0:
            height -= 1
            level = node_stack[height] & 15
            node = node_stack[height] >> 4
            index = first_block[level] * LANES + node
            component = node_labels[index]
            centre_distance = -1.0
            if component >= 0:
                if component == largest or node_least[index] > best_distance[component]:
                    continue
                if best_distance[component] < HUGE:
                    centre_distance = reach_of_ball(
                        n_points,
                        blocks,
                        boxes,
                        first_block,
                        n_levels,
                        order,
                        labels,
                        node_labels,
                        level,
                        node,
                        best_distance[component],
                        power,
                        ball_factor,
                        centres,
                        radii,
                        scratch,
                        stack_node,
                    )
                    least = from_length(centre_distance - radii[index], power)
                    node_least[index] = max(node_least[index], least)
                    if least > best_distance[component]:
                        continue
            if level > 0:
                for child in range(min(LANES, n_nodes[level - 1] - node * LANES) - 1, -1, -1):
                    node_stack[height] = (node * LANES + child) * 16 + level - 1
                    height += 1
                continue
            least = search_from_leaf(
                n_points,
                blocks,
                boxes,
                first_block,
                n_levels,
                order,
                labels,
                node_labels,
                distances,
                places,
                used,
                centres,
                centre_distance,
                best_distance,
                best_a,
                best_b,
                largest,
                power,
                stretch,
                node,
                scratch,
                stack_node,
            )
            node_least[index] = max(node_least[index], least)


@kernel
def measure_edges(
    blocks: Array,
    order: Labels,
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
        accumulated[e] = pair_distance(
            blocks, np.int64(edge_a[e]), np.int64(edge_b[e]), DIMS, KIND, power
        )
        i, j = order[edge_a[e]], order[edge_b[e]]
        edges[e, 0] = min(i, j)
        edges[e, 1] = max(i, j)
