"""SpanningTree → UltrametricTree: transitive distances, products, orders, embedding, outliers."""

from isthmus.ultrametric.orders import stopping_orders, transitive_distances, transitive_sequence
from isthmus.ultrametric.outliers import outlier_scores
from isthmus.ultrametric.paths import TransitiveEdge
from isthmus.ultrametric.tree import UltrametricTree

__all__ = [
    "TransitiveEdge",
    "UltrametricTree",
    "outlier_scores",
    "stopping_orders",
    "transitive_distances",
    "transitive_sequence",
]
