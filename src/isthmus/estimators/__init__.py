"""scikit-learn's interface: clusterers, embeddings and means of points."""

from isthmus.estimators.kmeans_duality import KMeansDuality
from isthmus.estimators.neighbor_mean import NeighborMean
from isthmus.estimators.transitive_cut import TransitiveCut
from isthmus.estimators.transitive_embedding import TransitiveEmbedding
from isthmus.estimators.transitive_kmeans import TransitiveKMeans

__all__ = [
    "KMeansDuality",
    "NeighborMean",
    "TransitiveCut",
    "TransitiveEmbedding",
    "TransitiveKMeans",
]
