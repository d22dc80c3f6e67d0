"""Starts for K-means on a tree: rows chosen at random, or far from one another."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._utils.rounding import TIE
from isthmus._utils.typing import Floats, Ints
from isthmus.kmeans.objective import TreeObjective


def random_points(
    objective: TreeObjective, n_clusters: int, random_state: np.random.RandomState
) -> Ints:
    """Return k different points, each likely as its weight is large.

    No two of them coincide, as long as there are others. One uniform number decides each draw, by
    the cumulated weights of the rows: a row of weight 2 is drawn where it would be if it stood
    there twice.
    """
    groups = objective.groups
    weights = _weights_of_points(objective)
    chosen: list[int] = []
    taken = np.zeros(groups.max() + 1, dtype=bool)
    while len(chosen) < n_clusters:
        weights[taken[groups]] = 0.0
        cumulated = np.cumsum(weights)
        if not cumulated[-1] > 0.0:
            return _with_any_others(chosen, objective.n_points, n_clusters, random_state)
        group_weights = np.bincount(groups, weights=weights)
        left = cumulated[-1]
        # Draws that meet what is taken are repeated, until that becomes too likely.
        while len(chosen) < n_clusters and left > (0.5 + TIE) * cumulated[-1]:
            point = _draw(weights, cumulated, random_state)
            if not taken[groups[point]]:
                chosen.append(point)
                taken[groups[point]] = True
                left -= group_weights[groups[point]]
    return np.array(chosen, dtype=np.int64)


def spread_points(
    objective: TreeObjective, n_clusters: int, random_state: np.random.RandomState
) -> Ints:
    """Return k different points by k-means++: each likely as its squared distance is large.

    Where every point left coincides with a chosen one, the rest are drawn with equal chances.
    """
    point_weights = _weights_of_points(objective)
    chosen = [_draw(point_weights, np.cumsum(point_weights), random_state)]
    to_nearest = objective.squared_distances_to(chosen[0])
    while len(chosen) < n_clusters:
        weights = to_nearest if objective.point_weights is None else to_nearest * point_weights
        cumulated = np.cumsum(weights)
        if not cumulated[-1] > 0.0:
            return _with_any_others(chosen, objective.n_points, n_clusters, random_state)
        chosen.append(_draw(weights, cumulated, random_state))
        np.minimum(to_nearest, objective.squared_distances_to(chosen[-1]), out=to_nearest)
    return np.array(chosen, dtype=np.int64)


def _weights_of_points(objective: TreeObjective) -> Floats:
    """Return a new array of the weight of each point."""
    weights = objective.point_weights
    return np.ones(objective.n_points) if weights is None else weights.copy()


def _draw(weights: Floats, cumulated: Floats, random_state: np.random.RandomState) -> int:
    """Return a point with a chance proportional to its weight, given the sums up to each one."""
    # side="right" never stops at a point of weight zero, one chosen before
    point = np.searchsorted(cumulated, random_state.uniform() * cumulated[-1], side="right")
    return int(point) if point < len(weights) else int(np.flatnonzero(weights)[-1])


def _with_any_others(
    chosen: list[int], n_points: int, n_clusters: int, random_state: np.random.RandomState
) -> Ints:
    """Return the chosen points and as many others as are missing, drawn with equal chances."""
    left = np.setdiff1d(np.arange(n_points), chosen)
    extra = random_state.permutation(left)[: n_clusters - len(chosen)]
    return np.array([*chosen, *extra], dtype=np.int64)


def check_given_points(
    points: Any, n_points: int, n_clusters: int, weights: Floats | None = None
) -> Ints:
    """Return an array of k different row indices, counted among rows of weight above 0."""
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
    if weights is None:
        return array.astype(np.int64)
    weightless = array[weights[array] == 0.0]
    if weightless.size:
        raise ValueError(
            f"init gives row {weightless[0]}, whose sample_weight is 0: a cluster cannot begin "
            "with a row that is not fitted."
        )
    indices: Ints = np.cumsum(weights > 0.0)[array] - 1
    return indices
