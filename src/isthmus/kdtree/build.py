"""Points → a kd-tree without pointers.

Points are put into an order in which eight neighbouring ones form a leaf, eight leaves a node,
eight nodes a node of the next level, and so on: where a node lies in memory says what it holds.
Each block of eight points is stored coordinate by coordinate, each block of eight boxes
likewise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._numba.simd import BLOCK, LANES, swap_rows, widest_dimension
from isthmus._utils.parallel import Workers
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kdtree.block_sort import order_64_rows

# Set for each specialisation of the kernels: the number of coordinates.
DIMS = 0

# This many rows, at least, tell where a node extends farthest.
_SAMPLED = 256
# Rows, and leaves, per task.
_ROWS = 1 << 16
_LEAVES = 4096


class KdTree(NamedTuple):
    """A kd-tree of n points; kernels take it as it is.

    Attributes
    ----------
    order : (n,) int32
        The point at each position.
    blocks : (n_leaves * 8 * dims,) float
        Coordinates, leaf by leaf; positions beyond the last point hold infinity.
    boxes : (n_blocks * 16 * dims,) float
        The bounds of all nodes, level by level from the leaves up, eight nodes a block.
    first_block : (n_levels + 1,) int64
        Where each level's blocks begin.
    n_nodes : (n_levels,) int64
        The number of nodes of each level; the leaves are level 0, the last level has at most 8.
    """

    order: Labels
    blocks: Array
    boxes: Array
    first_block: Ints
    n_nodes: Ints

    @property
    def n_points(self) -> int:
        """The number of points."""
        return len(self.order)

    @property
    def dims(self) -> int:
        """The number of coordinates, with those that points are padded with."""
        return len(self.blocks) // (self.n_leaves * LANES)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(self.n_nodes[0])


class Scratch(NamedTuple):
    """What ordering rows needs; one for each thread.

    Attributes
    ----------
    sample : (64,) float64
        Coordinates to choose a pivot from.
    stack : (64, 2) int64
        Where nodes that are still to be ordered begin and end.
    first, second, sources : ((dims + 1) * 64,) float64 twice, and (64,) int64
        As order_64_rows takes them.
    """

    sample: Floats
    stack: Ints
    first: Floats
    second: Floats
    sources: Ints


def _make_scratch(dims: int) -> Scratch:
    return Scratch(
        sample=np.empty(64),
        stack=np.empty((64, 2), dtype=np.int64),
        first=np.empty((dims + 1) * BLOCK),
        second=np.empty((dims + 1) * BLOCK),
        sources=np.empty(BLOCK, dtype=np.int64),
    )


def aligned_empty(size: int, dtype: type) -> Array:
    """Return an uninitialised array that begins at a cache line."""
    n_bytes = size * np.dtype(dtype).itemsize
    raw = np.empty(n_bytes + 64, dtype=np.uint8)
    begin = -raw.ctypes.data % 64
    return raw[begin : begin + n_bytes].view(dtype)


def build_tree(points: Array, dims: int, workers: Workers) -> KdTree:
    """Return the kd-tree of points, their coordinates padded with zeros to ``dims``.

    The result does not depend on the number of threads.
    """
    n_points, n_features = points.shape
    rows = np.empty((n_points, dims), dtype=points.dtype)

    def copy(_: int, start: int, stop: int) -> None:
        rows[start:stop, :n_features] = points[start:stop]
        rows[start:stop, n_features:] = 0.0

    workers.in_blocks(n_points, _ROWS, copy)
    flat = rows.reshape(-1)
    order = np.arange(n_points, dtype=np.int32)
    _order_points(flat, order, dims, workers)

    n_leaves = -(-n_points // LANES)
    n_nodes = [n_leaves]
    while n_nodes[-1] > LANES:
        n_nodes.append(-(-n_nodes[-1] // LANES))
    n_blocks = [-(-count // LANES) for count in n_nodes]
    first_block = np.concatenate([[0], np.cumsum(n_blocks)]).astype(np.int64)
    blocks = aligned_empty(n_leaves * LANES * dims, points.dtype.type)
    boxes = aligned_empty(int(first_block[-1]) * 2 * LANES * dims, points.dtype.type)
    _make_padding_boxes_empty(boxes, n_nodes, first_block, dims)

    constants = {"DIMS": dims}
    fill = fill_leaves.specialised(constants)
    workers.in_blocks(
        n_leaves,
        _LEAVES,
        lambda _, start, stop: fill(flat, n_points, blocks, boxes, start, stop),
    )
    fill_upper_boxes.specialised(constants)(boxes, first_block, np.array(n_nodes))
    return KdTree(order, blocks, boxes, first_block, np.array(n_nodes, dtype=np.int64))


def _make_padding_boxes_empty(
    boxes: Array, n_nodes: list[int], first_block: Ints, dims: int
) -> None:
    """Give the boxes after a level's last one bounds that are infinitely far from anything."""
    by_block = boxes.reshape(-1, dims, 2, LANES)
    for level, count in enumerate(n_nodes):
        if count % LANES:
            last = first_block[level] + count // LANES
            by_block[last, :, 0, :] = np.inf
            by_block[last, :, 1, :] = -np.inf


