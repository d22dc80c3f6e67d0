"""Clusterers that need nothing of the points but their matrix of Euclidean distances."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from isthmus._memory import require_memory
from isthmus._typing import Array, Floats, Labels
from isthmus.distances import distance_matrix
from isthmus.validation import check_whole_number, refuse_unsuitable

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
        distances = distances_of(self, X)
        with no_word_of_empty_clusters():
            return self.fit_distances(distances)

    def fit_distances(self: Self, distances: Floats) -> Self:
        """Find the clusters of points from their distances, (n, n) float64, which are not checked.

        Sets no ``n_features_in_``: there are no features. Where rows are equal, K-means may warn of
        empty clusters, which :meth:`fit` does not.
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
    return check_whole_number(n_init, "n_init", 1)


def kmeans_labels(rows: Floats, n_clusters: int, n_init: int, random_state: Any) -> Labels:
    """Return the labels, (n,) int32, of K-means on rows.

    There may be fewer different rows than clusters: then some clusters are empty.
    """
    kmeans = KMeans(n_clusters, n_init=n_init, random_state=random_state)
    labels: Labels = kmeans.fit(rows).labels_
    return labels


@contextmanager
def no_word_of_empty_clusters() -> Iterator[None]:
    """Silence what K-means says of them.

    Filters of warnings belong to all threads, so this goes around threads and never into them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
