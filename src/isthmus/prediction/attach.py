"""New points → clusters: where a point that is not on the tree belongs.

The transitive distance of a new point x to a point v of the tree is the least, over all points u
of the tree, of max(d(x, u), D(u, v)): one hop from x onto the tree, and on from there. Few hops
matter. A hop to u is no better than a shorter one to u′ if D(u, u′) is no longer than itself: it
could go by way of u′. Those that are left are the *links* of x. Its distances to all n points
follow from them in O(n), by one pass up the tree and one down; but its distances to the centres
of clusters need no more than a few steps for each link, by branches.py and centre_distances.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isthmus._numba.kernel import announce_compilation, kernel
from isthmus._utils.parallel import chunks
from isthmus._utils.rounding import is_nearer
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kmeans.space import TreeSpace
from isthmus.prediction.ancestors import MOST_EDGES, Ancestry, Parts, ancestry_of, find_parts
from isthmus.prediction.centre_distances import CentreSums, EmbeddedSums, RowSums
from isthmus.ultrametric import UltrametricTree

# New points whose distances are computed together; more where tables must be made for them, a few
# clusters at a time.
_TOGETHER, _TOGETHER_IN_TURNS = 1 << 12, 1 << 16
# Entries of rows of distances that are held together.
_AT_ONCE = 1 << 20
# In the kernels' scale, where the tree's heights are below 2: squares do not overflow, and
# distances beyond it are all alike to 12 digits.
_AS_GOOD_AS_INFINITE = 1e140


@dataclass(frozen=True)
class Attachments:
    """The links of new points to a tree.

    Attributes
    ----------
    begin : (n_new + 1,) int64
        Those of new point i are begin[i] … begin[i + 1] - 1.
    point : (n_links,) int64
        The points of the tree that they lead to; of each new point, the nearest one first, the
        smallest index among equals.
    length : (n_links,) float64
        The base distances, ascending for each new point. Hops that are no links may be among them.
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
        """Return the links of new points start … stop - 1."""
        first, last = self.begin[start], self.begin[stop]
        begin = self.begin[start : stop + 1] - first
        return Attachments(begin, self.point[first:last], self.length[first:last])

    def among(self, coinciding: Ints) -> Attachments:
        """Return the links of these new points and of others that coincide with points of the tree.

        coinciding : (m,) int64
            The point of the tree; -1 for the new points whose links these are, in their order.
        """
        linked = coinciding < 0
        counts = np.ones(len(coinciding), dtype=np.int64)
        counts[linked] = np.diff(self.begin)
        begin = np.concatenate([[0], np.cumsum(counts)])
        point, length = np.repeat(coinciding, counts), np.zeros(begin[-1])
        own = np.repeat(linked, counts)
        point[own], length[own] = self.point, self.length
        return Attachments(begin, point, length)

    @classmethod
    def joined(cls, parts: list[Attachments]) -> Attachments:
        """Return the links of several groups of new points, one after the other."""
        if not parts:
            return cls.onto(np.empty(0, dtype=np.int64))
        counts = np.concatenate([np.diff(links.begin) for links in parts])
        return cls(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([links.point for links in parts]),
            np.concatenate([links.length for links in parts]),
        )

    @classmethod
    def onto(cls, points: Ints) -> Attachments:
        """Return the links of new points that coincide with points of the tree."""
        return cls(np.arange(len(points) + 1), points, np.zeros(len(points)))


