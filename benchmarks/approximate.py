"""The approximate engine beside EVoC, and beside the exact engines."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.harness import Table, best_times, require
from benchmarks.labelled_sets import SETS, metric_of
from isthmus import TransitiveCut

# The larger one takes an hour on two cores: EVOC_POINTS="100000,1000000".
SIZES = [int(n) for n in os.environ.get("EVOC_POINTS", "100000").split(",")]


def mixture(n_points: int, n_features: int, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return overlapping clusters of unequal sizes, on the unit sphere, as embeddings are."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_clusters, n_features))
    shares = rng.dirichlet(np.full(n_clusters, 5.0))
    y = rng.choice(n_clusters, size=n_points, p=shares)
    X = (centres[y] + 1.2 * rng.normal(size=(n_points, n_features))).astype(np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def run() -> Table:
    require("evoc")
    require("pynndescent")
    from evoc import EVoC

    table = Table(
        "approximate",
        "Approximate spanning trees",
        "engine='approximate' with n_neighbors=20, neighborhood='mean'. Seconds, in turns, all "
        "cores; adjusted Rand index (EVoC's noise counts as a cluster); and of sets that the "
        "exact engines can do, the weight of the tree over that of the exact one.",
    )
    for n_points in SIZES:
        X, y = mixture(n_points, 384, 50)
        found: dict[str, Any] = {}

        def ours(X: np.ndarray = X, found: dict[str, Any] = found) -> None:
            model = TransitiveCut(50, n_neighbors=20, engine="approximate", n_jobs=-1)
            found["ours"] = model.fit_predict(X)

        def theirs(X: np.ndarray = X, found: dict[str, Any] = found) -> None:
            found["EVoC"] = EVoC(approx_n_clusters=50, random_state=0).fit_predict(X)

        small = mixture(3000, 384, 5)[0]
        TransitiveCut(5, n_neighbors=20, engine="approximate").fit(small)
        EVoC(approx_n_clusters=5).fit_predict(small)
        times = best_times({"ours": ours, "EVoC": theirs}, 1 if n_points > 200_000 else 2)
        table.rows.append(
            {
                "data": f"mixture, {n_points:,} × 384",
                "approximate": round(adjusted_rand_score(y, found["ours"]), 3),
                "other": f"EVoC {adjusted_rand_score(y, found['EVoC']):.3f}",
                "time ÷ other": round(times["ours"] / times["EVoC"], 2),
                "weight ÷ exact": "–",
            }
        )
        print(table.rows[-1], times, flush=True)
    for name in ("USPS", "MNIST, first 10,000", "banking77", "StackOverflow", "AG News"):
        table.rows.append(_beside_exact(name))
        print(table.rows[-1], flush=True)
    return table


def _beside_exact(name: str) -> dict[str, Any]:
    X, y = SETS[name]()
    k = len(np.unique(y))
    models = {
        engine: TransitiveCut(k, metric=metric_of(name), n_neighbors=20, engine=engine, n_jobs=-1)
        for engine in ("approximate", "auto")
    }
    times = best_times({e: lambda m=model: m.fit(X) for e, model in models.items()}, 2)
    scores = {e: adjusted_rand_score(y, model.labels_) for e, model in models.items()}
    weights = {e: model.spanning_tree_.total_weight for e, model in models.items()}
    return {
        "data": f"{name}, {len(X):,} × {X.shape[1]}",
        "approximate": round(scores["approximate"], 3),
        "other": f"exact {scores['auto']:.3f}",
        "time ÷ other": round(times["approximate"] / times["auto"], 2),
        "weight ÷ exact": round(weights["approximate"] / weights["auto"], 4),
    }
