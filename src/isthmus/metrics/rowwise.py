"""Metrics of which nothing is known but their distances: SciPy's others, and Python callables.

No engine can look ahead for them, so their spanning tree is found by Prim's algorithm, which asks
for one row of distances at a time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from isthmus._utils.parameters import as_real
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics.maps import as_booleans, as_float64, as_weightings

# Every pair among the first points, up to this number, is asked for in both orders.
_PAIRS_CHECKED_AMONG = 50

# How long a call of ``fill`` may take: much longer than to begin it, on another thread too.
_BLOCK_NANOSECONDS = 300_000

_BOTH_ZERO = "Two rows of zeros have no such distance."
_SUM_IS_ZERO = "Two rows that add up to zero have no such distance."
_TOO_LARGE = "Some values are too large."
_NOTHING_SHARED = "They have no feature in common."


@dataclass(frozen=True)
class RowMetric:
    """A named metric, computed a row of distances at a time.

    Attributes
    ----------
    name : str
        The canonical name.
    prepare : callable
        Maps checked points to what ``fill`` reads: (n, n_features) float64, C-contiguous, a copy.
    fill : callable
        ``fill(row, rows, out)`` fills out, (1, m), with the distances of row, (1, n_features), to
        rows, (m, n_features). Symmetric up to rounding, and without the GIL.
    accepts_nan : bool
        Whether the points may have missing values.
    undefined : str
        Why a distance can come out as something that is not one.
    cost : int
        How long a distance takes, in nanoseconds per feature, roughly.
    """

    name: str
    prepare: Callable[[Array], Floats]
    fill: Callable[[Floats, Floats, Floats], None]
    accepts_nan: bool = False
    undefined: str = _TOO_LARGE
    cost: int = 2

    accepts_sparse = takes_objects = False

    def block_length(self, n_features: int) -> int:
        """Return how many distances are worth a thread's while: a fraction of a millisecond.

        Whoever splits a row splits it so, for any number of threads: they change nothing then.
        """
        return max(1, _BLOCK_NANOSECONDS // (self.cost * n_features))

    def refuse_invalid(
        self, distances: Floats, i: int, others: Ints, n_fitted: int | None = None
    ) -> None:
        """Raise where a distance of point i to one of the others is not finite or negative."""
        j = first_invalid(distances)
        if j is not None:
            first, second = sorted((i, int(others[j])))
            raise ValueError(
                f"The distance of {names_of(first, second, n_fitted)} by metric={self.name!r} is "
                f"{distances[j]}. {self.undefined}"
            )


@dataclass(frozen=True)
class CallableMetric:
    """A metric that Python computes, a pair at a time.

    Attributes
    ----------
    name : str
        For messages.
    function : callable
        ``function(x, y)`` returns a number.
    """

    name: str
    function: Callable[[Any, Any], Any]

    takes_objects = True
    accepts_sparse = accepts_nan = False

    def distances(
        self, items: Sequence[Any], i: int, others: Sequence[int], n_fitted: int | None = None
    ) -> Floats:
        """Return the distances of item i to others; raise where one is none.

        n_fitted : int, optional
            Items behind as many are new: see names_of.
        """
        x, function = items[i], self.function
        values: list[Any] = []
        try:
            for j in others:
                values.append(function(x, items[j]))  # noqa: PERF401  (its length names the pair)
        except Exception as error:
            names = names_of(i, others[len(values)], n_fitted)
            error.add_note(f"metric={self.name} was called with {names}")
            raise
        row = self._as_floats(values, i, others, n_fitted)
        wrong = first_invalid(row)
        if wrong is not None:
            raise ValueError(
                f"metric={self.name} returned {values[wrong]!r} for "
                f"{names_of(i, others[wrong], n_fitted)}; a distance is a finite number, not below "
                "0."
            )
        return row

    def check_symmetry(self, items: Sequence[Any]) -> None:
        """Raise unless all pairs among the first items have one distance in both orders."""
        for i in range(1, min(len(items), _PAIRS_CHECKED_AMONG)):
            row = self.distances(items, i, range(i))
            for j in range(i):
                self._compare(items, i, j, row[j])

    def check_pair(self, items: Sequence[Any], i: int, j: int, distance: float) -> None:
        """Raise unless the distance from j to i is this one, which is that from i to j."""
        if max(i, j) >= _PAIRS_CHECKED_AMONG:  # the others have been compared
            self._compare(items, i, j, distance)

    def _compare(self, items: Sequence[Any], i: int, j: int, there: float) -> None:
        from isthmus.metrics.validation import SYMMETRY_TOLERANCE  # loads scikit-learn

        back = self.distances(items, j, (i,))[0]
        if abs(there - back) > SYMMETRY_TOLERANCE * max(there, back):
            raise ValueError(
                f"metric={self.name} is not symmetric: for rows {i} and {j} it returned "
                f"{there:.17g}, and {back:.17g} for rows {j} and {i}."
            )

    def _as_floats(
        self, values: list[Any], i: int, others: Sequence[int], n_fitted: int | None
    ) -> Floats:
        try:
            row = np.asarray(values)
        except ValueError:  # values of several lengths
            row = np.empty(0, dtype=object)
        if row.shape == (len(values),) and row.dtype.kind in "fiub":
            return row.astype(np.float64, copy=False)
        for j, value in enumerate(values):
            if not isinstance(value, Real | np.bool_):
                raise TypeError(
                    f"metric={self.name} must return a real number, but it returned {value!r} for "
                    f"{names_of(i, others[j], n_fitted)}."
                )
        return np.array([_as_float(value) for value in values], dtype=np.float64)


def names_of(i: int, j: int, n_fitted: int | None = None) -> str:
    """Return two rows for messages; those behind n_fitted are new, and counted from 0."""
    if n_fitted is None or max(i, j) < n_fitted:
        return f"rows {i} and {j}"
    return f"new row {max(i, j) - n_fitted} and row {min(i, j)} of the fit"


def first_invalid(distances: Floats) -> int | None:
    """Return the index of the first entry that is negative or not finite."""
    # the minimum of what holds a NaN is NaN
    if not len(distances) or (distances.min() >= 0.0 and distances.max() < np.inf):
        return None
    return int(np.flatnonzero(~((distances >= 0.0) & (distances < np.inf)))[0])


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an int or a fraction beyond all floats
        return np.inf


def callable_metric(function: Callable[..., Any], params: Mapping[str, Any]) -> CallableMetric:
    """Return the metric of a callable, which takes two points and the parameters by name."""
    name = getattr(function, "__name__", None) or repr(function)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C, and silent about its arguments
        signature = None
    if signature is not None:
        try:
            signature.bind(None, None, **params)
        except TypeError as error:
            raise TypeError(
                f"metric={name} cannot be called with two points and the parameters "
                f"{sorted(params)}: {error}."
            ) from None
    return CallableMetric(name, partial(function, **params) if params else function)


def row_metric(name: str, params: dict[str, Any]) -> RowMetric:
    """Return the named metric; take the parameters that it knows out of ``params``.

    Parameters
    ----------
    name : str
        Of ``ROW_METRIC_NAMES``.
    params : dict
        ``{"w": weights}``, one for each feature; ``{"base": …}`` for ``"jensenshannon"``;
        ``{"missing_values": …, "squared": …}`` for ``"nan_euclidean"``.
    """
    if name == "jensenshannon":
        return _jensenshannon(params.pop("base", None))
    if name == "nan_euclidean":
        return _nan_euclidean(params.pop("missing_values", np.nan), params.pop("squared", False))
    if name == "kulsinski":
        return RowMetric(name, as_booleans, _fill_kulsinski)
    prepare, undefined = _BY_SCIPY[name]
    weights = as_weights(params.pop("w", None), name)
    if weights is None:
        return RowMetric(name, prepare, partial(_fill, name), undefined=undefined)
    return RowMetric(
        name,
        partial(_with_weight_per_feature, prepare, name, weights),
        partial(_fill, name, w=weights),
        undefined=f"{undefined} Features of weight 0 are left out.",
    )


def as_weights(weights: Any, metric: str) -> Floats | None:
    """Return checked weights of features, or None where there are none."""
    if weights is None:
        return None
    array = as_real(weights, f"w of metric={metric!r}")
    valid = array.ndim == 1 and (np.isfinite(array) & (array >= 0)).all() and array.any()
    if not valid:
        raise ValueError(
            f"metric={metric!r} needs w to be one finite weight for each feature, none below 0 "
            "and not all of them 0."
        )
    return array


def require_weight_per_feature(points: Array, weights: Floats, metric: str) -> None:
    """Raise unless there are as many weights as features."""
    if len(weights) != points.shape[1]:
        raise ValueError(
            f"metric={metric!r} needs one weight w for each of {points.shape[1]} features, got "
            f"{len(weights)}."
        )


def _with_weight_per_feature(
    prepare: Callable[[Array], Floats], metric: str, weights: Floats, points: Array
) -> Floats:
    require_weight_per_feature(points, weights, metric)
    return prepare(points)


def _fill(metric: str, row: Floats, rows: Floats, out: Floats, **params: Any) -> None:
    from scipy.spatial.distance import cdist  # names alone need no SciPy

    cdist(row, rows, metric, out=out, **params)


def _fill_kulsinski(row: Floats, rows: Floats, out: Floats) -> None:
    # SciPy has it no more; it is made of two that it has
    different = np.empty_like(out)
    _fill("hamming", row, rows, different)
    _fill("russellrao", row, rows, out)
    out += different
    out /= 1.0 + different


def _jensenshannon(base: Any) -> RowMetric:
    if base is not None and (
        isinstance(base, bool) or not isinstance(base, Real) or not 1.0 < float(base) < np.inf
    ):
        raise ValueError(
            f"metric='jensenshannon' needs the base of a logarithm, a number above 1; got "
            f"base={base!r}."
        )
    unit = 1.0 if base is None else float(np.sqrt(np.log(float(base))))
    return RowMetric("jensenshannon", as_weightings, partial(_fill_jensenshannon, unit), cost=30)


def _fill_jensenshannon(unit: float, row: Floats, rows: Floats, out: Floats) -> None:
    _fill("jensenshannon", row, rows, out)
    # Of rows that are all but equal the sum under the root can come out below zero.
    np.nan_to_num(out, copy=False, nan=0.0, posinf=np.inf)
    if unit != 1.0:
        out /= unit


def _nan_euclidean(missing_values: Any, squared: Any) -> RowMetric:
    if isinstance(missing_values, bool) or not isinstance(missing_values, Real):
        raise TypeError(
            "metric='nan_euclidean' needs missing_values to be the number, or NaN, that stands for "
            f"them; got {missing_values!r}."
        )
    if not isinstance(squared, bool | np.bool_):
        raise TypeError(f"metric='nan_euclidean' needs squared to be a bool, got {squared!r}.")
    return RowMetric(
        "nan_euclidean",
        partial(_with_gaps, float(missing_values)),
        partial(_fill_nan_euclidean, bool(squared)),
        accepts_nan=bool(np.isnan(float(missing_values))),
        undefined=_NOTHING_SHARED,
        cost=8,
    )


def _with_gaps(missing_value: float, points: Array) -> Floats:
    rows = as_float64(points)
    rows[rows == missing_value] = np.nan
    return rows


def _fill_nan_euclidean(squared: bool, row: Floats, rows: Floats, out: Floats) -> None:
    difference = rows - row
    missing = np.isnan(difference)
    difference[missing] = 0.0
    np.einsum("ij,ij->i", difference, difference, out=out[0])
    n_features = rows.shape[1]
    with np.errstate(invalid="ignore"):  # 0 / 0 where nothing is shared
        out[0] *= n_features
        out[0] /= n_features - missing.sum(axis=1)
    if not squared:
        np.sqrt(out, out=out)


# How SciPy's metrics want the points, and why a distance can be undefined.
_BY_SCIPY: dict[str, tuple[Callable[[Array], Floats], str]] = {
    "braycurtis": (as_float64, _SUM_IS_ZERO),
    "canberra": (as_float64, _TOO_LARGE),
    "hamming": (as_float64, _TOO_LARGE),
    "jaccard": (as_booleans, _TOO_LARGE),
    "dice": (as_booleans, _BOTH_ZERO),
    "rogerstanimoto": (as_booleans, _TOO_LARGE),
    "russellrao": (as_booleans, _TOO_LARGE),
    "sokalsneath": (as_booleans, _BOTH_ZERO),
    "yule": (as_booleans, _TOO_LARGE),
}

ROW_METRIC_NAMES = (*_BY_SCIPY, "kulsinski", "jensenshannon", "nan_euclidean")
"""The names of all metrics that are served by rows of distances."""
