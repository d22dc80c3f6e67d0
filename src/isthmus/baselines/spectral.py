"""What both spectral methods share: distances of points, eigenvectors, rows → labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import validate_data

from isthmus._utils.memory import require_memory
from isthmus._utils.parameters import check_integer
from isthmus._utils.typing import Array, Floats, Labels
from isthmus.metrics.pairwise import distance_matrix
from isthmus.metrics.validation import refuse_unsuitable

# Besides the distances: exponents and the matrix that is decomposed, each with an intermediate one.
_MATRICES = 4


class SpectralClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer that needs nothing of the points but their matrix of Euclidean distances.

    With ``fit_distances`` several values of a parameter can share the distances.
    """

    n_init: int | str
    random_state: Any

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
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

    def fit_distances(self, distances: Floats) -> Self:
        """Find the clusters of points from their distances, (n, n) float64, without checking them.

        Does not set ``n_features_in_``: there are no features.
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

    def _kmeans(self, rows: Floats) -> Labels:
        # The rows come from orthonormal columns, so at least as many of them differ as there are
        # columns, even where points are equal: no cluster is empty.
        n_init = check_n_init(self.n_init)
        kmeans = KMeans(rows.shape[1], n_init=n_init, random_state=self.random_state)
        labels: Labels = kmeans.fit(rows).labels_
        return labels


def distances_of(estimator: BaseEstimator, X: Any, n_fits: int = 1) -> Floats:
    """Return the distances, (n, n), of points, which are checked on behalf of an estimator.

    n_fits : int
        The number of fits that run at the same time; memory is checked for all of them.
    """
    refuse_unsuitable(X)
    if issparse(X):
        raise TypeError(
            f"{type(estimator).__name__} does not take sparse points: its affinity matrix is dense "
            "anyway. Use X.toarray()."
        )
    points: Array = validate_data(estimator, X, dtype="float64")
    require_memory(
        (1 + _MATRICES * n_fits) * len(points) ** 2 * 8,
        f"The matrices of a spectral method for {len(points)} points",
        "TransitiveCut and TransitiveKMeans work without them.",
    )
    return distance_matrix(points)


def check_n_init(n_init: Any) -> int:
    """Return the number of starts of K-means; "auto" is 10."""
    if isinstance(n_init, str) and n_init == "auto":
        return 10
    return check_integer(n_init, "n_init", 1)


def leading_eigenvectors(matrix: Floats, n_vectors: int) -> tuple[Floats, float]:
    """Return the eigenvectors of the largest eigenvalues, the largest first, and the gap below.

    matrix : (n, n) float64
        Symmetric; destroyed.

    The gap is how far the next eigenvalue is below theirs; infinite where there is none.
    """
    n_points = len(matrix)
    first = max(n_points - n_vectors - 1, 0)
    values, vectors = eigh(
        matrix, subset_by_index=(first, n_points - 1), overwrite_a=True, check_finite=False
    )
    gap = float(values[1] - values[0]) if n_vectors < n_points else np.inf
    return np.ascontiguousarray(vectors[:, : -n_vectors - 1 : -1]), gap


def unit_rows(vectors: Floats) -> Floats:
    """Return the rows scaled to unit length, however short they are; zero rows stay zero."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors / np.where(largest == 0.0, 1.0, largest)  # their squares do not underflow
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    rows: Floats = scaled / np.where(lengths == 0.0, 1.0, lengths)
    return rows


def label_rows(rows: Floats, distances: Floats, cluster: Callable[[Floats], Labels]) -> Labels:
    """Return the labels of all points, (n,) int32, from a clustering of the rows that are not zero.

    A point whose row is zero takes the label of the nearest point whose row is not.
    """
    has_direction = rows.any(axis=1)
    kept, lost = np.flatnonzero(has_direction), np.flatnonzero(~has_direction)
    labels = np.empty(len(rows), dtype=np.int32)
    labels[kept] = cluster(rows[kept])
    labels[lost] = labels[kept[distances[np.ix_(lost, kept)].argmin(axis=1)]]
    return labels
