"""New points → candidates for their attachment edges, by searching a kd-tree.

Two rules prune the points u of the tree that a new point x need not be attached to:

1. Some v is nearer to x than u is, and at least as near to u as x is. Then neither x–v nor v–u is
   longer than x–u. Points that this rule leaves are seen from x under wide angles, so there are
   few: at most six in the plane. It prunes a node of the kd-tree by its box.
2. Some v is nearer to x than u is, and D(u, v) ≤ d(x, u). For a node of the kd-tree the range of
   its points in the leaf order of the ultrametric tree bounds D. With many coordinates this prunes
   most of what the first rule leaves.

Of two paths whose lengths differ by a rounding error either may be taken; lengths then differ in
the last bit. With a *slack* above zero v must be nearer by that share, in both rules: then only
edges are pruned that are in no minimum spanning tree of all points, however ties are broken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, POWERS, SQUARES
from isthmus._numba.kernel import announced_kernel, kernel, kernel_part
from isthmus._numba.simd import (
    LANES,
    boxes_from_box,
    boxes_nearer_to,
    lanes_at_most,
    lowest_lane,
    point_distances,
)
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kdtree.build import KdTree
from isthmus.kdtree.traversal import STACK, level_of, node_of, push_nodes
from isthmus.metrics.mapped import MappedMetric
from isthmus.spanning_tree.result import KdTreeIndex
from isthmus.ultrametric.range_max import RangeMaxima, largest_gap

# Set for each specialisation: coordinates, and what distances accumulate.
DIMS = 0
KIND = 0

# The most candidates of a new point; where there are more, its distances to all points are used.
MOST_CANDIDATES = 32
TOO_MANY = -1

# Distances up to the largest float count; padding is infinitely far.
_FARTHEST = np.finfo(np.float64).max


class SearchedTree(NamedTuple):
    """A kd-tree of distinct points, and what their ultrametric tree says of them.

    Attributes
    ----------
    tree : KdTree
    rows : (n,) int64
        The number of the point at each position of the kd-tree.
    leaf_position : (n,) int
        Its position in leaf order.
    first, last : (n_blocks * 8,) int
        The first and the last position in leaf order of the points of each node.
    gaps : RangeMaxima
        The gaps in leaf order, as accumulated distances.
    slack : float
        By which share of a distance others must be shorter to prune it.
    """

    tree: KdTree
    rows: Ints
    leaf_position: Ints
    first: Ints
    last: Ints
    gaps: RangeMaxima
    slack: float


class Query(NamedTuple):
    """A new point that is being attached, and the buffers of its search.

    Attributes
    ----------
    box : (dims,) float64
        Its coordinates; a box round one point.
    power : float
        The exponent of Minkowski's distances.
    stack_distance, stack_node : (256,) float64 and int64
        Nodes still to be visited, the nearest on top, as stack_entry makes them.
    found, gaps : (8,) float64
        The distances of the points, and of the nodes, that were looked at last.
    coordinates, point, distance : (MOST_CANDIDATES, dims), (MOST_CANDIDATES,), (MOST_CANDIDATES,)
        The candidates found so far, the nearest first.
    """

    box: Floats
    power: float
    stack_distance: Floats
    stack_node: Ints
    found: Floats
    gaps: Floats
    coordinates: Floats
    point: Ints
    distance: Floats


class State(NamedTuple):
    """How far the search of a new point has come.

    Attributes
    ----------
    n_found : int
        The number of candidates, or TOO_MANY.
    nearest : float
        The distance of the nearest point.
    nearest_row, nearest_position : int
        Its number, the smallest of equally near ones, and its position in leaf order.
    only_nearest : bool
        Whether no other candidate is asked for.
    """

    n_found: int
    nearest: float
    nearest_row: int
    nearest_position: int
    only_nearest: bool


class Candidates(NamedTuple):
    """The candidates of new points, the nearest first.

    Attributes
    ----------
    n_found : (n_new,) int32
        The number of candidates, or TOO_MANY.
    point : (n_new, most) int64
    distance : (n_new, most) float64
        Accumulated over the coordinates.
    """

    n_found: Labels
    point: Ints
    distance: Floats


class CandidateSearch:
    """The points of a kd-tree and of an ultrametric tree, to which new points are attached.

    Parameters
    ----------
    index : KdTreeIndex
    leaf_positions : (n,) int
        The positions of all points in leaf order.
    gaps : (n - 1,) float64
        The gaps in leaf order, as accumulated distances.
    slack : float
        By which share of a distance others must be shorter to prune it.
    """

    def __init__(
        self, index: KdTreeIndex, leaf_positions: Ints, gaps: Floats, slack: float = 0.0
    ) -> None:
        tree, metric = index.kdtree, index.prepared.metric
        self._metric: MappedMetric = metric
        self._dims = len(tree.blocks) // (tree.n_leaves * LANES)
        self._kernel = find_candidates.specialised({"DIMS": self._dims, "KIND": metric.kind})
        rows = index.rows
        positions = leaf_positions[rows]
        first, last = np.empty((2, int(tree.first_block[-1]) * LANES), dtype=positions.dtype)
        fill_ranges(positions, tree.first_block, tree.n_nodes, first, last)
        maxima = RangeMaxima.of(gaps)
        self._tree = SearchedTree(tree, rows, positions, first, last, maxima, slack)

    def candidates(self, points: Array, *, only_nearest: bool) -> Candidates:
        """Return the candidates of new points; if ``only_nearest``, only the nearest point.

        points : (n_new, n_features) float64
            Mapped as those of the tree.
        """
        n_new = len(points)
        queries = np.zeros((n_new, self._dims))
        queries[:, : points.shape[1]] = points
        most = 1 if only_nearest else MOST_CANDIDATES
        out = Candidates(
            np.empty(n_new, dtype=np.int32),
            np.empty((n_new, most), dtype=np.int64),
            np.empty((n_new, most)),
        )
        buffers = Query(
            box=np.empty(self._dims),
            power=float(self._metric.power),
            stack_distance=np.empty(STACK),
            stack_node=np.empty(STACK, dtype=np.int64),
            found=np.empty(LANES),
            gaps=np.empty(LANES),
            coordinates=np.empty((MOST_CANDIDATES, self._dims)),
            point=np.empty(MOST_CANDIDATES, dtype=np.int64),
            distance=np.empty(MOST_CANDIDATES),
        )
        self._kernel(self._tree, queries, buffers, out)
        if self._metric.kind == POWERS:  # sums of powers here, their roots elsewhere
            with np.errstate(invalid="ignore"):  # entries that were not filled
                np.power(out.distance, 1.0 / self._metric.power, out=out.distance)
        return out


@kernel
def fill_ranges(positions: Ints, first_block: Ints, n_nodes: Ints, first: Ints, last: Ints) -> None:
    """Fill the first and the last leaf position of all nodes from those of the points."""
    for level in range(n_nodes.shape[0]):
        below = first_block[level - 1] * LANES if level else 0
        n_below = n_nodes[level - 1] if level else positions.shape[0]
        for node in range(n_nodes[level]):
            slot = first_block[level] * LANES + node
            low, high = np.int64(1) << np.int64(62), np.int64(-1)
            for i in range(node * LANES, min((node + 1) * LANES, n_below)):
                low = min(low, np.int64(first[below + i] if level else positions[i]))
                high = max(high, np.int64(last[below + i] if level else positions[i]))
            first[slot], last[slot] = low, high


@kernel_part
def box_block(tree: KdTree, level: int, parent: int) -> int:
    """Return where the boxes of the eight nodes of a level below a parent begin."""
    return int((tree.first_block[level] + parent) * (2 * LANES * DIMS))


@kernel_part
def point_at(position: int) -> int:
    """Return where the coordinates of a point begin in ``tree.blocks``; they follow 8 apart."""
    return (position >> 3) * (LANES * DIMS) + (position & 7)


@kernel_part
def nearest_leaf(tree: KdTree, query: Query) -> int:
    """Return the leaf at the end of the way down to the nearest node of each level.

    Any leaf near the point will do, so sums of absolute differences do for every metric.
    """
    node = 0
    for level in range(tree.n_nodes.shape[0] - 1, -1, -1):
        boxes = box_block(tree, level, node)
        boxes_from_box(tree.boxes, boxes, query, _FARTHEST, 1, DIMS, ABSOLUTES)
        nearest = 0
        for lane in range(1, LANES):
            if query.gaps[lane] < query.gaps[nearest]:
                nearest = lane
        node = node * LANES + nearest
    return node


@kernel_part
def push_unpruned(
    searched: SearchedTree, query: Query, level: int, parent: int, state: State, height: int
) -> int:
    """Push the nodes of a level below a parent that may hold candidates, the nearest on top.

    Returns the new height of the stack.
    """
    tree, shrink = searched.tree, 1.0 - searched.slack
    boxes = box_block(tree, level, parent)
    reach = min(state.nearest / shrink, _FARTHEST) if state.only_nearest else _FARTHEST
    mask = boxes_from_box(tree.boxes, boxes, query, reach, 1, DIMS, KIND)
    if KIND == POWERS:  # which take long: the other rule first
        for lane in range(LANES):
            bit = mask & (1 << lane)
            if bit and is_pruned(searched, level, parent * LANES + lane, query.gaps[lane], state):
                mask &= ~bit
    for i in range(state.n_found):
        near = lanes_at_most(query.gaps, query.distance[i] / shrink)
        if mask & ~near == 0:
            break
        nearer = boxes_nearer_to(tree.boxes, boxes, query, i, searched.slack, DIMS, KIND)
        mask &= near | ~nearer
    return push_nodes(mask, level, parent * LANES, query, height)


@kernel_part
def is_pruned(searched: SearchedTree, level: int, node: int, bound: float, state: State) -> bool:
    """Whether no point of a node is a candidate, for the way there from the nearest point.

    bound : float
        All its points are at least as far.
    """
    bound *= 1.0 - searched.slack
    if not bound > state.nearest:
        return False
    if state.only_nearest:
        return True
    slot = searched.tree.first_block[level] * LANES + node
    low = min(np.int64(searched.first[slot]), state.nearest_position)
    high = max(np.int64(searched.last[slot]), state.nearest_position)
    return largest_gap(searched.gaps, low, high) <= bound


@kernel_part
def look_at_leaf(searched: SearchedTree, query: Query, leaf: int, state: State) -> State:
    """Add the points of a leaf to the candidates; return the new state."""
    tree, count, nearest = searched.tree, state.n_found, state.nearest
    nearest_row, nearest_position = state.nearest_row, state.nearest_position
    mask = point_distances(tree.blocks, leaf * (DIMS * LANES), query, _FARTHEST, DIMS, KIND)
    while mask != 0:
        lane = lowest_lane(mask)
        mask &= mask - 1
        distance, position = query.found[lane], leaf * LANES + lane
        row = searched.rows[position]
        if distance < nearest or (distance == nearest and row < nearest_row):
            nearest, nearest_row = distance, row
            nearest_position = int(searched.leaf_position[position])
        if not state.only_nearest and count != TOO_MANY:
            count = add_candidate(searched, query, position, distance, count)
    return State(count, nearest, nearest_row, nearest_position, state.only_nearest)


@kernel_part
def distance_to_candidate(tree: KdTree, query: Query, point: int, i: int) -> float:
    """Return the distance of a candidate to the point whose coordinates begin at ``point``."""
    total = 0.0
    for t in range(DIMS):
        difference = np.float64(tree.blocks[point + t * LANES]) - query.coordinates[i, t]
        if KIND == SQUARES:
            total += difference * difference
        elif KIND == ABSOLUTES:
            total += abs(difference)
        elif KIND == MAXIMUM:
            total = max(total, abs(difference))
        else:
            total += abs(difference) ** query.power
    return total


@kernel_part
def add_candidate(
    searched: SearchedTree, query: Query, position: int, distance: float, count: int
) -> int:
    """Insert a point, unless candidates prune it, and drop those that it prunes.

    Returns the new number of candidates, or TOO_MANY.
    """
    tree, coordinates = searched.tree, query.coordinates
    point = point_at(position)
    shrink = 1.0 - searched.slack
    limit = shrink * distance
    rank = 0
    while rank < count and query.distance[rank] <= distance:
        if query.distance[rank] <= limit and (
            distance_to_candidate(tree, query, point, rank) <= limit
        ):
            return count
        rank += 1
    end = rank
    for other in range(rank, count):
        limit = shrink * query.distance[other]
        if distance > limit or distance_to_candidate(tree, query, point, other) > limit:
            move_candidate(query, other, end)
            end += 1
    if end == coordinates.shape[0]:
        return TOO_MANY
    for other in range(end, rank, -1):
        move_candidate(query, other - 1, other)
    for t in range(DIMS):
        coordinates[rank, t] = np.float64(tree.blocks[point + t * LANES])
    query.point[rank], query.distance[rank] = searched.rows[position], distance
    return end + 1


@kernel_part
def move_candidate(query: Query, old: int, new: int) -> None:
    """Copy a candidate from one rank to another."""
    for t in range(DIMS):
        query.coordinates[new, t] = query.coordinates[old, t]
    query.point[new], query.distance[new] = query.point[old], query.distance[old]


@kernel_part
def put_nearest_first(query: Query, point: int, distance: float, count: int) -> int:
    """Put the nearest point, which one equally near may have pruned, before all candidates.

    Returns the new number of candidates, or TOO_MANY.
    """
    rank = 0
    while rank < count and query.point[rank] != point:
        rank += 1
    if rank == query.coordinates.shape[0]:
        return TOO_MANY
    for other in range(rank, 0, -1):
        move_candidate(query, other - 1, other)
    query.point[0], query.distance[0] = point, distance
    return max(count, rank + 1)


@announced_kernel("the search for neighbours of new points with up to {DIMS} features")
def find_candidates(searched: SearchedTree, queries: Floats, query: Query, out: Candidates) -> None:
    """Fill the candidates of new points; one each where there is space for one.

    queries : (n_new, DIMS) float64, in
    query : scratch
    out : out
    """
    tree = searched.tree
    top = tree.n_nodes.shape[0] - 1
    for q in range(queries.shape[0]):
        for t in range(DIMS):
            query.box[t] = queries[q, t]
        state = State(0, np.inf, -1, -1, out.point.shape[1] == 1)
        # The points nearby prune most nodes before they come onto the stack.
        first = nearest_leaf(tree, query)
        state = look_at_leaf(searched, query, first, state)
        height = push_unpruned(searched, query, top, 0, state, 0)
        while height > 0 and state.n_found != TOO_MANY:
            height -= 1
            bound, entry = query.stack_distance[height], query.stack_node[height]
            node, level = node_of(entry), level_of(entry)
            if is_pruned(searched, level, node, bound, state):
                continue
            if level > 0:
                height = push_unpruned(searched, query, level - 1, node, state, height)
            elif node != first:
                state = look_at_leaf(searched, query, node, state)
        count = state.n_found
        if count != TOO_MANY:
            count = put_nearest_first(query, state.nearest_row, state.nearest, count)
        out.n_found[q] = count
        for rank in range(count):
            out.point[q, rank], out.distance[q, rank] = query.point[rank], query.distance[rank]
