"""A fitted TransitiveClustering ↔ one file without code.

What a fit leaves behind is listed once, in ``FITTED``: it is saved, checked when it is loaded, and
forgotten when another fit begins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from isthmus._utils.typing import Array
from isthmus.estimators.new_rows import NewRows
from isthmus.estimators.weighted_rows import WeightedRows
from isthmus.files.model_file import read_file, write_file
from isthmus.kmeans import Plan
from isthmus.metrics.registry import PrecomputedMetric, resolve_metric
from isthmus.metrics.validation import check_points
from isthmus.model_selection.suggestion import Suggestion
from isthmus.prediction.attach import Attachments
from isthmus.spanning_tree import SpanningTree
from isthmus.ultrametric import UltrametricTree

E = TypeVar("E")
State = Mapping[str, Any]

_KIND = "TransitiveClustering"
# Made again from the others when they are needed, and never kept.
DERIVED = ("_clusterer", "_report")
# A parameter that a file may not set: what lies there is unpickled by the next fit.
_NEVER_SAVED = "memory"


class Field(NamedTuple):
    """An attribute of a fitted estimator.

    Attributes
    ----------
    name : str
    pack : callable
        The attribute → values and arrays that a file can hold.
    unpack : callable
        These, and the attributes before this one → the attribute; raises ValueError for what no
        fit could have left behind, since kernels trust what they get.
    optional : bool
        Whether some fits leave none.
    """

    name: str
    pack: Callable[[Any], Any]
    unpack: Callable[[Any, State], Any]
    optional: bool = False


def save_model(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file; TypeError, and no file, where it cannot hold it."""
    # of the labels those of the fit, whatever has become of the public ones
    attributes = {**vars(estimator), "labels_": estimator._new_rows.labels}
    parameters = estimator.get_params(deep=False)
    if callable(parameters["metric"]):
        raise TypeError(
            "A file of isthmus holds no code, and metric is a function. Fit the distances that it "
            "computes, with metric='precomputed'; or use pickle, for files that only you write."
        )
    parameters.pop(_NEVER_SAVED, None)
    if callable(parameters["verbose"]):  # it is about a process, not about the model
        parameters["verbose"] = 0
    state = {
        field.name: field.pack(attributes[field.name])
        for field in FITTED
        if field.name in attributes
    }
    write_file(path, _KIND, {"parameters": parameters, "state": state})


def load_model(cls: Callable[..., E], path: str | os.PathLike[str]) -> E:
    """Return the estimator, of a class, that a file holds."""

    def build(content: dict[str, Any]) -> E:
        if content.keys() != {"parameters", "state"}:
            raise ValueError("it should have parameters and a state.")
        known = set(cls._get_param_names()) - {_NEVER_SAVED}  # type: ignore[attr-defined]
        if unknown := content["parameters"].keys() - known:
            raise ValueError(f"the parameters {sorted(unknown)} are unknown.")
        estimator = cls(**content["parameters"])
        vars(estimator).update(_unpacked(content["state"]))
        return estimator

    return read_file(path, _KIND, build)


def _unpacked(saved: Any) -> dict[str, Any]:
    if unknown := saved.keys() - {field.name for field in FITTED}:
        raise ValueError(f"the attributes {sorted(unknown)} are unknown.")
    state: dict[str, Any] = {}
    for field in FITTED:
        if field.name in saved or not field.optional:
            state[field.name] = field.unpack(saved[field.name], state)
    return state


def _as_it_is(value: Any) -> Any:
    return value


def _unpack_tree(_: Any, state: State) -> UltrametricTree:
    return UltrametricTree.from_spanning_tree(state["spanning_tree_"])


def _pack_plan(plan: Plan) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in Plan.__dataclass_fields__}


