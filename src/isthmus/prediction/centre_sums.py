"""Sums over the points outside a node, for centres of clusters; kernels that fill and read them.

centre_distances.py says what they are for.
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
from isthmus.prediction.ancestor_paths import Segments, is_node
from isthmus.ultrametric.node_labels import MIXED

# Columns of the sums below the frontier, for the rows: for a node v below frontier node F, over all
# points m of F outside v, the sum of the shortfalls h_F - D(v, m) and of their squares; that of the
# squared differences of D(v, m) from the coordinates of the own centre; and the sum of distances to
# the points of the own cluster outside v.
SHORTFALL, SHORTFALL_SQUARES, TO_OWN_CENTRE, OWN_DISTANCES = range(4)


class SumsAbove(NamedTuple):
    """Sums at the nodes of a frontier for m clusters: (count, m) each.

    Attributes
    ----------
    label : (count,) int32
        The clusters numbered from the first of these; m stands for all others.
    mean, within_ss : float64
        The mean of each centre's coordinates below a node, and the sum of their squared deviations
        from it. In the embedded space, the weight of its members below the node; and nothing.
    outside, rest : float64
        The sum over the points outside a node, and what it loses to rounding.
    weights : (m,) float64
        Those of the clusters.
    halves : (m,) float64
        What is subtracted from every distance in the embedded space.
    """

    label: Labels
    mean: Floats
    within_ss: Floats
    outside: Floats
    rest: Floats
    weights: Floats
    halves: Floats


class SumsBelow(NamedTuple):
    """Sums at the nodes below a frontier, over the points outside a node but below the frontier.

    Attributes
    ----------
    slot : (2n - 1,) int32 or int64
        The position of each node in the frontier, or that of the frontier node it is below.
    own : (count,) float64
        For each frontier node, the sum of distances to the points of its cluster outside it.
    sums : (2n - 1, c) float64
        Columns as above; in the embedded space one, of the squared distances to the own cluster.
    rest : (2n - 1, c) float32
        What they lose to rounding.
    weights : (k,) float64
        Those of all clusters.
    """

    slot: Array
    own: Floats
    sums: Floats
    rest: Array
    weights: Floats


@kernel
def propagate_slots(children: Ints, node_labels: Labels, slot: Array) -> None:
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


@kernel_part
def add_below(below: SumsBelow, parent: int, child: int, column: int, term: float) -> None:
    """Set the sum of a child to that of its parent and one more term."""
    below.sums[child, column], rest = add_exactly(
        below.sums[parent, column], np.float64(below.rest[parent, column]), term
    )
    below.rest[child, column] = rest


@kernel_part
def sum_of_segment(below: SumsBelow, low: int, high: int, column: int) -> float:
    """Return the sum over a segment below the frontier."""
    sums, rest = below.sums, below.rest
    loss = np.float64(rest[low, column]) - np.float64(rest[high, column])
    return float((sums[low, column] - sums[high, column]) + loss)


@kernel_part
def add_segment_above(above: SumsAbove, low: int, high: int, out: Floats) -> None:
    """Add a segment between two nodes above or on the frontier to the distances of a new point."""
    outside, rest = above.outside, above.rest
    for a in range(out.shape[0]):
        out[a] += (outside[low, a] - outside[high, a]) + (rest[low, a] - rest[high, a])


@kernel_part
def end_below(frontier: Frontier, slot: Array, low: int, high: int) -> int:
    """Return where the part of a segment that lies below the frontier ends."""
    x = slot[low]
    top = frontier.node[x]
    return int(top if slot[high] != x or top == high else high)


@kernel
def sum_rows_above(
    tree: TreeArrays, frontier: Frontier, above: SumsAbove, below: SumsBelow
) -> None:
    """Fill the sums above the frontier for the rows, and ``own`` of the nodes of their clusters.

    frontier : in
        With the labels of the sums.
    """
    label, first = frontier.label, frontier.first
    mean, within_ss = above.mean, above.within_ss
    outside, rest = above.outside, above.rest
    count, k = mean.shape
    centres = Centres(above.weights, mean, within_ss, outside, below.own)
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
                term = frontier.weight[z] * to_z * to_z + within_ss[z, a]
                outside[y, a], rest[y, a] = add_exactly(outside[x, a], rest[x, a], term)


@kernel
def sum_rows_below(tree: TreeArrays, frontier: Frontier, below: SumsBelow) -> None:
    """Fill the sums below the frontier for the rows; they are zeros on entry."""
    children, heights = tree.children, tree.heights
    n_points = children.shape[0] + 1
    node, label, sums = frontier.node, frontier.label, below.sums
    for x in range(node.shape[0]):
        if label[x] != MIXED:
            sums[node[x], OWN_DISTANCES] = below.own[x]
    for e in range(n_points - 2, -1, -1):
        v = n_points + e
        x = below.slot[v]
        if label[x] == MIXED:
            continue
        h, weight_b = heights[e], below.weights[label[x]]
        shortfall = heights[node[x] - n_points] - h
        for side in range(2):
            y, z = children[e, side], children[e, 1 - side]
            of_z = row_aggregates(tree, z)
            own_z = sums[v, OWN_DISTANCES] + h * weight_of(tree, y)
            to_z = h - (own_z + of_z.t_sum / of_z.weight) / weight_b
            to_own = of_z.weight * to_z * to_z + of_z.t_within_ss / (weight_b * weight_b)
            sums[y, OWN_DISTANCES] = sums[v, OWN_DISTANCES] + h * of_z.weight
            add_below(below, v, y, SHORTFALL, of_z.weight * shortfall)
            add_below(below, v, y, SHORTFALL_SQUARES, of_z.weight * shortfall * shortfall)
            add_below(below, v, y, TO_OWN_CENTRE, to_own)


@kernel
def fill_row_distances(
    tree: TreeArrays,
    frontier: Frontier,
    above: SumsAbove,
    below: SumsBelow,
    segments: Segments,
    out: Floats,
) -> None:
    """Fill out, (n_new, m), with the squared distances of new rows to the centres of clusters."""
    n_points = tree.children.shape[0] + 1
    node, slot, mean = frontier.node, below.slot, above.mean
    for i in range(out.shape[0]):
        for a in range(out.shape[1]):
            out[i, a] = 0.0
        for s in range(segments.begin[i], segments.begin[i] + segments.n_segments[i]):
            low, high = segments.low[s], segments.high[s]
            x = slot[low]
            if is_node(segments, s):
                add_node_of_rows(tree, frontier, above, below, low, segments.length[s], out[i])
                continue
            if node[x] != low:  # below the frontier
                top = end_below(frontier, slot, low, high)
                weight = weight_of(tree, top) - weight_of(tree, low)
                shortfall = sum_of_segment(below, low, top, SHORTFALL)
                squares = sum_of_segment(below, low, top, SHORTFALL_SQUARES)
                h = tree.heights[node[x] - n_points]
                for a in range(out.shape[1]):
                    if a == above.label[x]:
                        out[i, a] += sum_of_segment(below, low, top, TO_OWN_CENTRE)
                    else:
                        # h is not above the other centre's coordinate: nothing is subtracted
                        up = mean[x, a] - h
                        out[i, a] += up * (weight * up + 2.0 * shortfall) + squares
                if top == high:
                    continue
            add_segment_above(above, x, slot[high], out[i])


@kernel_part
def add_node_of_rows(
    tree: TreeArrays,
    frontier: Frontier,
    above: SumsAbove,
    below: SumsBelow,
    v: int,
    length: float,
    out: Floats,
) -> None:
    """Add what node v, whose points are all ``length`` away, adds to the distances of a new row."""
    x = below.slot[v]
    of_v = row_aggregates(tree, v)
    for a in range(out.shape[0]):
        centre, within_ss = above.mean[x, a], 0.0
        if frontier.node[x] == v:
            within_ss = above.within_ss[x, a]
        elif a == above.label[x]:
            weight_b = above.weights[a]
            centre = (below.sums[v, OWN_DISTANCES] + of_v.t_sum / of_v.weight) / weight_b
            within_ss = of_v.t_within_ss / (weight_b * weight_b)
        out[a] += of_v.weight * (length - centre) * (length - centre) + within_ss


@kernel
def sum_embedded_above(
    tree: TreeArrays,
    frontier: Frontier,
    above: SumsAbove,
    below: SumsBelow,  # noqa: ARG001  (as for the rows)
) -> None:
    """Fill the sums above the frontier for the embedded space; the frontier has their labels."""
    label, first = frontier.label, frontier.first
    members, sums, rest = above.mean, above.outside, above.rest
    count, k = members.shape
    members_and_distances(frontier, False, members, sums)
    for a in range(k):
        above.weights[a] = members[0, a]
        above.halves[a] = rest[0, a] = 0.0
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
            above.halves[b] += of_x.weight * sums[x, b] + of_x.t_sum
    for a in range(k):
        above.halves[a] /= 2.0 * above.weights[a] * above.weights[a]


@kernel
def sum_embedded_below(tree: TreeArrays, frontier: Frontier, below: SumsBelow) -> None:
    """Fill the sums below the frontier for the embedded space; they are zeros on entry."""
    n_points = tree.children.shape[0] + 1
    for e in range(n_points - 2, -1, -1):
        v = n_points + e
        if frontier.label[below.slot[v]] == MIXED:
            continue
        for side in range(2):
            y, z = tree.children[e, side], tree.children[e, 1 - side]
            add_below(below, v, y, 0, tree.heights[e] * weight_of(tree, z))


@kernel
def fill_embedded_distances(
    tree: TreeArrays,
    frontier: Frontier,
    above: SumsAbove,
    below: SumsBelow,
    segments: Segments,
    out: Floats,
) -> None:
    """Fill out, (n_new, m), with the squared distances of new points to the centres of clusters."""
    node, slot, k = frontier.node, below.slot, out.shape[1]
    for i in range(out.shape[0]):
        for a in range(k):
            out[i, a] = 0.0
        for s in range(segments.begin[i], segments.begin[i] + segments.n_segments[i]):
            low, high = segments.low[s], segments.high[s]
            x = slot[low]
            b = above.label[x]
            if is_node(segments, s):
                square = segments.length[s] * segments.length[s]
                if node[x] == low:
                    for a in range(k):
                        out[i, a] += above.mean[x, a] * square
                elif b < k:
                    out[i, b] += weight_of(tree, low) * square
                continue
            if node[x] != low:  # below the frontier
                top = end_below(frontier, slot, low, high)
                if b < k:
                    out[i, b] += sum_of_segment(below, low, top, 0)
                if top == high:
                    continue
            add_segment_above(above, x, slot[high], out[i])
        for a in range(k):
            out[i, a] = out[i, a] / above.weights[a] - above.halves[a]
