"""True classes and clusters → how well they agree.

The names of clusters mean nothing, so each cluster is first matched with a class: at most one
cluster per class, and in such a way that most points are right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from isthmus._utils.memory import require_memory

if TYPE_CHECKING:
    from isthmus._utils.typing import Array, Ints


@dataclass(frozen=True)
class _Coded:
    """Labels as indices into the array of the distinct ones."""

    names: Array
    codes: Ints


@dataclass(frozen=True)
class _Matching:
    """Pairs of a class and its cluster, as codes, and the number of points in such pairs."""

    classes: Ints
    clusters: Ints
    n_right: int


def error_rate(y_true: Any, y_pred: Any) -> float:
    """Return the share of points labelled wrongly under the best matching of labels.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The classes: numbers, strings or anything hashable.
    y_pred : array-like of shape (n_samples,)
        The clusters. There may be more or fewer than classes; every point of a cluster without a
        class counts as wrong.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    match_labels : The clusters with the names of their classes.
    sklearn.metrics.adjusted_rand_score : A measure that needs no matching.

    Examples
    --------
    >>> from isthmus.evaluation import error_rate
    >>> error_rate(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.25
    """
    true, pred = _coded_pair(y_true, y_pred)
    n_points = len(true.codes)
    return (n_points - _best_matching(true, pred).n_right) / n_points


def match_labels(y_true: Any, y_pred: Any) -> Array:
    """Return y_pred with each cluster renamed to the class that it is matched with.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        As for :func:`error_rate`.

    Returns
    -------
    ndarray of shape (n_samples,)
        Clusters without a class get names that no class has: the next integers if the classes are
        numbers, else ``"cluster …"`` with their own label.

    See Also
    --------
    error_rate : The share of points that are labelled wrongly.

    Examples
    --------
    >>> from isthmus.evaluation import match_labels
    >>> match_labels(["a", "a", "b", "b"], [1, 1, 0, 1]).tolist()
    ['a', 'a', 'b', 'a']
    """
    true, pred = _coded_pair(y_true, y_pred)
    matching = _best_matching(true, pred)
    names = true.names[:0]
    spare = np.setdiff1d(np.arange(len(pred.names)), matching.clusters)
    if spare.size:
        names = _spare_names(true.names, pred.names[spare])
    renamed = np.empty(len(pred.names), dtype=np.result_type(true.names, names))
    renamed[matching.clusters] = true.names[matching.classes]
    renamed[spare] = names
    return renamed[pred.codes]


def _coded_pair(y_true: Any, y_pred: Any) -> tuple[_Coded, _Coded]:
    true, pred = _coded(y_true, "y_true"), _coded(y_pred, "y_pred")
    if len(true.codes) != len(pred.codes):
        raise ValueError(
            "y_true and y_pred must label the same points, but have "
            f"{len(true.codes)} and {len(pred.codes)} labels."
        )
    return true, pred


def _coded(labels: Any, name: str) -> _Coded:
    array = np.asarray(labels)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be one label per point, for at least one point; got shape {array.shape}."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        point = int(np.isfinite(array).argmin())
        raise ValueError(f"{name} must not contain NaN or infinity, but point {point} has it.")
    if array.dtype != object:
        names, codes = np.unique(array, return_inverse=True)
        return _Coded(names, codes.astype(np.int64))
    # Objects need not be comparable, so they are numbered in the order of appearance.
    numbers: dict[Any, int] = {}
    codes = np.array([numbers.setdefault(label, len(numbers)) for label in array], dtype=np.int64)
    names = np.empty(len(numbers), dtype=object)
    names[:] = list(numbers)
    return _Coded(names, codes)


def _best_matching(true: _Coded, pred: _Coded) -> _Matching:
    shape = len(true.names), len(pred.names)
    require_memory(
        shape[0] * shape[1] * 8,
        f"Counting {shape[0]} classes against {shape[1]} clusters",
        "Pass labels of classes and clusters, not measured values.",
    )
    pairs = true.codes * shape[1] + pred.codes
    counts = np.bincount(pairs, minlength=shape[0] * shape[1]).reshape(shape)
    classes, clusters = linear_sum_assignment(counts, maximize=True)
    return _Matching(classes, clusters, int(counts[classes, clusters].sum()))


def _spare_names(classes: Array, clusters: Array) -> Array:
    """Return a name for each cluster, none of them a class's."""
    if classes.dtype.kind in "iuf":
        first = math.floor(classes.max()) + 1
        integer = np.uint64 if classes.dtype.kind == "u" else np.int64
        return np.arange(first, first + len(clusters), dtype=integer)
    taken = set(classes.tolist())
    names = []
    for label in clusters.tolist():
        name = f"cluster {label}"
        while name in taken:
            name += "'"
        taken.add(name)
        names.append(name)
    return np.array(names, dtype=object if classes.dtype.kind != "U" else str)
