"""The memory limit of a fit → threads and workspaces that keep to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from isthmus._utils.memory import Budget, check_memory_limit
from isthmus._utils.typing import Floats
from isthmus.kmeans import Plan
from isthmus.kmeans.workspace import Workspace, workspace_within
from isthmus.metrics.input import n_bytes_of, n_points_of
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.registry import AnyMetric
from isthmus.prediction.search import is_for_tree

# For rows of weight 0: entries of the rows of distances that are held together, and their bytes;
# and of a kd-tree, which serves few features, the bytes for each point.
_AT_ONCE, _PER_ENTRY = 1 << 21, 24
_PER_POINT = 200


def keep_to_limit(
    limit: Any, data: Any, weights: Floats | None, plan: Plan, metric: AnyMetric
) -> tuple[int | None, Plan, Workspace]:
    """Return what is left for the spanning tree, and how to cluster with no more than the limit.

    Raises MemoryError where clustering cannot do with it.

    limit : int, str or None
    data : checked data of any kind
    weights : (n_rows,) float64 or None
    """
    budget = Budget(check_memory_limit(limit))
    n_rows = n_points_of(data)
    n_fitted = n_rows if weights is None else int(np.count_nonzero(weights))
    if n_fitted < n_rows:  # the others are set aside, and these copied
        by_tree = False
        if isinstance(data, np.ndarray):
            by_tree = isinstance(metric, MappedMetric) and is_for_tree(data[:n_fitted], metric)
        entries = min((n_rows - n_fitted) * n_fitted, _AT_ONCE + n_fitted) * plan.n_jobs
        held = n_rows * _PER_POINT if by_tree else entries * _PER_ENTRY
        budget = budget.after(held + int(n_bytes_of(data) * n_fitted / n_rows))
    n_runs, workspace = workspace_within(
        budget,
        n_fitted,
        plan.n_clusters,
        plan.n_jobs,
        point_weights=weights is not None,
        power=plan.power != 1.0,
        random=plan.init in ("k-means++", "random"),
    )
    return budget.left, replace(plan, n_jobs=n_runs), workspace
