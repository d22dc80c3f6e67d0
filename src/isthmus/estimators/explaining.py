"""A fitted model and a table → what explains its clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus._utils.parameters import check_integer
from isthmus._utils.typing import Floats
from isthmus.estimators.exploring import columns_to_show
from isthmus.estimators.fitted import FittedModel
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.sphere import unit_of
from isthmus.summary.explanation import ClusterExplanations, ExplainedRows, explain

_TURN = {"degrees": 360.0, "radians": 2.0 * np.pi}


def explain_clusters(
    fitted: FittedModel, X: Any, max_depth: Any, n_listed: Any
) -> ClusterExplanations:
    """Return why each cluster of a fit is one, by the columns of X or by the fitted points."""
    depth = check_integer(max_depth, "max_depth", 1)
    listed = check_integer(n_listed, "n_listed", 1)
    if X is None and fitted.points is not None and fitted.n_features is not None:
        # these hold the rows on the tree alone
        points, names = fitted.points, fitted.feature_names
        columns = [f"x{j}" for j in range(points.shape[1])] if names is None else [*names]
        numbers = points if fitted.clustered.rest is None else points[fitted.clustered.rest.kept]
    else:
        table = columns_to_show(fitted, X)
        numbers, columns = table.numbers[fitted.clustered_rows], table.names
    if not issparse(numbers):
        numbers = np.asarray(numbers, dtype=np.float64)
    if X is None:
        numbers = _without_date_line(fitted, numbers)
    explained = ExplainedRows(
        fitted.clustered.tree,
        fitted.clustered_labels.astype(np.int64),
        fitted.clustered.point_weights,
        fitted.clustered_rows,
        numbers,
        columns,
    )
    return explain(explained, depth, listed)


def _without_date_line(fitted: FittedModel, numbers: Floats) -> Floats:
    """Return positions with longitudes that jump opposite of their mean, not within clusters."""
    metric = fitted.resolved_metric
    if not isinstance(metric, MappedMetric) or metric.name != "haversine":
        return numbers
    turn = _TURN[unit_of(metric.prepare)]
    angles = numbers[:, 1] * (2.0 * np.pi / turn)
    middle = np.arctan2(np.sin(angles).mean(), np.cos(angles).mean()) * turn / (2.0 * np.pi)
    longitude = middle + (numbers[:, 1] - middle + turn / 2.0) % turn - turn / 2.0
    return np.column_stack([numbers[:, 0], longitude])
