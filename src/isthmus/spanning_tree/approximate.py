"""Spanning trees of neighbour lists that may miss the nearest: approximate, and named so.

Edges between the listed neighbours, exactly measured, make a forest. Its components are joined by
edges that are searched for: a few points of a component look at all points of the others, and
from the shortest edge that they find, its two ends in turn look for a nearer point on the other
side. All edges have true lengths; but there may be a lighter tree.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from isthmus._utils.memory import Budget
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Ints, Labels
from isthmus.metrics import AnyMetric, MappedMetric, PreparedPoints, prepare_points
from isthmus.metrics.input import n_points_of
from isthmus.neighbors.by_descent import (
    as_singles,
    check_given_neighbors,
    descend,
    fill_distances_to,
    is_supported,
    measured,
)
from isthmus.neighbors.means import neighborhood_means
from isthmus.neighbors.neighborhood_parameters import Neighborhood, check_n_neighbors
from isthmus.neighbors.shared import shared_distances
from isthmus.neighbors.sorted_lists import Neighbors
from isthmus.spanning_tree.best_edges import HUGE, Best
from isthmus.spanning_tree.engine import FIXED_BYTES
from isthmus.spanning_tree.listed_edges import join_offered_edges, scan_edges, scan_neighbors
from isthmus.spanning_tree.result import NeighborhoodTree, SpanningTree, trusted_tree

NAME = "approximate"
# Bytes for each point beside coordinates and lists.
_PER_POINT = 700
# Neighbours that are searched for, at least: fewer leave many components.
_FEWEST = 15
# Points of a component that look for others, at most, and of all components together; and points
# that they look at together.
_LOOKING, _LOOKING_IN_ALL, _AT_ONCE = 32, 2048, 1 << 14
# How often the ends of an edge look for a nearer point in turn.
_TURNS = 6


def find_approximate_tree(
    data: Any,
    metric: AnyMetric,
    neighborhood: Neighborhood | None,
    given: Any = None,
    *,
    n_jobs: int = 1,
    progress: Progress | None = None,
    budget: Budget,
) -> NeighborhoodTree:
    """Return a spanning tree that is nearly minimum, from neighbours found or given.

    given : optional
        As :func:`check_given_neighbors` takes them.
    """
    n_points = n_points_of(data)
    size = 0 if neighborhood is None else check_n_neighbors(neighborhood.n_neighbors, n_points)
    prepared = _checked(data, metric)
    indices = None if given is None else check_given_neighbors(given, n_points)
    length = max(size, _FEWEST) if indices is None else indices.shape[1]
    needed = _bytes_needed(prepared, length, has_means=getattr(neighborhood, "kind", "") == "mean")
    budget.require(needed, f"An approximate spanning tree of {n_points:,} points")
    if indices is None:
        indices = descend(prepared, length, n_jobs)
    lists = measured(prepared, indices, n_jobs)
    if progress is not None:
        progress(1, 2)
    found = _with_neighborhoods(data, prepared, neighborhood, lists, n_jobs)
    if progress is not None:
        progress(2, 2)
    return found


def _bytes_needed(prepared: PreparedPoints, length: int, *, has_means: bool) -> int:
    """Return how much memory it takes: points as float32, lists, trees and heaps of pynndescent."""
    n_points, n_features = prepared.points.shape
    coordinates = (8 + 24 * has_means) * n_features  # and the means, mapped
    per_point = coordinates + 12 * n_features + 64 * length + _PER_POINT
    return int(FIXED_BYTES + n_points * per_point)


def _with_neighborhoods(
    data: Any,
    prepared: PreparedPoints,
    neighborhood: Neighborhood | None,
    lists: Neighbors,
    n_jobs: int,
) -> NeighborhoodTree:
    """Return the tree of lists of neighbours, after what neighbourhoods make of the distances."""
    if neighborhood is None:
        return NeighborhoodTree(_tree_of_lists(prepared, lists, n_jobs))
    size = neighborhood.n_neighbors
    _refuse_short_lists(lists, size)
    neighbors = np.ascontiguousarray(lists.indices[:, :size])
    if neighborhood.kind == "mean":
        means = neighborhood_means(data, neighbors, prepared.metric, n_jobs)
        of_means = prepare_points(means, prepared.metric.estimated_from(data))
        tree = _tree_of_lists(of_means, measured(of_means, lists.indices, n_jobs), n_jobs)
        return NeighborhoodTree(tree, None, neighbors, means)
    shared = Neighbors(neighbors, np.ascontiguousarray(lists.distances[:, :size]))
    shared = Neighbors(neighbors, shared_distances(shared, n_jobs))
    return NeighborhoodTree(_tree_of_lists(prepared, shared, n_jobs), None, neighbors)


def _checked(data: Any, metric: AnyMetric) -> PreparedPoints:
    if isinstance(metric, MappedMetric) and isinstance(data, np.ndarray):
        prepared = prepare_points(data, metric)
        if prepared.unscaled is not None:
            raise ValueError(
                f"engine={NAME!r} would lose some distances: these points span too many orders of "
                "magnitude. Use engine='auto', which keeps them."
            )
        if is_supported(prepared):
            return prepared
    raise ValueError(
        f"engine={NAME!r} takes dense points, and metrics that are Euclidean, Manhattan or "
        f"Chebyshev after a map of the points; metric={metric.name!r} or these data are not. "
        "Use engine='auto'."
    )


def _refuse_short_lists(lists: Neighbors, size: int) -> None:
    n_listed = (lists.indices[:, :size] >= 0).sum(axis=1)
    short = int(np.argmin(n_listed))
    if lists.indices.shape[1] < size or n_listed[short] < size:
        raise ValueError(
            f"n_neighbors={size}, but only {n_listed[short]} neighbours of point {short}, itself "
            "included, are known. Lower n_neighbors, or give more neighbours."
        )


def _tree_of_lists(prepared: PreparedPoints, lists: Neighbors, n_jobs: int) -> SpanningTree:
    search = _Search(prepared)

    def offer(labels: Labels, best: Best) -> None:
        scan_neighbors(lists, labels, best)
        if (best.distance == HUGE).all():  # all neighbours are in one component
            search.offer(labels, best)

    edges, weights = join_offered_edges(len(lists.indices), offer)
    return trusted_tree(edges, weights, NAME, n_jobs)


class _Search:
    """Searches for short edges between components."""

    def __init__(self, prepared: PreparedPoints) -> None:
        self._prepared = prepared
        self._points = np.ascontiguousarray(prepared.points)

    @cached_property
    def _singles(self) -> Any:
        return as_singles(self._points)

    def offer(self, labels: Labels, best: Best) -> None:
        """Offer each component but the largest an edge to a near point of another one."""
        n_components = len(best.distance)
        sizes = np.bincount(labels, minlength=n_components)
        members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
        self._labels, self._members = labels, members
        n_looking = max(1, min(_LOOKING, _LOOKING_IN_ALL // n_components))
        found = [
            self.nearest_edge(members[c][:: max(1, sizes[c] // n_looking)][:n_looking])
            for c in range(n_components)
            if c != int(np.argmax(sizes))
        ]
        edges = np.array([(a, b) for a, b, _ in found])
        scan_edges(edges, np.array([weight for *_, weight in found]), labels, best)

    def nearest_edge(self, looking: Ints) -> tuple[int, int, float]:
        """Return an edge from the component of some points to another one, and its length."""
        a, b = self._rough_pair(looking)
        distance = np.inf
        for _ in range(_TURNS):
            b, there = self._nearest_member(a, self._labels[b])
            a, here = self._nearest_member(b, self._labels[a])
            if here >= distance:
                break
            distance = min(here, there)
        return a, b, float(self._prepared.heights(np.array([distance]))[0])

    def _rough_pair(self, looking: Ints) -> tuple[int, int]:
        """Return the nearest pair of a few points with all others, as float32 sees them."""
        points, own = self._singles, self._labels[looking[0]]
        few = points[looking]
        least, pair = np.inf, (int(looking[0]), int(np.argmax(self._labels != own)))
        for start in range(0, len(points), _AT_ONCE):
            block = points[start : start + _AT_ONCE]
            bounds = np.einsum("ij,ij->i", block, block) - 2.0 * (few @ block.T)
            bounds += np.einsum("ij,ij->i", few, few)[:, None]
            bounds[:, self._labels[start : start + _AT_ONCE] == own] = np.inf
            row, column = divmod(int(np.argmin(bounds)), bounds.shape[1])
            if bounds[row, column] < least:
                least, pair = float(bounds[row, column]), (int(looking[row]), start + column)
        return pair

    def _nearest_member(self, i: int, component: int) -> tuple[int, float]:
        """Return the point of a component that is nearest to point i, and how far it is."""
        members = self._members[component]
        distances = np.empty(len(members))
        fill_distances_to(self._points, i, members, self._prepared.metric.kind, distances)
        nearest = int(np.argmin(distances))
        return int(members[nearest]), float(distances[nearest])
