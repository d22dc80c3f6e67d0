"""Boxes of points: how far they are apart, and which points of a cell are near another's boxes.

All distances are squared, as the kernels of spanning trees accumulate them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.dask.forest import NEVER, Forest, last_edge


class Boxes(NamedTuple):
    """Bounds of m sets of points.

    Attributes
    ----------
    low, high : (m, d) float64
    """

    low: Floats
    high: Floats

    def __getitem__(self, rows: Any) -> Any:
        return Boxes(self.low[rows], self.high[rows])


def safe_share(n_features: int) -> float:
    """Return the share of a squared distance that rounding leaves, whatever it does."""
    return 1.0 - 4.0 * (n_features + 16) * float(np.finfo(np.float64).eps)


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
        apart = max(max(low[x, t] - high2[y, t], low2[y, t] - high[x, t]), 0.0)
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
        apart = max(max(low[r, t] - x, x - high[r, t]), 0.0)
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


@kernel
def find_open_pairs(
    nodes: Nodes,
    candidates: Ints,
    n_first: int,
    forest: Forest,
    weights: Floats,
    compared: Compared,
    found: Pairs,
) -> int:
    """Fill in pairs of nodes, of two cells, that points in them may be joined by a shorter edge.

    candidates : (m,) int64
        Nodes of the first cell, n_first of them, and then those of the second.
    found : out
        As many as fit.

    Returns how many there are.
    """
    share = 1.0 - 4.0 * (nodes.low.shape[1] + 16) * 2.220446049250313e-16
    n_found = 0
    for s in range(n_first):
        x = candidates[s]
        for t in range(n_first, candidates.shape[0]):
            y = candidates[t]
            distance = gap(nodes.low, nodes.high, x, nodes.low, nodes.high, y) * share
            need = max(nodes.inner[x], nodes.inner[y])
            if distance > max(need, max(nodes.to_root[x], nodes.to_root[y])):
                continue
            longest = longest_between(forest, weights, nodes.terminal[x], nodes.terminal[y])
            if distance > max(need, longest):
                continue
            key = (x << 32) | y
            low, high = 0, compared.keys.shape[0]
            while low < high:
                middle = (low + high) // 2
                if compared.keys[middle] < key:
                    low = middle + 1
                else:
                    high = middle
            if (
                low < compared.keys.shape[0]
                and compared.keys[low] == key
                and compared.limits[low] >= longest
            ):
                continue
            if n_found < found.x.shape[0]:
                found.x[n_found] = x
                found.y[n_found] = y
                found.longest[n_found] = longest
            n_found += 1
    return n_found


@kernel
def gaps_of_pairs(nodes: Nodes, pairs: Pairs, gaps: Floats) -> None:
    """Fill gaps, (m,), with the squared distances of the boxes of pairs."""
    for t in range(pairs.x.shape[0]):
        gaps[t] = gap(nodes.low, nodes.high, pairs.x[t], nodes.low, nodes.high, pairs.y[t])


@kernel
def nearest_nodes(nodes: Nodes, first: Ints, i: int, j: int, pair: Ints) -> float:
    """Fill pair, (2,), with those nodes of cells i and j whose boxes are nearest; return how far.

    first : (n_cells + 1,) int64
        Where the nodes of each cell begin.
    """
    least = np.inf
    for x in range(first[i], first[i + 1]):
        for y in range(first[j], first[j + 1]):
            distance = gap(nodes.low, nodes.high, x, nodes.low, nodes.high, y)
            if distance < least:
                least = distance
                pair[0] = x
                pair[1] = y
    return least
