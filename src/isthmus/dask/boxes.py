"""Boxes of points: how far they are apart, and which points of a cell are near another's boxes.

All distances are squared, as the kernels of spanning trees accumulate them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.dask.forest import NEVER, Forest, last_edge

_EPSILON = float(np.finfo(np.float64).eps)


class Boxes(NamedTuple):
    """Bounds of m sets of points.

    Attributes
    ----------
    low, high : (m, d) float64
    """

    low: Floats
    high: Floats

    def take(self, rows: Any) -> Boxes:
        """Return some of the boxes."""
        return Boxes(self.low[rows], self.high[rows])


def box_around(points: Array) -> Boxes:
    """Return the bounds of points: (1, d)."""
    box = Boxes(np.full((1, points.shape[1]), np.inf), np.full((1, points.shape[1]), -np.inf))
    enclose_points(points, box)
    return box


@kernel
def enclose_points(points: Array, box: Boxes) -> None:
    """Extend a box, (1, d), to all points."""
    for p in range(points.shape[0]):
        for t in range(points.shape[1]):
            x = np.float64(points[p, t])
            box.low[0, t] = min(box.low[0, t], x)
            box.high[0, t] = max(box.high[0, t], x)


def safe_share(n_features: int) -> float:
    """Return the share of a squared distance that rounding leaves, whatever it does."""
    return 1.0 - 4.0 * (n_features + 16) * _EPSILON


def gaps_between(boxes: Boxes, others: Boxes) -> Floats:
    """Return the squared distances of all boxes to all others: (m, k)."""
    low, high = boxes.low[:, None, :], boxes.high[:, None, :]
    apart = np.maximum(np.maximum(others.low - high, low - others.high), 0.0)
    squares: Floats = np.einsum("ijk,ijk->ij", apart, apart) * safe_share(boxes.low.shape[1])
    return squares


def squared_diameters(boxes: Boxes) -> Floats:
    """Return upper bounds of the squared distances within boxes: (m,)."""
    sides = boxes.high - boxes.low
    return np.asarray(np.einsum("ij,ij->i", sides, sides) / safe_share(sides.shape[1]))


@kernel_part
def gap(low: Floats, high: Floats, x: int, low2: Floats, high2: Floats, y: int) -> float:
    """Return the squared distance of box x and box y of two arrays, as computed."""
    total = 0.0
    for t in range(low.shape[1]):
        apart = max(low[x, t] - high2[y, t], low2[y, t] - high[x, t])
        apart = max(apart, 0.0)
        total += apart * apart
    return total


class Near(NamedTuple):
    """Which points of a cell are wanted: those of some nodes that are near some boxes.

    Attributes
    ----------
    node : (m,) int64
    low, high : (m, d) float64
        The box that belongs to each node; nodes may come several times.
    limit : (m,) float64
        How near. Negative: only the nearest point is wanted.
    """

    node: Ints
    low: Floats
    high: Floats
    limit: Floats


class CellView(NamedTuple):
    """What choosing points of a cell needs to know of it.

    Attributes
    ----------
    points : (n, d) float
        In the order of nodes.
    begin : (n_nodes + 1,) int64
        Where the points of each node begin.
    hub : (n_nodes,) int64
        A point of each node that most others are close to in the tree.
    inner : (n_nodes,) float64
        The longest edge that connects a node's points with its hub, at most.
    forest, weights : Forest and (n - 1,) float64
    """

    points: Array
    begin: Ints
    hub: Ints
    inner: Floats
    forest: Forest
    weights: Floats


@kernel_part
def gap_of_point(points: Array, p: int, low: Floats, high: Floats, r: int, share: float) -> float:
    """Return a lower bound of the squared distances of a point to those in a box."""
    total = 0.0
    for t in range(low.shape[1]):
        x = np.float64(points[p, t])
        apart = max(low[r, t] - x, x - high[r, t])
        apart = max(apart, 0.0)
        total += apart * apart
    return total * share


@kernel
def mark_near(cell: CellView, near: Near, share: float, keep: Array) -> None:
    """Set keep, (n,) bool, where a point is wanted.

    A point is wanted, too, where an edge that connects it with its node's hub is longer than its
    distance to the box.
    """
    for r in range(near.node.shape[0]):
        node = near.node[r]
        hub, limit = cell.hub[node], near.limit[r]
        nearest, least = hub, np.inf
        for p in range(cell.begin[node], cell.begin[node + 1]):
            if keep[p] and limit >= 0.0:
                continue
            distance = gap_of_point(cell.points, p, near.low, near.high, r, share)
            if limit < 0.0:
                if distance < least:
                    nearest, least = p, distance
            elif distance <= limit:
                keep[p] = True
            elif distance <= cell.inner[node]:
                last = last_edge(cell.forest, hub, p)
                keep[p] = last >= 0 and distance <= cell.weights[last]
        if limit < 0.0:
            keep[nearest] = True


@kernel
def find_hubs(begin: Ints, rank: Labels, hub: Ints) -> None:
    """Fill hub, (n_nodes,), with the point of each node that was the root of its part longest."""
    for node in range(hub.shape[0]):
        hub[node] = begin[node]
        for p in range(begin[node] + 1, begin[node + 1]):
            if rank[p] > rank[hub[node]]:
                hub[node] = p


@kernel
def fill_inner(cell: CellView, nodes: Ints, inner: Floats) -> None:
    """Fill inner[node], for some nodes, with the longest edge between its hub and its points."""
    for t in range(nodes.shape[0]):
        node = nodes[t]
        last = -1
        for p in range(cell.begin[node], cell.begin[node + 1]):
            last = max(last, last_edge(cell.forest, cell.hub[node], p))
        inner[node] = cell.weights[last] if last >= 0 else 0.0


class Nodes(NamedTuple):
    """The nodes of all cells, as the coordinator knows them.

    Attributes
    ----------
    low, high : (m, d) float64
    inner : (m,) float64
        The longest edge that connects a node's points with its hub, at most.
    terminal : (m,) int64
        The number of a node's hub in the forest of what is known.
    to_root : (m,) float64
        The longest edge on the path from there to the root of the first node; infinite without.
    """

    low: Floats
    high: Floats
    inner: Floats
    terminal: Ints
    to_root: Floats


class Compared(NamedTuple):
    """Which nodes have been compared.

    Attributes
    ----------
    keys : (m,) int64
        ``x << 32 | y`` for x < y, ascending.
    limits : (m,) float64
        Up to which distance.
    """

    keys: Ints
    limits: Floats


class Pairs(NamedTuple):
    """Pairs of nodes x and y, and the longest edge between them, (m,) each."""

    x: Ints
    y: Ints
    longest: Floats


@kernel_part
def longest_between(forest: Forest, weights: Floats, x: int, y: int) -> float:
    """Return the longest edge on the path between two points; infinity without one."""
    last = last_edge(forest, x, y)
    if last == NEVER:
        return np.inf
    return float(weights[last]) if last >= 0 else 0.0


# Nodes that stand beside each other in a cell are near each other: so many are a group.
_GROUP = 16


class Candidates(NamedTuple):
    """Nodes of a cell, in groups.

    Attributes
    ----------
    node : (m,) int64
        Ascending.
    begin : (n_groups + 1,) int64
        Where the nodes of each group begin.
    low, high : (n_groups, d) float64
    reach : (n_groups,) float64
        What a group's nodes may be connected by, at most, with anything.
    """

    node: Ints
    begin: Ints
    low: Floats
    high: Floats
    reach: Floats


def group_nodes(nodes: Nodes, chosen: Ints) -> Candidates:
    """Return some nodes of a cell, at least one, in groups."""
    begin = np.arange(0, len(chosen), _GROUP)
    reach = np.maximum(nodes.inner, nodes.to_root)[chosen]
    return Candidates(
        chosen,
        np.append(begin, len(chosen)),
        np.minimum.reduceat(nodes.low[chosen], begin),
        np.maximum.reduceat(nodes.high[chosen], begin),
        np.maximum.reduceat(reach, begin),
    )


class Known(NamedTuple):
    """What the coordinator knows.

    Attributes
    ----------
    forest, weights : Forest and (m,) float64
        What connects terminals, and the weights of its edges.
    compared : Compared
    """

    forest: Forest
    weights: Floats
    compared: Compared


@kernel
def find_open_pairs(
    nodes: Nodes, first: Candidates, second: Candidates, known: Known, found: Pairs
) -> int:
    """Fill in pairs of nodes, of two cells, whose points may be joined by a shorter edge.

    found : out
        As many as fit.

    Returns how many there are.
    """
    share = 1.0 - 4.0 * (nodes.low.shape[1] + 16) * _EPSILON
    n_found = np.int64(0)
    for g in range(first.reach.shape[0]):
        for h in range(second.reach.shape[0]):
            apart = gap(first.low, first.high, g, second.low, second.high, h) * share
            if apart > max(first.reach[g], second.reach[h]):
                continue
            for s in range(first.begin[g], first.begin[g + 1]):
                x = first.node[s]
                for t in range(second.begin[h], second.begin[h + 1]):
                    y = second.node[t]
                    longest = open_at(nodes, x, y, known, share)
                    if longest < 0.0:
                        continue
                    if n_found < found.x.shape[0]:
                        found.x[n_found] = x
                        found.y[n_found] = y
                        found.longest[n_found] = longest
                    n_found += 1
    return int(n_found)


@kernel_part
def open_at(nodes: Nodes, x: int, y: int, known: Known, share: float) -> float:
    """Return the longest edge between two nodes that are not settled; -1 for those that are."""
    distance = gap(nodes.low, nodes.high, x, nodes.low, nodes.high, y) * share
    need = max(nodes.inner[x], nodes.inner[y])
    to_root = max(nodes.to_root[x], nodes.to_root[y])
    if distance > max(need, to_root):
        return -1.0
    longest = longest_between(known.forest, known.weights, nodes.terminal[x], nodes.terminal[y])
    if distance > max(need, longest):
        return -1.0
    keys = known.compared.keys
    key = (x << 32) | y
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < keys.shape[0] and keys[low] == key and known.compared.limits[low] >= longest:
        return -1.0
    return longest


class Nearest(NamedTuple):
    """The nearest node of another cell that some nodes are not settled with.

    Attributes
    ----------
    gap : (m,) float64
        How far it is; infinite without one.
    node : (m,) int64
    longest : (m,) float64
        The longest edge between the two.
    """

    gap: Floats
    node: Ints
    longest: Floats


def no_nearest(n_nodes: int) -> Nearest:
    """Return a record of nothing found."""
    return Nearest(np.full(n_nodes, np.inf), np.empty(n_nodes, dtype=np.int64), np.empty(n_nodes))


@kernel
def find_nearest_open(
    nodes: Nodes,
    first: Candidates,
    second: Candidates,
    known: Known,
    of_first: Nearest,
    of_second: Nearest,
) -> None:
    """Fill in, for each node of two cells, the nearest one of the other that it is open with."""
    share = 1.0 - 4.0 * (nodes.low.shape[1] + 16) * _EPSILON
    for g in range(first.reach.shape[0]):
        for h in range(second.reach.shape[0]):
            apart = gap(first.low, first.high, g, second.low, second.high, h) * share
            if apart > max(first.reach[g], second.reach[h]):
                continue
            for s in range(first.begin[g], first.begin[g + 1]):
                x = first.node[s]
                for t in range(second.begin[h], second.begin[h + 1]):
                    y = second.node[t]
                    distance = gap(nodes.low, nodes.high, x, nodes.low, nodes.high, y)
                    if distance >= of_first.gap[s] and distance >= of_second.gap[t]:
                        continue
                    longest = open_at(nodes, x, y, known, share)
                    if longest < 0.0:
                        continue
                    offer_nearest(of_first, s, distance, y, longest)
                    offer_nearest(of_second, t, distance, x, longest)


@kernel_part
def offer_nearest(nearest: Nearest, s: int, distance: float, node: int, longest: float) -> None:
    """Make a node the nearest one, if it is."""
    if distance < nearest.gap[s]:
        nearest.gap[s] = distance
        nearest.node[s] = node
        nearest.longest[s] = longest


@kernel
def nearest_nodes(nodes: Nodes, first: Candidates, second: Candidates, pair: Ints) -> float:
    """Fill pair, (2,), with those nodes of two cells whose boxes are nearest; return how far."""
    least = np.inf
    for g in range(first.reach.shape[0]):
        for h in range(second.reach.shape[0]):
            if gap(first.low, first.high, g, second.low, second.high, h) >= least:
                continue
            for s in range(first.begin[g], first.begin[g + 1]):
                x = first.node[s]
                for t in range(second.begin[h], second.begin[h + 1]):
                    y = second.node[t]
                    distance = gap(nodes.low, nodes.high, x, nodes.low, nodes.high, y)
                    if distance < least:
                        least = distance
                        pair[0] = x
                        pair[1] = y
    return least


class Side(NamedTuple):
    """Points of one cell that are compared with those of another.

    Attributes
    ----------
    points : (m, d) float
    key : (m,) float64
        The longest edge between each point and its node's hub.
    node, begin : (k,) and (k + 1,) int64
        The nodes that they are of, ascending, and where the points of each begin.
    low, high, most : (k, d), (k, d) and (k,) float64
        Bounds of a node's points, and the largest of their keys.
    """

    points: Array
    key: Floats
    node: Ints
    begin: Ints
    low: Floats
    high: Floats
    most: Floats


@kernel
def describe_side(side: Side) -> None:
    """Fill the bounds and the largest keys of all nodes."""
    for s in range(side.node.shape[0]):
        side.most[s] = 0.0
        for t in range(side.points.shape[1]):
            side.low[s, t] = np.inf
            side.high[s, t] = -np.inf
        for p in range(side.begin[s], side.begin[s + 1]):
            side.most[s] = max(side.most[s], side.key[p])
            for t in range(side.points.shape[1]):
                x = np.float64(side.points[p, t])
                side.low[s, t] = min(side.low[s, t], x)
                side.high[s, t] = max(side.high[s, t], x)


@kernel
def fill_keys(cell: CellView, positions: Ints, nodes: Ints, key: Floats) -> None:
    """Fill key, (m,), with the longest edge between points and the hubs of their nodes."""
    for t in range(positions.shape[0]):
        last = last_edge(cell.forest, cell.hub[nodes[t]], positions[t])
        key[t] = cell.weights[last] if last >= 0 else 0.0


class Marks(NamedTuple):
    """What is known of the points of a side.

    Attributes
    ----------
    keep : (m,) bool
        Whether a point is to be compared.
    nearest : (m,) float64
        Scratch: how far the nearest point of another node is.
    """

    keep: Array
    nearest: Floats


def no_marks(side: Side) -> Marks:
    """Return marks of points that are not to be compared."""
    return Marks(np.zeros(len(side.key), dtype=np.bool_), np.empty(len(side.key)))


@kernel
def mark_mutual(
    own: Side, other: Side, pairs: Pairs, share: float, marks: Marks, others: Marks
) -> None:
    """Set keep where two points may be joined by an edge of the tree.

    Their distance is at most the longest edge that connects them so far. And of the points of a
    node that shorter edges connect with each other, only the nearest one can be joined: any
    other edge from the same point to them is the longest in a cycle.

    pairs : Pairs
        Of nodes, by their numbers in own and other, as slots.
    """
    for r in range(pairs.x.shape[0]):
        x, y, longest = pairs.x[r], pairs.y[r], pairs.longest[r]
        if not find_nearest(own, other, x, y, longest, share, marks, others):
            continue
        for p in range(own.begin[x], own.begin[x + 1]):
            limit = max(longest, own.key[p])
            apart = gap_of_point(own.points, p, other.low, other.high, y, share)
            if apart > max(limit, other.most[y]):
                continue
            for q in range(other.begin[y], other.begin[y + 1]):
                if apart > max(limit, other.key[q]) or (marks.keep[p] and others.keep[q]):
                    continue
                total = squared_distance(own.points, p, other.points, q)
                if total * share > max(limit, other.key[q]):
                    continue
                near, near_too = marks.nearest[p], others.nearest[q]
                if total * share > near and other.key[q] < near * share:
                    continue
                if total * share > near_too and own.key[p] < near_too * share:
                    continue
                marks.keep[p] = True
                others.keep[q] = True


@kernel_part
def find_nearest(
    own: Side,
    other: Side,
    x: int,
    y: int,
    longest: float,
    share: float,
    marks: Marks,
    others: Marks,
) -> bool:
    """Fill in how far the nearest points of two nodes are that shorter edges connect with hubs.

    Returns whether there are points that are not too far apart.
    """
    found = False
    for q in range(other.begin[y], other.begin[y + 1]):
        others.nearest[q] = np.inf
    for p in range(own.begin[x], own.begin[x + 1]):
        marks.nearest[p] = np.inf
        limit = max(longest, own.key[p])
        apart = gap_of_point(own.points, p, other.low, other.high, y, share)
        if apart > max(limit, other.most[y]):
            continue
        for q in range(other.begin[y], other.begin[y + 1]):
            if apart > max(limit, other.key[q]):
                continue
            total = squared_distance(own.points, p, other.points, q)
            if total * share > max(limit, other.key[q]):
                continue
            found = True
            if other.key[q] < total * share:
                marks.nearest[p] = min(marks.nearest[p], total)
            if own.key[p] < total * share:
                others.nearest[q] = min(others.nearest[q], total)
    return found


@kernel_part
def squared_distance(points: Array, p: int, others: Array, q: int) -> float:
    """Return the squared distance of two points, as computed."""
    total = 0.0
    for t in range(points.shape[1]):
        difference = np.float64(points[p, t]) - np.float64(others[q, t])
        total += difference * difference
    return total
