"""How often the right number of clusters is found, and noise is called noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import silhouette_score

from benchmarks.battery import battery_sets
from benchmarks.harness import SkippedError, Table
from benchmarks.known_numbers import KnownSet, clear_sets, plain_sets
from isthmus import suggest_n_clusters

COUNT, SEED = 200, 2027
_K_MAX = 20
# Below this a silhouette is usually read as no substantial structure.
_LEAST_SILHOUETTE = 0.25


def by_silhouette(X: np.ndarray) -> int:
    """Return the k of the best silhouette of K-means, or 1 where that is too low."""
    scores = []
    for k in range(2, _K_MAX + 1):
        labels = KMeans(k, n_init=2, random_state=0).fit_predict(X)
        scores.append(silhouette_score(X, labels, sample_size=min(len(X), 2000), random_state=0))
    return int(np.argmax(scores)) + 2 if max(scores) >= _LEAST_SILHOUETTE else 1


def by_hdbscan(X: np.ndarray, smallest: int) -> int:
    """Return the number of HDBSCAN's clusters; all noise is one."""
    labels = HDBSCAN(min_cluster_size=smallest, copy=True).fit_predict(X)
    return max(int(labels.max()) + 1, 1)


METHODS: dict[str, Callable[[np.ndarray], int]] = {
    "suggest_n_clusters": lambda X: suggest_n_clusters(X, _K_MAX).n_clusters,
    "K-means, best silhouette": by_silhouette,
    "HDBSCAN, min_cluster_size=5": lambda X: by_hdbscan(X, 5),
    "HDBSCAN, min_cluster_size=15": lambda X: by_hdbscan(X, 15),
}


def shares_right(
    sets: Iterable[KnownSet], methods: dict[str, Callable[[np.ndarray], int]]
) -> list[dict[str, object]]:
    """Return the share of sets of each family whose number of clusters each method finds."""
    right: dict[str, dict[str, list[bool]]] = {}
    for known in sets:
        family = right.setdefault(known.family, {name: [] for name in methods})
        for name, method in methods.items():
            family[name].append(method(known.points) in known.numbers)
    right["all of these"] = {
        name: [hit for family in list(right.values()) for hit in family[name]] for name in methods
    }
    return [
        {
            "family": family,
            "sets": len(next(iter(hits.values()))),
            **{name: f"{np.mean(hits[name]):.1%}" for name in methods},
        }
        for family, hits in right.items()
    ]


def public_sets() -> Iterator[KnownSet]:
    """Yield the sets of the battery, with the numbers of clusters of their reference labellings."""
    for path in sorted(path for paths in battery_sets().values() for path in paths):
        references = path.parent.glob(path.name.replace(".data.gz", ".labels*.gz"))
        numbers = tuple(int(np.loadtxt(reference).max()) for reference in references)
        yield KnownSet("public sets", np.loadtxt(path, ndmin=2), numbers)


def run() -> Table:
    table = Table(
        "choosing_k",
        "The right number of clusters",
        f"Share of sets for which the number of clusters is found: {COUNT} sets with 2 to 12 clear "
        f"clusters, and {COUNT} without structure, whose number is 1, of 200 to 2,000 points. "
        f"K-means tries up to {_K_MAX} clusters, and its silhouette below {_LEAST_SILHOUETTE} "
        "stands for none. Public sets are those of the battery, by the number of any reference.",
    )
    table.rows = [
        *shares_right(clear_sets(COUNT, SEED), METHODS),
        *shares_right(plain_sets(COUNT, SEED), METHODS),
    ]
    try:
        table.rows += shares_right(public_sets(), METHODS)[:1]
    except SkippedError as reason:
        table.note += f" Left out: {reason}."
    return table
