"""UltrametricTree → K-means on its rows or in its embedding → labels."""

from isthmus.kmeans.cluster import TreeClusterer
from isthmus.kmeans.joins import cut_hierarchy, hierarchy_labels
from isthmus.kmeans.lloyd import Solution
from isthmus.kmeans.plan import Plan
from isthmus.kmeans.silhouette import Silhouette, transitive_silhouette
from isthmus.kmeans.suggestion import Suggestion, suggest

__all__ = [
    "Plan",
    "Silhouette",
    "Solution",
    "Suggestion",
    "TreeClusterer",
    "cut_hierarchy",
    "hierarchy_labels",
    "suggest",
    "transitive_silhouette",
]
