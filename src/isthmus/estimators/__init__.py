"""scikit-learn's face over the stages: clusters and embeddings of points."""

from isthmus.estimators.kmeans_duality import KMeansDuality
from isthmus.estimators.suggest import suggest_n_clusters
from isthmus.estimators.transitive_clustering import TransitiveClustering
from isthmus.estimators.transitive_embedding import TransitiveEmbedding
from isthmus.model_selection.path import ClusterPath

__all__ = [
    "ClusterPath",
    "KMeansDuality",
    "TransitiveClustering",
    "TransitiveEmbedding",
    "suggest_n_clusters",
]
