"""For which points a metric is defined, and how exact float64 can be about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from campaign.exact import Real

# Metrics of the points as they are.
PLAIN = ["euclidean", "sqeuclidean", "manhattan", "chebyshev"]
BOOLEAN = ("jaccard", "dice", "rogerstanimoto", "sokalsneath")
ROW_METRICS = (
    "canberra",
    "braycurtis",
    "hamming",
    "jensenshannon",
    "nan_euclidean",
    *BOOLEAN,
)
SPARSE = ("euclidean", "sqeuclidean", "cosine", "angular", "hellinger")
_EPS = 2.0**-52
# The smallest positive float64, and a few more: what rounding of the smallest numbers costs.
_SMALLEST = 4 * Real(5e-324)


def suited(rng: np.random.Generator, X: np.ndarray, metric: str) -> tuple[np.ndarray, dict]:
    """Return points for which the metric is defined, and parameters of it."""
    n, d = X.shape
    if metric in PLAIN:
        return X, {}
    if metric == "minkowski":
        X = np.where(np.abs(X) > 1e-3, X, 0.0).clip(-1e6, 1e6)
        return X, {"p": float(rng.choice([1.5, 3.0, 7.0]))}
    # The others are for numbers of ordinary size.
    X = np.where(np.abs(X) > 1e-3, X, 0.0).clip(-1e3, 1e3)
    if metric == "seuclidean":
        return X, {"V": rng.uniform(0.5, 2.0, size=d)}
    if metric == "mahalanobis":
        root = np.eye(d) + rng.uniform(-0.2, 0.2, size=(d, d)) / d
        matrix = root @ root.T
        return X, {"VI": (matrix + matrix.T) / 2}
    if metric in BOOLEAN:
        X = (np.median(X) < X).astype(float)
        X[:, 0] = 1.0
        return X, {}
    if metric in ("hellinger", "jensenshannon", "braycurtis"):
        return np.abs(X) + rng.uniform(0.1, 1.0, size=d), {}
    if metric == "haversine":
        return np.tanh(rng.normal(size=(n, 1)) + np.pad(X, ((0, 0), (0, 1)))[:, :2]), {}
    if metric in ("cosine", "angular"):
        X[:, 0] += 1.0 + (X[:, 0] == -1.0)
    if metric == "correlation":
        X = np.column_stack([X, X[:, 0] + 1.0, X[:, 0] - rng.uniform(1, 2, size=n)])
    if metric == "nan_euclidean" and d > 1:
        X[:, 1:][rng.random((n, d - 1)) < 0.3] = np.nan
    return X, {}


def tolerance(case: Any, matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return how far a distance may be from the exact one, as a function of it.

    Plain metrics are right to the last digits. Maps to other points (unit vectors, standardised
    points) round coordinates, which is an absolute error; and what is far apart on a sphere, or
    cancels, multiplies it.
    """
    metric, d = case.metric, case.X.shape[1]
    relative = Real((16 + 2 * d) * _EPS)
    if metric in PLAIN:
        return lambda w: relative * w + _SMALLEST
    if metric == "minkowski":
        return lambda w: 64 * relative * w + _SMALLEST
    if metric in ("seuclidean", "mahalanobis"):
        rounding = Real(64 * d * _EPS) * max(np.abs(case.X).max(initial=0.0), Real(1))
        return lambda w: relative * w + rounding
    chord = Real(16 * _EPS)
    if metric == "correlation":
        centred = case.X - case.X.mean(axis=1, keepdims=True)
        cancelled = np.abs(case.X).max(axis=1) / np.abs(centred).max(axis=1)
        chord = chord * cancelled.max() * d
    if metric in ("cosine", "correlation"):
        return lambda w: relative * w + chord * np.sqrt(2 * w) + chord**2
    if metric in ("angular", "haversine"):
        return lambda w: relative * w + 4 * chord / np.maximum(np.cos(w / 2), np.sqrt(chord))
    if metric == "jensenshannon":
        return lambda w: 1e-13 + Real(d * _EPS) / np.maximum(w, np.sqrt(Real(_EPS)))
    return lambda w: 8 * relative * w + 8 * chord
