"""How well clusters of handwritten digits agree with the digits: adjusted Rand index."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from benchmarks.battery import Method
from benchmarks.harness import SkippedError, Table, data_folder
from isthmus import TransitiveCut, TransitiveKMeans

METHODS: dict[str, Method] = {
    "TransitiveCut": lambda X, k: TransitiveCut(k, n_jobs=-1).fit_predict(X),
    "TransitiveKMeans": lambda X, k: TransitiveKMeans(k, n_jobs=-1).fit_predict(X),
    "KMeans": lambda X, k: KMeans(k, n_init=10, random_state=0).fit_predict(X),
}


def run() -> Table:
    folder = data_folder()
    if folder is None:
        raise SkippedError("set ISTHMUS_DATA to the folder that holds usps_int16.npz and mnist.npz")
    table = Table(
        "images",
        "Handwritten digits",
        "Adjusted Rand index of ten clusters of raw images. TransitiveKMeans is the paper's "
        "method; KMeans is scikit-learn's, with n_init=10.",
    )
    with np.load(folder / "usps_int16.npz") as usps, np.load(folder / "mnist.npz") as mnist:
        sets = {
            "digits of scikit-learn": load_digits(return_X_y=True),
            "USPS": (usps["K"], usps["y"]),
            "MNIST": (mnist["X"], mnist["y"]),
        }
    for name, (X, y) in sets.items():
        found = {
            method: round(float(adjusted_rand_score(y, cluster(X, 10))), 3)
            for method, cluster in METHODS.items()
        }
        table.rows.append({"data": f"{name}, {len(X):,} × {X.shape[1]}", **found})
    return table
