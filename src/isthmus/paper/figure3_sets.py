"""Random mixtures of normal clouds → how far K-means on them and on their distances agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from isthmus._utils.typing import Floats
from isthmus.datasets import make_clouds, make_figure3
from isthmus.evaluation import error_rate
from isthmus.metrics.pairwise import distance_matrix
from isthmus.paper.experiment import Result
from isthmus.theory import duality_gap

POINTS = 200
CLOUDS = (2, 3, 4, 5)
STARTS = {
    "best": "the best of ten common starts",
    "single": "one common start",
    "own": "one start for each",
    "continued": "rows from the points' clusters",
}


def sets(
    side: float,
    elongation: float,
    separation: float,
    n_sets: int,
    spread: float = 1.0,
    n_starts: int = 10,
) -> Result:
    """Return the shares of labels that differ, by number of clouds and by kind of start.

    n_starts : the number of starts of each side from which the "best" is chosen
    """
    kind = {"side": side, "elongation": elongation, "separation": separation}
    found: dict[str, Any] = {}
    for k in CLOUDS:
        shares = []
        for seed in range(n_sets):
            X, _ = make_clouds(POINTS, n_clouds=k, spread=spread, random_state=seed, **kind)
            shares.append(differing_shares(X, k, seed, n_starts))
        found[str(k)] = {start: [each[start] for each in shares] for start in STARTS}
    return {**kind, "clouds": found}


def drawing(n_clouds: int, n_tries: int) -> Result:
    """Return the first set of which K-means and its dual label one point differently.

    If none of the sets is like that, return the one that comes nearest.
    """
    found: list[tuple[int, int, Any, Any]] = []
    for seed in range(n_tries):
        X, _ = make_figure3(n_clouds=n_clouds, random_state=seed)
        gap = duality_gap(X, n_clouds, random_state=seed)
        found.append((abs(len(gap.differing) - 1), seed, X, gap))
        if len(gap.differing) == 1:
            break
    _, seed, X, gap = min(found, key=lambda one: one[:2])
    return {
        "seed": seed,
        "points": X,
        "labels": gap.labels,
        "dual_labels": gap.dual_labels,
        "differing": gap.differing,
    }


def differing_shares(X: Floats, n_clusters: int, seed: int, n_starts: int = 10) -> dict[str, float]:
    """Return the share of labels that differ between K-means and its dual, by kind of start."""
    best = duality_gap(X, n_clusters, random_state=seed, n_init=n_starts)
    rows = distance_matrix(X)
    centres = np.array([rows[best.labels == c].mean(axis=0) for c in range(n_clusters)])
    continued = KMeans(n_clusters, init=centres, n_init=1).fit(rows).labels_
    one = {"init": "random", "n_init": 1}
    on_points = KMeans(n_clusters, random_state=2 * seed, **one).fit(X).labels_
    on_rows = KMeans(n_clusters, random_state=2 * seed + 1, **one).fit(rows).labels_
    return {
        "best": best.share,
        "single": duality_gap(X, n_clusters, random_state=seed, n_init=1).share,
        "own": error_rate(on_points, on_rows),
        "continued": error_rate(best.labels, continued),
    }


def shares_of(found: Result, start: str = "best", clouds: Sequence[int] = CLOUDS) -> Floats:
    """Return the shares of all sets of a kind, whatever their number of clouds."""
    return np.concatenate([found["clouds"][str(k)][start] for k in clouds])
