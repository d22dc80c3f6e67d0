"""Edges and the weights of points → the order in which edges join, the cheapest first.

The spanning tree hangs from one point, so that every part but one has one edge upwards, and edges
are told apart by the part below. The scores of the edges into one part p all change when p grows,
and measuring each of them again would take O(n²) where many hang on one point. But of parts of
equal mass below p the one with the lightest edge scores least, whatever the mass of p. So they
form a *group*, a heap by the edges' numbers, and only its first edge is compared with those of
other groups. When p joins another part, groups of equal mass are put together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Array, Floats, Ints, index_type
from isthmus.ultrametric.rooted import root_tree

# Edges that are looked at per kernel call: well under a second, so that Ctrl-C is seen.
_STEPS = 1 << 18
# So many groups of a part are searched for the mass of a new edge; beyond that it stays alone.
_LISTED = 16
_NONE = -1

# The columns of parts: disjoint sets of points, and, at the root of each, its highest point and the
# first of its groups; of entries, each the root of a heap: the point below the edge, the edge's
# number and two branches; of groups: the first of its entries, and the next group of the part; of
# the queue: an edge's number and its group.
SET, TOP, FIRST = 0, 1, 2
POINT, EDGE, LEFT, RIGHT = 0, 1, 2, 3
ROOT, NEXT = 0, 1
NUMBER, GROUP = 0, 1
# What is counted: joins, groups in the queue, entries ever made.
JOINED, QUEUED, MADE = 0, 1, 2


class Joins(NamedTuple):
    """The state of joining. An edge is known by the point below it.

    Attributes
    ----------
    above, number : (n,) int
        The point above each point, and the number of the edge between them; -1 for the highest.
    weight : (n,) float64
        That of this edge.
    parts, mass : (n, 3) int and (n,) float64
    entry_of : (n,) int
        The entry of each edge that counts: older ones are of a mass that it no longer has below.
    entries, groups, group_mass : (2n, 4) and (2n, 2) int, (2n,) float64
        Numbered together: a group has the number of its first entry.
    queue, bounds : (2n, 2) int and (2n,) float64
        A heap of groups by a lower bound of their first edge's score, and then by that edge.
    counts : (3,) int64
    order, scores : (n - 1,) int64 and float64
        The edges as they joined, and their scores.
    """

    above: Array
    number: Array
    weight: Floats
    parts: Array
    mass: Floats
    entry_of: Array
    entries: Array
    groups: Array
    group_weight: Floats
    queue: Array
    bounds: Floats
    counts: Ints
    order: Ints
    scores: Floats


def edges_as_joined(edges: Ints, weights: Floats, mass: Floats) -> tuple[Ints, Floats]:
    """Return the numbers of edges in the order in which they join, and their scores: (n - 1,) each.

    Fastest where points with numbers close to each other are close in the tree.

    edges, weights
        Of the spanning tree, in its total order.
    mass : (n,) float64
        Of each point.
    """
    n_points = len(mass)
    whole = index_type(2 * n_points)
    above = root_tree(edges).parent.astype(whole)
    below = np.where(above[edges[:, 0]] == edges[:, 1], edges[:, 0], edges[:, 1])
    number, weight = np.full(n_points, _NONE, dtype=whole), np.zeros(n_points)
    number[below] = np.arange(n_points - 1)
    weight[below] = weights
    parts = np.full((n_points, 3), _NONE, dtype=whole)
    parts[:, SET] = parts[:, TOP] = np.arange(n_points)
    joins = Joins(
        above=above,
        number=number,
        weight=weight,
        parts=parts,
        mass=mass.copy(),
        entry_of=np.full(n_points, _NONE, dtype=whole),
        entries=np.full((2 * n_points, 4), _NONE, dtype=whole),
        groups=np.full((2 * n_points, 2), _NONE, dtype=whole),
        group_weight=np.empty(2 * n_points),
        queue=np.empty((2 * n_points, 2), dtype=whole),
        bounds=np.empty(2 * n_points),
        counts=np.zeros(3, dtype=np.int64),
        order=np.empty(n_points - 1, dtype=np.int64),
        scores=np.empty(n_points - 1),
    )
    for start, stop in chunks(n_points, _STEPS):
        enter_edges(joins, start, stop)
    while joins.counts[JOINED] < n_points - 1:
        join_cheapest(joins, _STEPS)
    return joins.order, joins.scores


@kernel
def enter_edges(joins: Joins, start: int, stop: int) -> None:
    """Enter the edges above points start … stop - 1 into groups, every point being a part."""
    for point in range(start, stop):
        if joins.above[point] != _NONE:
            enter(joins, point)


@kernel
def join_cheapest(joins: Joins, n_steps: int) -> None:
    """Look at the first group of the queue so many times, or until one part is left."""
    for _ in range(n_steps):
        if joins.counts[JOINED] == joins.order.shape[0]:
            break
        g = int(joins.queue[0, GROUP])
        entry = first_entry(joins, g)
        if entry == _NONE:
            remove_first(joins)
            continue
        e, point = int(joins.entries[entry, EDGE]), int(joins.entries[entry, POINT])
        below = root_of(joins.parts, point)
        above = root_of(joins.parts, int(joins.above[point]))
        score = score_of(joins, point, below, above)
        bound = to_twelve_digits(score)
        if bound > joins.bounds[0] or e != joins.queue[0, NUMBER]:
            sift_down(joins, bound, e, g)
            continue
        joins.order[joins.counts[JOINED]] = e
        joins.scores[joins.counts[JOINED]] = score
        joins.counts[JOINED] += 1
        joins.entry_of[point] = _NONE
        following = first_entry(joins, g)
        if following == _NONE:
            remove_first(joins)
        else:
            sift_down(joins, bound, int(joins.entries[following, EDGE]), g)
        top = unite(joins, below, above)
        if joins.above[top] != _NONE:
            enter(joins, top)


@kernel_part
def score_of(joins: Joins, point: int, a: int, b: int) -> float:
    """Return the score of the edge above a point, between the parts at two roots."""
    score: float = joins.weight[point] * (
        joins.mass[a] * joins.mass[b] / (joins.mass[a] + joins.mass[b])
    )
    return score


@kernel_part
def to_twelve_digits(score: float) -> float:
    """Return a score rounded to 40 binary digits, by Veltkamp's way of splitting a number."""
    large = score * 8193.0  # 2 ** 13 + 1
    return large - (large - score)