def _unpack_plan(saved: Any, state: State) -> Plan:
    settings = dict(saved)
    given = settings.pop("points")
    init, n_starts = settings.pop("init"), settings.pop("n_starts")
    least = settings.pop("min_cluster_size")
    if least is not None and not (type(least) is float and 0.0 < least < np.inf):
        raise ValueError(f"min_cluster_size must be a number above zero; got {least!r}.")
    plan = Plan.check(
        state["tree_"].n_points,
        settings.pop("n_clusters"),
        init=init if given is None else given,
        n_init=n_starts,
        **settings,
    )
    return replace(plan, min_cluster_size=least)  # checked by the fit, against its weights


def _pack_rows(rows: WeightedRows) -> dict[str, Any]:
    links = rows.links
    return {
        "point_weights": rows.point_weights,
        "is_fitted": rows.is_fitted,
        "links": None if links is None else [links.begin, links.point, links.length],
    }


def _unpack_rows(saved: Any, state: State) -> WeightedRows:
    point_weights, is_fitted, links = saved["point_weights"], saved["is_fitted"], saved["links"]
    n_points = state["tree_"].n_points
    if point_weights is not None:
        _check_array(point_weights, np.float64, (n_points,), "point_weights")
        if not (np.isfinite(point_weights) & (point_weights > 0.0)).all():
            raise ValueError("weights must be finite and above zero.")
    if (is_fitted is None) != (links is None) or (is_fitted is not None and point_weights is None):
        raise ValueError("rows that are not fitted must have links to those that are.")
    if is_fitted is None:
        return WeightedRows(point_weights)
    _check_array(is_fitted, np.bool_, (None,), "is_fitted")
    if np.count_nonzero(is_fitted) != n_points:
        raise ValueError("is_fitted must be true for each point of the tree.")
    return WeightedRows(point_weights, is_fitted, _checked_links(links, len(is_fitted), n_points))


def _checked_links(links: Any, n_rows: int, n_points: int) -> Attachments:
    begin, point, length = links
    _check_array(begin, np.int64, (n_rows - n_points + 1,), "links")
    _check_array(point, np.int64, (None,), "links")
    _check_array(length, np.float64, point.shape, "links")
    # Each row has a link at least.
    if begin[0] != 0 or begin[-1] != len(point) or (begin[1:] <= begin[:-1]).any():
        raise ValueError("links are not in order.")
    if len(point) and not (point.min() >= 0 and point.max() < n_points and (length >= 0.0).all()):
        raise ValueError("links lead nowhere.")
    return Attachments(begin, point, length)


def _unpack_labels(labels: Any, state: State) -> Array:
    is_fitted = state["_fitted_rows"].is_fitted
    n_rows = state["tree_"].n_points if is_fitted is None else len(is_fitted)
    _check_array(labels, np.int32, (n_rows,), "labels_")
    if labels.min() < 0 or labels.max() >= state["_fitted_plan"].n_clusters:
        raise ValueError("labels_ must be numbers of clusters.")
    return np.asarray(labels)


