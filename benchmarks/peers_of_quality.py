"""What a user would pick instead, as functions from points and k to labels; -1 is noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering

from isthmus import TransitiveCut

Method = Callable[[np.ndarray, int], np.ndarray]


def cut(n_neighbors: int | None = None, kind: str = "mean", metric: str = "euclidean") -> Method:
    """Return TransitiveCut with neighbourhoods, or without."""
    return lambda X, k: TransitiveCut(
        k, n_neighbors=n_neighbors, neighborhood=kind, metric=metric, n_jobs=-1
    ).fit_predict(X)


def kmeans(X: np.ndarray, k: int) -> np.ndarray:
    return KMeans(k, n_init=10, random_state=0).fit_predict(X)


def spectral(X: np.ndarray, k: int) -> np.ndarray:
    return SpectralClustering(
        k, affinity="nearest_neighbors", assign_labels="cluster_qr", random_state=0, n_jobs=-1
    ).fit_predict(X)


def hdbscan(X: np.ndarray, _: int) -> np.ndarray:
    return HDBSCAN(min_cluster_size=15, copy=True, n_jobs=-1).fit_predict(X)


def genie(X: np.ndarray, k: int) -> np.ndarray:
    from genieclust import Genie

    return Genie(k).fit_predict(X)


def lumbermark(X: np.ndarray, k: int) -> np.ndarray:
    from lumbermark import Lumbermark

    return Lumbermark(k).fit_predict(X)


def tomato(X: np.ndarray, k: int) -> np.ndarray:
    from gudhi.clustering.tomato import Tomato

    return Tomato(n_clusters=k).fit_predict(X)


def evoc(X: np.ndarray, k: int) -> np.ndarray:
    from evoc import EVoC

    return EVoC(approx_n_clusters=k, random_state=0).fit_predict(X.astype(np.float32))
