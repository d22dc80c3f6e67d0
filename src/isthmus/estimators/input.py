"""X of an estimator, of any kind → checked data, as its metric needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from isthmus._typing import Array
from isthmus.metrics import allows_nan, is_by_callable, is_precomputed
from isthmus.precomputed import Precomputed, check_precomputed
from isthmus.validation import as_objects, refuse_unsuitable


def check_input(estimator: BaseEstimator, X: Any) -> Array | list[Any] | Precomputed:
    """Return a 2-D array, the list of objects that a callable metric compares, or distances.

    Sets ``n_features_in_`` and ``feature_names_in_``; objects have no features.
    """
    metric, params = estimator.metric, estimator.metric_params
    objects = as_objects(X) if is_by_callable(metric) else None
    if objects is not None:
        for name in ("n_features_in_", "feature_names_in_"):  # of an earlier fit
            estimator.__dict__.pop(name, None)
        return objects
    refuse_unsuitable(X)
    if is_precomputed(metric):
        return _check_distances(estimator, X)
    data: Array = validate_data(
        estimator,
        X,
        dtype="numeric" if is_by_callable(metric) else [np.float64, np.float32],
        ensure_all_finite="allow-nan" if allows_nan(metric, params) else True,
    )
    return data


def _check_distances(estimator: BaseEstimator, X: Any) -> Precomputed:
    """Return checked distances.

    Whatever their form, the number of features is that of the square matrix: the number of points.
    """
    distances = check_precomputed(X)
    validate_data(estimator, X, skip_check_array=True)
    estimator.n_features_in_ = distances.n_points
    return distances


def n_points_of(data: Array | list[Any] | Precomputed) -> int:
    """Return the number of points of checked data."""
    return len(data) if isinstance(data, np.ndarray | list) else data.n_points
