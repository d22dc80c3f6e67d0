"""What is known of the nodes of the tree, so that whole nodes can be compared with centres.

See rows.py for what t_i and u_i are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Floats, Ints
from isthmus.kmeans.frontier import WEIGHT, prefetch_children, row_of

# Columns of the aggregates of a node v, after MASS: the sum of t_i; the sum of their
# squared deviations from their mean; the sum of D(i, m)² over all i and m in v. In all sums each
# point counts as often as its weight says.
T_SUM, T_SPREAD, SQUARES = range(1, 4)
# Columns of the bounds of a node: between which its t_i and u_i are.
T_MIN, T_MAX, U_MIN, U_MAX = range(4)
# Nodes of fewer points have no bounds of their own: most nodes are small, and memory is dear.
SMALL = 16


class Bounds(NamedTuple):
    """The bounds of the nodes.

    Attributes
    ----------
    row : (n - 1,) int
        Where those of each merge stand; 0 where they follow from its aggregates.
    values : (…, 4) float64
    """

    row: Ints
    values: Floats


@kernel_part
def bounds_of(v: int, properties: Floats, bounds: Bounds) -> tuple[float, float, float, float]:
    """Return the bounds of a node, given its aggregates.

    Of m numbers none is farther from their mean than the square root of (m - 1) / m times the
    sum of all squared deviations (Samuelson's inequality). And u_i is a sum of t_m, each times
    D(i, m), and these add up to t_i.
    """
    n_points = bounds.row.shape[0] + 1
    row = bounds.row[v - n_points] if v >= n_points else 0
    if row > 0:
        of_v = bounds.values[row]
        return of_v[T_MIN], of_v[T_MAX], of_v[U_MIN], of_v[U_MAX]
    mean = properties[T_SUM] / properties[WEIGHT]
    apart = np.sqrt(properties[T_SPREAD])
    low, high = max(mean - apart, 0.0), mean + apart
    return low, high, low * low, high * high


@kernel_part
def compares_alike(bounds: tuple[float, float, float, float]) -> bool:
    """Whether all points below a node compare clusters alike; a tie goes to the first cluster."""
    same_t = bounds[T_MIN] == bounds[T_MAX]
    return bool(same_t and bounds[U_MIN] == bounds[U_MAX])


@kernel_part
def inertia_of_node(
    properties: Floats,
    own: float,
    a: int,
    b: int,
    centre: Floats,
    point_weights: Floats,
    outside: Floats,
) -> float:
    """Return the sum of squared distances of the points below a node to the centre of a."""
    weight = properties[WEIGHT]
    if a != b:
        inertia = (
            weight * (outside[a] + weight * centre[a] * centre[a])
            - 2.0 * centre[a] * properties[T_SUM]
            + properties[SQUARES]
        )
        return float(inertia)
    k_b = point_weights[a]
    t_sum, t_mean = properties[T_SUM], properties[T_SUM] / weight
    t_squares = properties[T_SPREAD] + t_sum * t_mean
    mean = (own + t_mean) / k_b
    inertia = (
        weight * (outside[a] + weight * mean * mean + properties[T_SPREAD] / (k_b * k_b))
        - 2.0 * (own * t_sum + t_squares) / k_b
        + properties[SQUARES]
    )
    return float(inertia)


@kernel
def aggregate_rows(children: Ints, heights: Floats, aggregates: Floats, bounds: Bounds) -> None:
    """Fill aggregates, (…, 4), and bounds, in and out, of all merges; those of leaves are given."""
    n_points = children.shape[0] + 1
    for e in range(n_points - 1):
        prefetch_children(aggregates, children, e, n_points)
        left, right = np.int64(children[e, 0]), np.int64(children[e, 1])
        x = aggregates[row_of(left, n_points, aggregates)]
        y = aggregates[row_of(right, n_points, aggregates)]
        out = aggregates[row_of(n_points + e, n_points, aggregates)]
        h = heights[e]
        # Joining adds h times the other side's weight to each t, and to each u what follows.
        up_x, up_y = h * y[WEIGHT], h * x[WEIGHT]
        total = x[WEIGHT] + y[WEIGHT]
        apart = (x[T_SUM] / x[WEIGHT] + up_x) - (y[T_SUM] / y[WEIGHT] + up_y)
        pairs = x[WEIGHT] * y[WEIGHT]
        out[WEIGHT] = total
        out[T_SUM] = (x[T_SUM] + y[T_SUM]) + 2.0 * h * pairs
        out[T_SPREAD] = (x[T_SPREAD] + y[T_SPREAD]) + apart * apart * pairs / total
        out[SQUARES] = (x[SQUARES] + y[SQUARES]) + 2.0 * h * h * pairs
        if bounds.row[e] > 0:
            add_x = h * (y[T_SUM] + h * pairs)
            add_y = h * (x[T_SUM] + h * pairs)
            in_x = bounds_of(left, x, bounds)
            in_y = bounds_of(right, y, bounds)
            of_v = bounds.values[bounds.row[e]]
            of_v[T_MIN] = min(in_x[T_MIN] + up_x, in_y[T_MIN] + up_y)
            of_v[T_MAX] = max(in_x[T_MAX] + up_x, in_y[T_MAX] + up_y)
            of_v[U_MIN] = min(
                in_x[U_MIN] + up_x * in_x[T_MIN] + add_x, in_y[U_MIN] + up_y * in_y[T_MIN] + add_y
            )
            of_v[U_MAX] = max(
                in_x[U_MAX] + up_x * in_x[T_MAX] + add_x, in_y[U_MAX] + up_y * in_y[T_MAX] + add_y
            )
