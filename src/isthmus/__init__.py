"""Clusters of any shape from one parameter: transitive distances in O(n) memory.

Names are loaded when they are first used, so ``import isthmus`` and ``isthmus --help`` are quick.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from isthmus._version import __version__

if TYPE_CHECKING:
    from isthmus import baselines, datasets, evaluation, plotting, theory
    from isthmus.cut import cut_hierarchy, hierarchy_labels
    from isthmus.estimators import (
        KMeansDuality,
        TransitiveClustering,
        TransitiveEmbedding,
        suggest_n_clusters,
    )
    from isthmus.model_selection import Suggestion, transitive_silhouette
    from isthmus.outliers import outlier_scores
    from isthmus.spanning_tree import SpanningTree, minimum_spanning_tree
    from isthmus.theory import (
        consistency,
        consistent_partitions,
        convex_hull_certificate,
        duality_gap,
    )
    from isthmus.ultrametric import (
        UltrametricTree,
        stopping_orders,
        transitive_distances,
        transitive_sequence,
    )

__all__ = [
    "KMeansDuality",
    "SpanningTree",
    "Suggestion",
    "TransitiveClustering",
    "TransitiveEmbedding",
    "UltrametricTree",
    "__version__",
    "baselines",
    "consistency",
    "consistent_partitions",
    "convex_hull_certificate",
    "cut_hierarchy",
    "datasets",
    "duality_gap",
    "evaluation",
    "hierarchy_labels",
    "minimum_spanning_tree",
    "outlier_scores",
    "plotting",
    "stopping_orders",
    "suggest_n_clusters",
    "theory",
    "transitive_distances",
    "transitive_sequence",
    "transitive_silhouette",
]

_ROOMS = {
    "KMeansDuality": "estimators",
    "SpanningTree": "spanning_tree",
    "Suggestion": "model_selection",
    "TransitiveClustering": "estimators",
    "TransitiveEmbedding": "estimators",
    "UltrametricTree": "ultrametric",
    "consistency": "theory",
    "consistent_partitions": "theory",
    "convex_hull_certificate": "theory",
    "cut_hierarchy": "cut",
    "duality_gap": "theory",
    "hierarchy_labels": "cut",
    "minimum_spanning_tree": "spanning_tree",
    "outlier_scores": "outliers",
    "stopping_orders": "ultrametric",
    "suggest_n_clusters": "estimators",
    "transitive_distances": "ultrametric",
    "transitive_sequence": "ultrametric",
    "transitive_silhouette": "model_selection",
}


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        value = getattr(_import_module(f"isthmus.{_ROOMS[name]}"), name)
    elif name in __all__:
        value = _import_module(f"isthmus.{name}")
    else:
        raise AttributeError(f"module 'isthmus' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