@kernel_part
def enter(joins: Joins, point: int) -> None:
    """Make a new entry of the edge above a point, and a group if it is the first of its mass."""
    below = root_of(joins.parts, point)
    above = root_of(joins.parts, int(joins.above[point]))
    entry = joins.counts[MADE]
    joins.counts[MADE] += 1
    joins.entries[entry, POINT] = point
    joins.entries[entry, EDGE] = joins.number[point]
    joins.entry_of[point] = entry
    joins.groups[entry, ROOT] = entry
    joins.group_weight[entry] = joins.mass[below]
    if add_group(joins, above, entry):
        place = joins.counts[QUEUED]
        joins.counts[QUEUED] += 1
        bound = to_twelve_digits(score_of(joins, point, below, above))
        sift_up(joins, place, bound, int(joins.number[point]), entry)


@kernel_part
def add_group(joins: Joins, part: int, g: int) -> bool:
    """Put a group into one of its mass in the list of a part, or into the list.

    Of two that become one, the group whose edge comes first lives on: its bound holds for both.
    Returns whether g lives on.
    """
    before, h = int(_NONE), int(joins.parts[part, FIRST])
    n_listed = 0
    while h != _NONE and joins.group_weight[h] != joins.group_weight[g]:
        before, h = h, int(joins.groups[h, NEXT])
        n_listed += 1
    if h == _NONE:
        if n_listed < _LISTED:
            joins.groups[g, NEXT] = joins.parts[part, FIRST]
            joins.parts[part, FIRST] = g
        return True
    first, other = first_entry(joins, g), first_entry(joins, h)
    root = meld(joins.entries, first, other)
    if root == other and other != _NONE:
        joins.groups[h, ROOT], joins.groups[g, ROOT] = root, _NONE
        return False
    joins.groups[g, ROOT], joins.groups[h, ROOT] = root, _NONE
    joins.groups[g, NEXT] = joins.groups[h, NEXT]
    if before == _NONE:
        joins.parts[part, FIRST] = g
    else:
        joins.groups[before, NEXT] = g
    return True


