"""What is known of centres above and below the frontier, and the kernels that fill and read it.

centre_distances.py says what it is for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kmeans.aggregates import TreeArrays, weight_of
from isthmus.kmeans.embedding_step import embedded_aggregates
from isthmus.kmeans.frontier import Frontier, members_and_distances
from isthmus.kmeans.rows_aggregates import row_aggregates
from isthmus.kmeans.rows_step import Centres, locate_centres
from isthmus.prediction.ancestors import WHOLE, Parts
from isthmus.ultrametric.node_labels import MIXED

# Columns of what is known below the frontier, for the rows: for a node v below frontier node F,
# over all points m of F outside v, the sums of h_F - D(v, m) and of its squares; of the squared
# differences of D(v, m) from the coordinates of the own centre; and the sum of distances to the
# own cluster's points outside v.
SHORT, SHORT_SQUARES, FAR, OWN = range(4)


class Tables(NamedTuple):
    """What is known of the centres of a few clusters above the frontier: (count, m) each.

    Attributes
    ----------
    label : (count,) int32
        The clusters numbered from the first of these; m stands for all others.
    mean, within_ss : float64
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
    within_ss: Floats
    outside: Floats
    rest: Floats
    point_weights: Floats
    halves: Floats


class Below(NamedTuple):
    """What is known below the frontier.

    Attributes
    ----------
    slot : (2n - 1,) int32 or int64
        The position of each node in the frontier, or that of the frontier node it is below.
    sums : (2n - 1, c) float64
        Columns as above; in the embedded space one, of the squared distances to the own cluster.
    rest : (2n - 1, c) float32
        What they lose to rounding.
    point_weights : (k,) float64
        The weights of all clusters.
    """

    slot: Array
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
def fill_row_tables(tree: TreeArrays, frontier: Frontier, tables: Tables, own: Floats) -> None:
    """Fill the tables for the rows; own[x], in and out, where x is of one of their clusters.

    frontier : in
        With the labels of the tables.
    """
    label, first = frontier.label, frontier.first
    mean, within_ss = tables.mean, tables.within_ss
    outside, rest = tables.outside, tables.rest
    count, k = mean.shape
    centres = Centres(tables.point_weights, mean, within_ss, outside, own)
    locate_centres(tree, frontier, centres, False)
    for a in range(k):
        rest[0, a] = 0.0
    for x in range(count):
        if label[x] != MIXED:
            continue
        h = frontier.height[x]
        for side in range(2):
            y, z = first[x] + side, first[x] + 1 - side
            for a in range(k):
                to_z = h - mean[z, a]
                outside[y, a], rest[y, a] = add_exactly(
                    outside[x, a],
                    rest[x, a],
                    frontier.weight[z] * to_z * to_z + within_ss[z, a],
                )


