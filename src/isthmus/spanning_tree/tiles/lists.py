"""The nearest others of points: first as matrix products see them, then exactly.

Places are positions in the order of the blocks. A list is in the order of (distance, place), so
what it holds does not depend on the order in which tiles are looked at.
"""

from __future__ import annotations

import numpy as np

from isthmus._compile import kernel, kernel_part
from isthmus._typing import Array, Floats, Ints, Labels
from isthmus.spanning_tree.simd import COLUMNS, lowest_lane, near_columns
from isthmus.spanning_tree.tiles.blocks import Singles


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
                if enters(values[i], places[i], value, j):
                    insert(values[i], places[i], value, j)
                    limits[i] = values[i, last]
                if enters(values[j], places[j], value, i):
                    insert(values[j], places[j], value, i)
                    limits[j] = values[j, last]
            begin += COLUMNS


@kernel_part
def four_distances(
    points: Array, i: int, a: int, b: int, c: int, d: int
) -> tuple[float, float, float, float]:
    """Return the squared distances of a point to four others, as every engine sums them."""
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
    points: Array, order: Labels, places: Labels, distances: Floats, start: int, stop: int
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


@kernel
def keep_nearest_exactly(
    points: Array,
    order: Labels,
    products: Singles,
    stride: int,
    row_terms: Singles,
    column_terms: Singles,
    rows: Labels,
    first_column: int,
    n_columns: int,
    labels: Labels,
    unit: float,
    limits: Singles,
    never: Singles,
    distances: Floats,
    places: Labels,
) -> int:
    """Take a tile into account in the lists of its rows, exactly measured.

    Parameters
    ----------
    products, stride, row_terms, column_terms, first_column, n_columns
        As above.
    rows : (m,) int32, in
        The places of the tile's rows.
    labels : (n,) int32, in
        Columns of a row's own label do not count.
    unit : float
        The squared distance that is 1 to the products, and a little less.
    limits : (m,) float32, in and out
        Pairs above these cannot enter the lists.
    never : (COLUMNS,) float32, in
        Minus infinity.
    distances, places : (m, n_neighbours) float64 and int32, in and out

    Returns the number of distances that had to be measured.
    """
    last = distances.shape[1] - 1
    n_measured = 0
    for r in range(rows.shape[0]):
        label = labels[rows[r]]
        i = order[rows[r]]
        for begin in range(0, n_columns, COLUMNS):
            near = near_columns(
                products,
                r * stride + begin,
                column_terms,
                begin,
                never,
                0,
                row_terms[r],
                limits[r],
            )
            near = lanes_of_others(near, labels, first_column + begin, label)
            while near != 0:
                a = first_column + begin + lowest_lane(near)
                near &= near - np.uint64(1)
                n_here = 1
                b = c = d = a
                if near != 0:
                    b = first_column + begin + lowest_lane(near)
                    near &= near - np.uint64(1)
                    n_here = 2
                if near != 0:
                    c = first_column + begin + lowest_lane(near)
                    near &= near - np.uint64(1)
                    n_here = 3
                if near != 0:
                    d = first_column + begin + lowest_lane(near)
                    near &= near - np.uint64(1)
                    n_here = 4
                n_measured += n_here
                measured = four_distances(points, i, order[a], order[b], order[c], order[d])
                for t in range(n_here):
                    place = (a, b, c, d)[t]
                    if enters(distances[r], places[r], measured[t], place):
                        insert(distances[r], places[r], measured[t], place)
                        limits[r] = distances[r, last] / unit
    return n_measured


@kernel_part
def lanes_of_others(near: int, labels: Labels, first: int, label: int) -> int:
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
def measure_edges(points: Array, ends: Ints, accumulated: Floats) -> None:
    """Fill accumulated, (n - 1,), with the squared lengths of edges between points."""
    last = ends.shape[0] - 1
    for first in range(last + 1):
        i, j = ends[first, 0], ends[first, 1]
        accumulated[first] = four_distances(points, i, j, j, j, j)[0]
