"""What it costs to give a metric as a Python function: Prim's algorithm by name and by callable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import distance
from threadpoolctl import threadpool_limits

from benchmarks.harness import Table, median_ratio, times_in_turns
from isthmus import minimum_spanning_tree

# SciPy's functions of two vectors; the first has a map and a kernel, the second rows by SciPy.
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "cosine": distance.cosine,
    "canberra": distance.canberra,
}


def run(n_points: int = 2_000, n_features: int = 16) -> Table:
    table = Table(
        "callables",
        "Metrics by name and as Python functions",
        "One thread, engine 'prim'. The function is SciPy's, called once for each pair. Best of 3, "
        "in turns; the ratio is the median of ratios; equal: heights to 12 digits.",
    )
    points = np.random.default_rng(0).random((n_points, n_features))
    with threadpool_limits(1):
        for name, function in _FUNCTIONS.items():
            table.rows.append(_compare(points, name, function))
    return table


def _compare(points: np.ndarray, name: str, function: Callable[..., float]) -> dict[str, object]:
    trees = {}

    def build(metric: str | Callable[..., float]) -> None:
        trees[metric] = minimum_spanning_tree(points, metric=metric, engine="prim")

    build(name)  # compile
    times = times_in_turns({"name": lambda: build(name), "function": lambda: build(function)}, 3)
    heights = trees[name].weights, trees[function].weights
    return {
        "metric": name,
        "data": f"{points.shape[0]:,} × {points.shape[1]} uniform",
        "by name (s)": min(times["name"]),
        "by function (s)": min(times["function"]),
        "function ÷ name": median_ratio(times["function"], times["name"]),
        "equal": bool(np.allclose(*heights, rtol=1e-12, atol=1e-15)),
    }
