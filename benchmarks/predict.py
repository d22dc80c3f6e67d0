"""Clusters of new points, beside those of hdbscan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.data import make
from benchmarks.harness import Table, median_ratio, require, times_in_turns
from isthmus import TransitiveCut, TransitiveKMeans


def run(
    sizes: tuple[int, ...] = (100_000, 1_000_000), n_new: int = 100_000, largest_peer: int = 100_000
) -> Table:
    require("hdbscan")
    table = Table(
        "predict",
        "New points",
        f"Clustered points in the plane, {n_new:,} new ones of the same kind, k = 20, one thread; "
        "best of 3, in turns, after a first call that prepares the fit for new points. "
        f"hdbscan.approximate_predict, with prediction data, up to {largest_peer:,} fitted points; "
        "the ratio is the median of ratios.",
    )
    with threadpool_limits(1):
        for n_fitted in sizes:
            table.rows += _rows(n_fitted, n_new, with_peer=n_fitted <= largest_peer)
    return table


def _rows(n_fitted: int, n_new: int, *, with_peer: bool) -> list[dict[str, object]]:
    points = np.random.default_rng(1).permutation(make("clustered", n_fitted + n_new, 2))
    fitted, new = points[:n_fitted], points[n_fitted:]
    predictors: dict[str, Callable[[], Any]] = {}
    models = {
        "TransitiveCut(20)": TransitiveCut(20),
        "TransitiveKMeans(20)": TransitiveKMeans(20),
        'TransitiveKMeans(20, space="embedding")': TransitiveKMeans(20, space="embedding"),
    }
    for name, model in models.items():
        model.fit(fitted)
        model.predict(new[:10])
        predictors[f"{name}.predict"] = lambda model=model: model.predict(new)
    if with_peer:
        predictors["hdbscan.approximate_predict"] = _peer(fitted, new)
    times = times_in_turns(predictors, 3)
    peer = times.get("hdbscan.approximate_predict")
    return [
        {
            "fitted points": f"{n_fitted:,}",
            "what": name,
            "µs per new point": min(found) / n_new * 1e6,
            "÷ hdbscan": median_ratio(found, peer) if peer else "–",
            "goal (µs)": 20 if name != "hdbscan.approximate_predict" else "–",
        }
        for name, found in times.items()
    ]


def _peer(fitted: np.ndarray, new: np.ndarray) -> Callable[[], Any]:
    import hdbscan

    model = hdbscan.HDBSCAN(
        min_cluster_size=len(fitted) // 200, prediction_data=True, core_dist_n_jobs=1
    ).fit(fitted)
    return lambda: hdbscan.approximate_predict(model, new)
