"""Starts for K-means on a tree: rows chosen at random, or far from one another."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._typing import Floats, Ints
from isthmus.kmeans.objective import TreeObjective


def random_points(n_points: int, n_clusters: int, random_state: np.random.RandomState) -> Ints:
    """Return k different points, all equally likely."""
    chosen: Ints = random_state.permutation(n_points)[:n_clusters].astype(np.int64)
    return chosen


def spread_points(
    objective: TreeObjective, n_clusters: int, random_state: np.random.RandomState
) -> Ints:
    """Return k different points by k-means++: each likely as its squared distance is large.

    Where every point left coincides with a chosen one, the rest are drawn with equal chances.
    """
    n_points = objective.n_points
    leaf_order = objective.tree.leaf_order
    chosen = [int(random_state.randint(n_points))]
    to_nearest = objective.squared_distances_to(chosen[0])
    while len(chosen) < n_clusters:
        place = _draw(to_nearest, random_state)
        if place is None:
            left = np.setdiff1d(np.arange(n_points), chosen)
            extra = random_state.permutation(left)[: n_clusters - len(chosen)]
            return np.array([*chosen, *extra], dtype=np.int64)
        point = int(leaf_order[place])
        chosen.append(point)
        np.minimum(to_nearest, objective.squared_distances_to(point), out=to_nearest)
    return np.array(chosen, dtype=np.int64)


def _draw(weights: Floats, random_state: np.random.RandomState) -> int | None:
    """Return a place with a chance proportional to its weight; None where all are zero."""
    cumulated = np.cumsum(weights)
    if not cumulated[-1] > 0.0:
        return None
    # side="right" never stops at a place of weight zero, a point chosen before
    place = np.searchsorted(cumulated, random_state.uniform() * cumulated[-1], side="right")
    return int(min(place, np.flatnonzero(weights)[-1]))


def check_given_points(points: Any, n_points: int, n_clusters: int) -> Ints:
    """Return an array of k different row indices."""
    array = np.asarray(points)
    if array.shape != (n_clusters,) or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(
            "init must be 'cut', 'k-means++', 'random', or an array of n_clusters "
            f"({n_clusters}) row indices; got an array of shape {array.shape} and dtype "
            f"{array.dtype}."
        )
    if array.min() < 0 or array.max() >= n_points:
        raise ValueError(
            f"init holds row indices from 0 to {n_points - 1}; got values from {array.min()} "
            f"to {array.max()}."
        )
    if len(np.unique(array)) < n_clusters:
        raise ValueError("init must hold different row indices; some are repeated.")
    return array.astype(np.int64)