def attach_by_distances(
    tree: UltrametricTree,
    n_new: int,
    blocks: Iterable[tuple[Ints, Floats]],
    heights: Floats | None = None,
) -> Attachments:
    """Return the links of new points, given their base distances to all points of a tree.

    Parameters
    ----------
    tree : UltrametricTree
    n_new : int
    blocks : iterable of (b,) int64 and (b, n) float64
        The numbers of some new points, and their distances; in the end, of each one once.
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
            n_attached = find_attachments(
                tree.children, heights, row, shortest, nearest, point, length
            )
            order = np.argsort(length[:n_attached], kind="stable")
            found[number] = point[order], length[order]
    begin = np.concatenate([[0], np.cumsum([len(points) for points, _ in found])])
    return Attachments(
        begin.astype(np.int64),
        np.concatenate([none[0], *(points for points, _ in found)]),
        np.concatenate([none[1], *(lengths for _, lengths in found)]),
    )


def transitive_rows(tree: UltrametricTree, links: Attachments, start: int, stop: int) -> Floats:
    """Return the transitive distances of new points start … stop - 1 to all points of a tree."""
    out = np.empty((stop - start, tree.n_points))
    scratch = np.empty(2 * tree.n_points - 1)
    for i in range(start, stop):
        own = slice(links.begin[i], links.begin[i + 1])
        distances_from_attachments(
            tree.children, tree.heights, links.point[own], links.length[own], scratch
        )
        out[i - start] = scratch[: tree.n_points]
    return out


class NewPoints:
    """Clusters of the points of a tree, made ready for points that are not on it.

    What new points need is computed once, when it is first needed, in O(n) memory and O(n) time
    and O(k) for each node above which clusters differ.

    Parameters
    ----------
    space : TreeSpace
    tree : UltrametricTree
        The tree that the space was made of, before distances were raised to a power.
    labels : (n,) int32
        The clusters, none of them empty.
    """

    def __init__(self, space: TreeSpace, tree: UltrametricTree, labels: Labels) -> None:
        self.space = space
        self.tree = tree
        self.labels = labels
        self.n_clusters = int(labels.max()) + 1

    @cached_property
    def _ancestry(self) -> Ancestry:
        return ancestry_of(self.tree)

    @cached_property
    def _sums(self) -> CentreSums:
        kind = EmbeddedSums if self.space.name == "embedding" else RowSums
        return kind(self.space.objective, self.labels)

    def prepare(self) -> None:
        """Compute now what is otherwise computed by the first call."""
        announce_compilation("the distances of new points to clusters", find_parts)
        self._ancestry, self._sums  # noqa: B018

    @property
    def n_together(self) -> int:
        """How many new points it takes, at least, to ask for their distances at once."""
        return 1 if self._sums.is_complete else _TOGETHER_IN_TURNS

    def label(self, links: Attachments) -> Labels:
        """Return the clusters of new points, (n_new,).

        A new point that coincides with a point of the tree gets its label, the others that of
        the nearest centre. Ties go to the cluster with the smaller number.
        """
        nearest: Labels = self.labels[links.nearest]
        new = links.length[links.begin[:-1]] > 0.0
        for start, stop in chunks(len(links), max(self.n_together, _TOGETHER)):
            best = np.full(stop - start, np.inf)
            chosen = np.zeros(stop - start, dtype=np.int32)
            for first, distances in self._distances(links.part(start, stop)):
                for a in range(distances.shape[1]):
                    moves = is_nearer(distances[:, a], best)
                    chosen[moves] = first + a
                    best[moves] = distances[moves, a]
            nearest[start:stop] = np.where(new[start:stop], chosen, nearest[start:stop])
        return nearest

    def squared_distances(self, links: Attachments) -> Floats:
        """Return the squared distances of new points to the means of clusters, (n_new, k).

        In the space of rows; where the objective is "embedding", in the embedded space. They are
        those of the kernels' scale: see :meth:`TreeSpace.lengths`. Infinite where points
        that the one reaches are infinitely far from the other.
        """
        out = np.empty((len(links), self.n_clusters))
        for start, stop in chunks(len(links), max(self.n_together, _TOGETHER)):
            for first, distances in self._distances(links.part(start, stop)):
                out[start:stop, first : first + distances.shape[1]] = distances
        np.maximum(out, 0.0, out=out)
        if self.space.n_infinite:
            out[self._infinitely_far(links)] = np.inf
        return out

    def _distances(self, links: Attachments) -> Iterator[tuple[int, Floats]]:
        """Yield a few clusters at a time: the first one, and squared distances, (n_new, m)."""
        n_attached = len(links.point)
        low, high = np.empty((2, 3 * n_attached), dtype=np.int64)
        parts = Parts(np.empty(len(links), dtype=np.int32), low, high, np.empty(3 * n_attached))
        find_parts(
            self._ancestry,
            self.tree.children,
            links.begin,
            links.point,
            links.length,
            self._scaled(links.length),
            np.empty(MOST_EDGES, dtype=np.int64),
            parts,
            0,
            len(links),
        )
        many = np.flatnonzero(parts.n_parts < 0)
        if not many.size:
            yield from self._sums.distances(links.begin, parts)
            return
        by_rows = self._distances_by_rows(
            Attachments.joined([links.part(i, i + 1) for i in many.tolist()])
        )
        parts.n_parts[many] = 0
        for first, distances in self._sums.distances(links.begin, parts):
            distances[many] = by_rows[:, first : first + distances.shape[1]]
            yield first, distances

    def _scaled(self, lengths: Floats) -> Floats:
        """Return distances in the kernels' scale."""
        scaled = self.space.raised(lengths) / self.space.objective.unit
        return np.minimum(scaled, _AS_GOOD_AS_INFINITE)

    def _distances_by_rows(self, links: Attachments) -> Floats:
        """Return squared distances by way of whole rows: O(n k) for each new point."""
        objective = self.space.objective
        out = np.empty((len(links), self.n_clusters))
        for first, membership, point_weights in objective.memberships(self.labels, self.n_clusters):
            distances_of = objective.distances_of_new_points(membership, point_weights)
            for start, stop in chunks(len(links), max(1, _AT_ONCE // self.tree.n_points)):
                rows = self._scaled(transitive_rows(self.tree, links, start, stop))
                out[start:stop, first : first + len(point_weights)] = distances_of(rows)
        return out

    def _infinitely_far(self, links: Attachments) -> Array:
        """Which new points and clusters do not reach the same component of a graph: (n_new, k)."""
        tree, k = self.tree, self.n_clusters
        numbers = np.concatenate([[0], np.cumsum(np.isinf(tree.gaps))])
        component: Ints = numbers[tree.starts[: tree.n_points]]
        lowest = np.full(k, tree.n_points)
        highest = np.zeros(k, dtype=np.int64)
        np.minimum.at(lowest, self.labels, component)
        np.maximum.at(highest, self.labels, component)
        reached = component[links.point]
        first = np.minimum.reduceat(reached, links.begin[:-1])
        last = np.maximum.reduceat(reached, links.begin[:-1])
        same = (first == last)[:, None] & (lowest == highest) & (first[:, None] == lowest)
        return np.asarray(~same)


@kernel
def find_attachments(
    children: Ints,
    heights: Floats,
    distances: Floats,
    shortest: Floats,
    nearest: Ints,
    point: Ints,
    length: Floats,
) -> int:
    """Fill the links of one new point, the nearest point first; return how many there are.

    Where two nodes merge, the longer of the two shortest hops into them is a link if it is below
    the height of the merge. Else the other one and the way across are no longer.

    distances : (n,) float64, in
        The base distances of the new point to all points.
    shortest, nearest : (2n - 1,) float64 and int64, scratch
        The shortest hop to a point below each node, and the point; the smallest among equals.
    point, length : (n,) int64 and float64, out
    """
    n_points = children.shape[0] + 1
    for i in range(n_points):
        shortest[i] = distances[i]
        nearest[i] = i
    n_attached = 1
    for e in range(n_points - 1):
        x, y = children[e, 0], children[e, 1]
        if shortest[y] < shortest[x] or (shortest[y] == shortest[x] and nearest[y] < nearest[x]):
            x, y = y, x
        shortest[n_points + e] = shortest[x]
        nearest[n_points + e] = nearest[x]
        if shortest[y] < heights[e]:
            point[n_attached] = nearest[y]
            length[n_attached] = shortest[y]
            n_attached += 1
    point[0] = nearest[2 * n_points - 2]
    length[0] = shortest[2 * n_points - 2]
    return n_attached


@kernel
def distances_from_attachments(
    children: Ints, heights: Floats, point: Ints, length: Floats, distances: Floats
) -> None:
    """Fill the transitive distances of one new point to all points, from its links.

    distances : (2n - 1,) float64, out
        Of the points, in the first n places; of other nodes, the least over the ways that reach
        all points below it.
    """
    n_points = children.shape[0] + 1
    distances[:] = np.inf
    for link in range(point.shape[0]):
        distances[point[link]] = length[link]
    # up: the shortest hop to a point below each node
    for e in range(n_points - 1):
        distances[n_points + e] = min(distances[children[e, 0]], distances[children[e, 1]])
    if n_points > 1:
        distances[2 * n_points - 2] = max(distances[2 * n_points - 2], heights[n_points - 2])
    # down: a node is reached by a hop into it, or the way its parent is reached
    for e in range(n_points - 2, -1, -1):
        for side in range(2):
            child = children[e, side]
            height = heights[child - n_points] if child >= n_points else 0.0
            distances[child] = min(distances[n_points + e], max(distances[child], height))