@kernel_part
def unite(joins: Joins, below: int, above: int) -> int:
    """Make one part of two; return its highest point."""
    top = int(joins.parts[above, TOP])
    large, small = above, below
    if joins.mass[above] < joins.mass[below]:
        large, small = below, above
    joins.parts[small, SET] = large
    joins.parts[large, TOP] = top
    joins.mass[large] += joins.mass[small]
    g = int(joins.parts[small, FIRST])
    while g != _NONE:
        following = int(joins.groups[g, NEXT])
        if joins.groups[g, ROOT] != _NONE:
            add_group(joins, large, g)
        g = following
    return top


@kernel_part
def first_entry(joins: Joins, g: int) -> int:
    """Return the first entry of a group, or -1, dropping those before it that no longer count."""
    entry = int(joins.groups[g, ROOT])
    while entry != _NONE and joins.entry_of[joins.entries[entry, POINT]] != entry:
        branches = int(joins.entries[entry, LEFT]), int(joins.entries[entry, RIGHT])
        entry = meld(joins.entries, branches[0], branches[1])
    joins.groups[g, ROOT] = entry
    return entry


@kernel_part
def meld(entries: Array, a: int, b: int) -> int:
    """Return the root of two heaps made one: skew heaps, whose branches change sides on the way."""
    if min(a, b) == _NONE:
        return max(a, b)
    if entries[b, EDGE] < entries[a, EDGE]:
        a, b = b, a
    root = a
    while True:
        branch = int(entries[a, RIGHT])
        entries[a, RIGHT] = entries[a, LEFT]
        if branch == _NONE:
            entries[a, LEFT] = b
            return root
        if entries[b, EDGE] < entries[branch, EDGE]:
            branch, b = b, branch
        entries[a, LEFT] = branch
        a = branch


@kernel_part
def root_of(parts: Array, point: int) -> int:
    """Return the root of a point's set, halving the way to it."""
    while parts[point, SET] != point:
        parts[point, SET] = parts[parts[point, SET], SET]
        point = int(parts[point, SET])
    return point


@kernel_part
def comes_first(joins: Joins, bound: float, e: int, place: int) -> bool:
    """Whether a bound and an edge come before those at a place of the queue."""
    if bound != joins.bounds[place]:
        return bool(bound < joins.bounds[place])
    return bool(e < joins.queue[place, NUMBER])


@kernel_part
def remove_first(joins: Joins) -> None:
    """Take the first group off the queue."""
    joins.counts[QUEUED] -= 1
    last = joins.counts[QUEUED]
    sift_down(
        joins, joins.bounds[last], int(joins.queue[last, NUMBER]), int(joins.queue[last, GROUP])
    )


@kernel_part
def sift_down(joins: Joins, bound: float, e: int, g: int) -> None:
    """Put a group into the first place of the queue, and restore the order below."""
    length = joins.counts[QUEUED]
    place = 0
    while 2 * place + 1 < length:
        child = 2 * place + 1
        if child + 1 < length and comes_first(
            joins, joins.bounds[child + 1], int(joins.queue[child + 1, NUMBER]), child
        ):
            child += 1
        if comes_first(joins, bound, e, child):
            break
        move(joins, child, place)
        place = child
    put(joins, place, bound, e, g)


@kernel_part
def sift_up(joins: Joins, place: int, bound: float, e: int, g: int) -> None:
    """Put a group into the last place of the queue, and restore the order above."""
    while place > 0 and comes_first(joins, bound, e, (place - 1) // 2):
        move(joins, (place - 1) // 2, place)
        place = (place - 1) // 2
    put(joins, place, bound, e, g)


@kernel_part
def move(joins: Joins, source: int, place: int) -> None:
    """Copy what stands at one place of the queue to another."""
    put(joins, place, joins.bounds[source], joins.queue[source, NUMBER], joins.queue[source, GROUP])


@kernel_part
def put(joins: Joins, place: int, bound: float, e: int, g: int) -> None:
    """Write a group to a place of the queue."""
    joins.bounds[place] = bound
    joins.queue[place, NUMBER] = e
    joins.queue[place, GROUP] = g
