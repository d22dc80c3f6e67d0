"""scikit-learn's face over the stages: fit, predict labels, many k from one fit."""

from isthmus.estimators.kmeans_duality import KMeansDuality
from isthmus.estimators.transitive_clustering import TransitiveClustering

__all__ = ["KMeansDuality", "TransitiveClustering"]
