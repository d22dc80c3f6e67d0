"""A spanning tree that CUT has cut → the labels of its points, or of the nodes above them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Ints, Labels
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.node_labels import MIXED


@dataclass(frozen=True, eq=False)
class CutTree:
    """A spanning tree that was cut into parts, and all those that fewer cuts make.

    Attributes
    ----------
    tree : UltrametricTree
    node : (m,) int32
        Pieces, in leaf order: nodes of the tree, each within one part.
    label : (m,) int32
        The part of each piece. Parts are numbered as they are cut off.
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
        """Return the label of each point, (n,) int32, for as many parts or fewer."""
        labels = np.empty(self.tree.n_points, dtype=np.int32)
        in_order = np.repeat(self._number(n_parts)[self.label], self.tree.sizes[self.node])
        labels[self.tree.leaf_order] = in_order
        return labels

    def label_nodes(self, n_parts: int, node_labels: Labels) -> None:
        """Fill the labels of all nodes that are mixed and of their children; see frontier.py."""
        tree = self.tree
        # Each merge lies between two places of the leaf order.
        between = np.sort(tree.starts[tree.children[self.cuts[: n_parts - 1], 1]])
        begin = tree.starts[self.node] if len(self.node) < tree.n_points else np.empty(0, np.int32)
        number, stack = self._number(n_parts), np.empty(n_parts, dtype=np.int64)
        label_top(
            tree.children,
            tree.starts,
            tree.sizes,
            between,
            begin,
            self.label,
            number,
            stack,
            node_labels,
        )

    def _number(self, n_parts: int) -> Labels:
        """Return what each part is a part of where there are fewer: (k,) int32."""
        number = np.arange(len(self.cut_from), dtype=np.int32)
        for part in range(n_parts, len(number)):
            number[part] = number[self.cut_from[part]]
        return number


@kernel_part
def first_above(ascending: Ints, value: int) -> int:
    """Return where the first number above a value stands: NumPy's search takes long to compile."""
    low, high = 0, ascending.shape[0]
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def label_top(
    children: Ints,
    starts: Ints,
    sizes: Ints,
    between: Ints,
    begin: Ints,
    label: Labels,
    number: Labels,
    stack: Ints,
    node_labels: Labels,
) -> None:
    """Label the nodes in which an edge was cut, as MIXED, and their children.

    Parameters
    ----------
    children, starts, sizes : in
        The tree.
    between : (k - 1,) int, in
        For each cut, ascending, the place in leaf order right behind it.
    begin : (m,) or (0,) int, in
        Where each piece begins in leaf order; nothing where pieces are points.
    label : (m,) int32, in
        The part of each piece.
    number : int32, in
        What each part is a part of, among those that are asked for.
    stack : (k,) int64, scratch
    node_labels : (2n - 1,) int32, out
    """
    n_points = children.shape[0] + 1
    node_labels[2 * n_points - 2] = 0
    depth = 0
    if between.shape[0] > 0:
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
            cut = first_above(between, start)
            if cut < between.shape[0] and between[cut] < start + sizes[child]:
                stack[depth] = child
                depth += 1
            else:
                piece = first_above(begin, start) - 1 if begin.shape[0] > 0 else start
                node_labels[child] = number[label[piece]]
