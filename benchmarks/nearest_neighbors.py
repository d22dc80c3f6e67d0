"""The twenty nearest neighbours of all points, beside SciPy, scikit-learn and FAISS."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from benchmarks.data import make
from benchmarks.harness import Table, best_times, require
from isthmus import TransitiveCut, nearest_neighbors

K = 20


def run() -> Table:
    require("faiss")
    table = Table(
        "nearest_neighbors",
        f"The {K} nearest neighbours of all points",
        "Best times, in turns, on one thread; the ratio is ours over theirs. The last rows: a fit "
        "with neighbourhoods over one without, and the memory of one beside the data.",
    )
    for n_points, n_features in ((1_000_000, 2), (1_000_000, 3)):
        X = make("uniform", n_points, n_features)
        table.rows.append(_row(X, {"SciPy cKDTree": _scipy(X)}))
    for n_points, n_features in ((50_000, 32), (20_000, 784)):
        X = make("uniform", n_points, n_features).astype(np.float32)
        peers = {"scikit-learn, brute force": _brute_force(X), "FAISS IndexFlatL2": _faiss(X)}
        table.rows.append(_row(X, peers))
    table.rows += _fits()
    columns = list(dict.fromkeys(name for row in table.rows for name in row))
    table.rows = [{name: row.get(name, "–") for name in columns} for row in table.rows]
    return table


def _row(X: np.ndarray, peers: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    nearest_neighbors(X[:5000], K)  # compiles
    with threadpool_limits(1):
        times = best_times({"isthmus": lambda: nearest_neighbors(X, K), **peers})
    row = {"what": f"{len(X):,} × {X.shape[1]}", "seconds": round(times["isthmus"], 2)}
    row |= {f"÷ {name}": round(times["isthmus"] / times[name], 2) for name in peers}
    print(row, flush=True)
    return row


def _scipy(X: np.ndarray) -> Callable[[], Any]:
    return lambda: cKDTree(X).query(X, K)


def _brute_force(X: np.ndarray) -> Callable[[], Any]:
    search = NearestNeighbors(n_neighbors=K, algorithm="brute")
    return lambda: search.fit(X).kneighbors(X)


def _faiss(X: np.ndarray) -> Callable[[], Any]:
    import faiss

    def search() -> None:
        faiss.omp_set_num_threads(1)
        index = faiss.IndexFlatL2(X.shape[1])
        index.add(X)
        index.search(X, K)

    return search


def _fits() -> list[dict[str, Any]]:
    X = make("MNIST", 70_000, 784).astype(np.float32)
    fits = {
        "plain": TransitiveCut(10, n_jobs=-1),
        "shared": TransitiveCut(10, n_neighbors=K, neighborhood="shared", n_jobs=-1),
        "mean": TransitiveCut(10, n_neighbors=30, n_jobs=-1),
    }
    for model in fits.values():
        model.fit(X[:5000])
    times = best_times({name: lambda m=model: m.fit(X) for name, model in fits.items()}, 2)
    rows = [
        {
            "what": f"MNIST 70,000 × 784, {name}",
            "seconds": round(times[name], 1),
            "÷ plain": round(times[name] / times["plain"], 2),
        }
        for name in ("shared", "mean")
    ]
    points = make("uniform", 1_000_000, 2)
    for kind in ("shared", "mean"):
        model = TransitiveCut(10, n_neighbors=K, neighborhood=kind)
        model.fit(points[:5000])
        tracemalloc.start()
        model.fit(points)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        row = {"what": f"1,000,000 × 2, {kind}", "bytes a point": round(peak / len(points))}
        rows.append(row)
        print(row, flush=True)
    return rows
