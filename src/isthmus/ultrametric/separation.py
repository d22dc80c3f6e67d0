"""UltrametricTree and clusters → how wide each cluster is, and how far from the others.

The widest gap of a cluster lies between its first and its last point in leaf order. Its distance to
the others is the length of the shortest edge of the spanning tree that leaves it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric.matvec import multiply
from isthmus.ultrametric.merges import merges_of_edges
from isthmus.ultrametric.tree import UltrametricTree


@dataclass(frozen=True, eq=False)
class ClusterGaps:
    """The gaps within and between k clusters.

    Attributes
    ----------
    sizes : (k,) int64
        The number of points of each cluster.
    inside : (k,) float64
        The largest transitive distance of two points of the cluster; 0 for a single point.
    outside : (k,) float64
        The smallest transitive distance to a point of another cluster; infinite where there is no
        other.
    inside_pairs : (k, 2) int64
        Two points of the cluster that are ``inside`` apart.
    outside_pairs : (k, 2) int64
        A point of the cluster and one outside that are ``outside`` apart; -1 where there is none.
    """

    sizes: Ints
    inside: Floats
    outside: Floats
    inside_pairs: Ints
    outside_pairs: Ints


def gaps_of_clusters(tree: UltrametricTree, codes: Ints, n_clusters: int) -> ClusterGaps:
    """Return the gaps within and between clusters, in O(n).

    codes : (n,) int64
        The cluster of each point, from 0; none is empty.
    """
    sizes = np.zeros(n_clusters, dtype=np.int64)
    positions = np.empty((n_clusters, 2), dtype=np.int64)
    locate_clusters(codes, tree.leaf_order, sizes, positions)
    outside = np.full(n_clusters, np.inf)
    outside_pairs = np.full((n_clusters, 2), -1, dtype=np.int64)
    find_shortest_exits(codes, tree.spanning_tree.edges, tree.heights, outside, outside_pairs)
    inside_pairs = np.sort(tree.leaf_order[positions], axis=1)
    inside = tree.distance(*inside_pairs.T)
    return ClusterGaps(sizes, inside, outside, inside_pairs, outside_pairs)


def margins_of(inside: Floats, outside: Floats) -> Floats:
    """Return ``outside - inside``: infinite for a single cluster, 0 where both are infinite."""
    if len(inside) == 1:
        return np.array([np.inf])
    margins = np.zeros(len(inside))
    np.subtract(outside, inside, out=margins, where=outside != inside)
    return margins


def sums_within_clusters(
    tree: UltrametricTree, codes: Ints, point_weights: Floats | None
) -> Floats:
    """Return the weighted sum of distances of each point to those of its own cluster: (n,).

    In a unit in which no sum of finite distances overflows. The points of a cluster, in leaf order,
    form a path whose edges have the lengths of their distances. All paths, joined by edges of
    length 0, make one tree to multiply with: O(n log n), whatever the number of clusters.
    """
    n_points = tree.n_points
    order = tree.leaf_order[np.argsort(codes[tree.leaf_order], kind="stable")]
    lengths = tree.distance(order[:-1], order[1:])
    lengths /= lengths[np.isfinite(lengths)].max(initial=0.0) or 1.0
    lengths /= n_points
    joins = codes[order[:-1]] != codes[order[1:]]
    by_length = np.lexsort((lengths, joins))
    edges = np.column_stack([order[:-1], order[1:]])[by_length]
    children, _ = merges_of_edges(edges)
    counted = np.where(joins, 0.0, lengths)[by_length]
    weights = np.ones(n_points) if point_weights is None else point_weights / point_weights.max()
    return multiply(children, counted, weights[:, None])[:, 0]


@kernel
def locate_clusters(codes: Ints, leaf_order: Ints, sizes: Ints, positions: Ints) -> None:
    """Fill the size of each cluster, and its first and last position in leaf order.

    codes : (n,) int64, in
        The cluster of each point, from 0.
    sizes : (k,) int64, zero on entry, out
    positions : (k, 2) int64, out
    """
    for p in range(leaf_order.shape[0]):
        here = codes[leaf_order[p]]
        if sizes[here] == 0:
            positions[here, 0] = p
        positions[here, 1] = p
        sizes[here] += 1


@kernel
def find_shortest_exits(
    codes: Ints, edges: Ints, weights: Floats, outside: Floats, outside_pairs: Ints
) -> None:
    """Fill the length and the ends of the shortest edge that leaves each cluster.

    edges, weights : in
        Those of the spanning tree, from the lightest to the heaviest: the first one is it.
    outside : (k,) float64, in and out
    outside_pairs : (k, 2) int64, -1 on entry, out
        The end in the cluster first.
    """
    for e in range(edges.shape[0]):
        for side in range(2):
            near, far = edges[e, side], edges[e, 1 - side]
            if codes[near] != codes[far] and outside_pairs[codes[near], 0] < 0:
                outside[codes[near]] = weights[e]
                outside_pairs[codes[near], 0] = near
                outside_pairs[codes[near], 1] = far
