"""Clusters of any shape from one parameter: transitive distances in O(n) memory.

Names are loaded when they are first used, so ``import isthmus`` and ``isthmus --help`` are quick.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from isthmus._version import __version__

if TYPE_CHECKING:
    from isthmus import baselines, cut, datasets, evaluation, model_selection, plotting, theory
    from isthmus.estimators import (
        KMeansDuality,
        NeighborMean,
        TransitiveCut,
        TransitiveEmbedding,
        TransitiveKMeans,
    )
    from isthmus.model_selection import suggest_n_clusters
    from isthmus.neighbors.api import nearest_neighbors
    from isthmus.outliers import outlier_scores
    from isthmus.spanning_tree import SpanningTree, minimum_spanning_tree
    from isthmus.ultrametric import UltrametricTree

_DEFINED_IN = {
    "KMeansDuality": "estimators",
    "NeighborMean": "estimators",
    "SpanningTree": "spanning_tree",
    "TransitiveCut": "estimators",
    "TransitiveEmbedding": "estimators",
    "TransitiveKMeans": "estimators",
    "UltrametricTree": "ultrametric",
    "minimum_spanning_tree": "spanning_tree",
    "nearest_neighbors": "neighbors.api",
    "outlier_scores": "outliers",
    "suggest_n_clusters": "model_selection",
}
_PACKAGES = (
    "baselines",
    "cut",
    "datasets",
    "evaluation",
    "model_selection",
    "plotting",
    "theory",
)

__all__ = [
    "KMeansDuality",
    "NeighborMean",
    "SpanningTree",
    "TransitiveCut",
    "TransitiveEmbedding",
    "TransitiveKMeans",
    "UltrametricTree",
    "__version__",
    "baselines",
    "cut",
    "datasets",
    "evaluation",
    "minimum_spanning_tree",
    "model_selection",
    "nearest_neighbors",
    "outlier_scores",
    "plotting",
    "suggest_n_clusters",
    "theory",
]


def __getattr__(name: str) -> object:
    if name in _DEFINED_IN:
        value = getattr(_import_module(f"isthmus.{_DEFINED_IN[name]}"), name)
    elif name in _PACKAGES:
        value = _import_module(f"isthmus.{name}")
    else:
        raise AttributeError(f"module 'isthmus' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
