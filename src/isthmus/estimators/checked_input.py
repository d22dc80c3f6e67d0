"""X of an estimator, of any kind → checked data, as its metric needs them."""

from __future__ import annotations

from typing import Any

from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from isthmus._utils.typing import Array
from isthmus.metrics.gower import GowerMetric, Table
from isthmus.metrics.input import refuse_unbound
from isthmus.metrics.integers import refuse_rounded_integers
from isthmus.metrics.precomputed import (
    NewDistances,
    Precomputed,
    check_new_distances,
    check_precomputed,
)
from isthmus.metrics.registry import (
    SPARSE_METRICS,
    AnyMetric,
    PrecomputedMetric,
    canonical_name,
)
from isthmus.metrics.table_columns import TableColumns
from isthmus.metrics.table_extension import EncodedTable
from isthmus.metrics.validation import (
    SPARSE_REFUSED,
    as_objects,
    canonical,
    float_types,
    missing_explained,
    refuse_masked,
    refuse_unsuitable,
)


def check_input(
    estimator: BaseEstimator, X: Any, metric: AnyMetric, *, dense: bool = False
) -> Array | list[Any] | Precomputed:
    """Return a 2-D array, the list of objects that a callable metric compares, or distances.

    dense : bool
        Whether sparse points are refused, whatever the metric.

    Sets ``n_features_in_`` and ``feature_names_in_``; objects have no features.
    """
    refuse_unbound(metric)
    objects = as_objects(X) if metric.takes_objects else None
    if objects is not None:
        for name in ("n_features_in_", "feature_names_in_"):  # of an earlier fit
            estimator.__dict__.pop(name, None)
        return objects
    refuse_unsuitable(X)
    if isinstance(metric, PrecomputedMetric):
        return _check_distances(estimator, X)
    sparse = metric.accepts_sparse and not dense
    return _check_points(estimator, X, metric, sparse=sparse, reset=True)


def check_table(estimator: BaseEstimator, X: Any, metric: GowerMetric) -> Table:
    """Return a table that was read; sets ``n_features_in_`` and ``feature_names_in_``."""
    refuse_masked(X)
    table = metric.learn(X)
    if not isinstance(X, EncodedTable):
        validate_data(estimator, X, skip_check_array=True)
    estimator.n_features_in_ = table.points.shape[1]
    return table


def check_new_table(estimator: BaseEstimator, X: Any, columns: TableColumns) -> Array:
    """Return new rows of a table as numbers."""
    refuse_masked(X)
    validate_data(estimator, X, reset=False, skip_check_array=True)
    new: Array = columns.encode(X)
    if not len(new):
        raise ValueError("Found a table with 0 sample(s), while a minimum of 1 is required.")
    return new


def check_new_input(
    estimator: BaseEstimator, X: Any, fitted: Any, metric: AnyMetric
) -> Array | list[Any] | NewDistances:
    """Return new rows of the same kind as fitted ones; distances where ``fitted`` is None.

    fitted : array, CSR matrix, list of objects or None
    metric : a resolved metric
        That of the fit.
    """
    if fitted is None:
        distances = check_new_distances(X, estimator.n_features_in_, type(estimator).__name__)
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return distances
    if isinstance(fitted, list):
        if not isinstance(X, list | tuple) and len(getattr(X, "shape", ())) != 1:
            raise TypeError(
                "The fit was on a list of objects; new ones must come as a list, too, got "
                f"{type(X).__name__}."
            )
        if len(X) == 0:
            raise ValueError("Found a list with 0 sample(s), while a minimum of 1 is required.")
        return list(X)
    if metric.takes_objects and as_objects(X) is not None:
        raise TypeError("The fit was on a table of numbers; new rows must be one, too.")
    refuse_unsuitable(X)
    sparse = metric.accepts_sparse
    data: Any = _check_points(estimator, X, metric, sparse=sparse, reset=False)
    if issparse(fitted):
        data = csr_array(data)
    elif issparse(data):
        data = data.toarray()
    new: Array = data
    return new


def _check_points(
    estimator: BaseEstimator, X: Any, metric: AnyMetric, *, sparse: bool, reset: bool
) -> Array:
    if issparse(X) and not sparse:
        raise TypeError(SPARSE_REFUSED)
    if not metric.takes_objects:
        refuse_rounded_integers(X)
    with missing_explained():
        data = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype="numeric" if metric.takes_objects else float_types(X),
            ensure_all_finite="allow-nan" if metric.accepts_nan else True,
        )
    checked: Array = canonical(data)
    return checked


def _check_distances(estimator: BaseEstimator, X: Any) -> Precomputed:
    """Return checked distances.

    Whatever their form, the number of features is that of the square matrix: the number of points.
    """
    distances = check_precomputed(X)
    validate_data(estimator, X, skip_check_array=True)
    estimator.n_features_in_ = distances.n_points
    return distances


def input_tags(tags: Any, metric: Any, *, dense: bool = False) -> Any:
    """Return scikit-learn's tags of an estimator with what a metric takes.

    dense : bool
        Whether sparse points are refused, whatever the metric.
    """
    name = canonical_name(metric)
    tags.input_tags.pairwise = tags.input_tags.positive_only = name == "precomputed"
    tags.input_tags.allow_nan = name in ("nan_euclidean", "gower")
    tags.input_tags.sparse = not dense and name in ("precomputed", *SPARSE_METRICS)
    return tags
