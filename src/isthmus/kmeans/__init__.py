"""UltrametricTree → K-means on its rows or in its embedding → labels."""

from isthmus.kmeans.cluster import Plan, TreeClusterer
from isthmus.kmeans.joins import cut_hierarchy, hierarchy_labels
from isthmus.kmeans.lloyd import Solution
from isthmus.kmeans.silhouette import Silhouette, transitive_silhouette

__all__ = [
    "Plan",
    "Silhouette",
    "Solution",
    "TreeClusterer",
    "cut_hierarchy",
    "hierarchy_labels",
    "transitive_silhouette",
]
