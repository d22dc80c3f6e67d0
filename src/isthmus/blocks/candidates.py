"""The nearest others of points: first as matrix products see them, then exactly.

Positions are those in the order of the blocks. A list is in the order of (distance, position), so
what it holds does not depend on the order in which products are looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.kernel import announced_kernel, kernel, kernel_part
from isthmus._numba.simd import COLUMNS, lowest_lane, near_columns
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.blocks.bounds import Singles
from isthmus.metrics.accumulate import sparse_distance

# Set for each specialisation: whether points are sparse.
SPARSE = 0


class Products(NamedTuple):
    """Inner products of points, in rows, with those of a block, in columns.

    The lower bound of a squared distance is the sum of the two terms less twice the product.

    Attributes
    ----------
    products : (n_rows * stride,) float32
        Row by row; the padding of rows can hold anything.
    row_terms : (n_rows,) float32
    column_terms : (stride,) float32
        Not numbers beyond the last column.
    first_column : int
        The block's first position.
    n_columns : int
    """

    products: Singles
    row_terms: Singles
    column_terms: Singles
    first_column: int
    n_columns: int


class Lists(NamedTuple):
    """The nearest others of some points.

    Attributes
    ----------
    distances : (n, n_neighbours) float32 or float64
        Squared, or lower bounds of these, ascending; infinite where there is nothing yet.
    positions : (n, n_neighbours) int32
    limits : (>= n,) float32
        What lies above these cannot enter the lists, or need not.
    """

    distances: Array
    positions: Labels
    limits: Singles


class Exact(NamedTuple):
    """What distances are measured of exactly.

    Attributes
    ----------
    points : (n, n_features) array, or Entries
        As given.
    order : (n,) int32
        The point at each position.
    """

    points: Any
    order: Labels


class Searching(NamedTuple):
    """Points that search for others with another label.

    Attributes
    ----------
    positions : (m,) int32
        Where they are.
    labels : (n,) int32
        Of all positions.
    names : (n,) int32
        What a position is called in the lists; equally near ones are in the order of their names.
    unit : float
        The squared distance that is 1 to the products, and a little less.
    never : (>= stride,) float32
        Limits, minus infinity, of the columns: they do not search.
    """

    positions: Labels
    labels: Labels
    names: Labels
    unit: float
    never: Singles


@kernel_part
def insert(distances: Array, positions: Labels, distance: float, position: int) -> None:
    """Insert a pair into a list, whose last entry falls off."""
    t = distances.shape[0] - 1
    while t > 0 and (
        distances[t - 1] > distance
        or (distances[t - 1] == distance and positions[t - 1] > position)
    ):
        distances[t] = distances[t - 1]
        positions[t] = positions[t - 1]
        t -= 1
    distances[t] = distance
    positions[t] = position


@kernel_part
def offer(distances: Array, positions: Labels, distance: float, position: int) -> None:
    """Insert a pair into a list, if it comes before the last entry."""
    last = distances.shape[0] - 1
    if distance < distances[last] or (distance == distances[last] and position < positions[last]):
        insert(distances, positions, distance, position)


@kernel_part
def skip_far(
    block: Products, r: int, begin: int, limits: Singles, first_limit: int, limit: float
) -> tuple[int, np.uint64]:
    """Return the next COLUMNS columns, from begin on, of which some are near, and which.

    See near_columns. A loop of its own keeps what it needs in registers: 3 % less time for
    keep_nearest, 12 % for keep_nearest_exactly.

    first_limit : int
        Where the limit of column 0 is.
    """
    row_term, stride = block.row_terms[r], block.column_terms.shape[0]
    near = np.uint64(0)
    while begin < block.n_columns:
        near = near_columns(
            block.products,
            r * stride + begin,
            block.column_terms,
            begin,
            limits,
            first_limit + begin,
            row_term,
            limit,
        )
        if near != 0:
            break
        begin += COLUMNS
    return begin, near


@announced_kernel("the search for neighbours among many features")
def keep_nearest(lists: Lists, block: Products, first_row: int) -> None:
    """Offer the pairs of a block of products to the lists of its rows and of its columns.

    block : in
        Its rows are at positions first_row, first_row + 1, and so on. Where that is the first
        column, too, each pair is looked at once.
    lists : in and out
        Of all points; the limits, (>= n + COLUMNS,), are their last entries.
    """
    row_terms, column_terms, first_column = block.row_terms, block.column_terms, block.first_column
    distances, positions, limits = lists.distances, lists.positions, lists.limits
    last = distances.shape[1] - 1
    stride = column_terms.shape[0]
    diagonal = first_row == first_column
    for r in range(row_terms.shape[0]):
        i = first_row + r
        row_term, limit = row_terms[r], limits[i]
        begin = (r + 1) // COLUMNS * COLUMNS if diagonal else 0
        while begin < block.n_columns:
            begin, near = skip_far(block, r, begin, limits, first_column, limit)
            while near != 0:
                c = begin + lowest_lane(near)
                near &= near - np.uint64(1)
                j = first_column + c
                if diagonal and j <= i:
                    continue
                product = block.products[r * stride + c]
                bound = row_term + column_terms[c] - (product + product)
                offer(distances[i], positions[i], bound, j)
                limit = distances[i, last]
                offer(distances[j], positions[j], bound, i)
                limits[j] = distances[j, last]
            begin += COLUMNS
        limits[i] = limit


@kernel_part
def four_distances(
    points: Any, i: int, a: int, b: int, c: int, d: int
) -> tuple[float, float, float, float]:
    """Return the squared distances of a point to four others, as every engine sums them."""
    if SPARSE == 1:
        return (
            sparse_distance(points, i, a),
            sparse_distance(points, i, b),
            sparse_distance(points, i, c),
            sparse_distance(points, i, d),
        )
    return dense_distances(points, i, a, b, c, d)


@kernel_part
def dense_distances(
    points: Array, i: int, a: int, b: int, c: int, d: int
) -> tuple[float, float, float, float]:
    """Return the squared distances of a point to four others."""
    to_a = to_b = to_c = to_d = 0.0
    for t in range(points.shape[1]):
        x = np.float64(points[i, t])
        difference = np.float64(points[a, t]) - x
        to_a += difference * difference
        difference = np.float64(points[b, t]) - x
        to_b += difference * difference
        difference = np.float64(points[c, t]) - x
        to_c += difference * difference
        difference = np.float64(points[d, t]) - x
        to_d += difference * difference
    return to_a, to_b, to_c, to_d


@kernel
def measure_lists(
    exact: Exact, positions: Labels, distances: Floats, start: int, stop: int
) -> None:
    """Measure the lists at positions start … stop - 1 exactly, and put them in order again.

    positions : (n, n_neighbours) int32, in and out
        -1 where there is nothing: that is infinitely far.
    distances : (n, n_neighbours) float64, out
    """
    points, order = exact.points, exact.order
    last = positions.shape[1] - 1
    for i in range(start, stop):
        for first in range(0, last + 1, 4):
            a, b = positions[i, first], positions[i, min(first + 1, last)]
            c, d = positions[i, min(first + 2, last)], positions[i, min(first + 3, last)]
            measured = four_distances(points, order[i], order[a], order[b], order[c], order[d])
            for t in range(min(4, last + 1 - first)):
                so_far = first + t + 1
                position = (a, b, c, d)[t]
                distance = measured[t] if position >= 0 else np.inf
                insert(distances[i, :so_far], positions[i, :so_far], distance, position)


@kernel
def keep_nearest_exactly(
    exact: Exact, search: Searching, lists: Lists, block: Products, chosen: Ints
) -> int:
    """Offer the pairs of a block of products to the lists of its rows, measured exactly.

    lists : in and out
        Of the points that search, exactly measured.
    chosen : (n_rows,) int64, in
        Which of these points are the rows of the products.

    Returns how many pairs were measured.
    """
    points, order, labels, names = exact.points, exact.order, search.labels, search.names
    last = lists.distances.shape[1] - 1
    n_measured = 0
    for r in range(chosen.shape[0]):
        row = chosen[r]
        label = labels[search.positions[row]]
        i = order[search.positions[row]]
        distances, positions = lists.distances[row], lists.positions[row]
        begin, limit = 0, lists.limits[row]
        while begin < block.n_columns:
            begin, near = skip_far(block, r, begin, search.never, 0, limit)
            first = block.first_column + begin
            near = lanes_of_others(near, labels, first, label)
            while near != 0:
                # four at a time: one distance waits for its last sum, four do not
                a = first + lowest_lane(near)
                near &= near - np.uint64(1)
                b = first + lowest_lane(near) if near != 0 else a
                near &= near - np.uint64(near != 0)
                c = first + lowest_lane(near) if near != 0 else b
                near &= near - np.uint64(near != 0)
                d = first + lowest_lane(near) if near != 0 else c
                near &= near - np.uint64(near != 0)
                n_measured += 4
                to_a, to_b, to_c, to_d = four_distances(
                    points, i, order[a], order[b], order[c], order[d]
                )
                offer(distances, positions, to_a, names[a])
                if b != a:
                    offer(distances, positions, to_b, names[b])
                if c != b:
                    offer(distances, positions, to_c, names[c])
                if d != c:
                    offer(distances, positions, to_d, names[d])
                limit = min(limit, np.float32(distances[last] / search.unit))
            begin += COLUMNS
        lists.limits[row] = limit
    return n_measured


@kernel_part
def lanes_of_others(near: np.uint64, labels: Labels, first: int, label: int) -> np.uint64:
    """Return the mask without the columns of a label."""
    others = near
    left = near
    while left != 0:
        lane = lowest_lane(left)
        left &= left - np.uint64(1)
        if labels[first + lane] == label:
            others ^= np.uint64(1) << np.uint64(lane)
    return others
