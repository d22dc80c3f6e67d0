"""A fitted estimator ↔ one file without code.

Kernels trust what they get, so whatever no fit could have left behind is refused on loading.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from isthmus._utils.typing import Array, Labels
from isthmus.cut.constraints import Constraints
from isthmus.cut.settings import CutSettings
from isthmus.estimators.fitted import FittedModel, Settings
from isthmus.estimators.fitted_rows import FittedRows
from isthmus.estimators.noise import Noise
from isthmus.files.model_file import read_file, write_file
from isthmus.metrics.gower import GowerMetric, table_metric
from isthmus.metrics.preparation import Preparation
from isthmus.metrics.registry import AnyMetric, PrecomputedMetric, resolve_metric
from isthmus.metrics.table_columns import TableColumns, check_codes
from isthmus.metrics.validation import check_points, check_sample_weight
from isthmus.model_selection.suggestion import Suggestion
from isthmus.neighbors.neighborhood_parameters import Neighborhood, check_neighborhood
from isthmus.prediction.attachments import Attachments
from isthmus.spanning_tree import SpanningTree
from isthmus.ultrametric import UltrametricTree

E = TypeVar("E")

# A parameter that a file may not set: what lies there is unpickled by the next fit.
_NEVER_SAVED = "memory"
# Fields that are stored as they are.
_PLAIN = (
    "points",
    "metric",
    "metric_params",
    "labels",
    "kmeans_inertia",
    "n_iter",
    "n_features",
    "feature_names",
)
_STORED = (
    *_PLAIN,
    "spanning_tree",
    "settings",
    "rows",
    "suggestion",
    "neighborhood",
    "preparation",
    "columns",
    "constraints",
    "noise",
)


def save_model(estimator: Any, fitted: FittedModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file; TypeError, and no file, where it cannot hold it."""
    parameters = estimator.get_params(deep=False)
    if callable(fitted.metric) or callable(parameters["metric"]):
        raise TypeError(
            "A file of isthmus holds no code, and metric is a function. Fit the distances that it "
            "computes, with metric='precomputed'; or use pickle, for files that only you write."
        )
    parameters.pop(_NEVER_SAVED, None)
    if callable(parameters["verbose"]):  # it is about a process, not about the model
        parameters["verbose"] = 0
    state = {name: getattr(fitted, name) for name in _PLAIN}
    state["spanning_tree"] = fitted.spanning_tree._content()
    state["settings"] = _as_dict(fitted.settings)
    state["rows"] = _packed_rows(fitted.rows)
    if fitted.neighborhood is not None:
        state["neighborhood"] = {
            "kind": fitted.neighborhood.kind,
            "neighbors": fitted.neighbors,
        }
    if fitted.noise is not None:
        state["noise"] = _as_dict(fitted.noise)
    if fitted.constraints is not None:
        state["constraints"] = _as_dict(fitted.constraints)
    if fitted.suggestion is not None:
        parts = _as_dict(fitted.suggestion)
        parts = {name: list(v) if isinstance(v, tuple) else v for name, v in parts.items()}
        state["suggestion"] = parts
    if fitted.columns is not None:
        state["columns"] = fitted.columns.to_content()
    if fitted.preparation is not None:
        state["preparation"] = fitted.preparation.to_content()
    kind = type(estimator).__name__
    write_file(path, kind, {"parameters": parameters, "state": state})


def load_model(cls: Callable[..., E], path: str | os.PathLike[str]) -> tuple[E, FittedModel]:
    """Return the estimator, of a class, that a file holds, and the record of its fit."""

    def build(content: dict[str, Any]) -> tuple[E, FittedModel]:
        if content.keys() != {"parameters", "state"}:
            raise ValueError("it should have parameters and a state.")
        unfitted: Any = cls()
        known = unfitted.get_params(deep=False).keys() - {_NEVER_SAVED}
        if unknown := content["parameters"].keys() - known:
            raise ValueError(f"the parameters {sorted(unknown)} are unknown.")
        settings = type(unfitted._settings())
        return cls(**content["parameters"]), _unpacked(content["state"], settings)

    estimator, fitted = read_file(path, cls.__name__, build)
    if fitted.preparation is not None and fitted.preparation.changes_values:
        warnings.warn(
            f"{os.fspath(path)} was fitted to prepared columns (missing="
            f"{fitted.preparation.missing!r}, scale={fitted.preparation.scale!r}): 'isthmus "
            "predict' prepares new rows, and predict() takes them prepared.",
            stacklevel=3,
        )
    return estimator, fitted


