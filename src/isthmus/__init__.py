"""Clusters of any shape from one parameter: transitive distances in O(n) memory.

Names are loaded when they are first used, so ``import isthmus`` and ``isthmus --help`` are quick.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from isthmus._version import __version__

if TYPE_CHECKING:
    from isthmus import datasets, evaluation, plotting
    from isthmus.estimators import KMeansDuality, TransitiveClustering, TransitiveEmbedding
    from isthmus.spanning_tree import SpanningTree, minimum_spanning_tree
    from isthmus.theory import convex_hull_certificate
    from isthmus.ultrametric import UltrametricTree, transitive_distances

__all__ = [
    "KMeansDuality",
    "SpanningTree",
    "TransitiveClustering",
    "TransitiveEmbedding",
    "UltrametricTree",
    "__version__",
    "convex_hull_certificate",
    "datasets",
    "evaluation",
    "minimum_spanning_tree",
    "plotting",
    "transitive_distances",
]

_ROOMS = {
    "KMeansDuality": "estimators",
    "SpanningTree": "spanning_tree",
    "TransitiveClustering": "estimators",
    "TransitiveEmbedding": "estimators",
    "UltrametricTree": "ultrametric",
    "convex_hull_certificate": "theory",
    "minimum_spanning_tree": "spanning_tree",
    "transitive_distances": "ultrametric",
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
