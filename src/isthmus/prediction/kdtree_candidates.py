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

from isthmus._numba.accumulators import POWERS
from isthmus._numba.kernel import announced_kernel, kernel, kernel_part
from isthmus._numba.simd import LANES
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kdtree.build import KdTree
from isthmus.kdtree.traversal import STACK
from isthmus.metrics.mapped import MappedMetric
from isthmus.prediction.kdtree_distances import (
    box_at,
    distance_between,
    fill_box_distances,
    fill_point_distances,
    point_at,
    prefers,
)
from isthmus.spanning_tree.result import KdTreeIndex
from isthmus.ultrametric.range_max import RangeMaxima, largest_gap

# Set for each specialisation.
DIMS = 0

# The most candidates of a new point; where there are more, its distances to all points are used.
MOST_CANDIDATES = 32
TOO_MANY = -1


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
    power : float
        The exponent of Minkowski's distances.
    slack : float
        By which share of a distance others must be shorter to prune it.
    """

    tree: KdTree
    rows: Ints
    leaf_position: Ints
    first: Ints
    last: Ints
    gaps: RangeMaxima
    power: float
    slack: float


class Query(NamedTuple):
    """A new point that is being attached, and the buffers of its search.

    Attributes
    ----------
    x : (dims,) float64
    stack_distance : (256,) float64
        The distances of nodes still to be visited, the nearest on top.
    stack_node, stack_level : (256,) int64
    found : (8,) float64
        The distances of a block of nodes or points.
    coordinates, point, distance : (MOST_CANDIDATES, dims), (MOST_CANDIDATES,), (MOST_CANDIDATES,)
        The candidates found so far, the nearest first.
    """

    x: Floats
    stack_distance: Floats
    stack_node: Ints
    stack_level: Ints
    found: Floats
    coordinates: Floats
    point: Ints
    distance: Floats


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
        positions = leaf_positions[index.rows]
        first, last = np.empty((2, int(tree.first_block[-1]) * LANES), dtype=positions.dtype)
        fill_ranges(positions, tree.first_block, tree.n_nodes, first, last)
        maxima = RangeMaxima.of(gaps)
        self._tree = SearchedTree(
            tree, index.rows, positions, first, last, maxima, float(metric.power), slack
        )

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
            x=np.empty(self._dims),
            stack_distance=np.empty(STACK),
            stack_node=np.empty(STACK, dtype=np.int64),
            stack_level=np.empty(STACK, dtype=np.int64),
            found=np.empty(LANES),
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
def push_by_distance(
    searched: SearchedTree, query: Query, level: int, parent: int, height: int
) -> int:
    """Push the eight nodes of a level below a parent, the nearest on top; return the new height."""
    tree, distances = searched.tree, query.stack_distance
    box = box_at(tree, level, parent * LANES)
    fill_box_distances(tree, box, query.x, searched.power, query.found)
    bottom = height
    for lane in range(LANES):
        distance = query.found[lane]
        if not distance < np.inf:
            continue
        i = height
        while i > bottom and distances[i - 1] < distance:
            distances[i] = distances[i - 1]
            query.stack_node[i] = query.stack_node[i - 1]
            i -= 1
        distances[i] = distance
        query.stack_node[i] = parent * LANES + lane
        query.stack_level[height] = level
        height += 1
    return height


@kernel_part
def is_pruned(
    searched: SearchedTree,
    query: Query,
    level: int,
    node: int,
    bound: float,
    nearest_position: int,
    count: int,
) -> bool:
    """Whether no point of a node, all at least as far as the bound, is a candidate.

    nearest_position : int
        The position of the nearest point in leaf order.
    count : int
        The number of candidates.
    """
    tree, slack = searched.tree, searched.slack
    bound *= 1.0 - slack
    box = box_at(tree, level, node)
    for i in range(count):
        if query.distance[i] > bound:
            break
        if prefers(tree, box, query.x, query.coordinates[i], searched.power, slack):
            return True
    slot = tree.first_block[level] * LANES + node
    low = min(np.int64(searched.first[slot]), nearest_position)
    high = max(np.int64(searched.last[slot]), nearest_position)
    return largest_gap(searched.gaps, low, high) <= bound


@kernel_part
def add_candidate(
    searched: SearchedTree, query: Query, position: int, distance: float, count: int
) -> int:
    """Insert a point, unless candidates prune it, and drop those that it prunes.

    Returns the new number of candidates, or TOO_MANY.
    """
    tree, power, coordinates = searched.tree, searched.power, query.coordinates
    point = point_at(position)
    shrink = 1.0 - searched.slack
    limit = shrink * distance
    rank = 0
    while rank < count and query.distance[rank] <= distance:
        if query.distance[rank] <= limit and (
            distance_between(tree, point, coordinates[rank], power) <= limit
        ):
            return count
        rank += 1
    end = rank
    for other in range(rank, count):
        limit = shrink * query.distance[other]
        if distance > limit or distance_between(tree, point, coordinates[other], power) > limit:
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
    """Fill the candidates of new points, (n_new, DIMS); one each where there is space for one."""
    tree, rows = searched.tree, searched.rows
    only_nearest = out.point.shape[1] == 1
    top = tree.n_nodes.shape[0] - 1
    for q in range(queries.shape[0]):
        for t in range(DIMS):
            query.x[t] = queries[q, t]
        count = 0
        nearest, nearest_row, nearest_position = np.inf, -1, np.int64(-1)
        height = push_by_distance(searched, query, top, 0, 0)
        while height > 0 and count != TOO_MANY:
            height -= 1
            bound = query.stack_distance[height]
            node, level = query.stack_node[height], query.stack_level[height]
            if bound * (1.0 - searched.slack) > nearest and (
                only_nearest
                or is_pruned(searched, query, level, node, bound, nearest_position, count)
            ):
                continue
            if level > 0:
                height = push_by_distance(searched, query, level - 1, node, height)
                continue
            fill_point_distances(tree, node, query.x, searched.power, query.found)
            for lane in range(LANES):
                distance = query.found[lane]
                if not distance < np.inf:
                    continue
                position = node * LANES + lane
                row = rows[position]
                if distance < nearest or (distance == nearest and row < nearest_row):
                    nearest, nearest_row = distance, row
                    nearest_position = np.int64(searched.leaf_position[position])
                if not only_nearest and count != TOO_MANY:
                    count = add_candidate(searched, query, position, distance, count)
        if count != TOO_MANY:
            count = put_nearest_first(query, nearest_row, nearest, count)
        out.n_found[q] = count
        for rank in range(count):
            out.point[q, rank], out.distance[q, rank] = query.point[rank], query.distance[rank]
