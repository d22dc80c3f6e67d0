"""Every implementation of exact Euclidean spanning trees, behind one call.

``python -m benchmarks.trees NAME N_POINTS N_FEATURES THREADS`` prints time and peak memory of one
tree of uniform points, in a process of its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

# Sorted weights of the tree of some points, on some threads.
Weights = Callable[[np.ndarray, int], np.ndarray]


def _isthmus(points: np.ndarray, threads: int) -> np.ndarray:
    from isthmus import minimum_spanning_tree

    engine = "kd-tree" if points.shape[1] <= 8 else "auto"
    return minimum_spanning_tree(points, n_jobs=threads, engine=engine).weights


def _quitefastmst(points: np.ndarray, threads: int) -> np.ndarray:
    import quitefastmst

    quitefastmst.omp_set_num_threads(threads)
    return quitefastmst.mst_euclid(points)[0]


def _hdbscan(points: np.ndarray, threads: int) -> np.ndarray:
    from hdbscan._hdbscan_boruvka import KDTreeBoruvkaAlgorithm
    from sklearn.neighbors import KDTree

    tree = KDTree(points, leaf_size=40)
    options = {"metric": "euclidean", "leaf_size": 13, "approx_min_span_tree": False}
    found = KDTreeBoruvkaAlgorithm(tree, 0, n_jobs=threads, **options).spanning_tree()
    return np.sort(found[:, 2])


def _fast_hdbscan(points: np.ndarray, threads: int) -> np.ndarray:
    from fast_hdbscan.hdbscan import compute_minimum_spanning_tree

    import numba

    numba.set_num_threads(threads)
    edges = compute_minimum_spanning_tree(points, min_samples=1)[0]
    return np.sort(edges[:, 2])


def _mlpack(points: np.ndarray, threads: int) -> np.ndarray:
    import mlpack
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads):
        return np.sort(mlpack.emst(points)["output"][:, 2])


def _scipy_delaunay(points: np.ndarray, _: int) -> np.ndarray:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial import Delaunay

    simplices = Delaunay(points).simplices
    corners = range(simplices.shape[1])
    sides = [simplices[:, [i, j]] for i in corners for j in corners if i < j]
    edges = np.unique(np.sort(np.vstack(sides), axis=1), axis=0)
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    shape = (len(points), len(points))
    return np.sort(minimum_spanning_tree(coo_array((lengths, edges.T), shape)).data)


def _scipy_linkage(points: np.ndarray, _: int) -> np.ndarray:
    from scipy.cluster.hierarchy import linkage

    return linkage(points, "single")[:, 2]


def _hdbscan_prim(points: np.ndarray, _: int) -> np.ndarray:
    from hdbscan._hdbscan_linkage import mst_linkage_core_vector
    from hdbscan.dist_metrics import DistanceMetric

    euclidean = DistanceMetric.get_metric("euclidean")
    return np.sort(mst_linkage_core_vector(points, np.zeros(len(points)), euclidean)[:, 2])


def _sklearn_single_linkage(points: np.ndarray, _: int) -> np.ndarray:
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(2, linkage="single", compute_distances=True)
    return np.sort(model.fit(points).distances_)


def _sklearn_hdbscan(points: np.ndarray, threads: int) -> np.ndarray:
    from sklearn.cluster import HDBSCAN

    # a point is its own first neighbour: with one of them, distances are left as they are
    model = HDBSCAN(min_samples=1, n_jobs=threads, copy=True)
    return np.sort(model.fit(points)._single_linkage_tree_["value"])


TREES: dict[str, Weights] = {
    "isthmus": _isthmus,
    "quitefastmst": _quitefastmst,
    "hdbscan": _hdbscan,
    "fast_hdbscan": _fast_hdbscan,
    "mlpack": _mlpack,
    "SciPy (Delaunay)": _scipy_delaunay,
    "SciPy (linkage)": _scipy_linkage,
    "hdbscan (Prim)": _hdbscan_prim,
    "scikit-learn (single linkage)": _sklearn_single_linkage,
    "scikit-learn (HDBSCAN)": _sklearn_hdbscan,
}
# Those that look at every pair, or keep all distances in memory.
QUADRATIC = (
    "SciPy (linkage)",
    "hdbscan (Prim)",
    "scikit-learn (single linkage)",
    "scikit-learn (HDBSCAN)",
)


def is_installed(name: str) -> bool:
    """Whether the package that a tree comes from is installed."""
    package = name.split(maxsplit=1)[0].lower().replace("scikit-learn", "sklearn")
    return importlib.util.find_spec(package) is not None


def _main(name: str, n_points: int, n_features: int, threads: int) -> None:
    os.environ["OMP_NUM_THREADS"] = str(threads)
    points = np.random.default_rng(0).random((n_points, n_features))
    TREES[name](points[:5000], threads)  # loads, and compiles if need be
    begin = time.perf_counter()
    weights = TREES[name](points, threads)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "MiB": peak_memory(), "weight": float(weights.sum())}))


def peak_memory() -> float:
    """Return the largest memory of this process so far, in MiB."""
    try:  # what getrusage says includes the process that this one was forked from
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    _main(sys.argv[1], *map(int, sys.argv[2:]))
