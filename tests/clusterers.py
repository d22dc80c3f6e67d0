"""Both estimators, and both clusterers of trees, behind one call: tests compare them by a name."""

import numpy as np

from isthmus import TransitiveCut, TransitiveKMeans
from isthmus.cut.api import CutClusterer
from isthmus.cut.settings import CutSettings
from isthmus.kmeans import KMeansClusterer, KMeansSettings, Solution, TreeSpace

# The two spaces of K-means, and CUT.
METHODS = ("rows", "embedding", "cut")
_KMEANS_ONLY = ("power", "init", "n_init", "max_iter", "random_state")


def clusterer(method="rows", n_clusters=8, **parameters):
    """Return an estimator; those of CUT leave out what is for K-means alone."""
    if method != "cut":
        return TransitiveKMeans(n_clusters, space=method, **parameters)
    for name in _KMEANS_ONLY:
        parameters.pop(name, None)
    return TransitiveCut(n_clusters, **parameters)


def method_of(model):
    """Return the name of an estimator's method."""
    return getattr(model, "space", "cut")


class TreeClusterer:
    """A tree, to be clustered by any method."""

    def __init__(self, tree, method="rows", power=1.0, point_weights=None):
        self.method = method
        self.space = TreeSpace(
            tree,
            space="rows" if method == "cut" else method,
            power=power,
            point_weights=point_weights,
        )
        space = self.space
        self.cut = CutClusterer(space.tree, space.point_weights, space.weight_unit)

    def solve(self, n_clusters, min_cluster_size=None, weights=None, **parameters):
        """Return the clusters; the other parameters are for K-means."""
        n_points = self.space.tree.n_points
        if self.method == "cut":
            settings = CutSettings(n_clusters, min_cluster_size).checked(n_points, weights)
            labels = self.cut.labels(settings)
            return Solution(labels, self.space.inertia_of(labels), 0)
        settings = KMeansSettings(
            n_clusters, self.method, self.space.power, min_cluster_size, **parameters
        )
        return KMeansClusterer(self.space).run(settings.checked(n_points, weights))

    def parts(self, n_clusters, min_cluster_size=None):
        """Return CUT's parts, as labels."""
        return self.cut.parts(CutSettings(n_clusters, min_cluster_size)).labels(n_clusters)


def label_new_points(clusterer, tree, labels, attachments):
    """Return the labels of attached points by the definition of a method."""
    from isthmus.prediction.cluster_centres import ClusterCentres

    if clusterer.method == "cut":
        return np.asarray(labels)[attachments.nearest]
    return ClusterCentres(clusterer.space, tree, labels).label(attachments)
