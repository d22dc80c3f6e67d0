"""Pairs of nodes of different cells: which of them are settled, and which are nearest.

The coordinator looks at them; it knows boxes of nodes, and the forest of what has been found. All
distances are squared.
"""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Floats, Ints
from isthmus.dask.boxes import Boxes, gap, gaps_between
from isthmus.dask.longest_edges import NEVER, Forest, last_edge


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


class Pairs(NamedTuple):
    """Pairs of nodes x and y, and the longest edge between them, (m,) each."""

    x: Ints
    y: Ints
    longest: Floats


def join_pairs(parts: list[Pairs]) -> Pairs:
    """Return the pairs of several records."""
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return Pairs(nothing, nothing, np.empty(0))
    return Pairs(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def group_rows(keys: Ints) -> list[tuple[tuple[int, int], Ints]]:
    """Return the different rows of (m, 2) keys, and which rows have them."""
    different, inverse = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(inverse.ravel()))[:-1])
    return [((int(i), int(j)), rows) for (i, j), rows in zip(different, groups, strict=True)]


class LinkedPairs(NamedTuple):
    """Pairs of nodes, and what connects them and those beside them; (m,) each.

    The reference node of x is the nearest of all y that x is paired with, and the other way round.

    Attributes
    ----------
    x, y : int32 or int64
    longest : float64
        The longest edge between the hubs of x and y.
    link_x : float64
        The longest edge between the hubs of x and of the reference of y.
    link_y : float64
        The longest edge between the hubs of y and of the reference of x.
    """

    x: Ints
    y: Ints
    longest: Floats
    link_x: Floats
    link_y: Floats


@kernel_part
def longest_between(forest: Forest, weights: Floats, x: int, y: int) -> float:
    """Return the longest edge on the path between two points; infinity without one."""
    last = last_edge(forest, x, y)
    if last == NEVER:
        return np.inf
    return float(weights[last]) if last >= 0 else 0.0


# Nodes that follow each other in a cell are near each other: this number of them is a group.
_GROUP = 16


class Candidates(NamedTuple):
    """Nodes of a cell, in groups.

    Attributes
    ----------
    node : (m,) int64
        Ascending.
    begin : (n_groups + 1,) int64
        Where the nodes of each group begin.
    link : (m,) float64
        The longest edge between each node's hub and that of a reference, the same for both cells
        of a pair: what connects two nodes is no longer than the longer one of their links.
    low, high : (n_groups, d) float64
    reach : (n_groups,) float64
        What a group's nodes may be connected by, at most, with those of the other cell.
    """

    node: Ints
    begin: Ints
    link: Floats
    low: Floats
    high: Floats
    reach: Floats


def group_nodes(nodes: Nodes, chosen: Ints, link: Floats) -> Candidates:
    """Return some nodes of a cell, at least one, in groups; see Candidates."""
    begin = np.arange(0, len(chosen), _GROUP)
    reach = np.maximum(nodes.inner[chosen], link)
    return Candidates(
        chosen,
        np.append(begin, len(chosen)),
        link,
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
    share : float
        Of a squared distance, what rounding leaves; see safe_share.
    """

    forest: Forest
    weights: Floats
    share: float


@kernel_part
def are_settled(first: Candidates, g: int, second: Candidates, h: int, share: float) -> bool:
    """Whether all nodes of two groups are farther apart than what connects them."""
    apart = gap(first.low, first.high, g, second.low, second.high, h) * share
    return bool(apart > max(first.reach[g], second.reach[h]))


@kernel
def find_open_pairs(
    nodes: Nodes, first: Candidates, second: Candidates, known: Known, found: Pairs
) -> int:
    """Fill in pairs of nodes, of two cells, whose points may be joined by a shorter edge.

    found : out
        As many as fit.

    Returns how many there are.
    """
    n_found = np.int64(0)
    for g in range(first.reach.shape[0]):
        for h in range(second.reach.shape[0]):
            if are_settled(first, g, second, h, known.share):
                continue
            for s in range(first.begin[g], first.begin[g + 1]):
                x = first.node[s]
                for t in range(second.begin[h], second.begin[h + 1]):
                    y = second.node[t]
                    longest = open_at(nodes, x, y, max(first.link[s], second.link[t]), known)
                    if longest < 0.0:
                        continue
                    if n_found < found.x.shape[0]:
                        found.x[n_found] = x
                        found.y[n_found] = y
                        found.longest[n_found] = longest
                    n_found += 1
    return int(n_found)


@kernel_part
def open_at(nodes: Nodes, x: int, y: int, link: float, known: Known) -> float:
    """Return the longest edge between two nodes that are not settled; -1 for those that are.

    link : float
        No edge between them is longer.
    """
    distance = gap(nodes.low, nodes.high, x, nodes.low, nodes.high, y) * known.share
    need = max(nodes.inner[x], nodes.inner[y])
    if distance > max(need, link):
        return -1.0
    longest = longest_between(known.forest, known.weights, nodes.terminal[x], nodes.terminal[y])
    if distance > max(need, longest):
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
    for g in range(first.reach.shape[0]):
        for h in range(second.reach.shape[0]):
            if are_settled(first, g, second, h, known.share):
                continue
            for s in range(first.begin[g], first.begin[g + 1]):
                x = first.node[s]
                for t in range(second.begin[h], second.begin[h + 1]):
                    y = second.node[t]
                    distance = gap(nodes.low, nodes.high, x, nodes.low, nodes.high, y)
                    if distance >= of_first.gap[s] and distance >= of_second.gap[t]:
                        continue
                    longest = open_at(nodes, x, y, max(first.link[s], second.link[t]), known)
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


def connecting_pairs(nodes: Nodes, first: Ints, cells: Boxes) -> Pairs:
    """Return pairs of nodes that connect all cells: Kruskal's algorithm on boxes.

    first : (n_cells + 1,) int64
        Where the nodes of each cell begin.
    cells : Boxes
        Of the cells.
    """
    group = np.arange(len(cells.low))
    gaps = gaps_between(cells, cells)
    heap: list[tuple[float, bool, int, int, int, int]] = [
        (float(gaps[i, j]), False, int(i), int(j), 0, 0)
        for i, j in np.argwhere(np.triu(group[:, None] != group[None, :], 1))
    ]
    heapq.heapify(heap)
    of_cells = [
        group_nodes(nodes, np.arange(begin, end), np.full(end - begin, np.inf))
        for begin, end in pairwise(first)
    ]
    found, pair = [], np.empty(2, dtype=np.int64)
    while len(np.unique(group)) > 1:
        _, is_measured, i, j, x, y = heapq.heappop(heap)
        if group[i] == group[j]:
            continue
        if is_measured:
            found.append((x, y))
            group[group == group[j]] = group[i]
            continue
        nearest = nearest_nodes(nodes, of_cells[i], of_cells[j], pair)
        heapq.heappush(heap, (nearest, True, i, j, int(pair[0]), int(pair[1])))
    x, y = np.array(found).T
    return Pairs(x, y, np.full(len(x), np.inf))
