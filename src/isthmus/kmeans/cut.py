"""CUT: k parts of a spanning tree, deterministic, without a seed.

From the whole tree on, the edge with the largest ``w · a · b / (a + b)`` over all parts is
removed, with w its weight and a, b the numbers of points on its two sides within the part. That
is the inertia which a split along the edge saves in the coordinate √w · [side of the edge]:
bisecting K-means, one edge at a time.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from isthmus._compile import AHEAD, kernel, prefetch
from isthmus._typing import Floats, Labels
from isthmus.kmeans.objective import unit_of
from isthmus.ultrametric import UltrametricTree

# Stands for the weight of an infinite edge, where the others are below 2: whatever the sizes of
# its sides, it is cut first, and of several such edges the one that divides most evenly.
_INFINITE = 2.0**500


@dataclass(frozen=True)
class RootedTree:
    """A spanning tree hung up at one point and laid out so that every branch is a slice.

    Attributes
    ----------
    point : (n,) int32
        The points, parents before children.
    parent : (n,) int32
        Where each one's parent stands; -1 for the root.
    size : (n,) int32
        The number of points in the branch that begins at each place.
    weight : (n,) float64
        The weight of the edge to the parent, divided by a power of two.
    """

    point: Labels
    parent: Labels
    size: Labels
    weight: Floats


def root_spanning_tree(tree: UltrametricTree) -> RootedTree:
    """Return the spanning tree of an ultrametric tree, rooted."""
    n_points = tree.n_points
    point, parent = np.empty(n_points, dtype=np.int32), np.empty(n_points, dtype=np.int32)
    size, weight = np.empty(n_points, dtype=np.int32), np.empty(n_points)
    # Points that are close in the leaf order are close in memory, and mostly joined by edges.
    ends = tree.starts.astype(np.int32)[tree.spanning_tree.edges]
    # Scores are compared with one another only; heights near 1 cannot overflow.
    weights = np.minimum(tree.heights / unit_of(tree.heights), _INFINITE)
    begin, neighbour, length = neighbours_of_points(ends, weights)
    stack, stack_length = np.empty((n_points, 2), dtype=np.int32), np.empty(n_points)
    hang_up(begin, neighbour, length, stack, stack_length, point, parent, size, weight)
    return RootedTree(tree.leaf_order[point].astype(np.int32), parent, size, weight)


def neighbours_of_points(ends: Labels, weights: Floats) -> tuple[Labels, Labels, Floats]:
    """Return the neighbours of each point in the tree of the edges ``ends``, (n - 1, 2).

    Those of point i stand at begin[i] … begin[i + 1] - 1 of the other two arrays.
    """
    n_points = len(ends) + 1
    begin = np.zeros(n_points + 2, dtype=np.int32)
    neighbour = np.empty(2 * (n_points - 1), dtype=np.int32)
    length = np.empty(2 * (n_points - 1))
    list_neighbours(ends, weights, begin, neighbour, length)
    return begin[:-1], neighbour, length


def cut_spanning_tree(rooted: RootedTree, n_clusters: int) -> Labels:
    """Return the labels, (n,) int32, of the k parts of a rooted spanning tree.

    Of several edges with the same score, the one that stands first in the rooted tree is cut.
    """
    parent, size, weight = rooted.parent, rooted.size, rooted.weight
    inside = size.copy()  # the points of each branch that are in the same part as its first
    part_of = np.full(len(parent), -1, dtype=np.int32)  # filled where a part begins
    part_of[0] = 0
    candidates: list[tuple[float, int, int]] = []

    def survey(begin: int) -> None:
        score, place = best_cut(size, inside, part_of, weight, begin)
        heapq.heappush(candidates, (-score, place, begin))

    survey(0)
    for part in range(1, n_clusters):
        _, place, begin = heapq.heappop(candidates)
        detach(parent, inside, part_of, place, part)
        survey(place)
        survey(begin)
    hand_parts_down(parent, part_of)
    labels = np.empty(len(parent), dtype=np.int32)
    labels[rooted.point] = part_of
    return labels


@kernel
def list_neighbours(
    ends: Labels, weights: Floats, begin: Labels, neighbour: Labels, length: Floats
) -> None:
    """Fill begin, (n + 2,) and zero on entry, and the two arrays that it points into."""
    for e in range(ends.shape[0]):
        if e + AHEAD < ends.shape[0]:
            prefetch(begin, ends[e + AHEAD, 0])
        begin[ends[e, 0] + 2] += 1
        begin[ends[e, 1] + 2] += 1
    for i in range(2, begin.shape[0]):
        begin[i] += begin[i - 1]
    for e in range(ends.shape[0]):
        if e + AHEAD < ends.shape[0]:
            # Edges are mostly between points that are close in memory: one end stands for both.
            prefetch(begin, ends[e + AHEAD, 0])
            slot = begin[ends[e + AHEAD // 2, 0] + 1]
            prefetch(neighbour, slot)
            prefetch(length, slot)
        for side in range(2):
            slot = begin[ends[e, side] + 1]
            begin[ends[e, side] + 1] = slot + 1
            neighbour[slot] = ends[e, 1 - side]
            length[slot] = weights[e]


@kernel
def hang_up(
    begin: Labels,
    neighbour: Labels,
    length: Floats,
    stack: Labels,
    stack_length: Floats,
    point: Labels,
    parent: Labels,
    size: Labels,
    weight: Floats,
) -> None:
    """Fill the rooted tree, depth first from point 0, which becomes its root.

    begin, neighbour, length : in
        The neighbours of each point and their distances.
    stack, stack_length : (n, 2) and (n,), scratch
        Points still to be placed, with the place of their parent, and the weight between them.
    point, parent, size, weight : (n,), out
    """
    stack[0, 0] = 0
    stack[0, 1] = -1
    stack_length[0] = 0.0
    height = 1
    place = 0
    while height > 0:
        height -= 1
        i = stack[height, 0]
        above = stack[height, 1]
        point[place] = i
        parent[place] = above
        weight[place] = stack_length[height]
        size[place] = 1
        came_from = point[above] if above >= 0 else -1
        for slot in range(begin[i], begin[i + 1]):
            if neighbour[slot] != came_from:
                stack[height, 0] = neighbour[slot]
                stack[height, 1] = place
                stack_length[height] = length[slot]
                height += 1
        place += 1
    for place in range(point.shape[0] - 1, 0, -1):
        size[parent[place]] += size[place]


@kernel
def best_cut(
    size: Labels, inside: Labels, part_of: Labels, weight: Floats, begin: int
) -> tuple[float, int]:
    """Return the score and the place of the best edge to cut in the part that begins at a place.

    Branches where another part begins are skipped as a whole. A part of one point has no edge:
    its score is -1.
    """
    whole = inside[begin]
    best = -1
    best_score = -1.0
    place = begin + 1
    stop = begin + size[begin]
    while place < stop:
        if part_of[place] >= 0:
            place += size[place]
            continue
        score = weight[place] * (inside[place] * (whole - inside[place]) / whole)
        if score > best_score:
            best = place
            best_score = score
        place += 1
    return best_score, best


@kernel
def detach(parent: Labels, inside: Labels, part_of: Labels, place: int, part: int) -> None:
    """Make the branch at a place a part of its own: the branches it was in lose its points."""
    part_of[place] = part
    above = place
    while above == place or part_of[above] < 0:
        above = parent[above]
        inside[above] -= inside[place]


@kernel
def hand_parts_down(parent: Labels, part_of: Labels) -> None:
    """Give each place where no part begins the part of its parent."""
    for place in range(part_of.shape[0]):
        if part_of[place] < 0:
            part_of[place] = part_of[parent[place]]
