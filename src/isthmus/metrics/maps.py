"""Maps of points after which a metric is an increasing function of a simpler one.

And the functions that lead back, from squared Euclidean distances to distances of the metric.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats

_NO_DIRECTION = (
    "Row {} is zero (or constant, for correlation), so it has no direction and no cosine, angular "
    "or correlation distance. Remove such rows or choose another metric."
)
_NEGATIVE = "metric={!r} compares distributions, but row {} has a negative entry."
_NO_DISTRIBUTION = "metric={!r} compares distributions, but row {} is zero. Remove such rows."


def unchanged(array: Array) -> Array:
    """Return the array itself."""
    return array


def as_float64(points: Array) -> Floats:
    """Return a copy as float64, in C order."""
    return np.array(points, dtype=np.float64, order="C", copy=True)


def as_booleans(points: Array) -> Floats:
    """Return 1.0 where an entry is not zero, and 0.0 where it is."""
    return np.asarray(points != 0, dtype=np.float64, order="C")


def weighted(points: Array, factors: Floats) -> Array:
    """Return points, each feature times a factor; the first point is moved to the origin.

    Small differences of large coordinates then keep their digits, and those of integers stay
    integers until they are multiplied.
    """
    moved: Array = (points - points[:1].astype(np.float64)) * factors
    return moved


def unit_rows(points: Array) -> Array:
    """Return rows divided by their lengths."""
    # float32 rows must not be rounded to float32 once more. Dividing by the largest entry first
    # keeps the norms of huge and tiny rows in range.
    points = points.astype(np.float64, copy=False)
    largest = np.abs(points).max(axis=1, keepdims=True)
    if not (largest > 0).all():
        row = int(np.flatnonzero(largest[:, 0] == 0)[0])
        raise ValueError(_NO_DIRECTION.format(row))
    scaled = points / largest
    unit: Array = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return unit


def centred_unit_rows(points: Array) -> Array:
    """Return rows less their means, divided by their lengths."""
    scaled = _up_to_one(points)
    return unit_rows(_without_noise(scaled - scaled.mean(axis=1, keepdims=True)))


def weighted_unit_rows(points: Array, weights: Floats) -> Array:
    """Return rows, each feature times the root of its weight, divided by their lengths."""
    # in units of the largest, so that no weight takes the rows out of range
    return unit_rows(points * np.sqrt(weights / weights.max()))


def weighted_centred_unit_rows(points: Array, weights: Floats) -> Array:
    """Return rows less their weighted means, weighted as above, divided by their lengths."""
    present = np.flatnonzero(weights)
    shares = weights[present] / weights.max()
    scaled = _up_to_one(points[:, present])
    means = (scaled * shares).sum(axis=1, keepdims=True) / shares.sum()
    return unit_rows(_without_noise(scaled - means) * np.sqrt(shares))


def _up_to_one(points: Array) -> Floats:
    """Return rows divided by their largest entries."""
    points = points.astype(np.float64, copy=False)
    largest = np.abs(points).max(axis=1, keepdims=True)
    return np.asarray(points / np.where(largest > 0.0, largest, 1.0))


def _without_noise(centred: Floats) -> Floats:
    """Set rows to zero that hold what is left of a constant row: rounding errors."""
    noise = 4 * np.finfo(np.float64).eps
    centred[np.abs(centred).max(axis=1) <= noise] = 0.0
    return centred


def half(squared: Array) -> Array:
    """Return one minus the cosine of the angle between unit vectors."""
    return squared / 2.0


def chord_to_angle(squared: Array) -> Array:
    """Return the angle between unit vectors, in radians."""
    # arcsin of the half chord is accurate for small angles, where arccos of the cosine is not
    return 2.0 * np.arcsin(np.minimum(np.sqrt(squared) / 2.0, 1.0))


def as_distributions(points: Array) -> Array:
    """Return the square roots of rows, each divided by its sum."""
    points = points.astype(np.float64, copy=False)
    _require_distributions(points, "hellinger")
    scaled = points / points.max(axis=1, keepdims=True)
    roots: Array = np.sqrt(scaled / scaled.sum(axis=1, keepdims=True))
    return roots


def as_weightings(points: Array) -> Floats:
    """Return a copy of rows that are distributions but for their sums, none of them too large."""
    rows = as_float64(points)
    _require_distributions(rows, "jensenshannon")
    # by powers of two, which cost no accuracy
    exponents = np.frexp(rows.max(axis=1, keepdims=True))[1]
    return np.asarray(np.ldexp(rows, -exponents, out=rows))


def _require_distributions(points: Array, metric: str) -> None:
    if (points < 0).any():
        row = int(np.flatnonzero((points < 0).any(axis=1))[0])
        raise ValueError(_NEGATIVE.format(metric, row))
    zero = np.flatnonzero(points.max(axis=1) == 0)
    if zero.size:
        raise ValueError(_NO_DISTRIBUTION.format(metric, int(zero[0])))


def sparse_unit_rows(points: Any) -> Any:
    """Return the rows of a CSR matrix divided by their lengths."""
    scaled = _by_row(points, _largest_of_rows(points, _NO_DIRECTION))
    return _by_row(scaled, np.sqrt(_sums_of_rows(scaled, scaled.data**2)))


def sparse_distributions(points: Any) -> Any:
    """Return the square roots of the rows of a CSR matrix, each divided by its sum."""
    if (points.data < 0).any():
        entry = int(np.flatnonzero(points.data < 0)[0])
        row = int(np.searchsorted(points.indptr, entry, side="right")) - 1
        raise ValueError(_NEGATIVE.format("hellinger", row))
    scaled = _by_row(points, _largest_of_rows(points, _NO_DISTRIBUTION.format("hellinger", "{}")))
    scaled = _by_row(scaled, _sums_of_rows(scaled, scaled.data))
    scaled.data = np.sqrt(scaled.data)
    return scaled


def _by_row(points: Any, divisors: Floats) -> Any:
    """Return a CSR matrix of float64, each row divided by a number."""
    divided = points.astype(np.float64, copy=True)
    divided.data /= np.repeat(divisors, np.diff(points.indptr))
    return divided


def _largest_of_rows(points: Any, refusal: str) -> Floats:
    """Return each row's largest absolute entry; refuse rows without one above zero."""
    largest: Floats = reduce_rows(np.maximum, np.abs(points.data).astype(np.float64), points.indptr)
    if not (largest > 0).all():
        raise ValueError(refusal.format(int(np.flatnonzero(largest == 0)[0])))
    return largest


