"""The spanning tree, and the points that are shown → a tree of these, with the same distances.

Where all points are shown it is the spanning tree. Else each point that is not shown is merged with
the shown one that it reaches first, over the shortest edges. What is left are edges of the
spanning tree between groups of points, one shown point in each; the longest edge on the way between
two shown points is among them. So the transitive distances of shown points are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.rooted import root_tree


class ShownTree(NamedTuple):
    """A tree of m shown points, rooted at the first.

    Attributes
    ----------
    parent : (m,) int64
        The next point on the way to the root, as an index among those shown; -1 for the root.
    length : (m,) float64
        The length of the edge to it; 0 for the root.
    """

    parent: Ints
    length: Floats


def tree_of_shown(tree: UltrametricTree, points: Ints) -> ShownTree:
    """Return the tree of some points, (m,), of a tree: in the order in which they are given."""
    index = np.full(tree.n_points, -1, dtype=np.int64)
    index[points] = np.arange(len(points))
    edges, weights = tree.spanning_tree.edges, tree.heights
    if len(points) == tree.n_points:
        between = index[edges]
    else:
        between = np.full((len(points) - 1, 2), -1, dtype=np.int64)
        kept = np.empty(len(points) - 1, dtype=np.int64)
        n_nodes = 2 * tree.n_points - 1
        group = np.full(n_nodes, -1, dtype=np.int64)
        top = np.arange(n_nodes)
        shape = _Shape(tree.children, tree.starts, tree.sizes, edges)
        contract(shape, index, np.zeros(n_nodes, dtype=np.int64), top, group, kept, between)
        weights = weights[kept]
    return _rooted(between, weights, len(points))


def _rooted(edges: Ints, weights: Floats, n_points: int) -> ShownTree:
    if n_points == 1:
        return ShownTree(np.array([-1]), np.zeros(1))
    parent = root_tree(edges).parent
    first_is_child = parent[edges[:, 0]] == edges[:, 1]
    child = np.where(first_is_child, edges[:, 0], edges[:, 1])
    length = np.zeros(n_points)
    length[child] = weights
    return ShownTree(parent, length)


class _Shape(NamedTuple):
    """The arrays of an ultrametric tree, and the edges that were merged."""

    children: Array
    starts: Array
    sizes: Array
    edges: Array


@kernel_part
def group_of(point: int, index: Ints, top: Ints, group: Ints) -> int:
    """Return the shown point that a point is merged with, as an index; both are known."""
    if index[point] >= 0:
        return int(index[point])
    return int(group[top[point]])


@kernel
def contract(
    shape: _Shape, index: Ints, count: Ints, top: Ints, group: Ints, kept: Ints, between: Ints
) -> None:
    """Merge the points that are not shown with shown ones.

    Parameters
    ----------
    shape : in
    index : (n,) int64, in
        The index of each shown point; -1 for the others.
    count : (2n - 1,) int64, zero on entry, scratch
        The number of shown points below each node.
    top : (2n - 1,) int64, each node's number on entry, scratch
        The highest node above each one that holds no shown point.
    group : (2n - 1,) int64, scratch
        The shown point that such a node is merged with.
    kept : (m - 1,) int64, out
        The merges whose edges are left, ascending.
    between : (m - 1, 2) int64, out
        The shown points that these edges connect.
    """
    children, starts, sizes, edges = shape.children, shape.starts, shape.sizes, shape.edges
    n_points = children.shape[0] + 1
    for i in range(n_points):
        count[i] = 1 if index[i] >= 0 else 0
    for e in range(n_points - 1):
        count[n_points + e] = count[children[e, 0]] + count[children[e, 1]]
    for e in range(n_points - 2, -1, -1):
        if count[n_points + e] == 0:
            top[children[e, 0]] = top[n_points + e]
            top[children[e, 1]] = top[n_points + e]
    n_kept = 0
    for e in range(n_points - 1):
        first, second = children[e, 0], children[e, 1]
        if count[first] > 0 and count[second] > 0:
            kept[n_kept] = e
            for side in range(2):
                between[n_kept, side] = group_of(edges[e, side], index, top, group)
            n_kept += 1
        elif count[first] + count[second] > 0:
            empty = first if count[first] == 0 else second
            near = starts[edges[e, 0]]
            inside = starts[empty] <= near < starts[empty] + sizes[empty]
            full_end = edges[e, 1] if inside else edges[e, 0]
            group[empty] = group_of(full_end, index, top, group)