def _as_dict(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _unpacked(state: dict[str, Any], settings_class: type[Settings]) -> FittedModel:
    if unknown := state.keys() - set(_STORED):
        raise ValueError(f"the attributes {sorted(unknown)} are unknown.")
    spanning_tree = SpanningTree._from_content(state["spanning_tree"])
    tree = UltrametricTree.from_spanning_tree(spanning_tree)
    settings = _unpacked_settings(state["settings"], settings_class, tree.n_points)
    rows = _unpacked_rows(state["rows"], tree.n_points)
    n_rows = tree.n_points if rows.is_fitted is None else len(rows.is_fitted)
    labels = _checked_array(state["labels"], np.int32, (n_rows,), "labels")
    if labels.min() < 0 or labels.max() >= settings.n_clusters:
        raise ValueError("labels must be numbers of clusters.")
    noise = _unpacked_noise(state.get("noise"), n_rows)
    not_noise = slice(None) if noise is None else ~rows.on_tree(noise.is_noise)
    if not np.bincount(rows.on_tree(labels)[not_noise], minlength=settings.n_clusters).all():
        raise ValueError(
            "labels must leave no cluster without a row of weight above zero that is not noise."
        )
    is_cut = settings_class is CutSettings
    if is_cut != (state["kmeans_inertia"] is None) or is_cut != (state["n_iter"] is None):
        raise ValueError("an inertia and iterations must be there, unless CUT found the clusters.")
    n_features, names = state["n_features"], state["feature_names"]
    if n_features is not None:
        _checked_count(n_features)
    metric, columns = _unpacked_metric(state)
    neighborhood, neighbors = _unpacked_neighborhood(
        state.get("neighborhood"), metric, tree.n_points
    )
    points = _unpacked_points(state["points"], metric, (tree.n_points, n_features))
    if points is None and n_features != n_rows:
        raise ValueError("of given distances each row must have one to every row of the fit.")
    return FittedModel(
        points=points,
        metric=state["metric"],
        metric_params=state["metric_params"],
        rows=rows,
        spanning_tree=spanning_tree,
        tree=tree,
        settings=settings,
        labels=labels,
        kmeans_inertia=None if is_cut else _checked_inertia(state["kmeans_inertia"]),
        n_iter=None if is_cut else _checked_count(state["n_iter"]),
        suggestion=_unpacked_suggestion(state.get("suggestion"), n_rows),
        n_features=n_features,
        feature_names=None if names is None else _checked_names(names, n_features),
        neighborhood=neighborhood,
        neighbors=neighbors,
        preparation=_unpacked_preparation(state.get("preparation"), n_features),
        columns=columns,
        constraints=_unpacked_constraints(
            state.get("constraints"), spanning_tree, settings.n_clusters
        ),
        noise=noise,
    )


def _unpacked_constraints(saved: Any, tree: SpanningTree, n_clusters: int) -> Constraints | None:
    if saved is None:
        return None
    if saved.keys() != {field.name for field in fields(Constraints)}:
        raise ValueError("constraints must have all their parts and no others.")
    for name in ("together", "apart"):
        merges = _checked_array(saved[name], np.int64, (None,), f"constraints.{name}")
        in_range = not len(merges) or (merges[0] >= 0 and merges[-1] < len(tree.weights))
        if not in_range or (merges[1:] <= merges[:-1]).any():
            raise ValueError(f"constraints.{name} must be merges in their order.")
    if np.intersect1d(saved["together"], saved["apart"]).size:
        raise ValueError("an edge that must stay cannot be one that must be cut.")
    shape = len(saved["apart"]), 2
    pairs = _checked_array(saved["pairs"], np.int64, shape, "constraints.pairs")
    if len(pairs) and not (pairs.min() >= 0 and pairs.max() < tree.n_points):
        raise ValueError("constraints.pairs must be points.")
    constraints = Constraints(**saved)
    constraints.refuse_number(n_clusters, tree.n_points)
    return constraints


def _unpacked_metric(state: dict[str, Any]) -> tuple[AnyMetric, TableColumns | None]:
    """Return the metric, and the columns where it is that of a table."""
    metric = resolve_metric(state["metric"], state["metric_params"])
    if not isinstance(metric, GowerMetric):
        if "columns" in state:
            raise ValueError(f"metric={metric.name!r} has no table.")
        return metric, None
    points = check_points(state["points"], allow_nan=True)
    columns = TableColumns.from_content(state["columns"], points.shape[1])
    check_codes(points, columns)
    return table_metric(columns, state["metric_params"], points), columns


def _unpacked_preparation(saved: Any, n_features: int | None) -> Preparation | None:
    if saved is None:
        return None
    if n_features is None:
        raise ValueError("objects have no columns that could be prepared.")
    return Preparation.from_content(saved, n_features)


def _unpacked_noise(saved: Any, n_rows: int) -> Noise | None:
    if saved is None:
        return None
    threshold = saved["threshold"]
    if saved.keys() != {"threshold", "is_noise"}:
        raise ValueError("noise must have a threshold and the rows that are noise.")
    if type(threshold) is not float or not 0.0 <= threshold <= 1.0:
        raise ValueError(f"the threshold of noise must be from 0 to 1; got {threshold!r}.")
    return Noise(threshold, _checked_array(saved["is_noise"], np.bool_, (n_rows,), "is_noise"))


def _unpacked_neighborhood(
    saved: Any, metric: AnyMetric, n_points: int
) -> tuple[Neighborhood | None, Labels | None]:
    if saved is None:
        return None, None
    kind, neighbors = saved["kind"], saved["neighbors"]
    _checked_array(neighbors, np.int32, (n_points, None), "neighbors")
    size = neighbors.shape[1]
    if not 2 <= size <= n_points or neighbors.min() < 0 or neighbors.max() >= n_points:
        raise ValueError("neighbors must be lists of points.")
    in_order = np.sort(neighbors, axis=1)
    is_first = (neighbors[:, 0] == np.arange(n_points)).all()
    if not is_first or (in_order[:, 1:] == in_order[:, :-1]).any():
        raise ValueError("a list of neighbors must begin with the point itself, and repeat none.")
    return check_neighborhood(size, kind, metric), neighbors


def _unpacked_settings(saved: Any, cls: type[Settings], n_points: int) -> Settings:
    least = saved["min_cluster_size"]
    if least is not None and not (type(least) is float and 0.0 < least < np.inf):
        raise ValueError(f"min_cluster_size must be a number above zero; got {least!r}.")
    if saved.keys() != {field.name for field in fields(cls)}:
        names = {field.name for field in fields(cls)} ^ saved.keys()
        raise ValueError(f"the settings {sorted(names)} are missing or unknown.")
    settings: Any = cls(**{**saved, "min_cluster_size": None})
    # The fit checked the least size, against its weights.
    return replace(settings.checked(n_points), min_cluster_size=least)  # type: ignore[no-any-return]


def _packed_rows(rows: FittedRows) -> dict[str, Any]:
    edges = rows.attachments
    return {
        "point_weights": rows.point_weights,
        "is_fitted": rows.is_fitted,
        "attachments": None if edges is None else [edges.begin, edges.point, edges.length],
    }


def _unpacked_rows(saved: Any, n_points: int) -> FittedRows:
    weights, is_fitted, edges = (
        saved[name] for name in ("point_weights", "is_fitted", "attachments")
    )
    if weights is not None:
        _checked_array(weights, np.float64, (n_points,), "point_weights")
        check_sample_weight(weights, n_points)
        if not weights.all():
            raise ValueError("point_weights must be above zero.")
    if (is_fitted is None) != (edges is None) or (is_fitted is not None and weights is None):
        raise ValueError("rows that are not on the tree must have attachment edges.")
    if is_fitted is None:
        return FittedRows(weights)
    _checked_array(is_fitted, np.bool_, (None,), "is_fitted")
    if np.count_nonzero(is_fitted) != n_points:
        raise ValueError("is_fitted must be true for each point of the tree.")
    return FittedRows(weights, is_fitted, _checked_attachments(edges, len(is_fitted), n_points))


def _checked_attachments(saved: Any, n_rows: int, n_points: int) -> Attachments:
    begin, point, length = saved
    _checked_array(begin, np.int64, (n_rows - n_points + 1,), "attachments")
    _checked_array(point, np.int64, (None,), "attachments")
    _checked_array(length, np.float64, point.shape, "attachments")
    # Each row has an attachment edge at least.
    if begin[0] != 0 or begin[-1] != len(point) or (begin[1:] <= begin[:-1]).any():
        raise ValueError("attachments are not in order.")
    if len(point) and not (point.min() >= 0 and point.max() < n_points):
        raise ValueError("attachments lead nowhere.")
    if not (np.isfinite(length) & (length >= 0.0)).all():
        raise ValueError("attachments must have finite lengths, not negative.")
    # Of each row the shortest comes first: kernels rely on it.
    shorter = np.flatnonzero(length[1:] < length[:-1]) + 1
    if not np.isin(shorter, begin).all():
        raise ValueError("attachments of a row must be in the order of their lengths.")
    return Attachments(begin, point, length)


def _unpacked_points(points: Any, metric: AnyMetric, shape: tuple[int, int]) -> Any:
    if (points is None) != isinstance(metric, PrecomputedMetric):
        raise ValueError("points must be there, unless distances were given.")
    if points is None:
        return None
    checked = check_points(
        points, allow_nan=metric.accepts_nan, accept_sparse=metric.accepts_sparse
    )
    if checked.shape != shape:
        raise ValueError(f"there are {shape[0]} points, but rows of {checked.shape}.")
    return checked


# The arrays of a suggestion that have an entry for each number of clusters.
_PER_NUMBER = {"ranking": np.int64, "numbers": np.int64} | dict.fromkeys(
    ("gap", "ratio", "strength", "chance", "drop", "score", "score_drop", "silhouette"), np.float64
)
_WORDS = ("explanation", "verdicts", "reasons")


def _unpacked_suggestion(saved: Any, n_rows: int) -> Suggestion | None:
    if saved is None:
        return None
    parts = dict(saved)
    if parts.keys() != {field.name for field in fields(Suggestion)}:
        raise ValueError("a suggestion must have all its parts and no others.")
    n_numbers = len(parts["numbers"])
    for name, dtype in _PER_NUMBER.items():
        _checked_array(parts[name], dtype, (n_numbers,), f"suggestion.{name}")
    _checked_array(parts["labels"], np.int32, (n_rows,), "suggestion.labels")
    for sizes in parts["sizes"]:
        _checked_array(sizes, np.int64, (None,), "suggestion.sizes")
    words = [
        parts["confidence"],
        parts["decided_by"],
        *(word for name in _WORDS for word in parts[name]),
    ]
    if not all(isinstance(word, str) for word in words) or type(parts["clear_from"]) is not float:
        raise ValueError("a suggestion must explain itself in words, and by one number.")
    numbers = np.arange(1, n_numbers + 1)
    if (parts["numbers"] != numbers).any() or (np.sort(parts["ranking"]) != numbers).any():
        raise ValueError("a suggestion must rank the numbers of clusters from 1.")
    if any(len(parts[name]) != n_numbers for name in ("sizes", "verdicts", "reasons")):
        raise ValueError("a suggestion must have sizes, a verdict and a reason for each number.")
    _checked_count(parts["n_clusters"])
    return Suggestion(**{**parts, **{name: tuple(parts[name]) for name in ("sizes", *_WORDS)}})


def _checked_array(
    array: Any, dtype: type[np.generic], shape: tuple[int | None, ...], name: str
) -> Array:
    """Return an array of a type and a shape; None stands for any length."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != len(shape):
        raise ValueError(f"{name} must be an array of {dtype.__name__}.")
    if any(
        expected not in (None, found) for expected, found in zip(shape, array.shape, strict=True)
    ):
        raise ValueError(f"{name} must have the shape {shape}, got {array.shape}.")
    return array


def _checked_inertia(inertia: Any) -> float:
    if not isinstance(inertia, float) or not inertia >= 0.0:
        raise ValueError(f"the inertia must be a number, not negative; got {inertia!r}.")
    return inertia


def _checked_count(count: Any) -> int:
    if type(count) is not int or count < 1:
        raise ValueError(f"a count must be an integer above zero; got {count!r}.")
    return count


def _checked_names(names: Any, n_features: Any) -> Array:
    if not isinstance(names, np.ndarray) or names.dtype != object:
        raise ValueError("feature names must be strings.")
    if len(names) != n_features:
        raise ValueError("there must be as many feature names as features.")
    return names
