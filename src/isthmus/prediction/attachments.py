"""New points → attachment edges: how a point that is not on the tree is connected to it.

The transitive distance of a new point x to a point v of the tree is

    D(x, v) = min over u of max(d(x, u), D(u, v)),

an edge from x to some point u of the tree, and the tree's path from u to v. Few edges matter: that
to u is not needed if a shorter one leads to a point u′ with D(u, u′) ≤ d(x, u). The others are the
*attachment edges* of x. Its distances to all n points follow from them in O(n), by a pass up the
tree and one down; its distances to the centres of clusters in O(log n) for each edge, by
ancestor_paths.py and centre_distances.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.ultrametric import UltrametricTree


@dataclass(frozen=True)
class Attachments:
    """The attachment edges of new points.

    Attributes
    ----------
    begin : (n_new + 1,) int64
        The edges of new point i are begin[i] … begin[i + 1] - 1.
    point : (n_edges,) int64
        Their ends on the tree; for each new point, the nearest one first, the smallest index among
        equals.
    length : (n_edges,) float64
        The base distances, ascending for each new point. Edges that are not needed may be among
        them.
    """

    begin: Ints
    point: Ints
    length: Floats

    def __len__(self) -> int:
        return len(self.begin) - 1

    @property
    def nearest(self) -> Ints:
        """The nearest point of the tree for each new point."""
        return self.point[self.begin[:-1]]

    def part(self, start: int, stop: int) -> Attachments:
        """Return the edges of new points start … stop - 1."""
        first, last = self.begin[start], self.begin[stop]
        begin = self.begin[start : stop + 1] - first
        return Attachments(begin, self.point[first:last], self.length[first:last])

    def among(self, coinciding: Ints) -> Attachments:
        """Return the edges of these new points and of others that coincide with points of the tree.

        coinciding : (m,) int64
            The point of the tree; -1 for the new points whose edges these are, in their order.
        """
        attached = coinciding < 0
        counts = np.ones(len(coinciding), dtype=np.int64)
        counts[attached] = np.diff(self.begin)
        begin = np.concatenate([[0], np.cumsum(counts)])
        point, length = np.repeat(coinciding, counts), np.zeros(begin[-1])
        own = np.repeat(attached, counts)
        point[own], length[own] = self.point, self.length
        return Attachments(begin, point, length)

    def mixed_with(self, others: Attachments, own: Array) -> Attachments:
        """Return the edges of these new points and of others in one order.

        own : (m,) bool
            Which of all of them are these.
        """
        both = Attachments.joined([self, others])
        order = np.argsort(np.argsort(~own, kind="stable"), kind="stable")
        return Attachments.joined([both.part(i, i + 1) for i in order.tolist()])

    @classmethod
    def joined(cls, parts: list[Attachments]) -> Attachments:
        """Return the edges of several groups of new points, one after the other."""
        if not parts:
            return cls.onto(np.empty(0, dtype=np.int64))
        counts = np.concatenate([np.diff(part.begin) for part in parts])
        return cls(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([part.point for part in parts]),
            np.concatenate([part.length for part in parts]),
        )

    @classmethod
    def onto(cls, points: Ints) -> Attachments:
        """Return the edges, of length 0, of new points that coincide with points of the tree."""
        return cls(np.arange(len(points) + 1), points, np.zeros(len(points)))


def attach_by_distances(
    tree: UltrametricTree,
    n_new: int,
    blocks: Iterable[tuple[Ints, Floats]],
    heights: Floats | None = None,
) -> Attachments:
    """Return the attachments of new points, given their base distances to all points of a tree.

    Parameters
    ----------
    tree : UltrametricTree
    n_new : int
    blocks : iterable of (b,) int64 and (b, n) float64
        The numbers of some new points, and their distances; each new point occurs once.
    heights : (n - 1,) float64, optional
        Those of the tree in the unit of the distances, if it is another one.
    """
    heights = tree.heights if heights is None else heights
    none = np.empty(0, np.int64), np.empty(0)
    found: list[tuple[Ints, Floats]] = [none] * n_new
    shortest, nearest = np.empty(2 * tree.n_points - 1), np.empty(2 * tree.n_points - 1, np.int64)
    point, length = np.empty(tree.n_points, np.int64), np.empty(tree.n_points)
    for numbers, distances in blocks:
        for number, row in zip(numbers, distances, strict=True):
            n_edges = find_edges(tree.children, heights, row, shortest, nearest, point, length)
            order = np.argsort(length[:n_edges], kind="stable")
            found[number] = point[order], length[order]
    begin = np.concatenate([[0], np.cumsum([len(points) for points, _ in found])])
    return Attachments(
        begin.astype(np.int64),
        np.concatenate([none[0], *(points for points, _ in found)]),
        np.concatenate([none[1], *(lengths for _, lengths in found)]),
    )


def transitive_rows(
    tree: UltrametricTree, attachments: Attachments, start: int, stop: int
) -> Floats:
    """Return the transitive distances of new points start … stop - 1 to all points of a tree."""
    out = np.empty((stop - start, tree.n_points))
    scratch = np.empty(2 * tree.n_points - 1)
    for i in range(start, stop):
        own = slice(attachments.begin[i], attachments.begin[i + 1])
        point, length = attachments.point[own], attachments.length[own]
        fill_transitive_distances(tree.children, tree.heights, point, length, scratch)
        out[i - start] = scratch[: tree.n_points]
    return out


@kernel
def find_edges(
    children: Ints,
    heights: Floats,
    distances: Floats,
    shortest: Floats,
    nearest: Ints,
    point: Ints,
    length: Floats,
) -> int:
    """Fill the attachment edges of one new point, the nearest point first; return their number.

    At each merge, of the shortest edges to its two sides, the longer one is needed if it is below
    the height of the merge. Otherwise the other edge and the merge lead there as well.

    distances : (n,) float64, in
        The base distances of the new point to all points.
    shortest, nearest : (2n - 1,) float64 and int64, scratch
        The length and the end of the shortest edge to a point below each node; of several, the
        smallest end.
    point, length : (n,) int64 and float64, out
    """
    n_points = children.shape[0] + 1
    for i in range(n_points):
        shortest[i] = distances[i]
        nearest[i] = i
    n_edges = 1
    for e in range(n_points - 1):
        x, y = children[e, 0], children[e, 1]
        if shortest[y] < shortest[x] or (shortest[y] == shortest[x] and nearest[y] < nearest[x]):
            x, y = y, x
        shortest[n_points + e] = shortest[x]
        nearest[n_points + e] = nearest[x]
        if shortest[y] < heights[e]:
            point[n_edges] = nearest[y]
            length[n_edges] = shortest[y]
            n_edges += 1
    point[0] = nearest[2 * n_points - 2]
    length[0] = shortest[2 * n_points - 2]
    return n_edges


@kernel
def fill_transitive_distances(
    children: Ints, heights: Floats, point: Ints, length: Floats, distances: Floats
) -> None:
    """Fill the transitive distances of one new point to all points, from its attachment edges.

    distances : (2n - 1,) float64, out
        The first n are those of the points; that of a node is the least one within which all
        points below it are reached.
    """
    n_points = children.shape[0] + 1
    for v in range(distances.shape[0]):
        distances[v] = np.inf
    for e in range(point.shape[0]):
        distances[point[e]] = length[e]
    # up: the shortest edge to a point below each node
    for e in range(n_points - 1):
        distances[n_points + e] = min(distances[children[e, 0]], distances[children[e, 1]])
    if n_points > 1:
        distances[2 * n_points - 2] = max(distances[2 * n_points - 2], heights[n_points - 2])
    # down: a node is reached by an edge to a point below it, or as its parent is
    for e in range(n_points - 2, -1, -1):
        for side in range(2):
            child = children[e, side]
            height = heights[child - n_points] if child >= n_points else 0.0
            distances[child] = min(distances[n_points + e], max(distances[child], height))
