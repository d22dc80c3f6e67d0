"""Clusterers that need nothing of the points but their matrix of Euclidean distances."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeVar

from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import validate_data

from isthmus._utils.memory import require_memory
from isthmus._utils.parameters import check_integer
from isthmus._utils.typing import Array, Floats, Labels
from isthmus.metrics.pairwise import distance_matrix
from isthmus.metrics.validation import refuse_unsuitable

Self = TypeVar("Self", bound="FromDistances")

# Besides distances: exponents and the matrix that is decomposed, each with what it is made of.
_MATRICES = 4


class FromDistances(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """The part of ``fit`` that does not depend on the method.

    Values of a parameter can then share the distances: ``fit_distances`` is ``fit`` without them.
    """

    def fit(self: Self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Compute the distances of X and find its clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        self
        """
        self._check_parameters()
        return self.fit_distances(distances_of(self, X))

    def fit_distances(self: Self, distances: Floats) -> Self:
        """Find the clusters of points from their distances, (n, n) float64, which are not checked.

        Sets no ``n_features_in_``: there are no features.
        """
        self._check_parameters()
        self._fit_distances(distances)
        return self

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise for parameters that are wrong whatever the points are."""

    @abstractmethod
    def _fit_distances(self, distances: Floats) -> None:
        """Set the attributes that ``fit`` promises."""


def distances_of(estimator: BaseEstimator, X: Any, n_fits: int = 1) -> Floats:
    """Return the distances, (n, n), of points that are checked for an estimator.

    n_fits : int
        How many fits there must be memory for at a time.
    """
    refuse_unsuitable(X)
    if issparse(X):
        raise TypeError(
            f"{type(estimator).__name__} takes no sparse points: its matrix of affinities is dense "
            "anyway. Use X.toarray()."
        )
    points: Array = validate_data(estimator, X, dtype="float64")
    require_memory(
        (1 + _MATRICES * n_fits) * len(points) ** 2 * 8,
        f"The matrices of a spectral method for {len(points)} points",
        "TransitiveClustering works without them.",
    )
    return distance_matrix(points)


def check_n_init(n_init: Any) -> int:
    """Return the number of starts of K-means; "auto" is 10."""
    if isinstance(n_init, str) and n_init == "auto":
        return 10
    return check_integer(n_init, "n_init", 1)


def kmeans_labels(rows: Floats, n_clusters: int, n_init: int, random_state: Any) -> Labels:
    """Return the labels, (n,) int32, of K-means on rows, (n, n_clusters).

    The rows come from as many orthonormal columns, so at least so many of them are different, even
    where points are equal: no cluster is empty.
    """
    kmeans = KMeans(n_clusters, n_init=n_init, random_state=random_state)
    labels: Labels = kmeans.fit(rows).labels_
    return labels
