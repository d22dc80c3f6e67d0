"""A spanning tree that CUT has cut → the labels of its points, or of the nodes above them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Ints, Labels
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.node_labels import MIXED, labels_below


@dataclass(frozen=True, eq=False)
class CutTree:
    """A spanning tree that was cut into parts, and all those that fewer cuts make.

    Attributes
    ----------
    tree : UltrametricTree
    node : (m,) or (0,) int
        Contracted components, in leaf order: nodes of the tree, each within one part. Empty where
        they are the points.
    label : (m,) int32
        The part of each component, in leaf order. Parts are numbered as they are cut off.
    cuts : (k - 1,) int64
        The merges whose edges were cut, the first one first.
    cut_from : (k,) int32
        The part that each one was cut off from; 0 for the first.
    """

    tree: UltrametricTree
    node: Labels
    label: Labels
    cuts: Ints
    cut_from: Labels

    def labels(self, n_parts: int) -> Labels:
        """Return the label of each point, (n,) int32, for k parts or fewer."""
        return labels_below(self.tree, self.node, self._number(n_parts)[self.label])

    def label_nodes(self, n_parts: int, node_labels: Labels) -> None:
        """Fill the labels of all nodes that are mixed and of their children, for k parts or fewer.

        node_labels : (2n - 1,) int32, out
        """
        tree = self.tree
        # Each merge lies between two positions of the leaf order.
        cuts = np.sort(tree.starts[tree.children[self.cuts[: n_parts - 1], 1]])
        slices = Slices(cuts, tree.starts[self.node], self.label, self._number(n_parts))
        stack = np.empty(n_parts, dtype=np.int64)
        label_mixed(tree.children, tree.starts, tree.sizes, slices, stack, node_labels)

    def _number(self, n_parts: int) -> Labels:
        """Return what each part is a part of where there are fewer: (k,) int32."""
        number = np.arange(len(self.cut_from), dtype=np.int32)
        for part in range(n_parts, len(number)):
            number[part] = number[self.cut_from[part]]
        return number


class Slices(NamedTuple):
    """Where the leaf order is cut.

    Attributes
    ----------
    cuts : (k - 1,) int
        The position behind each cut, ascending.
    begin : (m,) or (0,) int
        The position where each component begins; empty where components are points.
    label, number : (m,) and (k,) int32
        The part of each component, and what it is a part of, among those that are asked for.
    """

    cuts: Ints
    begin: Ints
    label: Labels
    number: Labels


@kernel_part
def first_above(ascending: Ints, value: int) -> int:
    """Return the position of the first number above a value: NumPy's search compiles slowly."""
    low, high = 0, ascending.shape[0]
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def label_mixed(
    children: Ints, starts: Ints, sizes: Ints, slices: Slices, stack: Ints, node_labels: Labels
) -> None:
    """Label the nodes in which an edge was cut, as MIXED, and their children.

    stack : (k,) int64, scratch
    node_labels : (2n - 1,) int32, out
    """
    n_points = children.shape[0] + 1
    cuts, begin = slices.cuts, slices.begin
    node_labels[2 * n_points - 2] = 0
    depth = 0
    if cuts.shape[0] > 0:
        stack[0] = 2 * n_points - 2
        depth = 1
    # On the stack are nodes with a cut in them, none within another: no more than there are cuts.
    while depth > 0:
        depth -= 1
        v = stack[depth]
        node_labels[v] = MIXED
        for side in range(2):
            child = children[v - n_points, side]
            start = starts[child]
            cut = first_above(cuts, start)
            if cut < cuts.shape[0] and cuts[cut] < start + sizes[child]:
                stack[depth] = child
                depth += 1
            else:
                component = first_above(begin, start) - 1 if begin.shape[0] > 0 else start
                node_labels[child] = slices.number[slices.label[component]]
