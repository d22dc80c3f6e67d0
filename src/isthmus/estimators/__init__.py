"""scikit-learn's interface: clusterers and embeddings of points."""

from isthmus.estimators.kmeans_duality import KMeansDuality
from isthmus.estimators.transitive_cut import TransitiveCut
from isthmus.estimators.transitive_embedding import TransitiveEmbedding
from isthmus.estimators.transitive_kmeans import TransitiveKMeans

__all__ = ["KMeansDuality", "TransitiveCut", "TransitiveEmbedding", "TransitiveKMeans"]
