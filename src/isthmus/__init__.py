"""Clusters of any shape from one parameter: transitive distances in O(n) memory."""

from isthmus._version import __version__
from isthmus.estimators import KMeansDuality, TransitiveClustering
from isthmus.spanning_tree import SpanningTree, minimum_spanning_tree
from isthmus.ultrametric import UltrametricTree, transitive_distances

__all__ = [
    "KMeansDuality",
    "SpanningTree",
    "TransitiveClustering",
    "UltrametricTree",
    "__version__",
    "minimum_spanning_tree",
    "transitive_distances",
]
