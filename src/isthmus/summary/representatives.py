"""UltrametricTree and clusters → rows that stand for each cluster, and the bridges between them."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from isthmus._utils.rounding import to_twelve_digits
from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.separation import sums_within_clusters


class Bridge(NamedTuple):
    """The shortest edge of the spanning tree from a cluster to another one.

    Attributes
    ----------
    cluster : int
        The other one, the nearest cluster.
    rows : tuple of two int
        The row in the cluster, and that in the other one.
    hop : float
        The length of the edge: the transitive distance of the two clusters.

    See Also
    --------
    isthmus.summary.explanation.ClusterExplanation : Has it.

    Examples
    --------
    >>> from isthmus import TransitiveCut
    >>> points = [[0.0, 3.0], [0.1, 2.0], [0.2, 4.0], [5.0, 3.0], [5.1, 2.0]]
    >>> explanations = TransitiveCut(n_clusters=2).fit(points).explain()
    >>> bridge = explanations[1].bridge
    >>> bridge.cluster, bridge.rows, round(bridge.hop, 3)
    (0, (3, 2), 4.903)
    """

    cluster: int
    rows: tuple[int, int]
    hop: float


def typical_points(
    tree: UltrametricTree, codes: Ints, point_weights: Floats | None, n_listed: int
) -> list[Ints]:
    """Return the points of each cluster of the smallest sums of distances to its points.

    The first one is the medoid; of sums that are equal to 12 digits the first point comes first.
    """
    sums = to_twelve_digits(sums_within_clusters(tree, codes, point_weights))
    order = np.lexsort((np.arange(tree.n_points), sums, codes))
    starts = np.searchsorted(codes[order], np.arange(int(codes.max()) + 2))
    return [order[start : min(start + n_listed, stop)] for start, stop in pairwise(starts)]


def leaving_edges(tree: UltrametricTree, codes: Ints) -> Ints:
    """Return the edges of the spanning tree between clusters, from the shortest to the longest."""
    edges = tree.spanning_tree.edges
    return np.flatnonzero(codes[edges[:, 0]] != codes[edges[:, 1]])


def boundary_points(tree: UltrametricTree, codes: Ints, n_listed: int) -> list[Ints]:
    """Return the points at which the spanning tree leaves each cluster, by the shortest edges."""
    found: list[list[int]] = [[] for _ in range(int(codes.max()) + 1)]
    for point in tree.spanning_tree.edges[leaving_edges(tree, codes)].ravel().tolist():
        listed = found[codes[point]]
        if len(listed) < n_listed and point not in listed:
            listed.append(point)
    return [np.array(points, dtype=np.int64) for points in found]


def bridges(tree: UltrametricTree, codes: Ints, rows: Ints) -> list[Bridge | None]:
    """Return the bridge from each cluster to the nearest other one; None for a single cluster."""
    found: list[Bridge | None] = [None] * (int(codes.max()) + 1)
    edges, weights = tree.spanning_tree.edges, tree.spanning_tree.weights
    for e in leaving_edges(tree, codes).tolist():
        for near, far in (edges[e], edges[e][::-1]):
            if found[codes[near]] is None:
                ends = int(rows[near]), int(rows[far])
                found[codes[near]] = Bridge(int(codes[far]), ends, float(weights[e]))
    return found
