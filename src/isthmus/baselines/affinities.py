"""Distances → affinities, as logarithms, and their normalised matrix.

An affinity is exp(e) with an exponent e ≤ 0. Normalised affinities are computed from the exponents:
where every affinity of a point underflows, its degree would be zero, but the ratios are ordinary
numbers.
"""

from __future__ import annotations

import numpy as np

from isthmus._utils.typing import Floats

# Exponents are clipped here, so that differences of them are never inf - inf.
_LOWEST = -1e300


def gaussian_exponents(distances: Floats, sigma: float) -> Floats:
    """Return -d² / (2 σ²) for distances d, (n, n); -inf on the diagonal."""
    with np.errstate(over="ignore", under="ignore"):
        scaled = distances / sigma
        return _as_exponents(-0.5 * scaled * scaled)


def local_exponents(distances: Floats, n_neighbors: int) -> Floats:
    """Return -d² / (σ_i σ_j) for distances d, (n, n); -inf on the diagonal."""
    scales = local_scales(distances, n_neighbors)
    with np.errstate(over="ignore", under="ignore"):
        return _as_exponents(-(distances / scales) * (distances / scales[:, None]))


def local_scales(distances: Floats, n_neighbors: int) -> Floats:
    """Return the distance of each point to its N-th neighbour, (n,), all of them above zero.

    Where N is above n - 1, it is the last neighbour. Where that neighbour is a duplicate, the
    nearest point that is none replaces it; where there is no such point, all are equal, and every
    scale is 1.
    """
    rank = min(n_neighbors, len(distances) - 1)  # the point itself has rank 0
    scales: Floats = np.partition(distances, rank, axis=1)[:, rank]
    for i in np.flatnonzero(scales == 0.0):
        scales[i] = np.min(distances[i], where=distances[i] > 0.0, initial=np.inf)
    scales[np.isinf(scales)] = 1.0
    return scales


def affinities(exponents: Floats) -> Floats:
    """Return exp(e), (n, n): affinities between 0 and 1, 0 on the diagonal."""
    with np.errstate(under="ignore"):
        return np.exp(exponents)


def normalised_affinities(exponents: Floats) -> Floats:
    """Return D^(-1/2) A D^(-1/2), (n, n), for the affinities A = exp(e) and their row sums D."""
    if len(exponents) == 1:  # no other point, no degree
        return np.zeros((1, 1))
    with np.errstate(under="ignore"):
        largest = exponents.max(axis=1)
        sums = np.exp(exponents - largest[:, None]).sum(axis=1)
        half = 0.5 * (largest + np.log(sums))
        # The halves are added first: their sum is the same both ways, and so the matrix symmetric.
        normalised: Floats = np.exp(exponents - (half + half[:, None]))
    return normalised


def _as_exponents(exponents: Floats) -> Floats:
    np.maximum(exponents, _LOWEST, out=exponents)
    np.fill_diagonal(exponents, -np.inf)
    return exponents
