"""Spanning trees of distances that neighbourhoods have changed.

"mean": the tree of points that have been replaced by the means of their neighbourhoods.

"shared": the distance of two points of which one is a neighbour of the other is multiplied by the
Jaccard distance of their neighbour sets; all other distances stay as they are. So no distance
grows, and none of pairs that are not neighbours changes. An edge that is neither between
neighbours nor in the tree of the plain distances closes a cycle with edges of that tree, none of
which is longer than it; hence it is not needed, and

    tree(shared) = tree(pairs of neighbours, shared ∪ edges of tree(plain)).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.memory import Budget
from isthmus._utils.parameters import check_n_jobs
from isthmus._utils.progress import Progress, part_of
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.metrics.input import n_bytes_of, n_points_of
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.registry import AnyMetric
from isthmus.neighbors.lists import Neighbors
from isthmus.neighbors.means import neighborhood_means
from isthmus.neighbors.neighborhood import Neighborhood, check_n_neighbors
from isthmus.neighbors.selection import find_neighbors
from isthmus.neighbors.shared import shared_distances
from isthmus.spanning_tree.best_edges import (
    HUGE,
    Best,
    join_best,
    make_best,
    make_joined,
    offer_found,
)
from isthmus.spanning_tree.result import KdTreeIndex, SpanningTree, trusted_tree
from isthmus.spanning_tree.selection import find_spanning_tree

# What an infinite edge, between components of a graph, counts as: HUGE stands for none.
_FARTHEST = float(np.nextafter(HUGE, 0.0))


@dataclass(frozen=True, eq=False)
class NeighborhoodTree:
    """The spanning tree of some data, with neighbourhoods or without.

    Attributes
    ----------
    tree : SpanningTree
    index : KdTreeIndex or None
        The kd-tree that was built on the way, of ``points`` if there are any.
    neighbors : (n, n_neighbors) int32 or None
        The neighbourhood of each point.
    points : array, CSR matrix or None
        The means that took the points' place.
    """

    tree: SpanningTree
    index: KdTreeIndex | None = None
    neighbors: Labels | None = None
    points: Any = None


def find_neighborhood_tree(
    data: Any,
    metric: AnyMetric,
    neighborhood: Neighborhood | None,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    budget: Budget | None = None,
    **options: Any,
) -> NeighborhoodTree:
    """Return the spanning tree of checked data, with neighbourhoods or, for None, without.

    Other options as for :func:`find_spanning_tree`.
    """
    common = {**options, "n_jobs": n_jobs}
    if neighborhood is None:
        found = find_spanning_tree(data, metric, progress=progress, budget=budget, **common)
        return NeighborhoodTree(found.tree, found.index)
    n_neighbors = check_n_neighbors(neighborhood.n_neighbors, n_points_of(data))
    budget = budget or Budget(None)
    threads = check_n_jobs(n_jobs)
    first, second = part_of(progress, 0.0, 0.5), part_of(progress, 0.5, 1.0)
    if neighborhood.kind == "mean":
        assert isinstance(metric, MappedMetric)  # it was checked
        indices = find_neighbors(
            data, metric, n_neighbors, n_jobs=threads, progress=first, budget=budget
        ).indices
        means = neighborhood_means(data, indices, metric, threads)
        left = budget.after(indices.nbytes + n_bytes_of(means))
        found = find_spanning_tree(means, metric, progress=second, budget=left, **common)
        return NeighborhoodTree(found.tree, found.index, indices, means)
    # A list takes 12 bytes an entry, and may be found together with the tree.
    held = 12 * n_neighbors * n_points_of(data)
    plain = find_spanning_tree(
        data,
        metric,
        progress=first,
        budget=budget.after(held),
        n_neighbors=n_neighbors,
        **common,
    )
    neighbors = plain.lists
    if neighbors is None:
        neighbors = find_neighbors(
            data, metric, n_neighbors, n_jobs=threads, progress=second, budget=budget
        )
    tree = tree_of_shared(plain.tree, neighbors, threads)
    return NeighborhoodTree(tree, None, neighbors.indices)


def tree_of_shared(plain: SpanningTree, neighbors: Neighbors, n_jobs: int = 1) -> SpanningTree:
    """Return the tree of shared distances, given that of the plain ones.

    neighbors : Neighbors
        Its distances are overwritten.
    """
    shared = Neighbors(neighbors.indices, shared_distances(neighbors, n_jobs))
    n_points = plain.n_points
    joined = make_joined(n_points)
    labels, new_label = joined.member.copy(), np.empty(n_points, dtype=np.int32)
    n_components = n_points
    while n_components > 1:
        best = make_best(n_components)
        scan_neighbors(shared, labels, best)
        scan_edges(plain.edges, plain.weights, labels, best)
        n_components = join_best(
            n_components, -1, best, labels, joined, new_label, n_points - n_components
        )
        labels = new_label[labels]
    edges = np.sort(np.column_stack([joined.edge_a, joined.edge_b]), axis=1).astype(np.int64)
    weights = np.empty(n_points - 1)
    fill_weights(edges, shared, weights)
    _fill_plain(edges, weights, plain)
    return trusted_tree(edges, weights, plain.engine, n_jobs)


def _fill_plain(edges: Ints, weights: Floats, plain: SpanningTree) -> None:
    """Fill in the weights, infinite so far, of edges that are not between neighbours."""
    missing = np.flatnonzero(weights == np.inf)
    keys = plain.edges[:, 0] * plain.n_points + plain.edges[:, 1]
    order = np.argsort(keys)
    wanted = edges[missing, 0] * plain.n_points + edges[missing, 1]
    weights[missing] = plain.weights[order[np.searchsorted(keys, wanted, sorter=order)]]


@kernel
def scan_neighbors(neighbors: Neighbors, labels: Labels, best: Best) -> None:
    """Offer the edges between neighbours to the components of both of their ends.

    labels : (n,) int32
        The component of each point.
    best : in and out
    """
    for i in range(labels.shape[0]):
        for t in range(1, neighbors.indices.shape[1]):
            j = np.int64(neighbors.indices[i, t])
            if labels[i] != labels[j]:
                offer_found(neighbors.distances[i, t], i, j, labels, best)


@kernel
def scan_edges(edges: Ints, weights: Floats, labels: Labels, best: Best) -> None:
    """Offer other edges to the components of both of their ends."""
    for e in range(weights.shape[0]):
        a, b = edges[e, 0], edges[e, 1]
        if labels[a] != labels[b]:
            offer_found(min(weights[e], _FARTHEST), a, b, labels, best)


@kernel
def fill_weights(edges: Ints, neighbors: Neighbors, weights: Floats) -> None:
    """Fill in the weights of edges between neighbours; infinity for others."""
    for e in range(weights.shape[0]):
        weights[e] = np.inf
        for end in range(2):
            i, j = edges[e, end], edges[e, 1 - end]
            for t in range(1, neighbors.indices.shape[1]):
                if neighbors.indices[i, t] == j:
                    weights[e] = neighbors.distances[i, t]
