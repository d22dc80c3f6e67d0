"""Points and their classes → what the paper's four methods make of them, under its protocol.

K-means is scikit-learn's. The parameters of the two spectral methods are chosen as the paper does
it, by the smallest error rate, which needs the classes; beside it stands the error at the default,
which does not. Ours has no parameters; its default start has no luck either. What luck does to
K-means, on points and on rows of transitive distances, shows in runs from single random starts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from isthmus.baselines import (
    NEIGHBOR_GRID,
    SIGMA_GRID,
    NJWSpectralClustering,
    SelfTuningSpectralClustering,
    sweep,
)
from isthmus.estimators import TransitiveClustering
from isthmus.evaluation import error_rate, match_labels
from isthmus.kmeans import TreeClusterer

METHODS = ("kmeans", "njw", "self_tuning", "ours")
NAMES = {"kmeans": "K-means", "njw": "NJW", "self_tuning": "Self-tuning", "ours": "Ours"}


def run_ours(X: Any, y: Any) -> dict[str, Any]:
    """Return error and labels of our method with all defaults."""
    model = TransitiveClustering(n_classes(y)).fit(X)
    return {"error": error_rate(y, model.labels_), "labels": match_labels(y, model.labels_)}


def run_kmeans(X: Any, y: Any, *, n_init: int = 10, seed: int = 0) -> dict[str, Any]:
    """Return error and labels of K-means: the run of lowest inertia of a few."""
    model = KMeans(n_classes(y), n_init=n_init, random_state=seed).fit(X)
    return {"error": error_rate(y, model.labels_), "labels": match_labels(y, model.labels_)}


def run_njw(
    X: Any, y: Any, *, sigmas: Sequence[float] = SIGMA_GRID, seed: int = 0
) -> dict[str, Any]:
    """Return what NJW finds over a grid of σ; see :func:`_swept`."""
    model = NJWSpectralClustering(n_classes(y), random_state=seed)
    return _swept(model, "sigma", sigmas, X, y, record="eigengap_")


def run_self_tuning(
    X: Any, y: Any, *, neighbors: Sequence[int] = NEIGHBOR_GRID, seed: int = 0
) -> dict[str, Any]:
    """Return what self-tuning finds over a grid of N; see :func:`_swept`."""
    model = SelfTuningSpectralClustering(n_classes(y), random_state=seed)
    return _swept(model, "n_neighbors", neighbors, X, y)


def n_classes(y: Any) -> int:
    """Return the number of clusters, which all methods are told."""
    return len(np.unique(y))


def single_starts_of_ours(X: Any, y: Any, *, n_starts: int, seed: int = 0) -> dict[str, Any]:
    """Return errors and inertias of our K-means on rows, one random start each."""
    clusterer = TreeClusterer(TransitiveClustering(n_classes(y)).fit(X).tree_)
    runs = [
        clusterer.solve(n_classes(y), init="random", n_init=1, random_state=seed + i)
        for i in range(n_starts)
    ]
    return _lottery([(error_rate(y, run.labels), run.inertia) for run in runs])


def single_starts_of_kmeans(X: Any, y: Any, *, n_starts: int, seed: int = 0) -> dict[str, Any]:
    """Return errors and inertias of K-means on the points, one random start each."""
    runs = [
        KMeans(n_classes(y), init="random", n_init=1, random_state=seed + i).fit(X)
        for i in range(n_starts)
    ]
    return _lottery([(error_rate(y, run.labels_), float(run.inertia_)) for run in runs])


def _swept(
    model: Any,
    parameter: str,
    values: Sequence[Any],
    X: Any,
    y: Any,
    *,
    record: str | None = None,
) -> dict[str, Any]:
    """Return the errors at all values, the best one, its labels, and the error at the default.

    An attribute to record, such as how far the eigenvalues are apart, comes back as "recorded".
    """
    found = sweep(model, parameter, values, X, y, record=record)
    best = model.set_params(**{parameter: found.best_value}).fit(X)
    return {
        "error": found.best_error,
        "labels": match_labels(y, best.labels_),
        "parameter": found.best_value,
        "values": list(values),
        "errors": found.errors,
        "default": found.default_value,
        "default_error": found.default_error,
        "recorded": list(found.recorded),
    }


def count_solutions(runs: Iterable[tuple[float, float]]) -> Counter[tuple[float, float]]:
    """Return how often runs led to each solution.

    Runs with the same error and the same inertia, to 6 digits, are one.
    """
    return Counter((round(error, 6), float(f"{inertia:.6g}")) for error, inertia in runs)


def _lottery(runs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return what single runs came to: all of them, the most frequent, that of lowest inertia."""
    solutions = count_solutions(runs)
    (error, inertia), times = solutions.most_common(1)[0]
    lowest = min(solutions, key=lambda solution: solution[1])
    return {
        "errors": [error for error, _ in runs],
        "inertias": [inertia for _, inertia in runs],
        "most_frequent": {"error": error, "inertia": inertia, "times": times},
        "lowest_inertia": {
            "error": lowest[0],
            "inertia": lowest[1],
            "times": solutions[lowest],
        },
    }
