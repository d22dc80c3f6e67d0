"""New points → the few points of a kd-tree that their spanning tree may join them to.

A new point x need not hop to a point u if a point v nearer to x is at least as near to u as x is:
by way of v no hop is longer. Of the points that are left each two are seen from x under a wide
angle, so that there are few of them: at most six in the plane. Whole nodes of the tree are left
out in the same way. The point of a box that prefers v to x the least is a corner, the same one for
every sum over coordinates. (Which of two ways is longer by a rounding error may be decided either
way there; lengths then differ in the last bit.)

Nor need x hop to u if the transitive distance of u and v is not longer than the hop. Of all points
of a node this is known at once from the ultrametric tree, whose leaf order they stand in. With
many coordinates that leaves out most of what the first rule leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.accumulators import POWERS
from isthmus._numba.kernel import announce_compilation, kernel, kernel_part
from isthmus._numba.simd import LANES
from isthmus._utils.parallel import Workers
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.prediction.kdtree_bounds import added, distances_of_boxes, distances_of_leaf, prefers
from isthmus.spanning_tree.kdtree.build import KdTree, build_tree
from isthmus.spanning_tree.kdtree.knn import STACK
from isthmus.spanning_tree.kdtree.limits import padded_dims
from isthmus.ultrametric.range_max import RangeMaxima, largest_gap

# Set for each specialisation.
DIMS = 0

# A new point that may hop to more points than these is left to others.
MOST_HOPS = 32


class LeafRanges(NamedTuple):
    """What an ultrametric tree says of the points of a kd-tree.

    Attributes
    ----------
    places : (n,) int32 or int64
        Where the point at each place of the kd-tree stands in leaf order.
    first, last : (n_blocks * 8,) of the same type
        The first and the last of these among the points of each node.
    gaps : RangeMaxima
        The gaps between neighbours in leaf order, as accumulated distances.
    """

    places: Array
    first: Array
    last: Array
    gaps: RangeMaxima


class Search(NamedTuple):
    """What a search needs, one for each thread.

    Attributes
    ----------
    stack_distance, stack_node : (256,) float64 and int64
        Nodes still to be visited: number * 16 + level.
    found : (8,) float64
        The distances of the block that is being looked at.
    kept : (MOST_HOPS, dims) float64
        The coordinates of the points that are kept.
    """

    stack_distance: Floats
    stack_node: Ints
    found: Floats
    kept: Floats


class Hops(NamedTuple):
    """What new points may hop to, the nearest first.

    Attributes
    ----------
    n_kept : (n_new,) int32
        How many points; -1 where they are more than MOST_HOPS.
    point : (n_new, MOST_HOPS) int64
    distance : (n_new, MOST_HOPS) float64
        As metrics.py accumulates them.
    """

    n_kept: Labels
    point: Ints
    distance: Floats


class HopSearch:
    """Different points, made ready for searches.

    Parameters
    ----------
    points : (n, n_features) float32 or float64
        Mapped for their metric.
    numbers : (n,) int64
        Their numbers, by which those that are equally near are ordered.
    kind, power : int, float
        What distances accumulate; see metrics.py.
    leaf_places : (n,) int64
        Where the points stand in the leaf order of their ultrametric tree.
    gaps : float64
        The gaps in that order, as accumulated distances.
    """

    def __init__(
        self,
        points: Array,
        numbers: Ints,
        kind: int,
        power: float,
        leaf_places: Ints,
        gaps: Floats,
        n_jobs: int = 1,
    ) -> None:
        self.dims = padded_dims(points.shape[1])
        self.power = power
        self._kernel = search_hops.specialised({"DIMS": self.dims, "KIND": kind})
        self._kind = kind
        announce_compilation(
            f"the search for neighbours of new points with up to {self.dims} features", self._kernel
        )
        with Workers(n_jobs) as workers:
            self.tree = build_tree(points, self.dims, workers)
        self.numbers: Ints = numbers[self.tree.order]
        self._ranges = _leaf_ranges(self.tree, leaf_places, gaps)

    def search(self, points: Array, *, only_nearest: bool) -> Hops:
        """Return what new points may hop to; if ``only_nearest``, no more than the nearest.

        points : (n_new, n_features) float64
            Mapped as the others were.
        """
        n_new = len(points)
        queries = np.zeros((n_new, self.dims))
        queries[:, : points.shape[1]] = points
        most = 1 if only_nearest else MOST_HOPS
        hops = Hops(
            np.empty(n_new, dtype=np.int32),
            np.empty((n_new, most), dtype=np.int64),
            np.empty((n_new, most)),
        )
        search = Search(
            np.empty(STACK),
            np.empty(STACK, dtype=np.int64),
            np.empty(LANES),
            np.empty((MOST_HOPS, self.dims)),
        )
        self._kernel(self.tree, self._ranges, self.numbers, queries, self.power, search, hops)
        if self._kind == POWERS:  # here sums of powers; elsewhere their roots
            with np.errstate(invalid="ignore"):  # what was not filled
                np.power(hops.distance, 1.0 / self.power, out=hops.distance)
        return hops


def _leaf_ranges(tree: KdTree, leaf_places: Ints, gaps: Floats) -> LeafRanges:
    n_slots = int(tree.first_block[-1]) * LANES
    places = leaf_places[tree.order]
    first, last = np.empty((2, n_slots), dtype=np.int64)
    fill_ranges(places, tree.first_block, tree.n_nodes, first, last)
    return LeafRanges(places, first, last, RangeMaxima.of(gaps))


@kernel
def fill_ranges(places: Ints, first_block: Ints, n_nodes: Ints, first: Ints, last: Ints) -> None:
    """Fill the ranges of all nodes from the places of the points."""
    for level in range(n_nodes.shape[0]):
        below = first_block[level - 1] * LANES if level else 0
        n_below = n_nodes[level - 1] if level else places.shape[0]
        for node in range(n_nodes[level]):
            slot = first_block[level] * LANES + node
            low, high = np.int64(1) << np.int64(62), -1
            for i in range(node * LANES, min((node + 1) * LANES, n_below)):
                low = min(low, first[below + i] if level else places[i])
                high = max(high, last[below + i] if level else places[i])
            first[slot], last[slot] = low, high


@kernel_part
def push_by_distance(
    tree: KdTree, level: int, parent: int, x: Floats, power: float, search: Search, height: int
) -> int:
    """Push the eight nodes below a parent, the nearest on top; return the new height."""
    distances_of_boxes(tree, tree.first_block[level] + parent, x, power, search.found)
    bottom = height
    for lane in range(LANES):
        distance = search.found[lane]
        if not distance < np.inf:
            continue
        i = height
        while i > bottom and search.stack_distance[i - 1] < distance:
            search.stack_distance[i] = search.stack_distance[i - 1]
            search.stack_node[i] = search.stack_node[i - 1]
            i -= 1
        search.stack_distance[i] = distance
        search.stack_node[i] = (parent * LANES + lane) * 16 + level
        height += 1
    return height


@kernel_part
def is_spared(
    tree: KdTree,
    ranges: LeafRanges,
    level: int,
    node: int,
    bound: float,
    nearest_place: int,
    x: Floats,
    power: float,
    search: Search,
    distance: Floats,
    count: int,
) -> bool:
    """Whether x need not hop to any point of a node, which is at least as far as the bound.

    nearest_place : int
        Where the nearest point stands in leaf order.
    distance, count : in
        How far the points are that are kept.
    """
    block = tree.first_block[level] + (node >> 3)
    box = block * (2 * LANES * DIMS) + (node & 7)
    for i in range(count):
        if distance[i] > bound:
            break
        if prefers(tree, box, x, search.kept[i], power):
            return True
    slot = tree.first_block[level] * LANES + node
    low, high = min(ranges.first[slot], nearest_place), max(ranges.last[slot], nearest_place)
    return largest_gap(ranges.gaps, low, high) <= bound


@kernel_part
def keep_hop(
    tree: KdTree,
    place: int,
    number: int,
    accumulated: float,
    power: float,
    kept: Floats,
    point: Ints,
    distance: Floats,
    count: int,
) -> int:
    """Insert a point among those kept, unless they spare it, and drop those that it spares.

    Returns how many are kept then; -1 where they are too many.
    """
    base = (place >> 3) * (LANES * DIMS) + (place & 7)
    rank = 0
    while rank < count and distance[rank] <= accumulated:
        between = 0.0
        for t in range(DIMS):
            y = np.float64(tree.blocks[base + t * LANES])
            between = added(between, y - kept[rank, t], power)
        if between <= accumulated:
            return count
        rank += 1
    end = rank
    for other in range(rank, count):
        between = 0.0
        for t in range(DIMS):
            y = np.float64(tree.blocks[base + t * LANES])
            between = added(between, y - kept[other, t], power)
        if between > distance[other]:
            move_hop(kept, point, distance, other, end)
            end += 1
    if end == kept.shape[0]:
        return -1
    for other in range(end, rank, -1):
        move_hop(kept, point, distance, other - 1, other)
    for t in range(DIMS):
        kept[rank, t] = np.float64(tree.blocks[base + t * LANES])
    point[rank], distance[rank] = number, accumulated
    return end + 1


@kernel_part
def move_hop(kept: Floats, point: Ints, distance: Floats, old: int, new: int) -> None:
    """Copy one of the points that are kept to another place among them."""
    for t in range(DIMS):
        kept[new, t] = kept[old, t]
    point[new], distance[new] = point[old], distance[old]


@kernel_part
def put_first(
    number: int, accumulated: float, kept: Floats, point: Ints, distance: Floats, count: int
) -> int:
    """Put the nearest point, which may have been spared by one as near, before all others.

    Returns how many are kept then; -1 where they are too many.
    """
    here = 0
    while here < count and point[here] != number:
        here += 1
    if here == kept.shape[0]:
        return -1
    for other in range(here, 0, -1):
        move_hop(kept, point, distance, other - 1, other)
    point[0], distance[0] = number, accumulated
    return max(count, here + 1)


@kernel
def search_hops(
    tree: KdTree,
    ranges: LeafRanges,
    numbers: Ints,
    queries: Floats,
    power: float,
    search: Search,
    hops: Hops,
) -> None:
    """Fill the hops of queries, (n_new, DIMS); one for each where there is room for one.

    numbers : (n,) int64
        The number of the point at each place of the tree.
    """
    only_nearest = hops.point.shape[1] == 1
    top = tree.n_nodes.shape[0] - 1
    for q in range(queries.shape[0]):
        x, point, distance = queries[q], hops.point[q], hops.distance[q]
        count = 0
        nearest, nearest_number, nearest_place = np.inf, -1, -1
        height = push_by_distance(tree, top, 0, x, power, search, 0)
        while height > 0:
            height -= 1
            bound = search.stack_distance[height]
            entry = search.stack_node[height]
            level, node = entry & 15, entry >> 4
            if bound > nearest and (
                only_nearest
                or is_spared(
                    tree,
                    ranges,
                    level,
                    node,
                    bound,
                    nearest_place,
                    x,
                    power,
                    search,
                    distance,
                    count,
                )
            ):
                continue
            if level > 0:
                height = push_by_distance(tree, level - 1, node, x, power, search, height)
                continue
            distances_of_leaf(tree, node, x, power, search.found)
            for lane in range(LANES):
                accumulated = search.found[lane]
                if not accumulated < np.inf:
                    continue
                place = node * LANES + lane
                number = numbers[place]
                if accumulated < nearest or (accumulated == nearest and number < nearest_number):
                    nearest, nearest_number = accumulated, number
                    nearest_place = ranges.places[place]
                if only_nearest or count < 0:
                    continue
                count = keep_hop(
                    tree,
                    place,
                    number,
                    accumulated,
                    power,
                    search.kept,
                    point,
                    distance,
                    count,
                )
            if count < 0:
                break
        if count >= 0:
            count = put_first(nearest_number, nearest, search.kept, point, distance, count)
        hops.n_kept[q] = count
