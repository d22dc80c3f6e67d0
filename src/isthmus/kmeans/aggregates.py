"""What an objective knows of each node of the tree, and how kernels read it."""

from __future__ import annotations

from typing import NamedTuple

from isthmus._numba.kernel import AHEAD, kernel_part, prefetch
from isthmus._utils.typing import Floats, Ints


class TreeArrays(NamedTuple):
    """A tree as the kernels of an objective take it.

    Attributes
    ----------
    children : (n - 1, 2) int
    heights : (n - 1,) float64
        In the kernels' scale; the squared heights, in the embedded space.
    aggregates : (n or 2n - 1, c) float64
        A row for each node, found by row_of. The first column is the weight of the points below
        the node; the others belong to the objective.
    """

    children: Ints
    heights: Floats
    aggregates: Floats


@kernel_part
def row_of(tree: TreeArrays, v: int) -> int:
    """Return the row of a node's aggregates.

    Where every point has the weight 1, all leaves share row 0; else each node has its own row.
    """
    n_shared: int = 2 * tree.children.shape[0] + 1 - tree.aggregates.shape[0]
    return max(v - n_shared, 0)


@kernel_part
def weight_of(tree: TreeArrays, v: int) -> float:
    """Return the weight of the points below a node."""
    weight: float = tree.aggregates[row_of(tree, v), 0]
    return weight


@kernel_part
def prefetch_children(tree: TreeArrays, e: int) -> None:
    """Ask for the aggregates of the children of a merge that comes a while after merge e."""
    if e + AHEAD < tree.children.shape[0]:
        width = tree.aggregates.shape[1]
        prefetch(tree.aggregates, row_of(tree, tree.children[e + AHEAD, 0]) * width)
        prefetch(tree.aggregates, row_of(tree, tree.children[e + AHEAD, 1]) * width)
