"""CUT: k parts of a spanning tree, deterministic, without a seed.

From the whole tree on, the edge with the largest ``w · a · b / (a + b)`` over all parts is
removed, with w its weight and a, b the masses (where none are given, the numbers of points) on its
two sides within the part. That is the inertia which a split along the edge saves in the coordinate
√w · [side of the edge]: bisecting K-means, one edge at a time. Scores that agree to 12 digits are
a tie: of these edges the one that stands first in the rooted tree is cut. Where a least mass is
asked for, only edges are removed that leave as much on both sides.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np

from isthmus._compile import AHEAD, kernel, kernel_part, prefetch
from isthmus._typing import Array, Floats, Labels
from isthmus.kmeans.objective import DIGITS, TIE, unit_of
from isthmus.ultrametric import UltrametricTree

# Stands for the weight of an infinite edge, where the others are below 2: whatever the sizes of
# its sides, it is cut first, and of several such edges the one that divides most evenly.
INFINITE = 2.0**500

# 1 in the kernel that heeds a least mass.
LIMITED = 0


class TooFewCutsError(ValueError):
    """The tree has not enough edges between parts that are large enough.

    Attributes
    ----------
    n_parts : int
        How many parts it could be cut into.
    """

    def __init__(self, n_parts: int) -> None:
        super().__init__(f"only {n_parts} parts are large enough")
        self.n_parts = n_parts


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
    mass : (n,) float64, or (1,) int32
        The mass of each point; one 1 where every point has that.
    weight : (n,) float64
        The weight of the edge to the parent, divided by a power of two.
    """

    point: Labels
    parent: Labels
    size: Labels
    mass: Array
    weight: Floats


def root_spanning_tree(tree: UltrametricTree, masses: Floats | None = None) -> RootedTree:
    """Return the spanning tree of an ultrametric tree, rooted at point 0.

    masses : (n,) float64, optional
        How many points each one stands for; one, where not given.
    """
    n_points = tree.n_points
    point, parent = np.empty(n_points, dtype=np.int32), np.empty(n_points, dtype=np.int32)
    size, weight = np.empty(n_points, dtype=np.int32), np.empty(n_points)
    # Points that are close in the leaf order are close in memory, and mostly joined by edges.
    ends = tree.starts.astype(np.int32)[tree.spanning_tree.edges]
    # Scores are compared with one another only; heights near 1 cannot overflow.
    weights = np.minimum(tree.heights / unit_of(tree.heights), INFINITE)
    begin, neighbour, length = neighbours_of_points(ends, weights)
    stack, stack_length = np.empty((n_points, 2), dtype=np.int32), np.empty(n_points)
    stack[0] = tree.starts[0], -1
    hang_up(begin, neighbour, length, stack, stack_length, point, parent, size, weight)
    point = tree.leaf_order[point].astype(np.int32)
    mass = np.ones(1, dtype=np.int32) if masses is None else masses[point]
    return RootedTree(point, parent, size, mass, weight)


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


def cut_spanning_tree(rooted: RootedTree, n_clusters: int, least: float = 0.0) -> Labels:
    """Return the labels, (n,) int32, of the k parts of a rooted spanning tree.

    least : float
        As for :func:`begins_of_parts`.
    """
    return labels_of_parts(rooted, begins_of_parts(rooted, n_clusters, least), n_clusters)


def begins_of_parts(rooted: RootedTree, n_clusters: int, least: float = 0.0) -> Labels:
    """Return where the k parts of a rooted spanning tree begin: (n,) int32, by place.

    The number of the part that begins there, or -1. Parts are numbered as they are cut off, so
    the first ones are those that fewer cuts would have made.

    least : float
        What each part must weigh at least; raises TooFewCutsError where no edge is left to cut.
    """
    parent, size, mass, weight = rooted.parent, rooted.size, rooted.mass, rooted.weight
    # Of the part that a place is in: the mass in the branch that begins there, and, where that is
    # no whole number, the rest.
    weighted = len(mass) > 1
    inside = mass.copy() if weighted else size.copy()
    rest = np.empty(len(mass) if weighted else 0, dtype=mass.dtype)
    branches = np.empty(len(rest), dtype=np.int32)
    if weighted:
        sum_branches(parent, inside)
    part_of = np.full(len(parent), -1, dtype=np.int32)  # filled where a part begins
    part_of[0] = 0
    candidates: list[tuple[float, int, int]] = []
    best_edge = best_cut.specialised({"LIMITED": 1}) if least > 0.0 else best_cut
    least *= 1.0 - TIE

    def survey(begin: int) -> None:
        if weighted:
            sum_rest(size, mass, inside, part_of, begin, branches, rest)
        score, place = best_edge(size, inside, rest, part_of, weight, begin, least)
        mantissa, exponent = math.frexp(score)
        rounded = math.ldexp(round(math.ldexp(mantissa, DIGITS)), exponent - DIGITS)
        heapq.heappush(candidates, (-rounded, place, begin))

    survey(0)
    for part in range(1, n_clusters):
        minus_score, place, begin = heapq.heappop(candidates)
        if minus_score > 0.0:
            raise TooFewCutsError(part)
        detach(parent, size, mass, inside, part_of, place, part)
        survey(place)
        survey(begin)
    return part_of


