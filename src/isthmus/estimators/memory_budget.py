"""The memory limit of a fit → threads and workspaces that keep to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isthmus._utils.memory import Budget, check_memory_limit
from isthmus._utils.typing import Floats
from isthmus.cut.constraints import Rules
from isthmus.estimators.fitted import Settings
from isthmus.kdtree.limits import bytes_per_point, is_supported
from isthmus.kmeans import KMeansSettings
from isthmus.kmeans.workspace import Work, Workspace, workspace_within
from isthmus.metrics.input import Data, n_bytes_of, n_points_of
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.registry import AnyMetric
from isthmus.model_selection.silhouette import AT_ONCE
from isthmus.neighbors.neighborhood_parameters import Neighborhood
from isthmus.prediction.attach import is_for_tree

# Upper bounds in bytes, at most three times what is allocated at the peak; tests compare the two.
# Small things, whatever the number of points.
_SMALL = 1 << 20
# Per point of the tree: its edges, merges and leaf order; then what one stage takes, or leaves.
_TREE = 68
_SUGGESTION = 224
_NOISE, _NOISE_LEAVES = 164, 96
_RULES, _PER_PAIR = 48, 64
# CUT: per point, the same with weights, and per cluster.
_CUT, _CUT_WEIGHTS, _CUT_CLUSTER = 52, 32, 480
# For rows of weight 0: entries of the rows of distances that are held together, and their bytes;
# and of a kd-tree, which serves few features, the bytes for each point.
_DISTANCES_AT_ONCE, _PER_DISTANCE = 1 << 21, 24
_PER_POINT = 200


@dataclass(frozen=True)
class Load:
    """What a fit is asked to do, as far as its memory depends on it.

    Attributes
    ----------
    data : Data
    weights : (n_rows,) float64 or None
    metric : AnyMetric
    settings : Settings
    n_jobs : int
    neighborhood : Neighborhood or None
    rules : Rules or None
    finds_noise, suggests : bool
        Whether some rows may be noise, and whether a number of clusters is suggested.
    """

    data: Data
    weights: Floats | None
    metric: AnyMetric
    settings: Settings
    n_jobs: int
    neighborhood: Neighborhood | None = None
    rules: Rules | None = None
    finds_noise: bool = False
    suggests: bool = False

    @property
    def n_fitted(self) -> int:
        """The number of rows on the tree."""
        if self.weights is None:
            return n_points_of(self.data)
        return int(np.count_nonzero(self.weights))


@dataclass(frozen=True)
class Limits:
    """How a fit keeps to its memory limit.

    Attributes
    ----------
    for_tree : int or None
        The bytes that are left for the spanning tree; None without a limit.
    settings : Settings
        With as many threads as fit.
    workspace : Workspace
    sums_at_once : int
        As for Silhouette.
    """

    for_tree: int | None
    settings: Settings
    workspace: Workspace
    sums_at_once: int


def keep_to_limit(limit: Any, load: Load) -> Limits:
    """Return how to fit with no more than a limit, an int, a str or None.

    Raises MemoryError where clustering cannot do with it.
    """
    budget = Budget(check_memory_limit(limit)).after(_set_aside(load))
    clustering = budget.after(_held(load))
    settings, n_fitted = load.settings, load.n_fitted
    clustering.require(
        max(_before_clustering(load), _of_clustering(load)),
        f"Clustering {n_fitted:,} points into {settings.n_clusters:,} clusters",
    )
    at_once = AT_ONCE if budget.limit is None else 0
    if not isinstance(settings, KMeansSettings):
        return Limits(budget.left, settings, Workspace(), at_once)
    n_runs, workspace = workspace_within(clustering, _work(load, settings), load.n_jobs)
    return Limits(budget.left, replace(settings, n_jobs=n_runs), workspace, at_once)


def _before_clustering(load: Load) -> int:
    """Return what the stages between the spanning tree and the clusters take."""
    stage = max(_SUGGESTION * load.suggests, (_NOISE - _NOISE_LEAVES) * load.finds_noise)
    return _SMALL + load.n_fitted * (_TREE + stage)


def _of_clustering(load: Load) -> int:
    """Return what CUT, or one run of K-means, takes at least."""
    settings = load.settings
    if isinstance(settings, KMeansSettings):
        work = _work(load, settings)
        return work.shared_bytes + work.least_bytes
    per_point = _TREE + _CUT + _CUT_WEIGHTS * (load.weights is not None)
    return _SMALL + load.n_fitted * per_point + int(settings.n_clusters) * _CUT_CLUSTER


def _work(load: Load, settings: KMeansSettings) -> Work:
    return Work(
        load.n_fitted,
        settings.n_clusters,
        weighted=load.weights is not None,
        power=settings.power != 1.0,
        random=settings.is_random,
    )


def _set_aside(load: Load) -> int:
    """Return what rows of weight 0 take: they are set aside, and the others copied."""
    data, n_fitted = load.data, load.n_fitted
    n_rows = n_points_of(data)
    if n_fitted == n_rows:
        return 0
    by_tree = (
        isinstance(data, np.ndarray)
        and isinstance(load.metric, MappedMetric)
        and is_for_tree(data[:n_fitted], load.metric)
    )
    entries = min((n_rows - n_fitted) * n_fitted, _DISTANCES_AT_ONCE + n_fitted) * load.n_jobs
    held = n_rows * _PER_POINT if by_tree else entries * _PER_DISTANCE
    return held + int(n_bytes_of(data) * n_fitted / n_rows)


def _held(load: Load) -> int:
    """Return what is held beside the tree while its points are clustered."""
    n_fitted, held = load.n_fitted, 0
    if load.neighborhood is not None:  # neighbours stay, and means
        means = n_bytes_of(load.data) if load.neighborhood.kind == "mean" else 0
        held += 4 * load.neighborhood.n_neighbors * n_fitted + means
    if load.finds_noise:
        held += _NOISE_LEAVES * n_fitted
    if load.rules is not None:
        n_pairs = len(load.rules.together) + len(load.rules.apart)
        held += _RULES * n_fitted + _PER_PAIR * n_pairs
    return held + _kdtree_bytes(load)


def _kdtree_bytes(load: Load) -> int:
    """Return what the kd-tree that finds the spanning tree takes, where one may find it."""
    data, metric = load.data, load.metric
    if not (isinstance(data, np.ndarray) and isinstance(metric, MappedMetric)):
        return 0
    # positions on the sphere have three coordinates
    n_features = int(data.shape[1]) if metric.keeps_points else max(int(data.shape[1]), 3)
    if n_features < 2 or not is_supported(n_features, metric):
        return 0
    if metric.keeps_points:
        return load.n_fitted * bytes_per_point(n_features, int(data.itemsize))
    return load.n_fitted * (bytes_per_point(n_features, 8) + 8 * n_features)
