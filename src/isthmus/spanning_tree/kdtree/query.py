"""The nearest point of another component.

Edges are compared by length; edges of equal length that searches find, by their places. So a
search must look at everything that is *at most* as far as the best so far, not only at what is
nearer, and the result does not depend on the order in which threads search.

That would be slow on lattices, where nearly all edges are equally long. So an edge from the
neighbour list of a component's own point comes before all edges of its length that searches find,
and where a component has such an edge, nothing that is only as near is searched for. The lists do
not depend on threads either.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.accumulators import POWERS, SQUARES
from isthmus._numba.kernel import kernel_part
from isthmus._numba.simd import (
    LANES,
    improve_nearest,
    lanes_other_than,
    largest_of_eight,
    lowest_lane,
)
from isthmus._utils.typing import Labels
from isthmus.spanning_tree.kdtree.build import KdTree
from isthmus.spanning_tree.kdtree.knn import (
    Group,
    nodes_within,
    points_within,
    push_nodes,
)
from isthmus.spanning_tree.union_find import Best

DIMS = 0
KIND = 0
TOGETHER = 0

# The component of queries that are not all of one.
SEVERAL = -2


class Forest(NamedTuple):
    """Which component everything belongs to.

    Attributes
    ----------
    labels : (n_leaves * 8,) int32
        The component of each place; beyond the last point, of the last point.
    node_labels : (n_blocks * 8,) int32
        The component of each node; -1 where its points are of several.
    """

    labels: Labels
    node_labels: Labels


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
def farthest_of_group(group: Group) -> float:
    """Return the largest distance of a query that searches."""
    if TOGETHER == 1:
        return float(group.distance[0])
    return float(largest_of_eight(group.distance, 0))


@kernel_part
def nearest_in_leaf(
    tree: KdTree,
    forest: Forest,
    leaf: int,
    component: int,
    group: Group,
    bound: float,
) -> float:
    """Let the queries of a group look at a leaf; return the farthest distance they have found.

    component is the one of all queries, or SEVERAL. Of equally near points the first one counts;
    a query without a place takes one that is just at its bound.
    """
    mask = lanes_other_than(forest.labels, leaf * LANES, component)
    if mask == 0:
        return bound
    mask &= points_within(tree, leaf, group, bound)
    while mask != 0:
        lane = lowest_lane(mask)
        place = leaf * LANES + lane
        mask &= mask - 1
        if TOGETHER == 1:  # the query is the first one, and its distance has been found
            distance = group.found[lane]
            if distance < bound or (
                distance == bound and (group.place[0] < 0 or group.place[0] > place)
            ):
                bound = distance
                group.distance[0] = distance
                group.place[0] = place
            continue
        equal = improve_nearest(tree.blocks, place, forest.labels[place], group, DIMS, KIND)
        while equal != 0:
            lane = lowest_lane(equal)
            equal &= equal - 1
            if group.place[lane] < 0 or group.place[lane] > place:
                group.place[lane] = place
        bound = farthest_of_group(group)
    return bound


@kernel_part
def nearest_outside(
    tree: KdTree,
    forest: Forest,
    level: int,
    node: int,
    component: int,
    group: Group,
) -> None:
    """Let the queries of a group find their nearest points of other components outside a node.

    Parameters
    ----------
    level, node : int
        The node that is left out; its siblings and those of its ancestors are searched.
    component : int
        The one of all queries, or SEVERAL.
    group : in and out
        Its distances are bounds at first (negative: does not search), its places -1. Where
        queries search one at a time, it is the first one of the group.
    """
    bound = farthest_of_group(group)
    for height_of in range(level, tree.n_nodes.shape[0]):
        block = tree.first_block[height_of] + (node >> 3)
        mask = lanes_other_than(forest.node_labels, block * LANES, component) & ~(1 << (node & 7))
        node >>= 3
        if mask == 0:
            continue
        mask &= nodes_within(tree, block, group, bound)
        height = np.int64(0)
        below, parent = height_of, node
        while True:
            if below > 0:
                height = np.int64(push_nodes(mask, below, parent * LANES, group, height))
                mask = 0
            while mask != 0:
                lane = lowest_lane(mask)
                mask &= mask - 1
                if group.gaps[lane] <= bound:
                    leaf = parent * LANES + lane
                    bound = nearest_in_leaf(tree, forest, leaf, component, group, bound)
            while height > 0 and group.stack_distance[height - 1] > bound:
                height -= 1
            if height == 0:
                break
            height -= 1
            entry = group.stack_node[height]
            below, parent = (entry & 15) - 1, entry >> 4
            block = tree.first_block[below] + parent
            mask = lanes_other_than(forest.node_labels, block * LANES, component)
            if mask != 0:
                mask &= nodes_within(tree, block, group, bound)


@kernel_part
def cannot_improve(known: float, component: int, best: Best) -> bool:
    """Return whether an edge of at least a known length comes after the component's best one."""
    distance = best.distance[component]
    return bool(known > distance or (known == distance and best.a[component] < 0))
