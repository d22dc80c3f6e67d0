"""What is known of centres above and below the frontier, and the kernels that fill and read it.

centre_distances.py says what it is for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kmeans.frontier import WEIGHT, members_and_distances, row_of
from isthmus.kmeans.rows_aggregates import T_SPREAD, T_SUM
from isthmus.kmeans.rows_step import centre_parts
from isthmus.prediction.ancestors import WHOLE, Parts
from isthmus.ultrametric.node_labels import MIXED

# Columns of what is known below the frontier, for the rows: for a node v below frontier node F,
# over all points m of F outside v, the sums of h_F - D(v, m) and of its squares; of the squared
# differences of D(v, m) from the coordinates of the own centre; and the sum of distances to the
# own cluster's points outside v.
SHORT, SHORT_SQUARES, FAR, OWN = range(4)


class Frontier(NamedTuple):
    """The nodes of an assignment above and on the frontier, and where all others are below it.

    Attributes
    ----------
    node, label, first, second : (count,)
        As in frontier.View.
    slot : (2n - 1,) int32 or int64
        Which of these each node is, or which frontier node it is below.
    """

    node: Ints
    label: Labels
    first: Ints
    second: Ints
    slot: Array


class Tables(NamedTuple):
    """What is known of the centres of a few clusters above the frontier: (count, m) each.

    Attributes
    ----------
    label : (count,) int32
        The clusters numbered from the first of these; m stands for all others.
    mean, spread : float64
        Of each centre's coordinates below a node, the mean, and the sum of squared deviations.
        In the embedded space, the members below it; and nothing.
    outside, rest : float64
        What is outside a node, and what that loses to rounding.
    point_weights : (m,) float64
    halves : (m,) float64
        What is subtracted from every distance.
    """

    label: Labels
    mean: Floats
    spread: Floats
    outside: Floats
    rest: Floats
    point_weights: Floats
    halves: Floats


class Below(NamedTuple):
    """What is known below the frontier.

    Attributes
    ----------
    sums : (2n - 1, c) float64
        Columns as above; in the embedded space one, of the squared distances to the own cluster.
    rest : (2n - 1, c) float32
        What they lose to rounding.
    point_weights : (k,) float64
        The weights of all clusters.
    """

    sums: Floats
    rest: Array
    point_weights: Floats


@kernel
def hand_slots_down(children: Ints, node_labels: Labels, slot: Array) -> None:
    """Fill the slots of all nodes below the frontier, given those above and on it."""
    n_points = children.shape[0] + 1
    for e in range(n_points - 2, -1, -1):
        if node_labels[n_points + e] != MIXED:
            slot[children[e, 0]] = slot[n_points + e]
            slot[children[e, 1]] = slot[n_points + e]


@kernel_part
def add_exactly(total: float, rest: float, term: float) -> tuple[float, float]:
    """Return the sum with one more term, and what it loses to rounding."""
    new = total + term
    added = new - total
    return new, rest + ((total - (new - added)) + (term - added))


@kernel
def fill_row_tables(
    heights: Floats, aggregates: Floats, frontier: Frontier, tables: Tables, own: Floats
) -> None:
    """Fill the tables for the rows; own[x], in and out, where x is of one of their clusters."""
    n_points = heights.shape[0] + 1
    node, first, second, label = frontier.node, frontier.first, frontier.second, tables.label
    mean, spread, outside, rest = tables.mean, tables.spread, tables.outside, tables.rest
    count, k = mean.shape
    members_and_distances(
        count, node, label, first, second, heights, aggregates, n_points, False, spread, mean
    )
    for a in range(k):
        tables.point_weights[a] = spread[0, a]
        rest[0, a] = 0.0
    centre_parts(
        count,
        node,
        label,
        first,
        second,
        heights,
        aggregates,
        n_points,
        tables.point_weights,
        mean,
        spread,
        outside,
        own,
    )
    for x in range(count):
        if label[x] != MIXED:
            continue
        h = heights[node[x] - n_points]
        for side in range(2):
            y = second[x] if side else first[x]
            z = first[x] if side else second[x]
            weight = aggregates[row_of(node[z], n_points, aggregates), WEIGHT]
            for a in range(k):
                to_z = h - mean[z, a]
                outside[y, a], rest[y, a] = add_exactly(
                    outside[x, a], rest[x, a], weight * to_z * to_z + spread[z, a]
                )


@kernel
def sum_rows_below(
    children: Ints,
    heights: Floats,
    aggregates: Floats,
    frontier: Frontier,
    own: Floats,
    below: Below,
) -> None:
    """Fill what is known below the frontier, for the rows; it is given as zeros."""
    n_points = children.shape[0] + 1
    node, label, sums, rest = frontier.node, frontier.label, below.sums, below.rest
    for x in range(node.shape[0]):
        if label[x] != MIXED:
            sums[node[x], OWN] = own[x]
    for e in range(n_points - 2, -1, -1):
        v = n_points + e
        x = frontier.slot[v]
        if label[x] == MIXED:
            continue
        h, weight_b = heights[e], below.point_weights[label[x]]
        short = heights[node[x] - n_points] - h
        for side in range(2):
            y, z = children[e, side], children[e, 1 - side]
            of_z = aggregates[row_of(z, n_points, aggregates)]
            weight_y = aggregates[row_of(y, n_points, aggregates), WEIGHT]
            weight_z = of_z[WEIGHT]
            own_z = sums[v, OWN] + h * weight_y
            to_z = h - (own_z + of_z[T_SUM] / weight_z) / weight_b
            far = weight_z * to_z * to_z + of_z[T_SPREAD] / (weight_b * weight_b)
            sums[y, OWN] = sums[v, OWN] + h * weight_z
            sums[y, SHORT], rest[y, SHORT] = add_exactly(
                sums[v, SHORT], rest[v, SHORT], weight_z * short
            )
            sums[y, SHORT_SQUARES], rest[y, SHORT_SQUARES] = add_exactly(
                sums[v, SHORT_SQUARES], rest[v, SHORT_SQUARES], weight_z * short * short
            )
            sums[y, FAR], rest[y, FAR] = add_exactly(sums[v, FAR], rest[v, FAR], far)


@kernel_part
def stretch_below(below: Below, low: int, high: int, column: int) -> float:
    """Return the sum over a stretch below the frontier."""
    sums, rest = below.sums, below.rest
    loss = np.float64(rest[low, column]) - np.float64(rest[high, column])
    return float((sums[low, column] - sums[high, column]) + loss)


@kernel_part
def add_stretch_above(tables: Tables, low: int, high: int, out: Floats) -> None:
    """Add a stretch between two nodes above or on the frontier to the distances of a new point."""
    outside, rest = tables.outside, tables.rest
    for a in range(out.shape[0]):
        out[a] += (outside[low, a] - outside[high, a]) + (rest[low, a] - rest[high, a])


@kernel
def fill_row_distances(
    heights: Floats,
    aggregates: Floats,
    frontier: Frontier,
    tables: Tables,
    below: Below,
    begin: Ints,
    parts: Parts,
    out: Floats,
) -> None:
    """Fill out, (n_new, m), with the squared distances of new rows to the centres of clusters."""
    n_points = heights.shape[0] + 1
    node, slot, mean = frontier.node, frontier.slot, tables.mean
    for i in range(out.shape[0]):
        for a in range(out.shape[1]):
            out[i, a] = 0.0
        for p in range(3 * begin[i], 3 * begin[i] + parts.n_parts[i]):
            low, high = parts.low[p], parts.high[p]
            x = slot[low]
            if high == WHOLE:
                add_node_of_rows(aggregates, n_points, node, x, tables, below, parts, p, out[i])
                continue
            if node[x] != low:  # below the frontier
                top = node[x] if slot[high] != x or node[x] == high else high
                of_low = aggregates[row_of(low, n_points, aggregates), WEIGHT]
                weight = aggregates[row_of(top, n_points, aggregates), WEIGHT] - of_low
                short = stretch_below(below, low, top, SHORT)
                squares = stretch_below(below, low, top, SHORT_SQUARES)
                h = heights[node[x] - n_points]
                for a in range(out.shape[1]):
                    if a == tables.label[x]:
                        out[i, a] += stretch_below(below, low, top, FAR)
                    else:
                        # h is not above the other centre's coordinate: nothing is subtracted
                        up = mean[x, a] - h
                        out[i, a] += up * (weight * up + 2.0 * short) + squares
                if top == high:
                    continue
            add_stretch_above(tables, x, slot[high], out[i])


@kernel_part
def add_node_of_rows(
    aggregates: Floats,
    n_points: int,
    node: Ints,
    x: int,
    tables: Tables,
    below: Below,
    parts: Parts,
    p: int,
    out: Floats,
) -> None:
    """Add what a node whose points are all equally far adds to the distances of a new row."""
    v, length = parts.low[p], parts.length[p]
    properties = aggregates[row_of(v, n_points, aggregates)]
    weight = properties[WEIGHT]
    for a in range(out.shape[0]):
        centre, spread = tables.mean[x, a], 0.0
        if node[x] == v:
            spread = tables.spread[x, a]
        elif a == tables.label[x]:
            weight_b = tables.point_weights[a]
            centre = (below.sums[v, OWN] + properties[T_SUM] / weight) / weight_b
            spread = properties[T_SPREAD] / (weight_b * weight_b)
        out[a] += weight * (length - centre) * (length - centre) + spread


@kernel
def fill_embedded_tables(
    squared_heights: Floats, aggregates: Floats, frontier: Frontier, tables: Tables
) -> None:
    """Fill the tables for the embedded space."""
    n_points = squared_heights.shape[0] + 1
    node, first, second, label = frontier.node, frontier.first, frontier.second, tables.label
    members, sums, rest = tables.mean, tables.outside, tables.rest
    count, k = members.shape
    members_and_distances(
        count,
        node,
        label,
        first,
        second,
        squared_heights,
        aggregates,
        n_points,
        False,
        members,
        sums,
    )
    for a in range(k):
        tables.point_weights[a] = members[0, a]
        tables.halves[a] = rest[0, a] = 0.0
    for x in range(count):
        b = label[x]
        if b == MIXED:
            h = squared_heights[node[x] - n_points]
            for side in range(2):
                y = second[x] if side else first[x]
                z = first[x] if side else second[x]
                for a in range(k):
                    sums[y, a], rest[y, a] = add_exactly(sums[x, a], rest[x, a], h * members[z, a])
        elif b < k:
            properties = aggregates[row_of(node[x], n_points, aggregates)]
            tables.halves[b] += properties[WEIGHT] * sums[x, b] + properties[T_SUM]
    for a in range(k):
        tables.halves[a] /= 2.0 * tables.point_weights[a] * tables.point_weights[a]


@kernel
def sum_squares_below(
    children: Ints,
    squared_heights: Floats,
    aggregates: Floats,
    frontier: Frontier,
    below: Below,
) -> None:
    """Fill what is known below the frontier, for the embedded space; it is given as zeros."""
    n_points = children.shape[0] + 1
    sums, rest = below.sums, below.rest
    for e in range(n_points - 2, -1, -1):
        v = n_points + e
        if frontier.label[frontier.slot[v]] == MIXED:
            continue
        for side in range(2):
            y, z = children[e, side], children[e, 1 - side]
            weight = aggregates[row_of(z, n_points, aggregates), WEIGHT]
            sums[y, 0], rest[y, 0] = add_exactly(
                sums[v, 0], rest[v, 0], squared_heights[e] * weight
            )


@kernel
def fill_embedded_distances(
    aggregates: Floats,
    n_points: int,
    frontier: Frontier,
    tables: Tables,
    below: Below,
    begin: Ints,
    parts: Parts,
    out: Floats,
) -> None:
    """Fill out, (n_new, m), with the squared distances of new points to the centres of clusters."""
    node, slot, k = frontier.node, frontier.slot, out.shape[1]
    for i in range(out.shape[0]):
        for a in range(k):
            out[i, a] = 0.0
        for p in range(3 * begin[i], 3 * begin[i] + parts.n_parts[i]):
            low, high = parts.low[p], parts.high[p]
            x = slot[low]
            b = tables.label[x]
            if high == WHOLE:
                square = parts.length[p] * parts.length[p]
                if node[x] == low:
                    for a in range(k):
                        out[i, a] += tables.mean[x, a] * square
                elif b < k:
                    out[i, b] += aggregates[row_of(low, n_points, aggregates), WEIGHT] * square
                continue
            if node[x] != low:  # below the frontier
                top = node[x] if slot[high] != x or node[x] == high else high
                if b < k:
                    out[i, b] += stretch_below(below, low, top, 0)
                if top == high:
                    continue
            add_stretch_above(tables, x, slot[high], out[i])
        for a in range(k):
            out[i, a] = out[i, a] / tables.point_weights[a] - tables.halves[a]