def labels_of_parts(rooted: RootedTree, begins: Labels, n_clusters: int) -> Labels:
    """Return the labels, (n,) int32, of k parts, of which k or more have been cut."""
    part_of = np.where(begins < n_clusters, begins, np.int32(-1))
    hand_parts_down(rooted.parent, part_of)
    labels = np.empty(len(part_of), dtype=np.int32)
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
    """Fill the rooted tree, depth first from the point that the stack begins with.

    begin, neighbour, length : in
        The neighbours of each point and their distances.
    stack, stack_length : (n, 2) and (n,), in and scratch
        Points still to be placed, with the place of their parent, and the weight between them.
        In: the root, whose parent is -1.
    point, parent, size, weight : (n,), out
    """
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
    add_to_parents(parent, size)


@kernel_part
def add_to_parents(parent: Labels, amount: Array) -> None:
    """Turn an amount per place, (n,), into its sum over the branch that begins there, in place."""
    for place in range(parent.shape[0] - 1, 0, -1):
        amount[parent[place]] += amount[place]


@kernel
def sum_branches(parent: Labels, amount: Array) -> None:
    """Do the same, called from Python."""
    add_to_parents(parent, amount)


@kernel
def sum_rest(
    size: Labels,
    mass: Floats,
    inside: Floats,
    part_of: Labels,
    begin: int,
    branches: Labels,
    rest: Floats,
) -> None:
    """Fill, in the part that begins at a place, the mass that is not in the branch of each one.

    It is added up from other branches: the mass of the part, less that of a branch which is almost
    all of it, would be nothing but rounding errors.

    branches : (n,) int32, scratch
    rest : (n,) float64, out
    """
    rest[begin] = 0.0
    place = begin
    stop = begin + size[begin]
    while place < stop:
        if place > begin and part_of[place] >= 0:
            place += size[place]
            continue
        total = rest[place] + mass[place]
        n_branches = 0
        child = place + 1
        while child < place + size[place]:
            if part_of[child] < 0:
                rest[child] = total
                total += inside[child]
                branches[n_branches] = child
                n_branches += 1
            child += size[child]
        total = 0.0
        for b in range(n_branches - 1, -1, -1):
            rest[branches[b]] += total
            total += inside[branches[b]]
        place += 1


@kernel
def best_cut(
    size: Labels,
    inside: Array,
    rest: Array,
    part_of: Labels,
    weight: Floats,
    begin: int,
    least: float,
) -> tuple[float, int]:
    """Return the score and the place of the best edge to cut in the part that begins at a place.

    Branches where another part begins are skipped as a whole. A part of one point has no edge:
    its score is -1; so is that of a part without an edge that leaves the least mass on both sides,
    which counts where LIMITED is 1.
    """
    whole = inside[begin]
    best = -1
    best_score = -1.0
    to_beat = -1.0
    place = begin + 1
    stop = begin + size[begin]
    while place < stop:
        if part_of[place] >= 0:
            place += size[place]
            continue
        if LIMITED and inside[place] < least:  # nothing in this branch is larger
            place += size[place]
            continue
        other = rest[place] if rest.shape[0] > 0 else whole - inside[place]
        score = weight[place] * (inside[place] * other / whole)
        if score > to_beat and (not LIMITED or other >= least):
            best = place
            best_score = score
            to_beat = score * (1.0 + TIE)
        place += 1
    return best_score, best


@kernel
def detach(
    parent: Labels,
    size: Labels,
    mass: Array,
    inside: Array,
    part_of: Labels,
    place: int,
    part: int,
) -> None:
    """Make the branch at a place a part of its own: the branches it was in lose its mass."""
    part_of[place] = part
    above = place
    while above == place or part_of[above] < 0:
        above = parent[above]
        if mass.shape[0] == 1:
            inside[above] -= inside[place]
        else:
            # Added up anew, as in sum_rest.
            total = mass[above]
            child = above + 1
            while child < above + size[above]:
                if part_of[child] < 0:
                    total += inside[child]
                child += size[child]
            inside[above] = total


@kernel
def hand_parts_down(parent: Labels, part_of: Labels) -> None:
    """Give each place where no part begins the part of its parent."""
    for place in range(part_of.shape[0]):
        if part_of[place] < 0:
            part_of[place] = part_of[parent[place]]
