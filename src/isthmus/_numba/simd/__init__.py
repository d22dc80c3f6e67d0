"""Eight distances at a time: LLVM vector instructions as functions that kernels can call.

Numba vectorises loops over arrays, but not the short searches in a tree, where eight points or
boxes are compared with one point and a few of them pass. The functions here do exactly that. In
memory, eight points form a *block*: eight first coordinates, eight second ones, and so on. A
block of boxes holds, per coordinate, eight lower and then eight upper bounds.

Masks are integers whose bit j stands for lane j. Functions that take ``dims`` and ``kind`` need
them as compile-time constants and are unrolled over the coordinates.

emit.py          what the others are made of
access.py        single numbers and lanes
distances.py     a block, compared with one point or box
query_lists.py   a point, compared with eight queries
near_columns.py  a row of float32, compared with limits
preference.py    eight boxes, and which of two points they are nearer to
rows.py          rows of coordinates, before they become blocks
sorting.py       a few dozen points, put into order
"""

from isthmus._numba.simd.access import (
    lanes_at_most,
    lanes_other_than,
    largest_of_eight,
    lowest_lane,
    neighbouring_float,
)
from isthmus._numba.simd.distances import (
    boxes_from_box,
    pair_distance,
    point_distances,
    points_from_box,
)
from isthmus._numba.simd.emit import LANES
from isthmus._numba.simd.near_columns import COLUMNS, near_columns
from isthmus._numba.simd.preference import boxes_nearer_to
from isthmus._numba.simd.query_lists import (
    improve_nearest,
    insert_in_lists,
    limit_lists,
    reach_of_lists,
    store_lists,
)
from isthmus._numba.simd.rows import swap_rows, widest_dimension
from isthmus._numba.simd.sorting import BLOCK, order_along_widest

__all__ = [
    "BLOCK",
    "COLUMNS",
    "LANES",
    "boxes_from_box",
    "boxes_nearer_to",
    "improve_nearest",
    "insert_in_lists",
    "lanes_at_most",
    "lanes_other_than",
    "largest_of_eight",
    "limit_lists",
    "lowest_lane",
    "near_columns",
    "neighbouring_float",
    "order_along_widest",
    "pair_distance",
    "point_distances",
    "points_from_box",
    "reach_of_lists",
    "store_lists",
    "swap_rows",
    "widest_dimension",
]
