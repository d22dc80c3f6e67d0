"""SpanningTree → UltrametricTree: transitive distances, products, linkage, distances of order k."""

from isthmus.ultrametric.orders import transitive_distances
from isthmus.ultrametric.tree import UltrametricTree

__all__ = ["UltrametricTree", "transitive_distances"]
