"""The nearest others of points: first as matrix products see them, then exactly.

Places are positions in the order of the blocks. A list is in the order of (distance, place), so
what it holds does not depend on the order in which tiles are looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._numba.simd import COLUMNS, lowest_lane, near_columns
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.metrics.accumulate import sparse_distance
from isthmus.spanning_tree.blocked.bounds import Singles

# Set for each specialisation: whether points are sparse.
SPARSE = 0


@kernel_part
def insert(values: Array, places: Labels, value: float, place: int) -> None:
    """Insert a pair into a list, whose last entry falls off."""
    t = values.shape[0] - 1
    while t > 0 and (values[t - 1] > value or (values[t - 1] == value and places[t - 1] > place)):
        values[t] = values[t - 1]
        places[t] = places[t - 1]
        t -= 1
    values[t] = value
    places[t] = place


@kernel_part
def enters(values: Array, places: Labels, value: float, place: int) -> bool:
    """Whether a pair comes before the last entry of a list."""
    last = values.shape[0] - 1
    return bool(value < values[last] or (value == values[last] and place < places[last]))


@kernel
def keep_nearest(
    products: Singles,
    stride: int,
    row_terms: Singles,
    column_terms: Singles,
    first_row: int,
    first_column: int,
    n_rows: int,
    n_columns: int,
    limits: Singles,
    values: Singles,
    places: Labels,
) -> None:
    """Take a tile into account, in the lists of its rows and of its columns.

    Parameters
    ----------
    products : (n_rows * stride,) float32, in
        Inner products of rows and columns; the padding of rows can hold anything.
    row_terms : (n_rows,) float32, in
    column_terms : (stride,) float32, in
        Not numbers beyond the last column.
    first_row, first_column : int
        The tile's places. Where they are equal, each pair is looked at once.
    limits : (>= n + COLUMNS,) float32, in and out
        The last value of each list.
    values, places : (n, n_neighbours) float32 and int32, in and out
    """
    last = values.shape[1] - 1
    diagonal = first_row == first_column
    for r in range(n_rows):
        i = first_row + r
        begin = (r + 1) // COLUMNS * COLUMNS if diagonal else 0
        while begin < n_columns:
            near = near_columns(
                products,
                r * stride + begin,
                column_terms,
                begin,
                limits,
                first_column + begin,
                row_terms[r],
                limits[i],
            )
            while near != 0:
                c = begin + lowest_lane(near)
                near &= near - np.uint64(1)
                j = first_column + c
                if diagonal and j <= i:
                    continue
                product = products[r * stride + c]
                value = row_terms[r] + column_terms[c] - (product + product)
                offer(values[i], places[i], value, j)
                limits[i] = values[i, last]
                offer(values[j], places[j], value, i)
                limits[j] = values[j, last]
            begin += COLUMNS


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
    points: Any, order: Labels, places: Labels, distances: Floats, start: int, stop: int
) -> None:
    """Measure the lists at places start … stop - 1 exactly, and put them in order again.

    places : (n, n_neighbours) int32, in and out
    distances : (n, n_neighbours) float64, out
    """
    last = places.shape[1] - 1
    for i in range(start, stop):
        for first in range(0, last + 1, 4):
            a, b = places[i, first], places[i, min(first + 1, last)]
            c, d = places[i, min(first + 2, last)], places[i, min(first + 3, last)]
            measured = four_distances(points, order[i], order[a], order[b], order[c], order[d])
            for t in range(min(4, last + 1 - first)):
                so_far = first + t + 1
                place = (a, b, c, d)[t]
                insert(distances[i, :so_far], places[i, :so_far], measured[t], place)


class Found(NamedTuple):
    """What points that search have found.

    Attributes
    ----------
    distances, places : (m, n_neighbours) float64 and int32
        Lists, exactly measured; infinity and -1 where there is nothing yet.
    limits : (m,) float32
        Pairs above these cannot enter the lists, or need not.
    """

    distances: Floats
    places: Labels
    limits: Singles


@kernel
def keep_nearest_exactly(
    points: Any,
    order: Labels,
    products: Singles,
    stride: int,
    row_terms: Singles,
    column_terms: Singles,
    rows: Labels,
    chosen: Ints,
    first_column: int,
    labels: Labels,
    unit: float,
    found: Found,
    never: Singles,
) -> int:
    """Take a tile into account in the lists of its rows; return how many pairs were measured.

    Parameters
    ----------
    products, stride, row_terms, column_terms, first_column
        As above.
    rows : (m,) int32, in
        The places that search.
    chosen : (n_rows,) int64, in
        Which of them are the tile's rows.
    labels : (n,) int32, in
        Columns of a row's own label do not count.
    unit : float
        The squared distance that is 1 to the products, and a little less.
    found : in and out
    never : (COLUMNS,) float32, in
        Minus infinity.
    """
    last = found.distances.shape[1] - 1
    n_measured = 0
    for r in range(chosen.shape[0]):
        searching = chosen[r]
        label = labels[rows[searching]]
        i = order[rows[searching]]
        distances, places = found.distances[searching], found.places[searching]
        for begin in range(0, stride, COLUMNS):
            near = near_columns(
                products,
                r * stride + begin,
                column_terms,
                begin,
                never,
                0,
                row_terms[r],
                found.limits[searching],
            )
            near = lanes_of_others(near, labels, first_column + begin, label)
            while near != 0:
                # four at a time: one distance waits for its last sum, four do not
                a = first_column + begin + lowest_lane(near)
                near &= near - np.uint64(1)
                b = first_column + begin + lowest_lane(near) if near != 0 else a
                near &= near - np.uint64(near != 0)
                c = first_column + begin + lowest_lane(near) if near != 0 else b
                near &= near - np.uint64(near != 0)
                d = first_column + begin + lowest_lane(near) if near != 0 else c
                near &= near - np.uint64(near != 0)
                n_measured += 4
                to_a, to_b, to_c, to_d = four_distances(
                    points, i, order[a], order[b], order[c], order[d]
                )
                offer(distances, places, to_a, a)
                if b != a:
                    offer(distances, places, to_b, b)
                if c != b:
                    offer(distances, places, to_c, c)
                if d != c:
                    offer(distances, places, to_d, d)
                limit = np.float32(distances[last] / unit)
                found.limits[searching] = min(found.limits[searching], limit)
    return n_measured


@kernel_part
def offer(values: Array, places: Labels, value: float, place: int) -> None:
    """Insert a pair into a list, if it comes before the last entry."""
    if enters(values, places, value, place):
        insert(values, places, value, place)


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


@kernel
def measure_edges(points: Any, ends: Ints, accumulated: Floats) -> None:
    """Fill accumulated, (n - 1,), with the squared lengths of edges between points."""
    last = ends.shape[0] - 1
    for first in range(last + 1):
        i, j = ends[first, 0], ends[first, 1]
        accumulated[first] = four_distances(points, i, j, j, j, j)[0]
