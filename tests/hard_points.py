"""Points that are hard for distances from matrix products."""

from __future__ import annotations

import numpy as np

HARD = (
    "clusters far apart",
    "clusters farther than float32 sees",
    "hub",
    "near ties",
    "simplex",
    "sphere",
    "bits",
    "integers",
    "large integers",
    "one feature dominates",
    "duplicates",
    "offset",
    "heavy tails",
    "line in space",
    "tiny",
    "huge",
)


def hard(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    """Return points that are hard for distances from matrix products."""
    rng = np.random.default_rng([seed, n, d, HARD.index(kind)])
    X = rng.normal(size=(n, d))
    if kind.startswith("clusters"):
        spread = 1e3 if kind == "clusters far apart" else 1e9
        return X + spread * rng.normal(size=(5, d))[rng.integers(5, size=n)]
    if kind == "hub":  # all points but one have the same nearest neighbour
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        X[n // 2] = 0.0
        return X
    if kind == "near ties":
        return rng.integers(0, 2, size=(n, d)) + 1e-7 * X
    if kind == "simplex":
        return np.eye(n, max(n, d)) * (1 + 1e-7 * rng.normal(size=(n, 1)))
    if kind == "sphere":
        return X / np.linalg.norm(X, axis=1, keepdims=True)
    if kind == "bits":
        return rng.integers(0, 2, size=(n, d)).astype(float)
    if kind == "integers":
        return rng.integers(0, 256, size=(n, d)).astype(float)
    if kind == "large integers":
        return rng.integers(0, 1 << 20, size=(n, d)).astype(float)
    if kind == "one feature dominates":
        X[:, d // 2] *= 1e6
        return X
    if kind == "duplicates":
        return X[rng.integers(0, max(n // 6, 1), size=n)]
    if kind == "offset":
        return X + 1e8
    if kind == "heavy tails":
        return rng.standard_cauchy(size=(n, d)) ** 3
    if kind == "line in space":
        return np.cumsum(rng.random(n))[:, None] * rng.normal(size=d)
    return X * (1e-160 if kind == "tiny" else 1e140)
