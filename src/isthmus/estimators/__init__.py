"""scikit-learn's face over the stages: clusters and embeddings of points."""

from isthmus.estimators.cluster_path import ClusterPath
from isthmus.estimators.kmeans_duality import KMeansDuality
from isthmus.estimators.suggest import suggest_n_clusters
from isthmus.estimators.transitive_clustering import TransitiveClustering
from isthmus.estimators.transitive_embedding import TransitiveEmbedding

__all__ = [
    "ClusterPath",
    "KMeansDuality",
    "TransitiveClustering",
    "TransitiveEmbedding",
    "suggest_n_clusters",
]
