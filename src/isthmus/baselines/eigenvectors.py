"""A symmetric matrix → its leading eigenvectors; eigenvectors → rows of unit length."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from isthmus._utils.typing import Floats


def leading_eigenvectors(matrix: Floats, n_vectors: int) -> tuple[Floats, float]:
    """Return the eigenvectors of the largest eigenvalues, the largest first, and the gap below.

    Parameters
    ----------
    matrix : ndarray of shape (n, n), dtype float64
        Symmetric; destroyed.
    n_vectors : int

    Returns
    -------
    vectors : ndarray of shape (n, n_vectors)
    gap : float
        How far the next eigenvalue is below theirs; infinite where there is none.
    """
    n_points = len(matrix)
    first = max(n_points - n_vectors - 1, 0)
    values, vectors = eigh(
        matrix, subset_by_index=(first, n_points - 1), overwrite_a=True, check_finite=False
    )
    gap = float(values[1] - values[0]) if n_vectors < n_points else np.inf
    return np.ascontiguousarray(vectors[:, : -n_vectors - 1 : -1]), gap


def unit_rows(vectors: Floats) -> Floats:
    """Return the rows scaled to unit length, however short they are; zero rows stay zero."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors / np.where(largest == 0.0, 1.0, largest)  # their squares do not underflow
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    rows: Floats = scaled / np.where(lengths == 0.0, 1.0, lengths)
    return rows
