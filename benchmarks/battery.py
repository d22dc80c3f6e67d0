"""How good the clusters are: adjusted Rand index over public sets with known labels."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from benchmarks import peers_of_quality as peers
from benchmarks.harness import SkippedError, Table, data_folder
from benchmarks.peers_of_quality import Method
from isthmus import TransitiveCut, TransitiveKMeans, UltrametricTree
from isthmus.cut import cut_hierarchy

METHODS: dict[str, Method] = {
    "TransitiveCut": lambda X, k: TransitiveCut(k).fit_predict(X),
    "cut_hierarchy": lambda X, k: cut_hierarchy(UltrametricTree.from_data(X)).labels_for(k),
    "TransitiveKMeans (the paper's method)": lambda X, k: TransitiveKMeans(k).fit_predict(X),
    'TransitiveKMeans, space="embedding"': lambda X, k: TransitiveKMeans(
        k, space="embedding"
    ).fit_predict(X),
    "TransitiveKMeans, power=0.5": lambda X, k: TransitiveKMeans(k, power=0.5).fit_predict(X),
    'TransitiveKMeans, init="k-means++"': lambda X, k: TransitiveKMeans(
        k, init="k-means++", random_state=0
    ).fit_predict(X),
    "TransitiveCut, n_neighbors=30": peers.cut(30),
    'TransitiveCut, n_neighbors=20, neighborhood="shared"': peers.cut(20, "shared"),
    "Lumbermark": peers.lumbermark,
    "Genie": peers.genie,
    "gudhi Tomato": peers.tomato,
    "scikit-learn HDBSCAN (min_cluster_size=15, finds its own k)": peers.hdbscan,
    "scikit-learn KMeans (n_init=10)": peers.kmeans,
    "scikit-learn SpectralClustering (nearest neighbours)": peers.spectral,
    "scikit-learn single linkage": lambda X, k: AgglomerativeClustering(
        k, linkage="single"
    ).fit_predict(X),
}


def battery_sets() -> dict[str, list[Path]]:
    """Return the sets with two or three features, and those with more."""
    folder = data_folder()
    if folder is None:
        raise SkippedError("set ISTHMUS_DATA to the folder that holds battery/")
    sets: dict[str, list[Path]] = {"2 or 3 features": [], "more features": []}
    for path in sorted(folder.glob("battery/*/*.data.gz")):
        n_features = np.loadtxt(path, ndmin=2, max_rows=1).shape[1]
        sets["2 or 3 features" if n_features <= 3 else "more features"].append(path)
    return sets


def run() -> Table:
    sets = sorted(path for paths in battery_sets().values() for path in paths)
    table = Table(
        "battery",
        f"Adjusted Rand index, mean over {len(sets)} public data sets",
        "Gagolewski's suite of clustering benchmarks, version 1. Each set has one or more "
        "reference labellings; k is the number of clusters of a reference, its noise points are "
        "left out, and the best score over the references counts.",
    )
    scores = {}
    for name, method in METHODS.items():
        scores[name] = [score(path, method) for path in sets]
        print(f"{name}: {np.mean(scores[name]):.3f}", flush=True)
    table.rows = [
        {
            "method": name,
            "mean": round(float(np.mean(found)), 3),
            "median": round(float(np.median(found)), 3),
            "sets above 0.95": sum(value > 0.95 for value in found),
        }
        for name, found in scores.items()
    ]
    return table


def score(path: Path, method: Method) -> float:
    """Return the best score of a method over the references of a set."""
    X = np.loadtxt(path, ndmin=2)
    base = path.name.removesuffix(".data.gz")
    best = -1.0
    for reference in sorted(path.parent.glob(f"{base}.labels*.gz")):
        y = np.loadtxt(reference, dtype=int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # spectral clustering on graphs that fall apart
            labels = method(X, int(y.max()))
        best = max(best, adjusted_rand_score(y[y > 0], labels[y > 0]))
    return best
