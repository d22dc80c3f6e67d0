"""UltrametricTree → how many clusters, and how good they are."""

from isthmus.model_selection.api import suggest_n_clusters
from isthmus.model_selection.cluster_path import ClusterPath
from isthmus.model_selection.silhouette import transitive_silhouette
from isthmus.model_selection.suggestion import Suggestion

__all__ = ["ClusterPath", "Suggestion", "suggest_n_clusters", "transitive_silhouette"]
