"""What K-means on the rows knows of each node, to compare all of its points with a centre at once.

See rows_objective.py for what t_i and u_i are. In all sums each point counts as often as its
weight says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Floats, Ints
from isthmus.kmeans.aggregates import TreeArrays, prefetch_children, row_of

# Smaller nodes have no stored bounds: most nodes are small, and memory is dear.
SMALL = 16


class RowAggregates(NamedTuple):
    """A row of the aggregates: what is known of a node v, its leaves i and m.

    Attributes
    ----------
    weight : float
    t_sum : float
        The sum of t_i.
    t_within_ss : float
        The sum of squared deviations of t_i from their mean.
    squares : float
        The sum of D(i, m)² over all i and m.
    """

    weight: float
    t_sum: float
    t_within_ss: float
    squares: float


class Range(NamedTuple):
    """Between which numbers the t_i and u_i of a node lie."""

    t_min: float
    t_max: float
    u_min: float
    u_max: float


class Bounds(NamedTuple):
    """The ranges of the nodes.

    Attributes
    ----------
    row : (n - 1,) int
        The row of each merge in ``values``; 0 where its range follows from its aggregates.
    values : (…, 4) float64
        The columns are the fields of Range.
    """

    row: Ints
    values: Floats


@kernel_part
def row_aggregates(tree: TreeArrays, v: int) -> RowAggregates:
    """Return the aggregates of a node."""
    row = tree.aggregates[row_of(tree, v)]
    return RowAggregates(row[0], row[1], row[2], row[3])


@kernel_part
def range_of(bounds: Bounds, v: int, of_v: RowAggregates) -> Range:
    """Return the range of a node, given its aggregates.

    Of m numbers none is farther from their mean than the square root of (m - 1) / m times the
    sum of all squared deviations (Samuelson's inequality). And u_i is a sum of t_m, each times
    D(i, m), and these add up to t_i.
    """
    n_points = bounds.row.shape[0] + 1
    row = bounds.row[v - n_points] if v >= n_points else 0
    if row > 0:
        stored = bounds.values[row]
        return Range(stored[0], stored[1], stored[2], stored[3])
    mean = of_v.t_sum / of_v.weight
    apart = np.sqrt(of_v.t_within_ss)
    low, high = max(mean - apart, 0.0), mean + apart
    return Range(low, high, low * low, high * high)


@kernel
def aggregate_rows(tree: TreeArrays, bounds: Bounds) -> None:
    """Fill the aggregates and bounds of all merges; the aggregates of leaves are given."""
    n_points = tree.children.shape[0] + 1
    for e in range(n_points - 1):
        prefetch_children(tree, e)
        left, right = np.int64(tree.children[e, 0]), np.int64(tree.children[e, 1])
        x, y = row_aggregates(tree, left), row_aggregates(tree, right)
        h = tree.heights[e]
        # Joining adds h times the other side's weight to each t, and to each u what follows.
        up_x, up_y = h * y.weight, h * x.weight
        weight = x.weight + y.weight
        pairs = x.weight * y.weight
        apart = (x.t_sum / x.weight + up_x) - (y.t_sum / y.weight + up_y)
        row = tree.aggregates[row_of(tree, n_points + e)]
        row[0] = weight
        row[1] = (x.t_sum + y.t_sum) + 2.0 * h * pairs
        row[2] = (x.t_within_ss + y.t_within_ss) + apart * apart * pairs / weight
        row[3] = (x.squares + y.squares) + 2.0 * h * h * pairs
        if bounds.row[e] > 0:
            add_x = h * (y.t_sum + h * pairs)
            add_y = h * (x.t_sum + h * pairs)
            in_x, in_y = range_of(bounds, left, x), range_of(bounds, right, y)
            row = bounds.values[bounds.row[e]]
            row[0] = min(in_x.t_min + up_x, in_y.t_min + up_y)
            row[1] = max(in_x.t_max + up_x, in_y.t_max + up_y)
            row[2] = min(
                in_x.u_min + up_x * in_x.t_min + add_x, in_y.u_min + up_y * in_y.t_min + add_y
            )
            row[3] = max(
                in_x.u_max + up_x * in_x.t_max + add_x, in_y.u_max + up_y * in_y.t_max + add_y
            )
