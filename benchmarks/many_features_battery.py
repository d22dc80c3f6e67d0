"""How good clusters of images, texts and tables are, beside other methods."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import peers_of_quality as peers
from benchmarks.harness import Table
from benchmarks.labelled_sets import LARGE, SETS, metric_of


def _methods(name: str) -> dict[str, peers.Method]:
    metric = metric_of(name)
    ours = {
        "cut": peers.cut(metric=metric),
        "cut, shared 20": peers.cut(20, "shared", metric),
        "cut, mean 30": peers.cut(30, "mean", metric),
        "K-means": peers.kmeans,
    }
    if name in LARGE:
        return ours | {"EVoC": peers.evoc}
    slow = {"spectral": peers.spectral, "HDBSCAN": peers.hdbscan}
    if name == "StackOverflow":  # there they are not done after seven and ten minutes
        slow = {}
    return ours | {
        **slow,
        "Genie": peers.genie,
        "Lumbermark": peers.lumbermark,
        "EVoC": peers.evoc,
    }


def run() -> Table:
    table = Table(
        "many_features_battery",
        "Images, texts and tables",
        "Adjusted Rand index with the classes, seconds (compilation excluded: each method runs "
        "once on a part before), and where it is above zero the share of points called noise, "
        "which count as a cluster of their own. k is given, but HDBSCAN finds its own number. "
        "Texts are sentence embeddings, which cut compares by angles.",
    )
    for name, load in SETS.items():
        X, y = load()
        k = len(np.unique(y))
        row = {"data": f"{name}, {len(X):,} × {X.shape[1]}"}
        for method, cluster in _methods(name).items():
            row[method] = _judged(cluster, X, y, k)
        table.rows.append(row)
        print(row, flush=True)
    names = list(_methods(next(iter(SETS))))
    table.rows = [
        {"data": row["data"], **{m: row.get(m, "–") for m in names}} for row in table.rows
    ]
    return table


def _judged(cluster: peers.Method, X: np.ndarray, y: np.ndarray, k: int) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster(X[: min(len(X), 3000)], k)
        begin = time.perf_counter()
        labels = cluster(X, k)
        seconds = time.perf_counter() - begin
    noise = float(np.mean(labels < 0))
    said = f", {noise:.0%} noise" if noise > 0 else ""
    return f"{adjusted_rand_score(y, labels):.2f} ({seconds:.1f} s{said})"
