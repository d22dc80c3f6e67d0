"""SpanningTree → UltrametricTree: transitive distances, products, linkage, orders, embedding."""

from isthmus.ultrametric.orders import transitive_distances
from isthmus.ultrametric.tree import UltrametricTree

__all__ = ["UltrametricTree", "transitive_distances"]
