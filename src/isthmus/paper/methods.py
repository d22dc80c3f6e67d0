"""Points and their classes → what the paper's four methods find, under its protocol.

K-means is scikit-learn's. The parameters of the two spectral methods are chosen as the paper does,
by the smallest error rate, which needs the classes; beside it is the error at the default, which
does not. Ours has no parameters, and its default start is deterministic. How much K-means depends
on its start, on points and on rows of transitive distances, shows in runs from single random
starts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from isthmus.baselines import NJWSpectralClustering, SelfTuningSpectralClustering, sweep
from isthmus.estimators import TransitiveKMeans
from isthmus.evaluation import error_rate, match_labels
from isthmus.kmeans import KMeansClusterer, KMeansSettings, TreeSpace

METHODS = ("kmeans", "njw", "self_tuning", "ours")
# The estimator of a tuned method, its parameter, and what a sweep records.
_TUNED: dict[str, tuple[Any, str, str | None]] = {
    "njw": (NJWSpectralClustering, "sigma", "eigengap_"),
    "self_tuning": (SelfTuningSpectralClustering, "n_neighbors", None),
}
NAMES = {"kmeans": "K-means", "njw": "NJW", "self_tuning": "Self-tuning", "ours": "Ours"}


def run_ours(X: Any, y: Any) -> dict[str, Any]:
    """Return error and labels of our method with all defaults."""
    return _scored(y, TransitiveKMeans(n_classes(y)).fit_predict(X))


def run_kmeans(X: Any, y: Any, *, seed: int = 0) -> dict[str, Any]:
    """Return error and labels of K-means: of the run with the lowest inertia, of ten."""
    return _scored(y, KMeans(n_classes(y), n_init=10, random_state=seed).fit_predict(X))


def _scored(y: Any, labels: Any) -> dict[str, Any]:
    return {"error": error_rate(y, labels), "labels": match_labels(y, labels)}


def run_all(
    X: Any, y: Any, *, sigmas: Sequence[float], neighbors: Sequence[int], seed: int = 0
) -> dict[str, dict[str, Any]]:
    """Return what each of the four methods finds."""
    return {
        "kmeans": run_kmeans(X, y, seed=seed),
        "njw": run_tuned("njw", X, y, values=sigmas, seed=seed),
        "self_tuning": run_tuned("self_tuning", X, y, values=neighbors, seed=seed),
        "ours": run_ours(X, y),
    }


def run_tuned(
    method: str, X: Any, y: Any, *, values: Sequence[Any], seed: int = 0
) -> dict[str, Any]:
    """Return a spectral method's errors at all values of its parameter, the best, and its labels.

    The error at the default comes with them and, as "recorded", the eigengaps of NJW.
    """
    estimator, parameter, record = _TUNED[method]
    model = estimator(n_classes(y), random_state=seed)
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


def n_classes(y: Any) -> int:
    """Return the number of clusters, which all methods are given."""
    return len(np.unique(y))


def single_starts_of_ours(X: Any, y: Any, *, n_starts: int) -> dict[str, Any]:
    """Return errors and inertias of our K-means on rows, one random start each."""
    k = n_classes(y)
    clusterer = KMeansClusterer(TreeSpace(TransitiveKMeans(k).fit(X).tree_))
    runs = []
    for seed in range(n_starts):
        settings = KMeansSettings(k, init="random", n_init=1, random_state=seed)
        runs.append(clusterer.run(settings.checked(len(X))))
    return _solutions_of([(error_rate(y, run.labels), run.inertia) for run in runs])


def single_starts_of_kmeans(X: Any, y: Any, *, n_starts: int) -> dict[str, Any]:
    """Return errors and inertias of K-means on the points, one random start each."""
    runs = [single_start(X, y, seed) for seed in range(n_starts)]
    return _solutions_of([(error_rate(y, run.labels_), float(run.inertia_)) for run in runs])


def single_start(X: Any, y: Any, seed: int) -> KMeans:
    """Return K-means, fitted from one random start."""
    return KMeans(n_classes(y), init="random", n_init=1, random_state=seed).fit(X)


def count_solutions(runs: Iterable[tuple[float, float]]) -> Counter[tuple[float, float]]:
    """Return how often runs led to each solution.

    Runs with the same error and the same inertia, to 6 digits, have the same solution.
    """
    return Counter((round(error, 6), float(f"{inertia:.6g}")) for error, inertia in runs)


def _solutions_of(runs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return what single runs found: all of them, the most frequent, that of lowest inertia."""
    solutions = count_solutions(runs)

    def described(found: tuple[float, float]) -> dict[str, Any]:
        return {"error": found[0], "inertia": found[1], "times": solutions[found]}

    return {
        "errors": [error for error, _ in runs],
        "inertias": [inertia for _, inertia in runs],
        "most_frequent": described(solutions.most_common(1)[0][0]),
        "lowest_inertia": described(min(solutions, key=lambda solution: solution[1])),
    }
