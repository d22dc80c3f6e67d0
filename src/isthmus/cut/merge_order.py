"""Edges and the weights of points → the order in which edges merge parts, the smallest score first.

The spanning tree is rooted at one point, so every part but one has one edge upwards, and edges are
told apart by the part below. The scores of the edges into one part p all change when p grows, and
computing each of them again would take O(n²) where many edges end at one point. But of parts of
equal weight below p the one with the lightest edge scores least, whatever the weight of p. So they
form a *group*, a heap by the edges' numbers, and only its first edge is compared with those of
other groups. When p merges with another part, groups of equal weight are melded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints, index_type
from isthmus.cut.score import cut_score, rounded_score
from isthmus.ultrametric.rooted import root_tree

# Steps per kernel call: well under a second, so that Ctrl-C is seen.
_STEPS = 1 << 18
# The groups of a part that are searched for the weight of a new edge; beyond that it stays alone.
_LISTED = 16
_NONE = -1

# The columns of parts: disjoint sets of points, and, at the root of each set, its highest point and
# the first of its groups; of entries, each the root of a heap: the point below the edge, the edge's
# number and two branches; of groups: the first of its entries, and the next group of the part; of
# the queue: an edge's number and its group.
SET, TOP, FIRST = 0, 1, 2
POINT, EDGE, LEFT, RIGHT = 0, 1, 2, 3
ROOT, NEXT = 0, 1
NUMBER, GROUP = 0, 1
# What is counted: points whose edges were entered, merges, groups in the queue, entries ever made.
ENTERED, MERGED, QUEUED, MADE = 0, 1, 2, 3


class Merging(NamedTuple):
    """The state of merging. An edge is known by the point below it.

    Attributes
    ----------
    parent, edge : (n,) int
        The parent of each point, and the number of the edge to it; -1 for the root.
    edge_weight : (n,) float64
        The weight of this edge.
    parts, part_weight : (n, 3) int and (n,) float64
    entry_of : (n,) int
        The entry of each edge that counts: older ones are of a weight that it no longer has below.
    entries, groups, group_weight : (2n, 4) and (2n, 2) int, (2n,) float64
        Numbered together: a group has the number of its first entry. The parts below its edges
        have its weight.
    queue, bounds : (2n, 2) int and (2n,) float64
        A heap of groups by a lower bound of their first edge's score, and then by that edge.
    counts : (4,) int64
    order, scores : (n - 1,) int64 and float64
        The edges in the order of merges, and their scores.
    """

    parent: Array
    edge: Array
    edge_weight: Floats
    parts: Array
    part_weight: Floats
    entry_of: Array
    entries: Array
    groups: Array
    group_weight: Floats
    queue: Array
    bounds: Floats
    counts: Ints
    order: Ints
    scores: Floats


def merge_order(edges: Ints, edge_weights: Floats, point_weights: Floats) -> tuple[Ints, Floats]:
    """Return the numbers of edges in the order in which they merge parts, and their scores.

    Fastest where points with numbers close to each other are close in the tree.

    Parameters
    ----------
    edges, edge_weights : (n - 1, 2) int and (n - 1,) float64
        Those of the spanning tree, in its total order.
    point_weights : (n,) float64

    Returns
    -------
    (n - 1,) int64 and float64
    """
    n_points = len(point_weights)
    number = index_type(2 * n_points)
    parent = root_tree(edges).parent.astype(number)
    below = np.where(parent[edges[:, 0]] == edges[:, 1], edges[:, 0], edges[:, 1])
    edge, edge_weight = np.full(n_points, _NONE, dtype=number), np.zeros(n_points)
    edge[below] = np.arange(n_points - 1)
    edge_weight[below] = edge_weights
    parts = np.full((n_points, 3), _NONE, dtype=number)
    parts[:, SET] = parts[:, TOP] = np.arange(n_points)
    merging = Merging(
        parent=parent,
        edge=edge,
        edge_weight=edge_weight,
        parts=parts,
        part_weight=point_weights.copy(),
        entry_of=np.full(n_points, _NONE, dtype=number),
        entries=np.full((2 * n_points, 4), _NONE, dtype=number),
        groups=np.full((2 * n_points, 2), _NONE, dtype=number),
        group_weight=np.empty(2 * n_points),
        queue=np.empty((2 * n_points, 2), dtype=number),
        bounds=np.empty(2 * n_points),
        counts=np.zeros(4, dtype=np.int64),
        order=np.empty(n_points - 1, dtype=np.int64),
        scores=np.empty(n_points - 1),
    )
    while merging.counts[MERGED] < n_points - 1:
        merge_parts(merging, _STEPS)
    return merging.order, merging.scores


@kernel
def merge_parts(merging: Merging, n_steps: int) -> None:
    """Take n steps, or as many as are left: enter an edge, or look at the first of the queue."""
    n_points = merging.parent.shape[0]
    for _ in range(n_steps):
        if merging.counts[ENTERED] < n_points:
            enter(merging, merging.counts[ENTERED])
            merging.counts[ENTERED] += 1
        elif merging.counts[MERGED] < n_points - 1:
            look_at_first(merging)


@kernel_part
def enter(merging: Merging, point: int) -> None:
    """Make a new entry of the edge above a point, and a group if it is the first of its weight."""
    if merging.parent[point] == _NONE:
        return
    below = root_of(merging.parts, point)
    above = root_of(merging.parts, int(merging.parent[point]))
    entry = merging.counts[MADE]
    merging.counts[MADE] += 1
    merging.entries[entry, POINT] = point
    merging.entries[entry, EDGE] = merging.edge[point]
    merging.entry_of[point] = entry
    merging.groups[entry, ROOT] = entry
    merging.group_weight[entry] = merging.part_weight[below]
    if add_group(merging, above, entry):
        position = merging.counts[QUEUED]
        merging.counts[QUEUED] += 1
        bound = rounded_score(score_of(merging, point, below, above))
        sift_up(merging, position, bound, int(merging.edge[point]), entry)


@kernel_part
def look_at_first(merging: Merging) -> None:
    """Merge the parts that the first edge of the queue connects, if its score is what it was.

    Else it moves down to its new score.
    """
    g = int(merging.queue[0, GROUP])
    entry = first_entry(merging, g)
    if entry == _NONE:
        remove_first(merging)
        return
    e, point = int(merging.entries[entry, EDGE]), int(merging.entries[entry, POINT])
    below = root_of(merging.parts, point)
    above = root_of(merging.parts, int(merging.parent[point]))
    score = score_of(merging, point, below, above)
    bound = rounded_score(score)
    if bound > merging.bounds[0] or e != merging.queue[0, NUMBER]:
        sift_down(merging, bound, e, g)
        return
    merging.order[merging.counts[MERGED]] = e
    merging.scores[merging.counts[MERGED]] = score
    merging.counts[MERGED] += 1
    merging.entry_of[point] = _NONE
    following = first_entry(merging, g)
    if following == _NONE:
        remove_first(merging)
    else:
        sift_down(merging, bound, int(merging.entries[following, EDGE]), g)
    enter(merging, unite(merging, below, above))


@kernel_part
def score_of(merging: Merging, point: int, a: int, b: int) -> float:
    """Return the score of the edge above a point, between the parts at two roots."""
    weight_a, weight_b = merging.part_weight[a], merging.part_weight[b]
    return cut_score(merging.edge_weight[point], weight_a, weight_b, weight_a + weight_b)


@kernel_part
def add_group(merging: Merging, part: int, g: int) -> bool:
    """Meld a group with one of its weight in the list of a part, or add it to the list.

    Of two that become one, the group whose edge comes first lives on: its bound holds for both.
    Returns whether g lives on.
    """
    parts, groups = merging.parts, merging.groups
    before, h = int(_NONE), int(parts[part, FIRST])
    n_listed = 0
    while h != _NONE and merging.group_weight[h] != merging.group_weight[g]:
        before, h = h, int(groups[h, NEXT])
        n_listed += 1
    if h == _NONE:
        if n_listed < _LISTED:
            groups[g, NEXT] = parts[part, FIRST]
            parts[part, FIRST] = g
        return True
    first, other = first_entry(merging, g), first_entry(merging, h)
    root = meld(merging.entries, first, other)
    if root == other and other != _NONE:
        groups[h, ROOT], groups[g, ROOT] = root, _NONE
        return False
    groups[g, ROOT], groups[h, ROOT] = root, _NONE
    groups[g, NEXT] = groups[h, NEXT]
    if before == _NONE:
        parts[part, FIRST] = g
    else:
        groups[before, NEXT] = g
    return True


@kernel_part
def unite(merging: Merging, below: int, above: int) -> int:
    """Make one part of two; return its highest point."""
    parts, weight = merging.parts, merging.part_weight
    top = int(parts[above, TOP])
    large, small = above, below
    if weight[above] < weight[below]:
        large, small = below, above
    parts[small, SET] = large
    parts[large, TOP] = top
    weight[large] += weight[small]
    g = int(parts[small, FIRST])
    while g != _NONE:
        following = int(merging.groups[g, NEXT])
        if merging.groups[g, ROOT] != _NONE:
            add_group(merging, large, g)
        g = following
    return top


@kernel_part
def first_entry(merging: Merging, g: int) -> int:
    """Return the first entry of a group, or -1, dropping those before it that no longer count."""
    entries = merging.entries
    entry = int(merging.groups[g, ROOT])
    while entry != _NONE and merging.entry_of[entries[entry, POINT]] != entry:
        entry = meld(entries, int(entries[entry, LEFT]), int(entries[entry, RIGHT]))
    merging.groups[g, ROOT] = entry
    return entry


@kernel_part
def meld(entries: Array, a: int, b: int) -> int:
    """Return the root of two heaps made one: skew heaps, whose branches swap sides on the way."""
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
    """Return the root of a point's set, halving the path to it."""
    while parts[point, SET] != point:
        parts[point, SET] = parts[parts[point, SET], SET]
        point = int(parts[point, SET])
    return point


