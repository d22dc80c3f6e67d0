"""UltrametricTree → K-means on its rows or in its embedding → labels."""

from isthmus.kmeans.api import KMeansClusterer
from isthmus.kmeans.lloyd import Solution
from isthmus.kmeans.settings import KMeansSettings
from isthmus.kmeans.space import TreeSpace

__all__ = ["KMeansClusterer", "KMeansSettings", "Solution", "TreeSpace"]
