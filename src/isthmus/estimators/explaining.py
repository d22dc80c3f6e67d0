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
        points, columns = _points_and_names(fitted)
        numbers = points if fitted.clustered.rest is None else points[fitted.clustered.rest.kept]
    else:
        table = columns_to_show(fitted, X)
        numbers, columns = table.numbers[fitted.clustered_rows], table.names
    if not issparse(numbers):
        numbers = np.asarray(numbers, dtype=np.float64)
    if X is None:
        numbers = _without_date_line(fitted, numbers)
    else:
        _refuse_infinity(numbers, columns)
    explained = ExplainedRows(
        fitted.clustered.tree,
        fitted.clustered_labels.astype(np.int64),
        fitted.clustered.point_weights,
        fitted.clustered_rows,
        numbers,
        columns,
    )
    return explain(explained, depth, listed)


def _points_and_names(fitted: FittedModel) -> tuple[Any, list[str]]:
    """Return the features of the rows on the tree, and their names; of a table the numbers."""
    points, names = fitted.points, fitted.feature_names
    if fitted.columns is not None:
        numbers, of_numbers = fitted.columns.numbers_of(points)
        return (np.empty((len(points), 0)) if numbers is None else numbers), of_numbers
    return points, [f"x{j}" for j in range(points.shape[1])] if names is None else [*names]


def _refuse_infinity(numbers: Any, names: list[str]) -> None:
    """Raise ValueError where a column holds infinity: it has no mean."""
    if issparse(numbers):
        infinite = numbers.tocsr().indices[np.isinf(numbers.tocsr().data)]
    else:
        infinite = np.flatnonzero(np.isinf(numbers).any(axis=0))
    if infinite.size:
        raise ValueError(
            f"Column {names[infinite[0]]!r} of X holds infinity, which has no mean. Leave it out, "
            "or put a number or NaN in its place."
        )


def _without_date_line(fitted: FittedModel, numbers: Floats) -> Floats:
    """Return positions with longitudes that jump in the widest gap between them."""
    metric = fitted.resolved_metric
    if not isinstance(metric, MappedMetric) or metric.name != "haversine":
        return numbers
    turn = _TURN[unit_of(metric.prepare)]
    longitudes = np.unique(numbers[:, 1] % turn)
    gaps = np.diff(longitudes, append=longitudes[0] + turn)
    behind = int(gaps.argmax())
    begin = longitudes[behind] + gaps[behind] / 2.0  # somewhere in the gap
    # Of all turns, that on which the mean is nearest to 0.
    longitude = begin + (numbers[:, 1] - begin) % turn
    longitude -= turn * np.round(longitude.mean() / turn)
    return np.column_stack([numbers[:, 0], longitude])