@kernel_part
def comes_first(merging: Merging, bound: float, e: int, position: int) -> bool:
    """Whether a bound and an edge come before those at a position of the queue."""
    if bound != merging.bounds[position]:
        return bool(bound < merging.bounds[position])
    return bool(e < merging.queue[position, NUMBER])


@kernel_part
def remove_first(merging: Merging) -> None:
    """Take the first group off the queue."""
    merging.counts[QUEUED] -= 1
    last = merging.counts[QUEUED]
    e, g = int(merging.queue[last, NUMBER]), int(merging.queue[last, GROUP])
    sift_down(merging, merging.bounds[last], e, g)


@kernel_part
def sift_down(merging: Merging, bound: float, e: int, g: int) -> None:
    """Put a group into the first position of the queue, and restore the order below."""
    queue, bounds, length = merging.queue, merging.bounds, merging.counts[QUEUED]
    position = 0
    while 2 * position + 1 < length:
        child = 2 * position + 1
        if child + 1 < length and comes_first(
            merging, bounds[child + 1], int(queue[child + 1, NUMBER]), child
        ):
            child += 1
        if comes_first(merging, bound, e, child):
            break
        put(merging, position, bounds[child], queue[child, NUMBER], queue[child, GROUP])
        position = child
    put(merging, position, bound, e, g)


@kernel_part
def sift_up(merging: Merging, position: int, bound: float, e: int, g: int) -> None:
    """Put a group into the last position of the queue, and restore the order above."""
    queue, bounds = merging.queue, merging.bounds
    while position > 0 and comes_first(merging, bound, e, (position - 1) // 2):
        above = (position - 1) // 2
        put(merging, position, bounds[above], queue[above, NUMBER], queue[above, GROUP])
        position = above
    put(merging, position, bound, e, g)


@kernel_part
def put(merging: Merging, position: int, bound: float, e: int, g: int) -> None:
    """Write a group to a position of the queue."""
    merging.bounds[position] = bound
    merging.queue[position, NUMBER] = e
    merging.queue[position, GROUP] = g
