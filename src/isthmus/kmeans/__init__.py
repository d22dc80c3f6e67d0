"""UltrametricTree → K-means on its rows or in its embedding → labels."""

from isthmus.kmeans.cluster import Plan, TreeClusterer
from isthmus.kmeans.lloyd import Solution

__all__ = ["Plan", "Solution", "TreeClusterer"]
