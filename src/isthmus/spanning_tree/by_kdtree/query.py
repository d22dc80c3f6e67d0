"""The nearest point of another component.

Edges are compared by length; edges of equal length that searches find, by their positions. So a
search must look at everything that is *at most* as far as the best so far, not only at what is
nearer, and the result does not depend on the order in which threads search.

That would be slow on lattices, where nearly all edges are equally long. So an edge from the
neighbour list of a component's own point comes before all edges of its length that searches find,
and where a component has such an edge, nothing that is only as near is searched for. The lists do
not depend on threads either.

Where one tree is wanted whatever the kd-tree, as Forest.by_index tells, edges of equal length are
compared by the indices of their points, and no list comes first.
"""

from __future__ import annotations

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
from isthmus.kdtree.build import KdTree
from isthmus.kdtree.traversal import (
    NOWHERE,
    Group,
    level_of,
    node_of,
    nodes_within,
    points_within,
    push_nodes,
)
from isthmus.spanning_tree.best_edges import Best, is_listed
from isthmus.spanning_tree.by_kdtree.component_labels import Forest

DIMS = 0
KIND = 0
TOGETHER = 0

# The component of queries that are not all of one.
SEVERAL = -2


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
def comes_first(tree: KdTree, forest: Forest, position: int, other: int) -> bool:
    """Whether, of two equally near positions, one comes before the other."""
    if forest.by_index:
        return bool(tree.order[position] < tree.order[other])
    return position < other


@kernel_part
def nearest_in_leaf(
    tree: KdTree, forest: Forest, leaf: int, component: int, group: Group, bound: float
) -> float:
    """Let the queries of a group look at a leaf; return the farthest distance they have found.

    component is the one of all queries, or SEVERAL. Of equally near points the first one counts;
    a query that has found nothing yet takes one that is just at its bound.
    """
    mask = lanes_other_than(forest.labels, leaf * LANES, component)
    if mask == 0:
        return bound
    mask &= points_within(tree, leaf, group, bound)
    while mask != 0:
        lane = lowest_lane(mask)
        position = leaf * LANES + lane
        mask &= mask - 1
        if TOGETHER == 1:  # the query is the first one, and its distance has been found
            distance = group.found[lane]
            if distance < bound or (
                distance == bound
                and (
                    group.position[0] == NOWHERE
                    or comes_first(tree, forest, position, group.position[0])
                )
            ):
                bound = distance
                group.distance[0] = distance
                group.position[0] = position
            continue
        equal = improve_nearest(tree.blocks, position, forest.labels[position], group, DIMS, KIND)
        while equal != 0:
            lane = lowest_lane(equal)
            equal &= equal - 1
            old = np.int64(group.position[lane])
            if old == NOWHERE or comes_first(tree, forest, position, old):
                group.position[lane] = position
        bound = farthest_of_group(group)
    return bound


@kernel_part
def nearest_outside(
    tree: KdTree, forest: Forest, level: int, node: int, component: int, group: Group
) -> None:
    """Let the queries of a group find their nearest points of other components outside a node.

    Parameters
    ----------
    level, node : int
        The node that is left out; its siblings and those of its ancestors are searched.
    component : int
        The one of all queries, or SEVERAL.
    group : in and out
        Its distances are bounds at first, or NOT_SEARCHING, and its positions NOWHERE. Where
        queries search one at a time, it is the first one of the group.
    """
    bound = farthest_of_group(group)
    for ancestor_level in range(level, tree.n_nodes.shape[0]):
        block = tree.first_block[ancestor_level] + (node >> 3)
        mask = lanes_other_than(forest.node_labels, block * LANES, component) & ~(1 << (node & 7))
        node >>= 3
        if mask == 0:
            continue
        mask &= nodes_within(tree, block, group, bound)
        height = np.int64(0)
        below, parent = ancestor_level, node
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
            below, parent = level_of(entry) - 1, node_of(entry)
            block = tree.first_block[below] + parent
            mask = lanes_other_than(forest.node_labels, block * LANES, component)
            if mask != 0:
                mask &= nodes_within(tree, block, group, bound)


@kernel_part
def cannot_improve(known: float, component: int, best: Best) -> bool:
    """Return whether an edge of at least a known length comes after the component's best one."""
    distance = best.distance[component]
    return bool(known > distance or (known == distance and is_listed(best, component)))
