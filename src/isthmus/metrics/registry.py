"""Metric names, their aliases and parameters → one resolved metric, an object that travels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, POWERS, SQUARES
from isthmus._utils.parameters import as_real
from isthmus._utils.typing import Array, Floats
from isthmus.metrics.gower import NAME as GOWER
from isthmus.metrics.gower import GowerMetric
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.maps import (
    as_distributions,
    centred_unit_rows,
    chord_to_angle,
    half,
    hellinger_of_squares,
    sparse_distributions,
    sparse_unit_rows,
    standardising,
    unchanged,
    unit_rows,
    weighted,
    weighted_centred_unit_rows,
    weighted_unit_rows,
    whitening,
)
from isthmus.metrics.rowwise import (
    ROW_METRIC_NAMES,
    CallableMetric,
    RowMetric,
    as_weights,
    callable_metric,
    require_weight_per_feature,
    row_metric,
)
from isthmus.metrics.sphere import (
    check_unit,
    chord_to_kilometres,
    on_the_earth,
    on_the_sphere,
)

# Beyond this Minkowski's distance is the largest difference, to the last bit.
_AS_GOOD_AS_INFINITE = 1e18


@dataclass(frozen=True)
class PrecomputedMetric:
    """The user computes the distances."""

    name: str = "precomputed"

    accepts_sparse = True  # as a graph
    accepts_nan = takes_objects = False


AnyMetric = MappedMetric | RowMetric | CallableMetric | PrecomputedMetric | GowerMetric
"""What :func:`resolve_metric` returns.

