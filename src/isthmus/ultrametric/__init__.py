"""SpanningTree → UltrametricTree: transitive distances, products, orders, embedding."""

from isthmus.ultrametric.orders import stopping_orders, transitive_distances, transitive_sequence
from isthmus.ultrametric.transitive_edge import TransitiveEdge
from isthmus.ultrametric.tree import UltrametricTree

__all__ = [
    "TransitiveEdge",
    "UltrametricTree",
    "stopping_orders",
    "transitive_distances",
    "transitive_sequence",
]
