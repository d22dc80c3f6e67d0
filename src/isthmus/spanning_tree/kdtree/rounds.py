"""Borůvka's rounds: every component but the largest finds its best edge, and they join.

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
from isthmus.metrics import ABSOLUTES, MAXIMUM, SQUARES
from isthmus.spanning_tree.kdtree.neighbours import HUGE
from isthmus.spanning_tree.kdtree.search import (
    from_length,
    nearest_in_leaf,
    nearest_outside,
    offer_both,
    offer_edge,
    to_length,
)
from isthmus.spanning_tree.kdtree.simd import LANES, pair_distance, peek

DIMS = 0
NEIGHBOURS = 0
KIND = 0

# Rounding in lengths, much above what any of the computations here can lose.
_SLACK = 1e-12


@kernel_part
def find(parent: Labels, x: int) -> int:
    """Return the root of x's set, shortening the way there."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel
def join_nearest(
    places: Labels,
    parent: Labels,
    labels: Labels,
    edge_a: Labels,
    edge_b: Labels,
    size: Labels,
    member: Labels,
) -> tuple[int, int]:
    """Do the first round: each point joins its nearest neighbour.

    places : (n * NEIGHBOURS,), in
    parent : (n,), out
    labels : (>= n,), out
        The component of each place, numbered from 0.
    edge_a, edge_b : (n - 1,), out
    size, member : (n,), out
        Of each component, its number of points and one of them.

    Returns the number of components and of edges.
    """
    n_points = parent.shape[0]
    for i in range(n_points):
        parent[i] = i
    n_edges = 0
    for i in range(n_points):
        j = places[i * NEIGHBOURS]
        a = find(parent, i)
        b = find(parent, j)
        if a != b:
            parent[max(a, b)] = min(a, b)
            edge_a[n_edges] = i
            edge_b[n_edges] = j
            n_edges += 1
    n_components = 0
    for i in range(n_points):
        root = find(parent, i)
        if root == i:  # roots come before all else in their set
            labels[i] = n_components
            member[n_components] = i
            size[n_components] = 0
            n_components += 1
        labels[i] = labels[root]
        size[labels[i]] += 1
    return n_components, n_edges


@kernel
def join_best(
    n_components: int,
    largest: int,
    best_distance: Floats,
    best_a: Labels,
    best_b: Labels,
    labels: Labels,
    parent: Labels,
    new_label: Labels,
    size: Labels,
    member: Labels,
    edge_a: Labels,
    edge_b: Labels,
    n_edges: int,
) -> tuple[int, int, int]:
    """Join components along their best edges; return components, edges and the largest one.

    best_distance, best_a, best_b : (n_components,), in
    parent : (>= n_components,), scratch
    new_label : (>= n_components,), out
        The new number of each old component.
    size, member, edge_a, edge_b : in and out
    """
    for c in range(n_components):
        parent[c] = c
    for c in range(n_components):
        if c == largest or best_distance[c] == HUGE:
            continue
        a = find(parent, labels[best_a[c]])
        b = find(parent, labels[best_b[c]])
        if a != b:
            parent[max(a, b)] = min(a, b)
            edge_a[n_edges] = best_a[c]
            edge_b[n_edges] = best_b[c]
            n_edges += 1
    n_left = 0
    for c in range(n_components):
        root = find(parent, c)
        if root == c:
            new_label[c] = n_left
            member[n_left] = member[c]
            size[n_left] = size[c]
            n_left += 1
        else:
            new_label[c] = new_label[root]
            size[new_label[c]] += size[c]
    largest = 0
    for c in range(n_left):
        if size[c] > size[largest]:
            largest = c
    return n_left, n_edges, largest


@kernel
def relabel_leaves(
    labels: Labels, new_label: Labels, node_labels: Labels, n_points: int, start: int, stop: int
) -> None:
    """Give the places of leaves start … stop - 1 their new labels, and label the leaves.

    new_label may be empty: then labels are right already, and only leaves are labelled. Places
    beyond the last point get the label of the last one.
    """
    for leaf in range(start, stop):
        pure = True
        first = leaf * LANES
        for place in range(first, first + LANES):
            if place < n_points:
                if new_label.shape[0] > 0:
                    labels[place] = new_label[labels[place]]
            else:
                labels[place] = labels[place - 1]
            pure = pure and labels[place] == labels[first]
        node_labels[leaf] = labels[first] if pure else -1


@kernel
def relabel_nodes(node_labels: Labels, first_block: Ints, n_nodes: Ints) -> None:
    """Label all nodes above the leaves."""
    for level in range(1, n_nodes.shape[0]):
        for node in range(n_nodes[level]):
            begin = (first_block[level - 1] + node) * LANES
            label = node_labels[begin]
            for child in range(1, min(LANES, n_nodes[level - 1] - node * LANES)):
                if node_labels[begin + child] != label:
                    label = -1
            node_labels[first_block[level] * LANES + node] = label


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
                offer_edge(component, distance, place, other, order, best_distance, best_a, best_b)
                offer_edge(
                    np.int64(peek(labels, other)),
                    distance,
                    place,
                    other,
                    order,
                    best_distance,
                    best_a,
                    best_b,
                )
            else:
                distance = peek(distances, place * NEIGHBOURS + NEIGHBOURS - 1)
            least = min(least, distance)
        node_least[leaf] = max(node_least[leaf], least)


@kernel
def merge_best(
    best_distance: Floats, best_a: Labels, best_b: Labels, n_components: int, order: Labels
) -> None:
    """Give every worker, one row each, the best edges that any of them has found."""
    for worker in range(1, best_distance.shape[0]):
        for c in range(n_components):
            if best_distance[worker, c] < HUGE:
                offer_edge(
                    c,
                    best_distance[worker, c],
                    np.int64(best_a[worker, c]),
                    np.int64(best_b[worker, c]),
                    order,
                    best_distance[0],
                    best_a[0],
                    best_b[0],
                )
    for worker in range(1, best_distance.shape[0]):
        for c in range(n_components):
            best_distance[worker, c] = best_distance[0, c]
            best_a[worker, c] = best_a[0, c]
            best_b[worker, c] = best_b[0, c]


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
    radii[index] = to_length(farthest, power) * (1.0 + _SLACK)


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
    reach = from_length((length + radius) * (1.0 + 4.0 * _SLACK), power)
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
    return to_length(reach, power) * (1.0 - _SLACK)


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
            to_centre = to_length(to_centre, power) * (1.0 + _SLACK)
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