All of them have ``name``, ``accepts_sparse``, ``accepts_nan`` and ``takes_objects`` (whether rows
may be strings or any other objects). A :class:`GowerMetric` must see a table first.
"""


def resolve_metric(metric: Any, metric_params: Mapping[str, Any] | None = None) -> AnyMetric:
    """Return the metric of that name or callable, or raise with the names there are.

    Parameters
    ----------
    metric : str, callable or a resolved metric
        A name or alias from ``METRIC_NAMES``, or a function of two points. A resolved metric is
        returned as it is.
    metric_params : mapping, optional
        Keyword arguments of a callable. ``{"p": …}`` for ``"minkowski"`` (default 2);
        ``{"V": variances}`` for ``"seuclidean"`` and ``{"V": covariance}`` or
        ``{"VI": its inverse}`` for ``"mahalanobis"`` (default: those of the points); ``{"w": …}``,
        weights of the features, for most others; for ``"gower"`` also by the names of columns;
        ``{"unit": "degrees"}`` for ``"haversine"``.
    """
    if isinstance(metric, AnyMetric):
        return metric
    params = _checked_params(metric_params)
    name = canonical_name(metric)
    resolved: AnyMetric
    if name == "pyfunc" and callable(params.get("func")):
        return callable_metric(params.pop("func"), params)
    if name == "pyfunc":
        raise ValueError("metric='pyfunc' needs metric_params={'func': a function of two points}.")
    if name is None and callable(metric):
        return callable_metric(metric, params)
    if name in ("precomputed", GOWER):
        resolved = GowerMetric(params.pop("w", None)) if name == GOWER else PrecomputedMetric()
    elif name in ROW_METRIC_NAMES:
        resolved = row_metric(name, params)
    elif name == "seuclidean":
        resolved = _standardised(params.pop("V", None))
    elif name == "mahalanobis":
        resolved = _mahalanobis(params.pop("V", None), params.pop("VI", None))
    elif name == "minkowski":
        resolved = _weighted(_minkowski(params.pop("p", 2.0)), params)
    elif name in _METRICS:
        resolved = _weighted(_in_unit(_METRICS[name], params), params)
    else:
        raise ValueError(_unknown(metric))
    if params:
        raise ValueError(f"metric={metric!r} does not take the parameters {sorted(params)}.")
    return resolved


def canonical_name(metric: Any) -> str | None:
    """Return the name that an alias stands for; None for what is no name."""
    return _ALIASES.get(metric, metric) if isinstance(metric, str) else None


def _unknown(metric: Any) -> str:
    listed = ", ".join(repr(known) for known in CANONICAL_NAMES)
    return (
        f"Unknown metric {metric!r}.{suggestion(metric)} Known metrics: {listed}; their aliases in "
        "SciPy and scikit-learn; and functions of two points."
    )


def suggestion(metric: Any) -> str:
    """Return a question after the known name that is most like an unknown one, if any is."""
    near = get_close_matches(metric.lower(), METRIC_NAMES, 1) if isinstance(metric, str) else []
    return f" Did you mean {near[0]!r}?" if near else ""


def _checked_params(metric_params: Any) -> dict[str, Any]:
    if metric_params is None:
        return {}
    if not isinstance(metric_params, Mapping) or not all(isinstance(k, str) for k in metric_params):
        raise TypeError(
            f"metric_params must be a dictionary of named parameters, got {metric_params!r}."
        )
    return dict(metric_params)


def _in_unit(metric: MappedMetric, params: dict[str, Any]) -> MappedMetric:
    """Return the metric of positions with the unit that the parameters may hold."""
    if metric.name != "haversine" or check_unit(params.pop("unit", "radians")) == "radians":
        return metric
    return replace(metric, prepare=on_the_earth, to_heights=chord_to_kilometres)


def _minkowski(p: Any) -> MappedMetric:
    if (
        isinstance(p, bool)
        or not isinstance(p, int | float | np.integer | np.floating)
        or not p >= 1
    ):
        raise ValueError(f"metric='minkowski' needs a number p >= 1, got p={p!r}.")
    if p == 1:
        return _METRICS["manhattan"]
    if p == 2:
        return _METRICS["euclidean"]
    if p > _AS_GOOD_AS_INFINITE:
        return _METRICS["chebyshev"]
    return MappedMetric("minkowski", POWERS, float(p), unchanged, unchanged, 1)


def _weighted(metric: MappedMetric, params: dict[str, Any]) -> MappedMetric:
    """Return the metric with the weights of features that the parameters may hold.

    They go into the map of the points, so that every engine serves weighted metrics.
    """
    if metric.name not in _WEIGHTED:
        return metric
    weights = as_weights(params.pop("w", None), metric.name)
    if weights is None:
        return metric
    prepare = partial(_prepare_weighted, metric, weights)
    # Sums of weighted differences take the first point as their origin.
    map_of = partial(_beside_first, prepare) if _WEIGHTED[metric.name] is _weighted_sums else None
    return replace(metric, prepare=prepare, prepare_sparse=None, map_of=map_of)


def _beside_first(prepare: Callable[[Array], Array], points: Array) -> Callable[[Array], Array]:
    """Return a map that depends on the first point, for points that are not."""
    first = points[:1].astype(np.float64)
    return lambda others: prepare(np.concatenate([first, others]))[1:]


def _prepare_weighted(metric: MappedMetric, weights: Floats, points: Array) -> Array:
    require_weight_per_feature(points, weights, metric.name)
    return _WEIGHTED[metric.name](points, weights, metric)


def _weighted_sums(points: Array, weights: Floats, metric: MappedMetric) -> Array:
    exponent = {SQUARES: 2.0, ABSOLUTES: 1.0}.get(metric.kind, metric.power)
    return weighted(points, weights ** (1.0 / exponent))


# As in SciPy: of the largest difference, weights say which features count.
_WEIGHTED: dict[str, Callable[[Array, Floats, MappedMetric], Array]] = {
    "euclidean": _weighted_sums,
    "sqeuclidean": _weighted_sums,
    "manhattan": _weighted_sums,
    "minkowski": _weighted_sums,
    "chebyshev": lambda points, weights, _: points[:, weights > 0.0],
    "cosine": lambda points, weights, _: weighted_unit_rows(points, weights),
    "correlation": lambda points, weights, _: weighted_centred_unit_rows(points, weights),
}


def _standardised(variances: Any) -> MappedMetric:
    given = None
    if variances is not None:
        given = as_real(variances, "V of metric='seuclidean'")
        if given.ndim != 1 or not (np.isfinite(given) & (given > 0)).all():
            raise ValueError(
                "metric='seuclidean' needs V to be one finite variance above 0 for each feature."
            )
    map_of = partial(standardising, variances=given)
    return _mapped_by_points("seuclidean", map_of, is_estimated=given is None)


def _mahalanobis(covariance: Any, inverse: Any) -> MappedMetric:
    if covariance is not None and inverse is not None:
        raise ValueError("metric='mahalanobis' takes V or VI, its inverse, but not both.")
    given = covariance if inverse is None else inverse
    matrix = None
    if given is not None:
        name = "V" if inverse is None else "VI"
        matrix = as_real(given, f"{name} of metric='mahalanobis'")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"metric='mahalanobis' needs {name} to be a square matrix, one row for each "
                f"feature; got shape {matrix.shape}."
            )
        if not np.isfinite(matrix).all():
            raise ValueError(f"metric='mahalanobis' needs {name} to be finite.")
    map_of = partial(whitening, matrix=matrix, is_inverse=inverse is not None)
    return _mapped_by_points("mahalanobis", map_of, is_estimated=matrix is None)


def _mapped_by_points(
    name: str, map_of: Callable[[Array], Callable[[Array], Array]], *, is_estimated: bool
) -> MappedMetric:
    """Return a metric that is Euclidean after a map which depends on the points."""
    prepare = partial(_mapped_by_itself, map_of)
    return MappedMetric(
        name, SQUARES, 0.0, prepare, np.sqrt, 1, map_of=map_of, is_estimated=is_estimated
    )


def _mapped_by_itself(map_of: Callable[[Array], Callable[[Array], Array]], points: Array) -> Array:
    return map_of(points)(points)


_METRICS = {
    metric.name: metric
    for metric in (
        MappedMetric("euclidean", SQUARES, 0.0, unchanged, np.sqrt, 1, unchanged),
        MappedMetric("sqeuclidean", SQUARES, 0.0, unchanged, unchanged, 2, unchanged),
        MappedMetric("manhattan", ABSOLUTES, 0.0, unchanged, unchanged, 1),
        MappedMetric("chebyshev", MAXIMUM, 0.0, unchanged, unchanged, 1),
        MappedMetric("cosine", SQUARES, 0.0, unit_rows, half, 0, sparse_unit_rows),
        MappedMetric("angular", SQUARES, 0.0, unit_rows, chord_to_angle, 0, sparse_unit_rows),
        MappedMetric("correlation", SQUARES, 0.0, centred_unit_rows, half, 0),
        MappedMetric("haversine", SQUARES, 0.0, on_the_sphere, chord_to_angle, 0),
        MappedMetric(
            "hellinger",
            SQUARES,
            0.0,
            as_distributions,
            hellinger_of_squares,
            0,
            sparse_distributions,
        ),
    )
}
SPARSE_METRICS = tuple(name for name, metric in _METRICS.items() if metric.prepare_sparse)
"""The metrics of which points may be sparse."""

_ALIASES = {
    alias: name
    for name, aliases in {
        "euclidean": ("l2", "euclid", "eu", "e"),
        "sqeuclidean": ("sqeuclid", "sqe"),
        "manhattan": ("cityblock", "l1", "cblock", "cb", "c"),
        "chebyshev": ("linf", "infinity", "chebychev", "cheby", "cheb", "ch"),
        "minkowski": ("p", "pnorm", "mi", "m"),
        "seuclidean": ("se", "s"),
        "mahalanobis": ("mahal", "mah"),
        "cosine": ("cos",),
        "correlation": ("co",),
        "hamming": ("matching", "hamm", "ha", "h"),
        "jaccard": ("jacc", "ja", "j"),
        "jensenshannon": ("js",),
        "rogerstanimoto": ("sokalmichener",),
    }.items()
    for alias in aliases
}

CANONICAL_NAMES = (
    *_METRICS,
    "minkowski",
    "seuclidean",
    "mahalanobis",
    *ROW_METRIC_NAMES,
    GOWER,
    "pyfunc",
    "precomputed",
)
"""One name of every metric."""

METRIC_NAMES = (*CANONICAL_NAMES, *_ALIASES)
"""Every name that ``metric=`` takes."""
