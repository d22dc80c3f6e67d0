"""Inputs on which cells go wrong, if anything does: ties, duplicates, very unequal densities."""

from __future__ import annotations

import numpy as np

KINDS = (
    "uniform",
    "lattice",
    "rounded",
    "duplicates",
    "clusters",
    "densities",
    "equal",
    "line",
    "two values",
    "scales",
    "circles",
    "float32",
    "tiny",
)


def points(kind: str, rng: np.random.Generator, largest: int) -> np.ndarray:
    n, d = int(rng.integers(2, largest)), int(rng.integers(2, 4))
    if kind == "lattice":
        side = int(np.ceil(n ** (1 / d)))
        X = np.stack(np.meshgrid(*[np.arange(side)] * d), -1).reshape(-1, d)[:n].astype(float)
        rng.shuffle(X)
        return X
    if kind == "duplicates":
        different = max(2, n // 50)
        return rng.normal(size=(different, d))[rng.integers(0, different, n)]
    if kind in ("clusters", "densities"):
        k = int(rng.integers(2, 15))
        label = rng.integers(0, k, n)
        spread = 10.0 ** rng.uniform(-6, 0, k) if kind == "densities" else np.full(k, 0.1)
        return rng.random((k, d))[label] * 10 + rng.normal(size=(n, d)) * spread[label][:, None]
    if kind == "circles":
        angle = rng.random(n) * 2 * np.pi
        return np.column_stack([np.cos(angle), np.sin(angle)]) * rng.choice([1.0, 2.0], n)[:, None]
    made = {
        "uniform": lambda: rng.random((n, d)),
        "rounded": lambda: rng.normal(size=(n, d)).round(1),
        "equal": lambda: np.full((n, d), rng.normal()),
        "line": lambda: np.outer(rng.random(n), rng.normal(size=d)),
        "two values": lambda: rng.integers(0, 2, (n, d)).astype(float),
        "scales": lambda: rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-8, 8, (n, 1)),
        "float32": lambda: rng.normal(size=(n, d)).astype(np.float32).round(3),
        "tiny": lambda: rng.random((int(rng.integers(1, 30)), d)),
    }
    return np.ascontiguousarray(made[kind]())


def chunks(n: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Return up to nine sizes, some of which may be 0."""
    cuts = np.sort(rng.integers(0, n + 1, int(rng.integers(0, 9))))
    return tuple(np.diff(np.concatenate([[0], cuts, [n]])).tolist())
