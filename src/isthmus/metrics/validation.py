"""Raw input → checked arrays.

What a user passes is checked here, before any work is done; later stages trust what they get. An
error says what was wrong, what was expected and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from isthmus._utils.parameters import as_real
from isthmus._utils.typing import Array, Floats
from isthmus.metrics.integers import refuse_rounded_integers

# Relative difference up to which the distances of (i, j) and (j, i) count as equal: rounding.
SYMMETRY_TOLERANCE = 1e-8

SPARSE_REFUSED = (
    "Sparse points are served for the metrics 'euclidean', 'sqeuclidean', 'cosine', 'angular' and "
    "'hellinger', by TransitiveCut, TransitiveKMeans and minimum_spanning_tree. Use X.toarray() "
    "for others; for a graph of distances, metric='precomputed'."
)
MISSING_ADVICE = (
    "Missing values: metric='nan_euclidean' compares rows by the values that they share, and "
    "metric='gower' does so for whole tables; or fill them in first, for example with "
    "scikit-learn's SimpleImputer or KNNImputer."
)
# Beyond this ratio products of a few weights could underflow beside the largest.
LARGEST_RATIO_OF_WEIGHTS = 2.0**200


def refuse_masked(X: Any) -> None:
    """Raise for masked arrays, of which NumPy would forget the mask without a word."""
    if np.ma.isMaskedArray(X):
        raise TypeError("Masked arrays are not supported: fill in or remove masked entries first.")


def refuse_unsuitable(X: Any) -> None:
    """Raise for what is no number: dates and masked entries, and columns of text."""
    refuse_masked(X)
    refuse_texts(X)
    dtypes = getattr(X, "dtypes", None)  # of a data frame, one per column
    if dtypes is None or len(X.shape) == 1:  # a series has one
        dtypes = [getattr(X, "dtype", None)]
    for dtype in dtypes:
        temporal = getattr(dtype, "is_temporal", None)  # polars
        if getattr(dtype, "kind", None) in ("m", "M") or (temporal is not None and temporal()):
            raise TypeError(
                f"Dates and durations ({dtype}) have no unit of distance: turn them into numbers, "
                "for example days, first; or metric='gower' takes them as they are."
            )


def refuse_texts(X: Any) -> None:
    """Raise ValueError for a data frame with columns of text, with their names and what to do."""
    names = texts_of(X)
    if not names:
        return
    listed = ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
    holds = f"Column {listed} holds" if len(names) == 1 else f"The columns {listed} hold"
    raise ValueError(
        f"{holds} text, which has no distance of its own. Three ways out: metric='gower', which "
        "takes tables as they are; numbers in its place, for example of scikit-learn's "
        f"OneHotEncoder; or without it, X.drop(columns={names[:10]!r})."
    )


def texts_of(X: Any) -> list[str]:
    """Return the names of the columns of a data frame that hold text which is no number."""
    if hasattr(X, "get_columns"):  # polars
        columns = {column.name: column for column in X.get_columns()}
        found = [n for n, c in columns.items() if not c.dtype.is_numeric()]
        return [name for name in found if _holds_text(columns[name].to_list())]
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        return []
    return [
        str(name)
        for name, dtype, j in zip(X.columns, X.dtypes, range(len(X.columns)), strict=True)
        if getattr(dtype, "kind", "O") in "OUS" and _holds_text(X.iloc[:, j].tolist())
    ]


def _holds_text(values: list[Any]) -> bool:
    return any(isinstance(value, str) and not _is_number(value) for value in values)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@contextmanager
def missing_explained() -> Iterator[None]:
    """Say what serves missing values here, in place of what scikit-learn would advise."""
    try:
        yield
    except ValueError as error:
        first = str(error).split("\n")[0]
        if "contains NaN" not in first:
            raise
        raise ValueError(f"{first.rstrip('.')}. {MISSING_ADVICE}") from None


def float_types(X: Any) -> list[type]:
    """Return the types that points may have, the first being the one to convert others to.

    float32 holds all numbers of the small types (float16, int16, uint8, bool …) exactly.
    """
    dtypes = getattr(X, "dtypes", None)  # of a data frame, one per column
    if dtypes is None or len(X.shape) == 1:
        dtypes = [getattr(X, "dtype", None)]
    small = all(isinstance(dtype, np.dtype) and np.can_cast(dtype, np.float32) for dtype in dtypes)
    return [np.float32, np.float64] if small else [np.float64, np.float32]


def check_points(X: Any, *, allow_nan: bool = False, accept_sparse: bool = False) -> Array:
    """Return X as a finite 2-D array of float64 or float32; see float_types.

    What is sparse becomes a CSR matrix or array, its indices sorted, no entry stored twice.
    """
    refuse_unsuitable(X)
    if issparse(X) and not accept_sparse:
        raise TypeError(SPARSE_REFUSED)
    refuse_rounded_integers(X)
    with missing_explained():
        points = check_array(
            X,
            accept_sparse="csr",
            dtype=float_types(X),
            ensure_all_finite="allow-nan" if allow_nan else True,
            ensure_min_features=1,
            estimator="isthmus",
        )
    checked: Array = canonical(points)
    return checked


def canonical(points: Any) -> Any:
    """Return points as kernels read them, perhaps a copy.

    Numbers of an array are aligned; those of raw bytes and of records need not be. A CSR matrix has
    its indices sorted and no entry stored twice.
    """
    if not issparse(points):
        return np.require(points, requirements="A")
    if points.has_canonical_format:
        return points
    copied = points.copy()
    copied.sum_duplicates()
    return copied


def check_items(X: Any) -> list[Any]:
    """Return what a callable metric compares: the objects of a list, or the rows of a table.

    Rows are 1-D arrays of finite numbers, of the type that the table had.
    """
    objects = as_objects(X)
    if objects is not None:
        return objects
    refuse_unsuitable(X)
    return list(check_array(X, estimator="isthmus"))


def as_objects(X: Any) -> list[Any] | None:
    """Return a list, or 1-D array, of objects as a list; None for all else.

    A list of rows of numbers, all of one length, is a table and no list of objects.
    """
    if isinstance(X, list | tuple):
        return None if _is_table(X) else list(X)
    if len(getattr(X, "shape", ())) == 1 and np.asarray(X).dtype.kind in "OUST":
        return list(X)
    return None


def _is_table(rows: list[Any] | tuple[Any, ...]) -> bool:
    lengths = set()
    for row in rows:
        if not isinstance(row, list | tuple | np.ndarray):
            return False
        try:
            array = np.asarray(row)
        except ValueError:  # lists of several lengths
            return False
        if array.ndim != 1 or array.dtype.kind not in "biufc":
            return False
        lengths.add(len(array))
    return len(lengths) <= 1


def check_sample_weight(
    sample_weight: Any, n_rows: int, *, all_may_be_zero: bool = False
) -> Floats | None:
    """Return the weights of rows, (n_rows,), as float64; None where none are given.

    One number is the weight of every row. Weights are finite and not negative, some are above
    zero, unless all may be zero, and these are not further apart than what sums and products of
    them can hold.
    """
    if sample_weight is None:
        return None
    refuse_unsuitable(sample_weight)
    weights = as_real(sample_weight, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must be one number for each of {n_rows} rows, or one for all; got an "
            f"array of shape {weights.shape}."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if wrong.size:
        raise ValueError(
            "sample_weight must be finite and not negative, but that of row "
            f"{wrong[0]} is {weights[wrong[0]]:g}."
        )
    positive = weights[weights > 0.0]
    if not positive.size:
        if all_may_be_zero:
            return weights
        raise ValueError("sample_weight is zero for every row: nothing is left to fit.")
    with np.errstate(over="ignore"):
        ratio = positive.max() / positive.min()
    if ratio > LARGEST_RATIO_OF_WEIGHTS:
        raise ValueError(
            f"sample_weight ranges from {positive.min():g} to {positive.max():g}, more than a "
            f"factor of {LARGEST_RATIO_OF_WEIGHTS:.0e}. Give rows that hardly count the weight 0."
        )
    return weights


def check_positive_weights(sample_weight: Any, n_points: int) -> Floats | None:
    """Return the weights of the points of a tree, all above zero; None where none are given."""
    weights = check_sample_weight(sample_weight, n_points)
    if weights is not None and not weights.all():
        raise ValueError(
            f"sample_weight must be above 0, but that of point {int(weights.argmin())} is 0. Leave "
            "points that do not count out of the tree, as a fit does."
        )
    return weights
