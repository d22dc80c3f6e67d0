"""Many numbers of clusters from one fit, and the silhouette by the tree."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import silhouette_score

from benchmarks.data import make
from benchmarks.harness import Table, best_times
from isthmus import TransitiveKMeans, UltrametricTree
from isthmus.cut import cut_hierarchy
from isthmus.model_selection import transitive_silhouette


def run(n_points: int = 1_000_000, n_dense: int = 5_000) -> Table:
    table = Table(
        "path",
        "Many numbers of clusters from one fit",
        "Points in the plane in 20 Gaussian clusters. path: labels, inertia, sizes, margins and "
        "silhouettes for k = 2 … 20, from a fit with k = 10, beside that fit; one thread, once; "
        "and cut_hierarchy, beside the same. transitive_silhouette for k = 10, given the tree, "
        "beside scikit-learn's silhouette_score, given the dense matrix of transitive distances; "
        "best of 3, in turns, at a size whose matrix fits into memory. equal: the same silhouettes "
        "to 1e-12.",
    )
    _compile()
    table.rows = [*_path(n_points), _silhouette(n_dense)]
    return table


def _compile() -> None:
    model = TransitiveKMeans(2).fit(make("clustered", 2_000, 2))
    model.path(2, 3)
    cut_hierarchy(model.tree_)


def _path(n_points: int) -> list[dict[str, object]]:
    points = make("clustered", n_points, 2)
    model = TransitiveKMeans(10)
    fit = best_times({"fit": lambda: model.fit(points)}, repeats=1)["fit"]
    times = best_times(
        {
            "path(2, 20)": lambda: model.path(2, 20),
            "cut_hierarchy(tree_)": lambda: cut_hierarchy(model.tree_),
        },
        repeats=1,
    )
    return [
        {
            "what": f"{name}, beside TransitiveKMeans(10).fit",
            "points": n_points,
            "ours (s)": seconds,
            "other (s)": fit,
            "other ÷ ours": fit / seconds,
            "equal": "",
        }
        for name, seconds in times.items()
    ]


def _silhouette(n_points: int) -> dict[str, object]:
    points = make("clustered", n_points, 2)
    labels = TransitiveKMeans(10).fit_predict(points)
    tree = UltrametricTree.from_data(points)
    matrix = tree.matrix()
    found: dict[str, float] = {}

    def measure(name: str) -> None:
        if name == "tree":
            found[name] = transitive_silhouette(tree, labels)
        else:
            found[name] = float(silhouette_score(matrix, labels, metric="precomputed"))

    times = best_times({name: lambda name=name: measure(name) for name in ("tree", "matrix")})
    return {
        "what": "transitive_silhouette, beside silhouette_score on the dense matrix",
        "points": n_points,
        "ours (s)": times["tree"],
        "other (s)": times["matrix"],
        "other ÷ ours": times["matrix"] / times["tree"],
        "equal": bool(np.isclose(found["tree"], found["matrix"], rtol=0, atol=1e-12)),
    }