@kernel
def sum_rows_below(tree: TreeArrays, frontier: Frontier, own: Floats, below: Below) -> None:
    """Fill what is known below the frontier, for the rows; it is given as zeros."""
    children, heights = tree.children, tree.heights
    n_points = children.shape[0] + 1
    node, label, sums, rest = frontier.node, frontier.label, below.sums, below.rest
    for x in range(node.shape[0]):
        if label[x] != MIXED:
            sums[node[x], OWN] = own[x]
    for e in range(n_points - 2, -1, -1):
        v = n_points + e
        x = below.slot[v]
        if label[x] == MIXED:
            continue
        h, weight_b = heights[e], below.point_weights[label[x]]
        short = heights[node[x] - n_points] - h
        for side in range(2):
            y, z = children[e, side], children[e, 1 - side]
            of_z = row_aggregates(tree, z)
            own_z = sums[v, OWN] + h * weight_of(tree, y)
            to_z = h - (own_z + of_z.t_sum / of_z.weight) / weight_b
            far = of_z.weight * to_z * to_z + of_z.t_within_ss / (weight_b * weight_b)
            sums[y, OWN] = sums[v, OWN] + h * of_z.weight
            sums[y, SHORT], rest[y, SHORT] = add_exactly(
                sums[v, SHORT], rest[v, SHORT], of_z.weight * short
            )
            sums[y, SHORT_SQUARES], rest[y, SHORT_SQUARES] = add_exactly(
                sums[v, SHORT_SQUARES], rest[v, SHORT_SQUARES], of_z.weight * short * short
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
    tree: TreeArrays,
    frontier: Frontier,
    tables: Tables,
    below: Below,
    begin: Ints,
    parts: Parts,
    out: Floats,
) -> None:
    """Fill out, (n_new, m), with the squared distances of new rows to the centres of clusters."""
    n_points = tree.children.shape[0] + 1
    node, slot, mean = frontier.node, below.slot, tables.mean
    for i in range(out.shape[0]):
        for a in range(out.shape[1]):
            out[i, a] = 0.0
        for p in range(3 * begin[i], 3 * begin[i] + parts.n_parts[i]):
            low, high = parts.low[p], parts.high[p]
            x = slot[low]
            if high == WHOLE:
                add_node_of_rows(tree, frontier, tables, below, parts, p, out[i])
                continue
            if node[x] != low:  # below the frontier
                top = node[x] if slot[high] != x or node[x] == high else high
                weight = weight_of(tree, top) - weight_of(tree, low)
                short = stretch_below(below, low, top, SHORT)
                squares = stretch_below(below, low, top, SHORT_SQUARES)
                h = tree.heights[node[x] - n_points]
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
    tree: TreeArrays,
    frontier: Frontier,
    tables: Tables,
    below: Below,
    parts: Parts,
    p: int,
    out: Floats,
) -> None:
    """Add what a node whose points are all equally far adds to the distances of a new row."""
    v, length = parts.low[p], parts.length[p]
    x = below.slot[v]
    of_v = row_aggregates(tree, v)
    for a in range(out.shape[0]):
        centre, within_ss = tables.mean[x, a], 0.0
        if frontier.node[x] == v:
            within_ss = tables.within_ss[x, a]
        elif a == tables.label[x]:
            weight_b = tables.point_weights[a]
            centre = (below.sums[v, OWN] + of_v.t_sum / of_v.weight) / weight_b
            within_ss = of_v.t_within_ss / (weight_b * weight_b)
        out[a] += of_v.weight * (length - centre) * (length - centre) + within_ss


@kernel
def fill_embedded_tables(tree: TreeArrays, frontier: Frontier, tables: Tables) -> None:
    """Fill the tables for the embedded space; the frontier has their labels."""
    label, first = frontier.label, frontier.first
    members, sums, rest = tables.mean, tables.outside, tables.rest
    count, k = members.shape
    members_and_distances(frontier, False, members, sums)
    for a in range(k):
        tables.point_weights[a] = members[0, a]
        tables.halves[a] = rest[0, a] = 0.0
    for x in range(count):
        b = label[x]
        if b == MIXED:
            h = frontier.height[x]
            for side in range(2):
                y, z = first[x] + side, first[x] + 1 - side
                for a in range(k):
                    sums[y, a], rest[y, a] = add_exactly(sums[x, a], rest[x, a], h * members[z, a])
        elif b < k:
            of_x = embedded_aggregates(tree, frontier.node[x])
            tables.halves[b] += of_x.weight * sums[x, b] + of_x.t_sum
    for a in range(k):
        tables.halves[a] /= 2.0 * tables.point_weights[a] * tables.point_weights[a]


@kernel
def sum_squares_below(tree: TreeArrays, frontier: Frontier, below: Below) -> None:
    """Fill what is known below the frontier, for the embedded space; it is given as zeros."""
    n_points = tree.children.shape[0] + 1
    sums, rest = below.sums, below.rest
    for e in range(n_points - 2, -1, -1):
        v = n_points + e
        if frontier.label[below.slot[v]] == MIXED:
            continue
        for side in range(2):
            y, z = tree.children[e, side], tree.children[e, 1 - side]
            sums[y, 0], rest[y, 0] = add_exactly(
                sums[v, 0], rest[v, 0], tree.heights[e] * weight_of(tree, z)
            )


@kernel
def fill_embedded_distances(
    tree: TreeArrays,
    frontier: Frontier,
    tables: Tables,
    below: Below,
    begin: Ints,
    parts: Parts,
    out: Floats,
) -> None:
    """Fill out, (n_new, m), with the squared distances of new points to the centres of clusters."""
    node, slot, k = frontier.node, below.slot, out.shape[1]
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
                    out[i, b] += weight_of(tree, low) * square
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
