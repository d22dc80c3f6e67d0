"""Which component every point and every node of a kd-tree belongs to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._numba.simd import LANES, lanes_other_than
from isthmus._utils.typing import Ints, Labels

# The label of a node whose points are of several components.
MIXED = -1


class Forest(NamedTuple):
    """The components of a kd-tree's points.

    Attributes
    ----------
    labels : (n_leaves * 8,) int32
        The component at each position; beyond the last point, that of the last point.
    node_labels : (n_blocks * 8,) int32
        The component of each node, or MIXED.
    by_index : bool
        Whether edges of equal length are compared by the indices of their points: query.py. Asked
        only where two are equal, so that it costs no time; as a constant it would double what is
        compiled.
    """

    labels: Labels
    node_labels: Labels
    by_index: bool


@kernel
def relabel_leaves(forest: Forest, new_label: Labels, n_points: int, start: int, stop: int) -> None:
    """Relabel the points of leaves start … stop - 1, and label the leaves.

    new_label : (n_components,) int32
        Of each old component. May be empty: then labels are right already, and only leaves are
        labelled.
    """
    labels = forest.labels
    for leaf in range(start, stop):
        first = leaf * LANES
        if new_label.shape[0] > 0:
            for position in range(first, min(first + LANES, n_points)):
                labels[position] = new_label[np.int64(labels[position])]
        for position in range(max(first, n_points), first + LANES):
            labels[position] = labels[n_points - 1]
        label = labels[first]
        differing = 0
        for position in range(first + 1, first + LANES):
            differing |= labels[position] ^ label
        forest.node_labels[leaf] = label if differing == 0 else np.int32(MIXED)


@kernel
def relabel_nodes(node_labels: Labels, first_block: Ints, n_nodes: Ints) -> None:
    """Label all nodes above the leaves."""
    for level in range(1, n_nodes.shape[0]):
        for node in range(n_nodes[level]):
            begin = (first_block[level - 1] + node) * LANES
            n_children = min(LANES, n_nodes[level - 1] - node * LANES)
            label = node_labels[begin]
            others = lanes_other_than(node_labels, begin, label) & ((1 << n_children) - 1)
            above = first_block[level] * LANES + node
            node_labels[above] = label if others == 0 else np.int32(MIXED)
