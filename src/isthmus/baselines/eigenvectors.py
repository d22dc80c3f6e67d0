"""A symmetric matrix → its leading eigenvectors → rows of unit length."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from isthmus._typing import Floats, Ints

# A row of an orthonormal matrix that is shorter than this is nothing but rounding errors.
_VANISHED = 1e-12


def leading_eigenvectors(matrix: Floats, n_vectors: int) -> Floats:
    """Return the eigenvectors of the largest eigenvalues, (n, n_vectors), the largest first.

    matrix : (n, n) float64, symmetric; destroyed
    """
    n_points = len(matrix)
    _, vectors = eigh(
        matrix,
        subset_by_index=(n_points - n_vectors, n_points - 1),
        overwrite_a=True,
        check_finite=False,
    )
    leading: Floats = np.ascontiguousarray(vectors[:, ::-1])
    return leading


def unit_rows(vectors: Floats) -> Floats:
    """Return the rows scaled to unit length; zeros for those that vanish."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vanished = lengths <= _VANISHED
    return np.where(vanished, 0.0, vectors / np.where(vanished, 1.0, lengths))


def nearest_with_direction(rows: Floats, distances: Floats) -> Ints:
    """Return, for each point, itself or the nearest point whose row does not vanish, (n,)."""
    nearest = np.arange(len(rows))
    kept = np.flatnonzero(rows.any(axis=1))
    lost = np.flatnonzero(~rows.any(axis=1))
    if lost.size:
        nearest[lost] = kept[distances[np.ix_(lost, kept)].argmin(axis=1)]
    return nearest
