"""Labels of the nodes of a tree, and from them those of its leaves."""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Array, Ints, Labels
from isthmus.ultrametric.merges import merges_of_gaps
from isthmus.ultrametric.tree import UltrametricTree

# The label of a node whose points are not all of one cluster.
MIXED = -1


def in_leaf_order(tree: UltrametricTree, nodes: Ints) -> Ints:
    """Return the permutation that puts disjoint nodes, (m,), into leaf order."""
    numbers = np.zeros(tree.n_points, dtype=tree.starts.dtype)
    numbers[tree.starts[nodes]] = np.arange(1, len(nodes) + 1)
    order: Ints = numbers[numbers != 0] - 1
    return order


def labels_below(tree: UltrametricTree, nodes: Ints, labels: Labels) -> Labels:
    """Return the label of each point, (n,) int32, from those of nodes that hold all points.

    nodes : (m,) or (0,) int
        Disjoint nodes, in leaf order; empty where they are the points.
    labels : (m,) int32
    """
    by_position = labels
    if len(nodes):
        by_position = np.repeat(labels, tree.sizes[nodes])
    return by_position.take(tree.starts[: tree.n_points])


@kernel
def propagate_labels(children: Ints, node_labels: Labels) -> None:
    """Give the children of every node that is not mixed its label, in place."""
    n_points = children.shape[0] + 1
    for e in range(n_points - 2, -1, -1):
        label = node_labels[n_points + e]
        if label != MIXED:
            node_labels[children[e, 0]] = label
            node_labels[children[e, 1]] = label


def labels_of_parts(tree: UltrametricTree, is_split: Array) -> Labels:
    """Return the parts that are left when merges are split, numbered by their first points: (n,).

    is_split : (n - 1,) bool
        The parents of a split merge are split, so every part is a run of the leaf order.
    """
    ends = np.flatnonzero(is_split[merges_of_gaps(tree.children, tree.starts)]) + 1
    starts = np.append(0, ends)
    first_points = np.minimum.reduceat(tree.leaf_order, starts)
    numbers = np.empty(len(starts), dtype=np.int32)
    numbers[np.argsort(first_points)] = np.arange(len(starts))
    labels = np.empty(tree.n_points, dtype=np.int32)
    labels[tree.leaf_order] = np.repeat(numbers, np.diff(starts, append=tree.n_points))
    return labels
