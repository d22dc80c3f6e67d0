"""A seed → sets of digits; images of such a set → what every method finds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats
from isthmus.datasets import digit_subset, load_digits_stand_in, load_usps
from isthmus.estimators import TransitiveCut, TransitiveKMeans
from isthmus.evaluation import error_rate
from isthmus.metrics.pairwise import distance_matrix
from isthmus.paper.methods import run_all, single_starts_of_kmeans, single_starts_of_ours


def shuffled_sets(n_digits: int, seed: int) -> list[list[int]]:
    """Return all sets of ``n_digits`` of the ten digits, in random order."""
    sets = [list(digits) for digits in combinations(range(10), n_digits)]
    order = np.random.default_rng([seed, n_digits]).permutation(len(sets))
    return [sets[i] for i in order]


def cluster_digits(
    data: str,
    digits: Sequence[int],
    n_samples: int,
    seed: int,
    sigmas: Sequence[float],
    neighbors: Sequence[int],
    n_starts: int,
) -> dict[str, Any]:
    """Return the errors of all methods on images of some digits, and what may explain ours.

    The data are "usps", the paper's images, or "digits", the stand-in; ``n_starts`` are single
    random starts of K-means, on rows and on points.
    """
    X, y = digit_subset(*_images(data), digits, n_samples, random_state=seed)
    found = run_all(X, y, sigmas=sigmas, neighbors=neighbors)
    labels = {method: run.pop("labels") for method, run in found.items()}
    starts = {
        "ours": single_starts_of_ours(X, y, n_starts=n_starts),
        "kmeans": single_starts_of_kmeans(X, y, n_starts=n_starts),
    }
    return {
        "data": data,
        "digits": list(digits),
        "kmeans": found["kmeans"]["error"],
        "ours": found["ours"]["error"],
        "njw": found["njw"],
        "self_tuning": found["self_tuning"],
        "starts": {
            name: {kind: runs[kind] for kind in ("most_frequent", "lowest_inertia")}
            for name, runs in starts.items()
        },
        "together": kept_together(labels["self_tuning"], y),
        "ways": _errors_of_other_ways(data, X, y, n_samples, seed),
        "sizes": np.unique(labels["ours"], return_counts=True)[1],
        "sparseness": _explained_sparseness(X, labels["ours"], y),
    }


@lru_cache(maxsize=1)
def _images(data: str) -> tuple[Array, Array]:
    load = load_usps if data == "usps" else load_digits_stand_in
    found: tuple[Array, Array] = load(return_X_y=True)
    return found


def kept_together(labels: Array, y: Array) -> dict[str, float]:
    """Return, for each digit, the largest share of its images that are in one cluster."""
    shares = {}
    for digit in np.unique(y):
        _, sizes = np.unique(labels[y == digit], return_counts=True)
        shares[str(digit)] = float(sizes.max() / sizes.sum())
    return shares


def _errors_of_other_ways(
    data: str, X: Array, y: Array, n_samples: int, seed: int
) -> dict[str, float]:
    """Return errors in another space, of CUT, with another distance, and on other images.

    "shared" and "mean" are CUT with neighbourhoods of 20 and 30 images.

    "ink" is the angle between images whose background is 0; "balanced" has equally many images of
    each digit.
    """
    ink = X - X.min()
    digits = np.unique(y)
    k = len(digits)
    drawn = [digit_subset(*_images(data), [d], n_samples // len(digits), seed) for d in digits]
    balanced, of_balanced = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    return {
        "embedding": _error_of(TransitiveKMeans(k, space="embedding"), X, y),
        "cut": _error_of(TransitiveCut(k), X, y),
        "shared": _error_of(TransitiveCut(k, n_neighbors=20, neighborhood="shared"), X, y),
        "mean": _error_of(TransitiveCut(k, n_neighbors=30), X, y),
        "ink": _error_of(TransitiveKMeans(k, metric="angular"), ink, y),
        "ink, cut": _error_of(TransitiveCut(k, metric="angular"), ink, y),
        "balanced": _error_of(TransitiveKMeans(k), balanced, of_balanced),
    }


def _error_of(model: TransitiveCut | TransitiveKMeans, X: Array, y: Array) -> float:
    return error_rate(y, model.fit_predict(X))


def _explained_sparseness(X: Array, labels: Array, y: Array) -> dict[str, Any]:
    """Return how much our clusters explain of the distances to nearest neighbours, and the digits.

    Both are shares of the variance of these distances. The medians of the distances in the
    clusters, sorted, come with them.
    """
    distances = distance_matrix(np.ascontiguousarray(X, dtype=np.float64))
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    return {
        "clusters": explained_share(nearest, labels),
        "digits": explained_share(nearest, y),
        "medians": sorted(float(np.median(nearest[labels == c])) for c in np.unique(labels)),
    }


def explained_share(values: Floats, groups: Array) -> float:
    """Return the share of the variance of values that lies between groups, from 0 to 1."""
    total = float(((values - values.mean()) ** 2).sum())
    if total == 0.0:
        return 0.0
    members = [values[groups == group] for group in np.unique(groups)]
    between = sum(len(v) * (v.mean() - values.mean()) ** 2 for v in members)
    return float(between / total)
