"""The spanning tree with its light edges contracted.

Whoever looks for a heavy edge between two large sides need not look at the light ones. So the
lowest merges of the ultrametric tree are contracted: what they merge are the components, which are
nodes of that tree. The heavier edges connect the components to a tree, which is rooted at the
component of point 0. Where no edge is contracted the components are the points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import AHEAD, kernel, prefetch
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.node_labels import in_leaf_order
from isthmus.ultrametric.rooted import COUNT, DEGREE, EDGE, NEIGHBOUR, add_edge, prune_leaves

# Columns of the row of a component that has been pruned and has its position, in place of others:
# the position of the next branch below it, and its own.
NEXT, POSITION = DEGREE, COUNT


class Rooted(NamedTuple):
    """A rooted tree of m components, laid out so that every branch is a slice of positions.

    Attributes
    ----------
    position : (m,) int
        The position of each component, parents before children.
    parent : (m,) int
        By position: the position of the parent; -1 for the root.
    size : (m,) int
        The number of components in the branch that begins at each position.
    merge : (m,) int
        The merge whose edge leads to the parent; -1 for the root.
    """

    position: Labels
    parent: Labels
    size: Labels
    merge: Labels


@dataclass(frozen=True, eq=False)
class ContractedTree:
    """A spanning tree with its light edges contracted.

    Attributes
    ----------
    tree : UltrametricTree
    node : (m,) or (0,) int
        The components, in leaf order; empty where they are the points.
    rooted : Rooted
    """

    tree: UltrametricTree
    node: Labels
    rooted: Rooted

    @classmethod
    def of(cls, tree: UltrametricTree, n_edges: int) -> ContractedTree:
        """Return the tree of the n_edges heaviest edges; all others are contracted."""
        nodes, component_at = _components(tree, n_edges)
        rows = np.zeros((len(nodes) or tree.n_points, 4), dtype=nodes.dtype)
        rows[:, COUNT] = 1
        rooted = Rooted(*(np.empty_like(nodes, shape=len(rows)) for _ in Rooted._fields))
        root = component_at[tree.starts[0]] if len(component_at) else tree.starts[0]
        root_components(tree.spanning_tree.edges, tree.starts, component_at, root, rows, rooted)
        return cls(tree, nodes, rooted)

    def __len__(self) -> int:
        return len(self.rooted.position)

    def weights(self, point_weights: Floats | None) -> Array:
        """Return the weight of each component, (m,), by position: integers, where points have none.

        point_weights : (n,) float64, optional
        """
        tree = self.tree
        if point_weights is None and len(self) == tree.n_points:
            return np.ones_like(self.rooted.position)
        if point_weights is None:
            weights: Array = tree.sizes[self.node]
        else:
            weights = point_weights[tree.leaf_order]
            if len(self) < tree.n_points:
                weights = np.add.reduceat(weights, tree.starts[self.node])
        by_position = np.empty_like(weights)
        by_position[self.rooted.position] = weights
        return by_position

    def heights(self) -> Floats:
        """Return the height of each component, (m,), by position; -inf for points.

        Where all components are points, an empty array.
        """
        n_points = self.tree.n_points
        if len(self) == n_points:
            return np.empty(0)
        heights = np.full(len(self), -np.inf)
        inner = self.node >= n_points
        heights[self.rooted.position[inner]] = self.tree.heights[self.node[inner] - n_points]
        return heights


@dataclass(frozen=True, eq=False)
class GivenComponents(ContractedTree):
    """A tree of components that were contracted elsewhere; each is a point of the tree.

    Attributes
    ----------
    component_weights : (m,) int64 or float64
    component_heights : (m,) float64
        What the edges within each component weigh at most; -inf for a point.
    """

    component_weights: Array
    component_heights: Floats

    @classmethod
    def of_tree(cls, tree: UltrametricTree, weights: Array, heights: Floats) -> GivenComponents:
        """Return the components, given as the points of a tree."""
        whole = ContractedTree.of(tree, tree.n_points - 1)
        return cls(tree, whole.node, whole.rooted, weights, heights)

    def weights(self, point_weights: Floats | None) -> Array:  # noqa: ARG002
        """Return the weight of each component, by position."""
        return self._by_position(self.component_weights)

    def heights(self) -> Floats:
        """Return the height of each component, by position."""
        return self._by_position(self.component_heights)

    def _by_position(self, values: Array) -> Array:
        by_position = np.empty_like(values)
        by_position[self.rooted.position] = values[self.tree.leaf_order]
        return by_position


def _components(tree: UltrametricTree, n_edges: int) -> tuple[Array, Array]:
    """Return the components, in leaf order, and the component at each position of that order.

    Components that are close in leaf order are close in memory, and mostly connected by edges.
    Where they are the points, both arrays are empty: each one's number is its position.
    """
    n_points = tree.n_points
    number = tree.children.dtype
    if n_edges == n_points - 1:
        return np.empty(0, dtype=number), np.empty(0, dtype=number)
    first = n_points - 1 - n_edges
    nodes = tree.children[first:].ravel() if n_edges else np.array([2 * n_points - 2], number)
    nodes = nodes[nodes < n_points + first]
    nodes = nodes[in_leaf_order(tree, nodes)]
    return nodes, np.repeat(np.arange(len(nodes), dtype=number), tree.sizes[nodes])


@kernel
def root_components(
    ends: Ints, starts: Ints, component_at: Labels, root: int, rows: Labels, rooted: Rooted
) -> None:
    """Root the tree that the heaviest edges make of the components.

    Parameters
    ----------
    ends : (n - 1, 2) int, in
        The points that each edge connects.
    starts : (2n - 1,) int, in
        The position of each point in leaf order.
    component_at : (n,) or (0,) int, in
        The component at each position of that order; nothing where these are the same.
    root : int
    rows : (m, 4) int, in and out
        See ultrametric/rooted.py; the number of an edge is that of its merge.
    rooted : out
    """
    n_merges, n_components = ends.shape[0], rows.shape[0]
    for e in range(n_merges - n_components + 1, n_merges):
        if e + 2 * AHEAD < n_merges:
            prefetch(starts, ends[e + 2 * AHEAD, 0])
            prefetch(starts, ends[e + 2 * AHEAD, 1])
            # Most edges connect components that are close in memory: one end stands for both.
            soon = starts[ends[e + AHEAD, 0]]
            if component_at.shape[0] > 0:
                prefetch(component_at, soon)
            else:
                prefetch(rows, soon * 4)
        a, b = starts[ends[e, 0]], starts[ends[e, 1]]
        if component_at.shape[0] > 0:
            a, b = np.int64(component_at[a]), np.int64(component_at[b])
        add_edge(rows, a, b, e)
    order = rooted.position  # as they are pruned; the positions are known in the end
    n_pruned = prune_leaves(rows, root, order)
    rooted.parent[0], rooted.size[0], rooted.merge[0] = -1, n_components, -1
    rows[root, NEXT] = 1
    rows[root, POSITION] = 0
    for o in range(n_pruned - 1, -1, -1):
        u = order[o]
        above = rows[u, NEIGHBOUR]
        here, count = rows[above, NEXT], rows[u, COUNT]
        rows[above, NEXT] = here + count
        rooted.parent[here] = rows[above, POSITION]
        rooted.size[here] = count
        rooted.merge[here] = rows[u, EDGE]
        rows[u, NEXT] = here + 1
        rows[u, POSITION] = here
    for u in range(n_components):
        rooted.position[u] = rows[u, POSITION]
