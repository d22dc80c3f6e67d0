"""The product of the transitive distance matrix with a block of vectors, in O(n) per vector.

A pass up the tree sums the vector below each node. A pass down gives each child what its parent
has accumulated plus the height times the sum below its sibling.
"""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric.merges import CHUNK


def columns_at_once(n_points: int) -> int:
    """Return how many vectors to multiply together, so that they share the passes over the tree.

    Fewer for large trees: temporary arrays stay small beside the tree.
    """
    return max(1, min(8, (1 << 22) // n_points))


def multiply(children: Ints, heights: Floats, block: Floats) -> Floats:
    """Return D @ block for a block of shape (n, m)."""
    n_points, n_columns = block.shape
    out = np.empty((n_points, n_columns))
    for start, stop in chunks(n_columns, columns_at_once(n_points)):
        sums = sums_below(children, block[:, start:stop])
        sums[-1] = 0.0  # no point lies outside the root
        for first, last in reversed(list(chunks(n_points - 1, CHUNK))):
            propagate_products(children, heights, sums, first, last)
        out[:, start:stop] = sums[:n_points]
    return out


def sums_below(children: Ints, block: Floats) -> Floats:
    """Return the sums of a block of shape (n, m) over the points below each node: (2n - 1, m)."""
    n_points, n_columns = block.shape
    sums = np.empty((2 * n_points - 1, n_columns))
    sums[:n_points] = block
    for start, stop in chunks(n_points - 1, CHUNK):
        sum_below(children, sums, start, stop)
    return sums


@kernel
def sum_below(children: Ints, sums: Floats, start: int, stop: int) -> None:
    """Fill sums[v, :], in and out, for merges start … stop - 1; leaves are given."""
    n_points = children.shape[0] + 1
    for e in range(start, stop):
        x, y = children[e, 0], children[e, 1]
        for c in range(sums.shape[1]):
            sums[n_points + e, c] = sums[x, c] + sums[y, c]


@kernel
def propagate_products(
    children: Ints, heights: Floats, sums: Floats, start: int, stop: int
) -> None:
    """Replace sums below by products outside, for the children of merges stop - 1 … start.

    sums : (2n - 1, m), in and out
        In: the sum of the vector below each child. Out: the sum, over the points outside it, of
        their entries times their distance, which for a leaf is the product. The sum below a node
        is needed for its sibling only, so one array holds both.
    """
    n_points = children.shape[0] + 1
    for e in range(stop - 1, start - 1, -1):
        x, y = children[e, 0], children[e, 1]
        h = heights[e]
        for c in range(sums.shape[1]):
            below_x = sums[x, c]
            sums[x, c] = sums[n_points + e, c] + h * sums[y, c]
            sums[y, c] = sums[n_points + e, c] + h * below_x
