"""UltrametricTree → K-means on its rows or in its embedding → labels."""

from isthmus.kmeans.api import TreeClusterer
from isthmus.kmeans.lloyd import Solution
from isthmus.kmeans.settings import Plan

__all__ = ["Plan", "Solution", "TreeClusterer"]
