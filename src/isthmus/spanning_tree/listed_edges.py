"""Edges in lists → a spanning tree, by Borůvka's algorithm, in O(n) memory beside the lists.

Edges are compared by (weight, smaller index, larger index), a strict total order, so the tree is
unique.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.neighbors.sorted_lists import Neighbors
from isthmus.spanning_tree.best_edges import (
    HUGE,
    A,
    B,
    Best,
    join_best,
    make_best,
    make_joined,
    offer_found,
)

Offer = Callable[[Labels, Best], None]
"""Called with the component of each point, to offer edges to components."""


def join_offered_edges(n_points: int, offer: Offer) -> tuple[Ints, Floats]:
    """Return the edges and weights of the spanning tree of what is offered, unordered.

    In each round ``offer`` must offer some component an edge.
    """
    joined = make_joined(n_points)
    labels, new_label = joined.member.copy(), np.empty(n_points, dtype=np.int32)
    weights = np.empty(n_points - 1)
    n_components = n_points
    while n_components > 1:
        best = make_best(n_components)
        offer(labels, best)
        first = n_points - n_components
        if (best.distance == HUGE).all():
            raise AssertionError("a round without an edge would go on for ever")
        n_components = join_best(n_components, -1, best, labels, joined, new_label, first)
        new = slice(first, n_points - n_components)
        fill_best_weights(best, labels, joined.edge_a[new], joined.edge_b[new], weights[new])
        labels = new_label[labels]
    return np.column_stack([joined.edge_a, joined.edge_b]).astype(np.int64), weights


@kernel
def scan_neighbors(neighbors: Neighbors, labels: Labels, best: Best) -> None:
    """Offer the edges between listed neighbours, of which -1 is none, to both components.

    labels : (n,) int32, in
        The component of each point.
    best : in and out
    """
    for i in range(labels.shape[0]):
        for t in range(1, neighbors.indices.shape[1]):
            j = np.int64(neighbors.indices[i, t])
            if j >= 0 and labels[i] != labels[j]:
                offer_found(neighbors.distances[i, t], i, j, labels, best)


@kernel
def scan_edges(edges: Ints, weights: Floats, labels: Labels, best: Best) -> None:
    """Offer edges, (m, 2), to the components of both of their ends."""
    for e in range(weights.shape[0]):
        a, b = edges[e, 0], edges[e, 1]
        if labels[a] != labels[b]:
            offer_found(weights[e], a, b, labels, best)


@kernel
def fill_best_weights(
    best: Best, labels: Labels, edge_a: Labels, edge_b: Labels, weights: Floats
) -> None:
    """Fill in the weights of edges, each of them the best one of a component that it joins."""
    for e in range(edge_a.shape[0]):
        a, b = edge_a[e], edge_b[e]
        of_a, of_b = np.int64(labels[a]), np.int64(labels[b])
        is_best_of_a = best.edge[of_a, A] == a and best.edge[of_a, B] == b
        weights[e] = best.distance[of_a] if is_best_of_a else best.distance[of_b]
