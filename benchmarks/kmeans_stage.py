"""The K-means stage alone: lazy against plain Lloyd, and CUT against scikit-learn's K-means."""

from __future__ import annotations

import numpy as np
import quitefastmst
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from benchmarks.harness import Table, best_times
from isthmus import SpanningTree, UltrametricTree
from isthmus.cut.divisive import cut_spanning_tree
from isthmus.kmeans import KMeansClusterer, KMeansSettings, Solution, TreeSpace


def run() -> Table:
    table = Table(
        "kmeans_stage",
        "The K-means stage, given the spanning tree",
        "One thread. lazy expands only the undecided part of the tree; plain is Lloyd's O(nk) step "
        "on the whole tree, run once (for k = 50 one start, times ten); both from the same starts. "
        "CUT is timed from the ultrametric tree on, and, as a second figure, from the sorted edges "
        "on; scikit-learn's K-means on the points; best of 3, in turns.",
    )
    with threadpool_limits(1):
        for n_points, k, kind in (
            (200_000, 10, "blobs"),
            (200_000, 10, "uniform"),
            (200_000, 50, "blobs"),
        ):
            table.rows.append(_lazy_against_plain(n_points, k, kind))
        table.rows += _cut_against_kmeans(1_000_000, 10)
    return table


def _points(n_points: int, k: int, kind: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    if kind == "uniform":
        return rng.random((n_points, 2))
    centres = rng.random((k, 2)) * 10
    return centres[rng.integers(k, size=n_points)] + rng.normal(0, 0.25, (n_points, 2))


def _tree(points: np.ndarray) -> UltrametricTree:
    weights, edges = quitefastmst.mst_euclid(points)
    return UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))


def _lazy_against_plain(n_points: int, k: int, kind: str, n_starts: int = 10) -> dict[str, object]:
    clusterer = KMeansClusterer(TreeSpace(_tree(_points(n_points, k, kind))))
    # One start of the plain algorithm stands for all where ten would take minutes.
    n_plain = n_starts if k <= 10 else 1
    labels = {}

    def run(algorithm: str, n_init: int, max_iter: int = 300) -> Solution:
        settings = KMeansSettings(
            k,
            init="random",
            n_init=n_init,
            max_iter=max_iter,
            random_state=0,
            algorithm=algorithm,
        )
        return clusterer.run(settings.checked(n_points))

    def solve(algorithm: str, n_init: int) -> None:
        labels[algorithm, n_init] = run(algorithm, n_init).labels

    for algorithm in ("lazy", "plain"):  # compile, and prepare the tree
        run(algorithm, 1, max_iter=1)
    times = best_times({"lazy": lambda: solve("lazy", n_starts)}, repeats=3)
    times |= best_times({"plain": lambda: solve("plain", n_plain)}, repeats=1)
    solve("lazy", n_plain)
    plain = times["plain"] * n_starts / n_plain
    return {
        "what": f"{n_starts} random starts, lazy against plain Lloyd",
        "data": f"{n_points:,} × 2 {kind}, k = {k}",
        "ours (s)": times["lazy"],
        "other (s)": plain,
        "other ÷ ours": plain / times["lazy"],
        "equal": bool(np.array_equal(labels["lazy", n_plain], labels["plain", n_plain])),
    }


def _cut_against_kmeans(n_points: int, k: int) -> list[dict[str, object]]:
    points = _points(n_points, k, "blobs")
    spanning_tree = _tree(points).spanning_tree
    tree = UltrametricTree.from_spanning_tree(spanning_tree)

    def cut(from_tree: UltrametricTree) -> None:
        cut_spanning_tree(from_tree, k).labels(k)

    cut(tree)
    times = best_times(
        {
            "tree": lambda: cut(tree),
            "edges": lambda: cut(UltrametricTree.from_spanning_tree(spanning_tree)),
            "kmeans": lambda: KMeans(k, n_init=1, random_state=0).fit(points),
        },
        repeats=3,
    )
    return [
        {
            "what": f"CUT from the {start} on, against scikit-learn's KMeans(n_init=1)",
            "data": f"{n_points:,} × 2 blobs, k = {k}",
            "ours (s)": times[start],
            "other (s)": times["kmeans"],
            "other ÷ ours": times["kmeans"] / times[start],
            "equal": "",
        }
        for start in ("tree", "edges")
    ]
