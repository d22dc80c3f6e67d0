"""Edges so short, beside others, that an engine cannot compare them: their trees are found anew.

Along these edges points are alike (metrics/tiny_differences.py). What they connect is a component
that the minimum spanning tree connects, too, since all other edges are longer, and right. So the
tree of each such component, at a scale of its own, takes the place of the engine's edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from isthmus._utils.typing import Floats, Ints
from isthmus.metrics import PreparedPoints
from isthmus.metrics.tiny_differences import largest_differences, only_tiny
from isthmus.spanning_tree.result import SpanningTree


def with_exact_edges(
    prepared: PreparedPoints, edges: Ints, weights: Floats, solve: Callable[[Any], SpanningTree]
) -> tuple[Ints, Floats]:
    """Return the edges and weights of a spanning tree, those that were lost replaced.

    prepared : PreparedPoints
        With ``unscaled`` points.
    edges, weights : (n - 1, 2) and (n - 1,)
        What an engine has found.
    solve : callable
        From points to their spanning tree, with the lengths of differences for weights.
    """
    points, limits = prepared.unscaled, prepared.limits
    largest = largest_differences(points, edges)
    is_tiny = largest < limits.difference
    if not largest[is_tiny].any():  # equal points
        return edges, weights
    labels = _components(edges[is_tiny], len(weights) + 1)
    sizes = np.bincount(labels)
    own = labels[edges[:, 0]]
    is_pair = is_tiny & (sizes[own] == 2)
    weights = weights.copy()
    weights[is_pair] = prepared.exact_heights(edges[is_pair])
    kept = ~is_tiny | is_pair
    all_edges, all_weights = [edges[kept]], [weights[kept]]
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    for component in np.unique(own[~kept]):
        rows = members[component]
        found = solve(only_tiny(points[rows], limits.entry))
        all_edges.append(rows[found.edges])
        all_weights.append(prepared.metric.heights_of_lengths(found.weights))
    return np.concatenate(all_edges), np.concatenate(all_weights)


def _components(edges: Ints, n_points: int) -> Ints:
    graph = coo_array((np.ones(len(edges)), tuple(edges.T)), shape=(n_points, n_points))
    labels: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels
