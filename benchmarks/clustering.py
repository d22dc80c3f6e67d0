"""The whole fit, from points to labels, beside K-means and Genie."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans

from benchmarks.harness import Table, median_ratio, require, times_in_turns
from isthmus import TransitiveKMeans, minimum_spanning_tree


def run() -> Table:
    require("genieclust")
    from genieclust import Genie

    table = Table(
        "clustering",
        "From points to labels",
        "1,000,000 points in 10 Gaussian clusters in the plane, everything at its defaults but "
        "the number of clusters (and K-means' n_init=10), so one thread for isthmus and "
        "all cores for the two others; best of five, in turns.",
    )
    rng = np.random.default_rng(0)
    centres = rng.random((10, 2)) * 10
    points = centres[rng.integers(10, size=1_000_000)] + rng.normal(0, 0.25, (1_000_000, 2))
    times = times_in_turns(
        {
            "minimum_spanning_tree": lambda: minimum_spanning_tree(points),
            "TransitiveKMeans(10).fit": lambda: TransitiveKMeans(10).fit(points),
            "KMeans(10, n_init=10).fit": lambda: KMeans(10, n_init=10).fit(points),
            "genieclust.Genie(10).fit": lambda: Genie(10).fit(points),
        },
        repeats=5,
    )
    ours = times["TransitiveKMeans(10).fit"]
    for name, goal in zip(times, (1.5, "–", 0.5, 0.3), strict=True):
        table.rows.append(
            {
                "what": name,
                "seconds": min(times[name]),
                "our fit ÷ this": median_ratio(ours, times[name]),
                "goal": goal,
            }
        )
    return table
