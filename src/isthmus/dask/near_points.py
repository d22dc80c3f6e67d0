"""Points of a cell that are near boxes of others: each cell chooses them.

All distances are squared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.dask.boxes import gap_of_point
from isthmus.dask.longest_edges import Forest, last_edge


class Near(NamedTuple):
    """Which points of a cell are wanted: those of some nodes that are near some boxes.

    Attributes
    ----------
    node, box : (m,) int32
        Nodes, and the boxes that belong to them; both may come several times.
    limit : (m,) float64
        How near. Negative: only the nearest point is wanted.
    low, high : (k, d) float64
        All boxes.
    """

    node: Labels
    box: Labels
    limit: Floats
    low: Floats
    high: Floats

    @classmethod
    def joined(cls, parts: list[Near]) -> Near:
        """Return what several records want."""
        first = np.cumsum([0, *(len(part.low) for part in parts)]).astype(np.int32)
        box = [part.box + first[i] for i, part in enumerate(parts)]
        parts = [part._replace(box=each) for part, each in zip(parts, box, strict=True)]
        return cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))


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


@kernel
def mark_near(cell: CellView, near: Near, share: float, keep: Array) -> None:
    """Set keep, (n,) bool, where a point is wanted.

    A point is wanted, too, where an edge that connects it with its node's hub is longer than its
    distance to the box.
    """
    for r in range(near.node.shape[0]):
        node, box = near.node[r], near.box[r]
        hub, limit = cell.hub[node], near.limit[r]
        nearest, least = hub, np.inf
        for p in range(cell.begin[node], cell.begin[node + 1]):
            if keep[p] and limit >= 0.0:
                continue
            distance = gap_of_point(cell.points, p, near.low, near.high, box, share)
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


@kernel
def fill_keys(cell: CellView, positions: Ints, nodes: Ints, key: Floats) -> None:
    """Fill key, (m,), with the longest edge between points and the hubs of their nodes."""
    for t in range(positions.shape[0]):
        last = last_edge(cell.forest, cell.hub[nodes[t]], positions[t])
        key[t] = cell.weights[last] if last >= 0 else 0.0
