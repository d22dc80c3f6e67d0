"""The memory limit of a fit → threads and workspaces that keep to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isthmus._utils.memory import Budget, check_memory_limit
from isthmus._utils.typing import Floats
from isthmus.estimators.fitted import Settings
from isthmus.kmeans import KMeansSettings
from isthmus.kmeans.workspace import Workspace, workspace_within
from isthmus.metrics.input import Data, n_bytes_of, n_points_of
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.registry import AnyMetric
from isthmus.neighbors.neighborhood_parameters import Neighborhood
from isthmus.prediction.attach import is_for_tree

# For rows of weight 0: entries of the rows of distances that are held together, and their bytes;
# and of a kd-tree, which serves few features, the bytes for each point.
_AT_ONCE, _PER_ENTRY = 1 << 21, 24
_PER_POINT = 200


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
    """

    for_tree: int | None
    settings: Settings
    workspace: Workspace


def keep_to_limit(
    limit: Any,
    data: Data,
    weights: Floats | None,
    settings: Settings,
    metric: AnyMetric,
    n_jobs: int,
    neighborhood: Neighborhood | None = None,
) -> Limits:
    """Return how to fit with no more than a limit, an int, a str or None.

    Raises MemoryError where clustering cannot do with it.
    """
    budget = Budget(check_memory_limit(limit))
    n_rows = n_points_of(data)
    n_fitted = n_rows if weights is None else int(np.count_nonzero(weights))
    if n_fitted < n_rows:  # the others are set aside, and these copied
        by_tree = (
            isinstance(data, np.ndarray)
            and isinstance(metric, MappedMetric)
            and is_for_tree(data[:n_fitted], metric)
        )
        entries = min((n_rows - n_fitted) * n_fitted, _AT_ONCE + n_fitted) * n_jobs
        held = n_rows * _PER_POINT if by_tree else entries * _PER_ENTRY
        budget = budget.after(held + int(n_bytes_of(data) * n_fitted / n_rows))
    held_by_fit = budget
    if neighborhood is not None:  # neighbours stay, and means
        means = n_bytes_of(data) if neighborhood.kind == "mean" else 0
        held_by_fit = budget.after(4 * neighborhood.n_neighbors * n_fitted + means)
    power = random = False
    if isinstance(settings, KMeansSettings):
        power, random = settings.power != 1.0, settings.is_random
    n_runs, workspace = workspace_within(
        held_by_fit,
        n_fitted,
        settings.n_clusters,
        n_jobs,
        weighted=weights is not None,
        power=power,
        random=random,
    )
    if isinstance(settings, KMeansSettings):
        settings = replace(settings, n_jobs=n_runs)
    return Limits(budget.left, settings, workspace)