def _sums_of_rows(points: Any, entries: Floats) -> Floats:
    return reduce_rows(np.add, entries, points.indptr)


def reduce_rows(function: np.ufunc, entries: Floats, starts: Array) -> Floats:
    """Reduce the entries of a CSR matrix from each start to the next; 0 where there are none."""
    reduced: Floats = function.reduceat(np.append(entries, 0.0), starts[:-1])
    reduced[np.diff(starts) == 0] = 0.0
    return reduced


def hellinger_of_squares(squared: Array) -> Array:
    """Return Hellinger distances, from 0 to 1."""
    return np.minimum(np.sqrt(squared / 2.0), 1.0)


class Centring:
    """Points → points less the mean of some, each feature divided by a power of two.

    Attributes
    ----------
    scales : (n_features,) float64
        These powers.
    """

    def __init__(self, points: Array) -> None:
        points = points.astype(np.float64, copy=False)
        exponents = np.frexp(np.abs(points).max(axis=0))[1]
        self.scales: Floats = np.ldexp(1.0, np.minimum(exponents, 1023))
        self._mean: Floats = (points / self.scales).mean(axis=0)

    def __call__(self, points: Array) -> Floats:
        """Return points, centred and divided."""
        centred: Floats = points.astype(np.float64, copy=False) / self.scales
        centred -= self._mean
        return centred


def standardising(points: Array, variances: Floats | None) -> Callable[[Array], Array]:
    """Return the map that centres points and divides each feature by its standard deviation.

    variances : (n_features,), optional
        By default those of the points.
    """
    centre = Centring(points)
    if variances is None:
        centred = centre(points)
        _require_several(points, "seuclidean")
        constant = np.flatnonzero(np.ptp(centred, axis=0) == 0)
        if constant.size:
            raise ValueError(
                f"Feature {constant[0]} is constant, so metric='seuclidean' cannot divide by its "
                "standard deviation. Remove such features, or give V in metric_params."
            )
        deviations = centred.std(axis=0, ddof=1)
    elif len(variances) != points.shape[1]:
        raise ValueError(
            f"metric='seuclidean' needs one variance for each of {points.shape[1]} features, got "
            f"{len(variances)}."
        )
    else:
        deviations = np.sqrt(variances) / centre.scales
    return lambda others: np.asarray(centre(others) / deviations)


def _require_several(points: Array, metric: str) -> None:
    if len(points) == 1:
        raise ValueError(
            f"metric={metric!r} takes the variances of the points, and one point has none. Give "
            "more points, or V in metric_params."
        )


def whitening(
    points: Array, matrix: Floats | None, *, is_inverse: bool
) -> Callable[[Array], Array]:
    """Return the map after which Euclidean distances are Mahalanobis distances; it centres first.

    matrix : (n_features, n_features), optional
        The covariance or, if ``is_inverse``, its inverse; by default the points' covariance.
    """
    centre = Centring(points)
    n_points, n_features = points.shape
    if matrix is None:
        centred = centre(points)
        _require_several(points, "mahalanobis")
        matrix = centred.T @ centred / (n_points - 1)
    elif matrix.shape != (n_features, n_features):
        raise ValueError(
            f"metric='mahalanobis' needs a matrix of shape {(n_features, n_features)}, got "
            f"{matrix.shape}."
        )
    else:
        matrix = matrix * np.outer(centre.scales, centre.scales) ** (1 if is_inverse else -1)
    # In units of each feature's deviation, so that their sizes do not matter.
    deviations = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    if not (deviations > 0.0).all():
        raise ValueError(_NOT_DEFINITE)
    matrix = matrix / np.outer(deviations, deviations)
    if np.abs(matrix - matrix.T).max() > 1e-8:
        raise ValueError("metric='mahalanobis' needs a symmetric matrix.")
    # Along the axes of the matrix's ellipsoid, each is divided by its standard deviation.
    spread, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    if not spread[0] > spread[-1] * n_features * np.finfo(np.float64).eps:
        raise ValueError(_NOT_DEFINITE)
    roots = np.sqrt(spread)
    if is_inverse:
        return lambda others: np.asarray((centre(others) * deviations) @ axes * roots)
    return lambda others: np.asarray((centre(others) / deviations) @ axes / roots)


_NOT_DEFINITE = (
    "metric='mahalanobis' needs a positive definite matrix. The covariance of features that depend "
    "on one another, or of too few points, is not: reduce the features (PCA), or give V or VI in "
    "metric_params."
)
