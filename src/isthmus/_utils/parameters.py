"""Parameters and labels that a user passes → checked values, or an error that says what to do."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from isthmus._utils.parallel import available_cores
from isthmus._utils.typing import Array, Floats, Ints

# More threads than these are started only for as many cores.
_MOST_THREADS = 64


def as_real(values: Any, what: str) -> Floats:
    """Return an array of float64; refuse complex numbers instead of dropping imaginary parts."""
    try:
        array = np.asarray(values)
        real = array.astype(np.float64) if not np.iscomplexobj(array) else None
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what} must hold real numbers: {error}") from error
    if real is None:
        raise TypeError(f"{what} must hold real numbers, got {array.dtype}.")
    return real


def coded_labels(labels: Any, n_points: int) -> tuple[Array, Ints]:
    """Return the distinct labels, ascending, and the index of each point's label among them."""
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
        # a small range of integers is counted instead of sorted
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


def check_indices(indices: Any, n_points: int) -> Ints:
    """Return indices of points as int64, 0 to n_points - 1; negative ones count from the end."""
    array = np.asarray(indices)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise IndexError(f"Points are numbered by integers, got dtype {array.dtype}.")
    wrong = (array < -n_points) | (array >= n_points)
    if wrong.any():
        raise IndexError(
            f"Point {array[wrong].flat[0]} is out of range: the tree has {n_points} points."
        )
    resolved = array.astype(np.int64)
    return np.where(resolved < 0, resolved + n_points, resolved)


def check_integer(value: Any, name: str, minimum: int) -> int:
    """Return value as an int of at least ``minimum``."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value!r}.")
    return int(value)


def check_n_clusters(n_clusters: Any, n_points: int) -> int:
    """Return n_clusters as an int between 1 and the number of points."""
    k = check_integer(n_clusters, "n_clusters", 1)
    if k > n_points:
        raise ValueError(
            f"n_samples={n_points} should be >= n_clusters={k}: "
            "no more clusters than points can be formed."
        )
    return k


def check_n_clusters_range(k_min: Any, k_max: Any, n_points: int) -> tuple[int, int]:
    """Return the ends of a range of numbers of clusters, both included, as ints."""
    low, high = check_integer(k_min, "k_min", 1), check_integer(k_max, "k_max", 1)
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

    None is 1; -1 is every core, -2 every core but one, and so on. Whatever is asked for, there are
    no more than 64 threads, or one for each core where there are more cores: others only wait.
    """
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs must be an integer or None, got {n_jobs!r}.")
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: use 1 for one thread, -1 for every core.")
    if n_jobs is None:
        return 1
    count = int(n_jobs)
    if count > 0:
        return min(count, max(_MOST_THREADS, available_cores()))
    return max(1, available_cores() + 1 + count)


def check_positive(value: Any, name: str) -> float:
    """Return value as a finite float above zero."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    if not 0.0 < float(value) < np.inf:
        raise ValueError(f"{name} must be above 0 and finite, got {value!r}.")
    return float(value)


def check_disconnected(value: Any) -> float | None:
    """Return the distance between the components of a graph; None where they are an error.

    value : {"error", "join"} or float
        "join" is an infinite distance.
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
