"""The nearest point of another component, and each component's best edge.

Edges are compared by (accumulated distance, smaller index, larger index), so a search must look at
everything that is *at most* as far as the best so far, not only at what is nearer.
"""

from __future__ import annotations

import numpy as np

from isthmus._compile import kernel_part
from isthmus._typing import Array, Floats, Ints, Labels
from isthmus.metrics import POWERS, SQUARES
from isthmus.spanning_tree.kdtree.neighbours import push_nodes
from isthmus.spanning_tree.kdtree.simd import (
    LANES,
    box_distances,
    lanes_other_than,
    lowest_lane,
    peek,
    point_distances,
)

DIMS = 0
KIND = 0


@kernel_part
def to_length(accumulated: float, power: float) -> float:
    """Return the distance for which the triangle inequality holds."""
    if KIND == SQUARES:
        return float(np.sqrt(accumulated))
    if KIND == POWERS:
        return float(accumulated ** (1.0 / power))
    return accumulated


@kernel_part
def from_length(length: float, power: float) -> float:
    """Return the accumulated distance of a length; 0 for a negative one."""
    if length <= 0.0:
        return 0.0
    if KIND == SQUARES:
        return length * length
    if KIND == POWERS:
        return float(length**power)
    return length


@kernel_part
def nearest_in_leaf(
    blocks: Array,
    order: Labels,
    labels: Labels,
    leaf: int,
    query: Floats,
    component: int,
    power: float,
    found: Floats,
    bound: float,
    best: int,
) -> tuple[float, int]:
    """Return the nearest point of another component in a leaf, if it beats (bound, best).

    best is the place of a point, or -1: then a distance equal to the bound is good enough.
    """
    mask = lanes_other_than(labels, leaf * LANES, component)
    if mask == 0:
        return bound, best
    mask &= point_distances(blocks, leaf * (DIMS * LANES), query, bound, found, DIMS, KIND, power)
    while mask != 0:
        lane = lowest_lane(mask)
        mask &= mask - 1
        distance = peek(found, lane)
        place = leaf * LANES + lane
        if distance < bound or (
            distance == bound and (best < 0 or peek(order, place) < peek(order, best))
        ):
            bound = distance
            best = place
    return bound, best


@kernel_part
def nearest_outside(
    blocks: Array,
    boxes: Array,
    first_block: Ints,
    n_levels: int,
    order: Labels,
    labels: Labels,
    node_labels: Labels,
    query: Floats,
    component: int,
    level: int,
    node: int,
    power: float,
    found: Floats,
    stack_distance: Floats,
    stack_node: Ints,
    bound: float,
    best: int,
) -> tuple[float, int]:
    """Return the nearest point of another component outside a node, if it beats (bound, best).

    Parameters
    ----------
    labels : (n_leaves * 8,) int32, in
        The component of each place.
    node_labels : (n_blocks * 8,) int32, in
        The component of each node; -1 where its points are of several.
    query : (DIMS,) float64, in
    level, node : int
        The node that is left out; its siblings and those of its ancestors are searched.
    found, stack_distance, stack_node : scratch
    """
    for height_of in range(level, n_levels):
        block = peek(first_block, height_of) + (node >> 3)
        mask = lanes_other_than(node_labels, block * LANES, component) & ~(1 << (node & 7))
        node >>= 3
        if mask == 0:
            continue
        mask &= box_distances(
            boxes, block * (2 * LANES * DIMS), query, bound, found, DIMS, KIND, power
        )
        height = push_nodes(mask, found, height_of, node * LANES, stack_distance, stack_node, 0)
        while height > 0:
            height -= 1
            if peek(stack_distance, height) > bound:
                continue
            entry = peek(stack_node, height)
            entry_level = entry & 15
            entry_node = entry >> 4
            if entry_level == 0:
                bound, best = nearest_in_leaf(
                    blocks,
                    order,
                    labels,
                    entry_node,
                    query,
                    component,
                    power,
                    found,
                    bound,
                    best,
                )
                continue
            block = peek(first_block, entry_level - 1) + entry_node
            mask = lanes_other_than(node_labels, block * LANES, component)
            if mask != 0:
                mask &= box_distances(
                    boxes, block * (2 * LANES * DIMS), query, bound, found, DIMS, KIND, power
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
    return bound, best


@kernel_part
def offer_edge(
    component: int,
    distance: float,
    a: int,
    b: int,
    order: Labels,
    best_distance: Floats,
    best_a: Labels,
    best_b: Labels,
) -> None:
    """Make the edge between places a and b the component's best one, if it is better."""
    current = peek(best_distance, component)
    if distance > current:
        return
    if distance == current:
        i, j = peek(order, a), peek(order, b)
        old_i = peek(order, np.int64(peek(best_a, component)))
        old_j = peek(order, np.int64(peek(best_b, component)))
        low, old_low = min(i, j), min(old_i, old_j)
        if low > old_low or (low == old_low and max(i, j) >= max(old_i, old_j)):
            return
    best_distance[component] = distance
    best_a[component] = a
    best_b[component] = b


@kernel_part
def offer_both(
    distance: float,
    a: int,
    b: int,
    labels: Labels,
    order: Labels,
    best_distance: Floats,
    best_a: Labels,
    best_b: Labels,
) -> None:
    """Offer an edge to the components of both of its ends."""
    offer_edge(np.int64(peek(labels, a)), distance, a, b, order, best_distance, best_a, best_b)
    offer_edge(np.int64(peek(labels, b)), distance, a, b, order, best_distance, best_a, best_b)