def _check_array(
    array: Any, dtype: type[np.generic], shape: tuple[int | None, ...], name: str
) -> None:
    """Raise ValueError for anything but an array of a type and a shape; None is any length."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != len(shape):
        raise ValueError(f"{name} must be an array of {dtype.__name__}.")
    if any(
        expected not in (None, found) for expected, found in zip(shape, array.shape, strict=True)
    ):
        raise ValueError(f"{name} must have the shape {shape}, got {array.shape}.")


def _unpack_inertia(inertia: Any, _: State) -> float:
    if not isinstance(inertia, float) or not inertia >= 0.0:
        raise ValueError(f"inertia_ must be a number, not negative; got {inertia!r}.")
    return inertia


def _unpack_count(count: Any, _: State) -> int:
    if type(count) is not int or count < 1:
        raise ValueError(f"a count must be an integer above zero; got {count!r}.")
    return count


def _unpack_names(names: Any, state: State) -> Array:
    if not isinstance(names, np.ndarray) or names.dtype != object:
        raise ValueError("feature_names_in_ must be strings.")
    if len(names) != state["n_features_in_"]:
        raise ValueError("feature_names_in_ must be as many as there are features.")
    return names


def _pack_new_rows(new_rows: NewRows) -> dict[str, Any]:
    return {
        "points": new_rows.points,
        "metric": new_rows.metric,
        "metric_params": new_rows.metric_params,
    }


def _unpack_new_rows(saved: Any, state: State) -> NewRows:
    points, metric, params = saved["points"], saved["metric"], saved["metric_params"]
    resolved = resolve_metric(metric, params)
    plan, rows, tree = state["_fitted_plan"], state["_fitted_rows"], state["tree_"]
    if (points is None) != isinstance(resolved, PrecomputedMetric):
        raise ValueError("points must be there, unless distances were given.")
    if points is not None:
        points = check_points(
            points, allow_nan=resolved.accepts_nan, accept_sparse=resolved.accepts_sparse
        )
        if points.shape != (tree.n_points, state["n_features_in_"]):
            raise ValueError(f"there are {tree.n_points} points, but rows of {points.shape}.")
    labels = state["labels_"].copy()
    return NewRows(points, rows, tree, labels, plan.objective, plan.power, metric, params)


# The arrays of a suggestion that have an entry for each number of clusters.
_PER_NUMBER = {"ranking": np.int64, "numbers": np.int64} | dict.fromkeys(
    ("gap", "ratio", "strength", "chance", "drop", "silhouette"), np.float64
)
_WORDS = ("explanation", "verdicts", "reasons")


def _pack_suggestion(suggestion: Suggestion) -> dict[str, Any]:
    parts = {name: getattr(suggestion, name) for name in Suggestion.__dataclass_fields__}
    return {name: list(part) if isinstance(part, tuple) else part for name, part in parts.items()}


def _unpack_suggestion(saved: Any, state: State) -> Suggestion:
    parts = dict(saved)
    if parts.keys() != Suggestion.__dataclass_fields__.keys():
        raise ValueError("suggestion_ must have all its parts and no others.")
    n_numbers = len(parts["numbers"])
    for name, dtype in _PER_NUMBER.items():
        _check_array(parts[name], dtype, (n_numbers,), f"suggestion_.{name}")
    _check_array(parts["labels"], np.int32, state["labels_"].shape, "suggestion_.labels")
    for sizes in parts["sizes"]:
        _check_array(sizes, np.int64, (None,), "suggestion_.sizes")
    words = [parts["confidence"], *(word for name in _WORDS for word in parts[name])]
    if not all(isinstance(word, str) for word in words) or type(parts["clear_from"]) is not float:
        raise ValueError("suggestion_ must explain itself in words, and by one number.")
    _unpack_count(parts["n_clusters"], state)
    return Suggestion(**{**parts, **{name: tuple(parts[name]) for name in ("sizes", *_WORDS)}})


# In the order in which they are unpacked. What another part of a fit leaves behind needs a line
# here, or a test fails.
FITTED = (
    Field(
        "spanning_tree_", SpanningTree._content, lambda tree, _: SpanningTree._from_content(tree)
    ),
    Field("tree_", lambda _: None, _unpack_tree),
    Field("_fitted_plan", _pack_plan, _unpack_plan),
    Field("_fitted_rows", _pack_rows, _unpack_rows),
    Field("labels_", _as_it_is, _unpack_labels),
    Field("inertia_", _as_it_is, _unpack_inertia),
    Field("n_iter_", _as_it_is, _unpack_count),
    Field("n_clusters_", _as_it_is, _unpack_count),
    Field("suggestion_", _pack_suggestion, _unpack_suggestion, optional=True),
    Field("n_features_in_", _as_it_is, _unpack_count, optional=True),
    Field("feature_names_in_", _as_it_is, _unpack_names, optional=True),
    Field("_new_rows", _pack_new_rows, _unpack_new_rows),
)
