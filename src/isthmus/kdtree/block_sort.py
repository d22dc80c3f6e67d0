"""Sixty-four rows, put into tree order at once.

The last three levels of a kd-tree take as long to build, row by row, as seven of those above: its
nodes are too small for a pivot to be a good guess. Here the rows of a node of eight leaves
become columns, which are sorted in registers, halved, and sorted again.
"""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import kernel_part
from isthmus._numba.simd import BLOCK, order_along_widest
from isthmus._utils.typing import Array, Floats, Ints, Labels

# Set for each specialisation of the kernels: the number of coordinates.
DIMS = 0


@kernel_part
def order_64_rows(
    rows: Array, order: Labels, start: int, first: Floats, second: Floats, sources: Ints
) -> None:
    """Halve rows start … start + 63 along their widest coordinate, both halves likewise, and again.

    Within what order_along_widest takes to be equal: where halves meet, they may overlap a little.

    first, second : ((DIMS + 1) * 64,) float64, scratch
        Coordinates and numbers of the points, in two orders.
    sources : (64,) int64, scratch
    """
    fill_columns(rows, order, start, first)
    order_along_widest(first, np.int64(0), 64, DIMS, sources)
    move_columns(first, sources, second)
    for half in range(2):
        order_along_widest(second, half * 32, 32, DIMS, sources)
    move_columns(second, sources, first)
    for quarter in range(4):
        order_along_widest(first, quarter * 16, 16, DIMS, sources)
    for i in range(BLOCK):
        source = sources[i]
        for t in range(DIMS):
            rows[(start + i) * DIMS + t] = first[t * BLOCK + source]
        order[start + i] = first[DIMS * BLOCK + source]


@kernel_part
def fill_columns(rows: Array, order: Labels, start: int, columns: Floats) -> None:
    """Fill columns with the coordinates and the numbers of rows start … start + 63."""
    for i in range(BLOCK):
        for t in range(DIMS):
            columns[t * BLOCK + i] = np.float64(rows[(start + i) * DIMS + t])
        columns[DIMS * BLOCK + i] = np.float64(order[start + i])


@kernel_part
def move_columns(columns: Floats, sources: Ints, target: Floats) -> None:
    """Fill target with columns, in the order of sources."""
    for i in range(BLOCK):
        source = sources[i]
        for t in range(DIMS + 1):
            target[t * BLOCK + i] = columns[t * BLOCK + source]
