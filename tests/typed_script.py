"""What a user with a type checker writes: checked by ``mypy --strict`` (make lint), and run.

The one error is wanted: where types did not reach users, mypy would find nothing to ignore, and
call the comment superfluous.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isthmus import (
    SpanningTree,
    TransitiveCut,
    TransitiveKMeans,
    UltrametricTree,
    minimum_spanning_tree,
    nearest_neighbors,
    outlier_scores,
    suggest_n_clusters,
)
from isthmus.cut import cut_hierarchy
from isthmus.datasets import make_two_moons
from isthmus.evaluation import error_rate
from isthmus.theory import consistency


def cluster(points: NDArray[np.float64], n_clusters: int) -> list[int]:
    """Return labels as a list."""
    model: TransitiveCut = TransitiveCut(n_clusters, n_jobs=-1).fit(points)
    names: list[int] = model.predict(points).tolist()
    return names


def main() -> None:
    """Use the public names as their types say."""
    X, y = make_two_moons(60, random_state=0)
    error: float = error_rate(y, cluster(X, 2))
    assert error == 0.0
    tree: SpanningTree = minimum_spanning_tree(X)
    ultrametric: UltrametricTree = UltrametricTree.from_spanning_tree(tree)
    n_points: int = ultrametric.n_points
    scores: NDArray[np.float64] = outlier_scores(ultrametric)
    assert len(scores) == n_points == len(nearest_neighbors(X, 3).indices)
    n_clusters: int = suggest_n_clusters(ultrametric).n_clusters
    assert n_clusters >= 1
    assert consistency(ultrametric, cut_hierarchy(ultrametric).labels_for(2)).consistent
    assert TransitiveKMeans(2).fit(X).inertia_ > 0.0
    try:
        TransitiveCut(n_clusters=[2]).fit(X)  # type: ignore[arg-type]
    except TypeError:
        pass
    else:
        raise AssertionError("a list is no number of clusters")


if __name__ == "__main__":
    main()
