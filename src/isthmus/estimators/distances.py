"""Precomputed distances of any form, for an estimator whose X scikit-learn expects to be 2-D."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import validate_data

from isthmus.precomputed import Precomputed, check_precomputed


def checked_distances(estimator: Any, X: Any) -> Precomputed:
    """Return checked distances, and set ``n_features_in_`` and ``feature_names_in_``.

    Whatever their form, the number of features is that of the square matrix: the number of points.
    """
    distances = check_precomputed(X)
    validate_data(estimator, X, skip_check_array=True)
    estimator.n_features_in_ = distances.n_points
    return distances
