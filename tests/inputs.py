"""Inputs that tests share: every kind that has ever been hard, at any size and dimension."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cityblock

from isthmus import UltrametricTree

KINDS = ("gaussian", "lattice", "duplicates", "line", "blobs", "constant column", "all equal")
# Metrics for which an entry is zero or not, and metrics of entries that are not negative.
BOOLEAN = {
    "jaccard",
    "dice",
    "rogerstanimoto",
    "russellrao",
    "sokalsneath",
    "yule",
    "kulsinski",
}
POSITIVE = {"braycurtis", "canberra", "jensenshannon", "hellinger"}


class CityBlock:
    """A metric that is no name, but prints the same in all processes: tests are named after it."""

    def __call__(self, a: np.ndarray, b: np.ndarray) -> float:
        return cityblock(a, b)

    def __repr__(self) -> str:
        return "CityBlock()"


def levenshtein(a: str, b: str) -> int:
    """Return how many letters must be changed, put in or left out: a metric of strings."""
    previous = range(len(b) + 1)
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(row[-1] + 1, previous[j] + 1, previous[j - 1] + (x != y)))
        previous = row
    return previous[-1]


def name_of(value: object) -> str:
    """Return a value as part of the name of a test, the same in every process."""
    return getattr(value, "__name__", str(value))


def points(kind: str, n: int, d: int, seed: int) -> np.ndarray:
    """Return n points in d dimensions of a kind; "lattice" and "duplicates" are full of ties."""
    rng = np.random.default_rng([seed, n, d, KINDS.index(kind)])
    if kind == "gaussian":
        return rng.normal(size=(n, d))
    if kind == "lattice":
        return rng.integers(0, 4, size=(n, d)).astype(float)
    if kind == "duplicates":
        return rng.normal(size=(max(n // 4, 1), d))[rng.integers(0, max(n // 4, 1), size=n)]
    if kind == "line":
        return np.cumsum(np.arange(1, n + 1))[rng.permutation(n), None] * np.ones(d)
    if kind == "blobs":
        centres = rng.uniform(-10, 10, size=(4, d))
        return centres[rng.integers(0, 4, size=n)] + rng.normal(size=(n, d)) * rng.choice(
            [0.01, 1.0], size=(n, 1)
        )
    if kind == "constant column":
        return np.column_stack([rng.normal(size=(n, d)), np.full(n, 7.0)])[:, -d:]
    return np.full((n, d), 3.25)


def suited(metric: str, kind: str, n: int, seed: int = 0) -> np.ndarray:
    """Points of a kind for which the metric is defined."""
    X = points(kind, n, 5, seed)
    if metric in BOOLEAN:
        X = X - np.median(X) > 0.0
        X[:, 0] = True  # dice and sokalsneath are not defined for two rows of zeros
    elif metric in POSITIVE:
        X = np.abs(X) + 0.5
    elif metric == "haversine":
        X = np.tanh(X[:, :2])
    elif metric in ("cosine", "angular", "correlation"):
        X = X + np.array([0.3, 0.9, -0.7, 5.1, 0.2])
    elif metric == "nan_euclidean":
        X[:, 1:][np.random.default_rng([seed, n]).random((n, 4)) < 0.3] = np.nan
    return X


def many(n_inputs: int, largest: int = 300) -> list[tuple[str, int, int, int]]:
    """Return parameters of ``points`` for n_inputs inputs: all kinds, n from 1, d from 1 to 6."""
    rng = np.random.default_rng(0)
    sizes = [1, 2, 3, 4, 5, 7, 10, 17]
    return [
        (
            KINDS[seed % len(KINDS)],
            sizes[seed // len(KINDS)]
            if seed // len(KINDS) < len(sizes)
            else int(rng.integers(2, largest + 1)),
            1 + seed % 6,
            seed,
        )
        for seed in range(n_inputs)
    ]


def assert_as_good(found, expected):
    """Check that two spanning trees have the same weights and transitive distances, bit for bit.

    Where edges are equally long there can be several minimum spanning trees.
    """
    np.testing.assert_array_equal(found.weights, expected.weights)
    assert UltrametricTree.from_spanning_tree(found) == UltrametricTree.from_spanning_tree(expected)
