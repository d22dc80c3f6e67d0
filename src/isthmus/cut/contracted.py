"""The spanning tree in pieces: what light edges hold together is one, heavy edges join them.

Whoever looks for a heavy edge between two large sides need not look at the light ones. So only the
highest merges of the ultrametric tree are *opened*; the nodes below these are the pieces, and the
edges of the open merges join them to a tree, which is hung up at the piece of point 0. With all
merges open the pieces are the points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus._numba.kernel import AHEAD, kernel, prefetch
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.rooted import (
    COUNT,
    DEGREE,
    EDGE,
    NEIGHBOUR,
    add_edge,
    prune_leaves,
)

# Columns of the row of a piece that has been taken off and put into its place, in place of others:
# where the next branch on it begins, and where it stands itself.
NEXT, PLACE = DEGREE, COUNT


@dataclass(frozen=True, eq=False)
class ContractedTree:
    """A spanning tree in pieces, hung up and laid out so that every branch is a slice.

    Attributes
    ----------
    tree : UltrametricTree
    node : (m,) int32
        The pieces, in leaf order.
    place : (m,) int32
        Where each of them stands in the tree that is hung up, parents before children.
    parent : (m,) int32
        By place: where the parent stands; -1 for the root.
    size : (m,) int32
        The number of pieces in the branch that begins at each place.
    merge : (m,) int32
        The merge whose edge leads to the parent; -1 for the root.
    """

    tree: UltrametricTree
    node: Labels
    place: Labels
    parent: Labels
    size: Labels
    merge: Labels

    @classmethod
    def below(cls, tree: UltrametricTree, n_open: int) -> ContractedTree:
        """Return the pieces below so many of the highest merges."""
        nodes, piece_at = _numbers(tree, n_open)
        rows = np.zeros((len(nodes), 4), dtype=nodes.dtype)
        rows[:, COUNT] = 1
        join_pieces(n_open, tree.spanning_tree.edges, tree.starts, piece_at, rows)
        place, parent, size, merge = (np.empty_like(nodes) for _ in range(4))
        root = piece_at[tree.starts[0]] if len(piece_at) else tree.starts[0]
        hang_up(rows, root, place, parent, size, merge)
        return cls(tree, nodes, place, parent, size, merge)

    def __len__(self) -> int:
        return len(self.node)

    def point_weights(self, point_weights: Floats | None) -> Array:
        """Return the mass of each piece, (m,), by place: integers where points have none."""
        tree = self.tree
        if point_weights is None and len(self) == tree.n_points:
            return np.ones_like(self.place)
        in_order: Array = tree.sizes[self.node]
        if point_weights is not None:
            in_order = np.add.reduceat(point_weights[tree.leaf_order], tree.starts[self.node])
        by_place = np.empty_like(in_order)
        by_place[self.place] = in_order
        return by_place

    def heights(self) -> Floats:
        """Return the height of each piece, (m,), by place; -inf for points.

        Where all pieces are points, an empty array.
        """
        n_points = self.tree.n_points
        if len(self) == n_points:
            return np.empty(0)
        heights = np.full(len(self), -np.inf)
        inner = self.node >= n_points
        heights[self.place[inner]] = self.tree.heights[self.node[inner] - n_points]
        return heights


def _numbers(tree: UltrametricTree, n_open: int) -> tuple[Array, Array]:
    """Return the nodes that the pieces are, in leaf order, and the piece at each place of it.

    Pieces that are close in leaf order are close in memory, and mostly joined by edges. Where they
    are the points, the second array is empty: each one's number is its place.
    """
    n_points = tree.n_points
    number = tree.children.dtype
    if n_open == n_points - 1:
        return tree.leaf_order, np.empty(0, dtype=number)
    first = n_points - 1 - n_open
    nodes = tree.children[first:].ravel() if n_open else np.array([2 * n_points - 2])
    nodes = nodes[nodes < n_points + first]
    begins: Array = np.zeros(n_points, dtype=number)
    begins[tree.starts[nodes]] = nodes + 1
    in_order = begins[begins != 0] - 1
    return in_order, np.repeat(np.arange(len(in_order), dtype=number), tree.sizes[in_order])


@kernel
def join_pieces(n_open: int, ends: Ints, starts: Ints, piece_at: Labels, rows: Labels) -> None:
    """Enter the edges of the highest merges into the rows of the pieces.

    Parameters
    ----------
    n_open, ends, starts : in
    piece_at : (n,) or (0,) int32, in
        The piece at each place of the leaf order, or nothing where these are the same.
    rows : (m, 4) int32, in and out
        See ultrametric/rooted.py; an edge has the number of its merge.
    """
    n_merges = ends.shape[0]
    for e in range(n_merges - n_open, n_merges):
        if e + 2 * AHEAD < n_merges:
            prefetch(starts, ends[e + 2 * AHEAD, 0])
            prefetch(starts, ends[e + 2 * AHEAD, 1])
            # Most edges are between pieces that are close in memory: one end stands for both.
            soon = starts[ends[e + AHEAD, 0]]
            if piece_at.shape[0] > 0:
                prefetch(piece_at, soon)
            else:
                prefetch(rows, soon * 4)
        a, b = starts[ends[e, 0]], starts[ends[e, 1]]
        if piece_at.shape[0] > 0:
            a, b = np.int64(piece_at[a]), np.int64(piece_at[b])
        add_edge(rows, a, b, e)


@kernel
def hang_up(
    rows: Labels, root: int, place: Labels, parent: Labels, size: Labels, merge: Labels
) -> None:
    """Take the pieces off the tree, one by one, and put them into order.

    Parameters
    ----------
    rows : (m, 4) int32, in and out
        See ultrametric/rooted.py.
    place, parent, size, merge : (m,) int32, out
        As in :class:`Pieces`.
    """
    n_pieces = rows.shape[0]
    order = place  # what was taken off, first things first; the places are known in the end
    n_taken = prune_leaves(rows, root, order)
    parent[0], size[0], merge[0] = -1, n_pieces, -1
    rows[root, NEXT] = 1
    rows[root, PLACE] = 0
    for o in range(n_taken - 1, -1, -1):
        u = order[o]
        above = rows[u, NEIGHBOUR]
        here, count = rows[above, NEXT], rows[u, COUNT]
        rows[above, NEXT] = here + count
        parent[here] = rows[above, PLACE]
        size[here] = count
        merge[here] = rows[u, EDGE]
        rows[u, NEXT] = here + 1
        rows[u, PLACE] = here
    for u in range(n_pieces):
        place[u] = rows[u, PLACE]
