"""Raw input → checked arrays.

Whatever a user passes is checked here, before any work is done; the rooms after this one trust
what they get. An error says what was wrong, what was expected and what to do.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from isthmus._parallel import available_cores
from isthmus._typing import Array, Floats, Ints

# Relative difference up to which the distances of (i, j) and (j, i) count as equal: rounding.
SYMMETRY_TOLERANCE = 1e-8

SPARSE_REFUSED = (
    "Sparse points are served for the metrics 'euclidean', 'sqeuclidean', 'cosine', 'angular' and "
    "'hellinger', by TransitiveClustering and minimum_spanning_tree. Use X.toarray() for others; "
    "for a graph of distances, metric='precomputed'."
)
# Beyond this ratio products of a few weights could underflow beside the largest.
LARGEST_RATIO_OF_WEIGHTS = 2.0**200


def as_real(values: Any, what: str) -> Floats:
    """Return an array of float64; complex numbers are refused, not cut to their real parts."""
    try:
        array = np.asarray(values)
        real = array.astype(np.float64) if not np.iscomplexobj(array) else None
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} must hold real numbers: {error}") from error
    if real is None:
        raise TypeError(f"{what} must hold real numbers, got {array.dtype}.")
    return real


def refuse_unsuitable(X: Any) -> None:
    """Raise for what NumPy would turn into numbers without a word: dates and masked entries."""
    if np.ma.isMaskedArray(X):
        raise TypeError("Masked arrays are not supported: fill in or remove masked entries first.")
    dtypes = getattr(X, "dtypes", None)  # of a data frame, one per column
    if dtypes is None or len(X.shape) == 1:  # a series has one
        dtypes = [getattr(X, "dtype", None)]
    for dtype in dtypes:
        temporal = getattr(dtype, "is_temporal", None)  # polars
        if getattr(dtype, "kind", None) in ("m", "M") or (temporal is not None and temporal()):
            raise TypeError(
                f"Dates and durations ({dtype}) have no unit of distance: turn them into numbers, "
                "for example days, first."
            )


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
    points: Array = check_array(
        X,
        accept_sparse="csr",
        dtype=float_types(X),
        ensure_all_finite="allow-nan" if allow_nan else True,
        ensure_min_features=1,
        estimator="isthmus",
    )
    return canonical(points) if issparse(points) else points


def canonical(points: Any) -> Any:
    """Return a CSR matrix with its indices sorted and no entry stored twice, perhaps a copy."""
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


def check_sample_weight(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return the weights of rows, (n_rows,), as float64; None where none are given.

    One number is the weight of every row. Weights are finite and not negative, some are above
    zero, and these are not further apart than what sums and products of them can hold.
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
        raise ValueError("sample_weight is zero for every row: nothing is left to fit.")
    with np.errstate(over="ignore"):
        ratio = positive.max() / positive.min()
    if ratio > LARGEST_RATIO_OF_WEIGHTS:
        raise ValueError(
            f"sample_weight ranges from {positive.min():g} to {positive.max():g}, more than a "
            f"factor of {LARGEST_RATIO_OF_WEIGHTS:.0e}. Give rows that hardly count the weight 0."
        )
    return weights


def coded_labels(labels: Any, n_points: int) -> tuple[Array, Ints]:
    """Return the different labels, ascending, and which of them each point has."""
    array = np.asarray(labels)
    if array.shape != (n_points,):
        raise ValueError(
            f"labels must be one label for each of {n_points} points, an array of shape "
            f"({n_points},); got shape {array.shape}."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        point = int(np.isfinite(array).argmin())
        raise ValueError(f"labels must not contain NaN or infinity, but point {point} has it.")
    if array.dtype.kind in "iu":
        low, high = int(array.min()), int(array.max())
        # numbers so close together are counted, not sorted
        if high - low < 4 * n_points and high <= np.iinfo(np.int64).max:
            numbers = array.astype(np.int64) - low if low or array.dtype != np.int64 else array
            present = np.zeros(high - low + 1, dtype=bool)
            present[numbers] = True
            return np.flatnonzero(present) + low, (np.cumsum(present) - 1)[numbers]
    try:
        names, codes = np.unique(array, return_inverse=True)
    except TypeError as error:
        raise TypeError(f"labels must be comparable with one another: {error}.") from error
    return names, codes.astype(np.int64)


def check_whole_number(value: Any, name: str, minimum: int) -> int:
    """Return value as an int of at least ``minimum``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}.")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value!r}.")
    return int(value)


def check_n_clusters(n_clusters: Any, n_points: int) -> int:
    """Return n_clusters as an int between 1 and the number of points."""
    k = check_whole_number(n_clusters, "n_clusters", 1)
    if k > n_points:
        raise ValueError(
            f"n_samples={n_points} should be >= n_clusters={k}: "
            "no more clusters than points can be formed."
        )
    return k


def check_n_clusters_range(k_min: Any, k_max: Any, n_points: int) -> tuple[int, int]:
    """Return the ends of a range of numbers of clusters, both included, as ints."""
    low, high = check_whole_number(k_min, "k_min", 1), check_whole_number(k_max, "k_max", 1)
    if low > high:
        raise ValueError(f"k_min must not be above k_max, got k_min={low} and k_max={high}.")
    if high > n_points:
        raise ValueError(
            f"k_max={high}, but no more clusters than points can be formed, and there are "
            f"{n_points}."
        )
    return low, high


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Return value if it is one of the named choices."""
    if isinstance(value, str) and value in choices:
        return value
    listed = ", ".join(repr(choice) for choice in choices)
    raise ValueError(f"{name} must be one of {listed}; got {value!r}.")


def check_n_jobs(n_jobs: Any) -> int:
    """Return the number of threads that n_jobs stands for, as in scikit-learn.

    None is 1; -1 is every core, -2 every core but one, and so on.
    """
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs must be a whole number or None, got {n_jobs!r}.")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: use 1 for one thread, -1 for every core.")
    if n_jobs is None:
        return 1
    count = int(n_jobs)
    return count if count > 0 else max(1, available_cores() + 1 + count)


def check_positive(value: Any, name: str) -> float:
    """Return value as a finite float above zero."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    if not 0.0 < float(value) < np.inf:
        raise ValueError(f"{name} must be above 0 and finite, got {value!r}.")
    return float(value)


def check_disconnected(value: Any) -> float | None:
    """Return how far apart the components of a graph are to be put; None: they are an error.

    Parameters
    ----------
    value : {"error", "join"} or float
        "join" is infinitely far.
    """
    if isinstance(value, str) and value in ("error", "join"):
        return None if value == "error" else np.inf
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"disconnected must be 'error', 'join' or a number, got {value!r}.")
    if not 0.0 <= float(value) < np.inf:
        raise ValueError(
            f"disconnected must be finite and not negative, got {value!r}. "
            "'join' puts components infinitely far apart."
        )
    return float(value)