def _order_points(rows: Array, order: Labels, dims: int, workers: Workers) -> None:
    """Put rows and order into tree order, halves of a node in parallel."""
    finish = order_slice.specialised({"DIMS": dims})
    slices = [(0, len(order))]
    smallest = max(len(order) // (4 * workers.n_jobs), 1 << 12)
    while workers.n_jobs > 1 and max(stop - start for start, stop in slices) > smallest:
        large = [s for s in slices if s[1] - s[0] > smallest]
        slices = [s for s in slices if s[1] - s[0] <= smallest]
        for (start, stop), middle in zip(
            large, _split_nodes(rows, order, dims, large, workers), strict=True
        ):
            slices += [(start, middle), (middle, stop)]

    def work(_: int, i: int, __: int) -> None:
        finish(rows, order, *slices[i], _make_scratch(dims))

    workers.in_blocks(len(slices), 1, work)


def _split_nodes(
    rows: Array, order: Labels, dims: int, slices: list[tuple[int, int]], workers: Workers
) -> list[int]:
    """Split several nodes; return where their second halves begin."""
    split = split_node.specialised({"DIMS": dims})
    middles = [0] * len(slices)

    def work(_: int, i: int, __: int) -> None:
        middles[i] = split(rows, order, *slices[i], np.empty(64))

    workers.in_blocks(len(slices), 1, work)
    return middles


@kernel_part
def node_index(tree: KdTree, level: int, node: int) -> int:
    """Return where arrays with one entry for each node hold that of a node."""
    return int(tree.first_block[level] * LANES + node)


@kernel_part
def coordinate(tree: KdTree, position: int, t: int) -> float:
    """Return coordinate t of the point at a position."""
    leaf, lane = position >> 3, position & 7
    return np.float64(tree.blocks[(leaf * DIMS + t) * LANES + lane])


@kernel_part
def split_rows(
    rows: Array, order: Labels, start: int, stop: int, dim: int, pivot: float, inclusive: bool
) -> int:
    """Move rows whose coordinate is below the pivot (or equal, if inclusive) to the front.

    Returns where they end. Every row is swapped, whether it moves or not: no branch to mispredict.
    """
    end = start
    for i in range(start, stop):
        x = rows[i * DIMS + dim]
        swap_rows(rows, i, end, DIMS)
        point = order[i]
        order[i] = order[end]
        order[end] = point
        end += int(x < pivot or (inclusive and x == pivot))
    return end


@kernel_part
def sampled_quantile(
    rows: Array, start: int, stop: int, dim: int, middle: int, sample: Array
) -> float:
    """Return a coordinate that about as many of the rows lie below as stand before the middle."""
    n = stop - start
    n_sample = 3
    if n > 4000:
        n_sample = 63
    elif n > 500:
        n_sample = 21
    elif n > 60:
        n_sample = 9
    elif n > 24:
        n_sample = 5
    for i in range(n_sample):
        x = np.float64(rows[(start + (n * (2 * i + 1)) // (2 * n_sample)) * DIMS + dim])
        j = i
        while j > 0 and sample[j - 1] > x:
            sample[j] = sample[j - 1]
            j -= 1
        sample[j] = x
    return float(sample[((middle - start) * n_sample) // n])


@kernel_part
def part_rows(
    rows: Array, order: Labels, start: int, stop: int, middle: int, dim: int, sample: Array
) -> tuple[int, int]:
    """Order rows so that none before ``middle`` has a larger coordinate than one after it.

    Returns a range, round ``middle``, of rows whose coordinates are all equal.
    """
    # Coordinates of [start, low) <= those of [low, high) <= those of [high, stop).
    low, high = start, stop
    while high - low > 1 and low != middle:
        pivot = sampled_quantile(rows, low, high, dim, middle, sample)
        end = split_rows(rows, order, low, high, dim, pivot, False)
        if middle < end:
            high = end
        elif end > low:
            low = end
        else:  # nothing lies below the pivot: many rows may equal it
            end = split_rows(rows, order, low, high, dim, pivot, True)
            if middle < end:
                return low, end
            low = end
    return middle, middle


@kernel
def split_node(rows: Array, order: Labels, start: int, stop: int, sample: Array) -> int:
    """Split a node along its widest coordinate into a full half and the rest.

    Returns where the second half begins, or -1 for a leaf.
    sample : (64,) float64, scratch
    """
    n_leaves = (stop - start + LANES - 1) // LANES
    if n_leaves <= 1:
        return -1
    half = 1
    while 2 * half < n_leaves:
        half *= 2
    middle = start + half * LANES
    low, high = start, stop
    while high - low > 1 and low != middle:
        # Where many rows have the coordinate that the halves meet at, another one parts these.
        dim = widest_dimension(rows, low, high, max(1, (high - low) // _SAMPLED), DIMS)
        if dim < 0:
            dim = widest_dimension(rows, low, high, 1, DIMS)
        if dim < 0:
            break
        low, high = part_rows(rows, order, low, high, middle, dim, sample)
    return middle


@kernel
def order_slice(rows: Array, order: Labels, start: int, stop: int, scratch: Scratch) -> None:
    """Put the rows of a node into tree order."""
    stack = scratch.stack
    stack[0, 0] = start
    stack[0, 1] = stop
    height = 1
    while height > 0:
        height -= 1
        begin, end = stack[height, 0], stack[height, 1]
        if end - begin == BLOCK:
            order_64_rows(rows, order, begin, scratch.first, scratch.second, scratch.sources)
            continue
        middle = split_node(rows, order, begin, end, scratch.sample)
        if middle >= 0:
            stack[height, 0] = begin
            stack[height, 1] = middle
            stack[height + 1, 0] = middle
            stack[height + 1, 1] = end
            height += 2


@kernel
def fill_leaves(
    rows: Array, n_points: int, blocks: Array, boxes: Array, start: int, stop: int
) -> None:
    """Fill the blocks and boxes of leaves start … stop - 1 from the rows in tree order."""
    for leaf in range(start, stop):
        box = (leaf >> 3) * (2 * LANES * DIMS) + (leaf & 7)
        for t in range(DIMS):
            low, high = np.inf, -np.inf
            for lane in range(LANES):
                i = leaf * LANES + lane
                x = np.inf
                if i < n_points:
                    x = np.float64(rows[i * DIMS + t])
                    low = min(low, x)
                    high = max(high, x)
                blocks[(leaf * DIMS + t) * LANES + lane] = x
            boxes[box + 2 * t * LANES] = low
            boxes[box + (2 * t + 1) * LANES] = high


@kernel
def fill_upper_boxes(boxes: Array, first_block: Ints, n_nodes: Ints) -> None:
    """Fill the boxes of all levels above the leaves."""
    for level in range(1, n_nodes.shape[0]):
        for node in range(n_nodes[level]):
            out = (first_block[level] + (node >> 3)) * (2 * LANES * DIMS) + (node & 7)
            inner = (first_block[level - 1] + node) * (2 * LANES * DIMS)
            for t in range(DIMS):
                low, high = np.inf, -np.inf
                for lane in range(LANES):
                    low = min(low, np.float64(boxes[inner + 2 * t * LANES + lane]))
                    high = max(high, np.float64(boxes[inner + (2 * t + 1) * LANES + lane]))
                boxes[out + 2 * t * LANES] = low
                boxes[out + (2 * t + 1) * LANES] = high
