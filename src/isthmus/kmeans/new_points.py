"""New points → clusters: where a point that is not on the tree belongs.

The transitive distance of a new point x to a point v of the tree is the least, over all points u
of the tree, of max(d(x, u), D(u, v)): one hop from x onto the tree, and on from there. Few hops
matter. A hop to u is no better than a shorter one to u′ if D(u, u′) is no longer than itself: it
could go by way of u′. Those that are left are the *links* of x; its distances to all n points
follow from them in O(n), by one pass up the tree and one down.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from isthmus._compile import kernel
from isthmus._parallel import chunks
from isthmus._typing import Floats, Ints, Labels
from isthmus.kmeans.cluster import TreeClusterer
from isthmus.kmeans.objective import is_nearer
from isthmus.ultrametric import UltrametricTree

# Entries of the rows of distances that are held together.
_AT_ONCE = 1 << 20
# In the kernels' scale, where the tree's heights are below 2: squares do not overflow, and
# distances beyond it are all alike to 12 digits.
_AS_GOOD_AS_INFINITE = 1e140


@dataclass(frozen=True)
class Links:
    """The links of new points to a tree.

    Attributes
    ----------
    begin : (n_new + 1,) int64
        Those of new point i are begin[i] … begin[i + 1] - 1.
    point : (n_links,) int64
        The points of the tree that they lead to; of each new point, the nearest one first, the
        smallest index among equals.
    length : (n_links,) float64
        The base distances.
    """

    begin: Ints
    point: Ints
    length: Floats

    def __len__(self) -> int:
        return len(self.begin) - 1


def links_to_tree(
    tree: UltrametricTree, n_new: int, blocks: Iterable[tuple[Ints, Floats]]
) -> Links:
    """Return the links of new points, given their base distances to all points of a tree.

    Parameters
    ----------
    tree : UltrametricTree
    n_new : int
    blocks : iterable of (b,) int64 and (b, n) float64
        The numbers of some new points, and their distances; in the end, of each one once.
    """
    found: list[tuple[Ints, Floats]] = [(np.empty(0, np.int64), np.empty(0))] * n_new
    shortest, nearest = np.empty(2 * tree.n_points - 1), np.empty(2 * tree.n_points - 1, np.int64)
    point, length = np.empty(tree.n_points, np.int64), np.empty(tree.n_points)
    for numbers, distances in blocks:
        for number, row in zip(numbers, distances, strict=True):
            n_links = find_links(tree.children, tree.heights, row, shortest, nearest, point, length)
            found[number] = point[:n_links].copy(), length[:n_links].copy()
    begin = np.concatenate([[0], np.cumsum([len(points) for points, _ in found])])
    return Links(
        begin.astype(np.int64),
        np.concatenate([points for points, _ in found]),
        np.concatenate([lengths for _, lengths in found]),
    )


def transitive_rows(tree: UltrametricTree, links: Links, start: int, stop: int) -> Floats:
    """Return the transitive distances of new points start … stop - 1 to all points of a tree."""
    out = np.empty((stop - start, tree.n_points))
    scratch = np.empty(2 * tree.n_points - 1)
    for i in range(start, stop):
        own = slice(links.begin[i], links.begin[i + 1])
        follow_links(tree.children, tree.heights, links.point[own], links.length[own], scratch)
        out[i - start] = scratch[: tree.n_points]
    return out


def label_new_points(
    clusterer: TreeClusterer, tree: UltrametricTree, labels: Labels, links: Links
) -> Labels:
    """Return the clusters of new points, (n_new,), for the clusters of the points of a tree.

    By the clusterer's objective: that of the nearest mean of a cluster; for CUT, which has none,
    that of the nearest point. Ties go to the cluster with the smaller number. O(n k) time and
    O(n) memory for each new point.

    Parameters
    ----------
    clusterer : TreeClusterer
    tree : UltrametricTree
        The tree that the clusterer was made of, before distances were raised to a power.
    labels : (n,) int32
    links : Links
    """
    if clusterer.objective_name == "cut":
        nearest_point: Labels = labels[links.point[links.begin[:-1]]]
        return nearest_point
    objective = clusterer.objective
    nearest = np.zeros(len(links), dtype=np.int32)
    best = np.full(len(links), np.inf)
    for first, membership, masses in objective.memberships(labels, int(labels.max()) + 1):
        distances_of = objective.distances_of_new_points(membership, masses)
        for start, stop in chunks(len(links), max(1, _AT_ONCE // tree.n_points)):
            rows = clusterer.raised(transitive_rows(tree, links, start, stop)) / objective.unit
            distances = distances_of(np.minimum(rows, _AS_GOOD_AS_INFINITE))
            for a in range(len(masses)):
                moves = is_nearer(distances[:, a], best[start:stop])
                nearest[start:stop][moves] = first + a
                best[start:stop][moves] = distances[moves, a]
    return nearest


@kernel
def find_links(
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
    n_links = 1
    for e in range(n_points - 1):
        x, y = children[e, 0], children[e, 1]
        if shortest[y] < shortest[x] or (shortest[y] == shortest[x] and nearest[y] < nearest[x]):
            x, y = y, x
        shortest[n_points + e] = shortest[x]
        nearest[n_points + e] = nearest[x]
        if shortest[y] < heights[e]:
            point[n_links] = nearest[y]
            length[n_links] = shortest[y]
            n_links += 1
    point[0] = nearest[2 * n_points - 2]
    length[0] = shortest[2 * n_points - 2]
    return n_links


@kernel
def follow_links(
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
