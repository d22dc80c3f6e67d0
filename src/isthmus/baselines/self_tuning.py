"""SelfTuningSpectralClustering: the algorithm of Zelnik-Manor and Perona."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

from isthmus._utils.parameters import check_choice, check_integer, check_n_clusters
from isthmus._utils.typing import Floats
from isthmus.baselines import spectral
from isthmus.baselines.affinities import affinities, local_exponents, normalised_affinities
from isthmus.baselines.rotation import align_incrementally, best_number, nearest_axes


class SelfTuningSpectralClustering(spectral.SpectralClusterer):
    """Cluster by eigenvectors of affinities with a local scale at every point.

    The algorithm of Zelnik-Manor and Perona [1]_: the scale σ_i of a point is the distance to its
    ``n_neighbors``-th neighbour, and the affinity of two points is exp(-d² / (σ_i σ_j)), 0 on the
    diagonal, divided by the square roots of both points' row sums. The leading eigenvectors are
    rotated so that each row is as near as possible to an axis, and that axis is its cluster.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        "auto" takes the number, from 2 to ``max_clusters``, whose eigenvectors can be aligned best;
        of numbers whose costs agree to a relative 1e-4, the largest.
    n_neighbors : int, default=7
        Which neighbour's distance is the scale of a point, the point itself not counted; the
        farthest where there are fewer.
    alignment : {"rotation", "kmeans"}, default="rotation"
        "kmeans" replaces the last step by K-means on the rows, scaled to unit length.
    max_clusters : int, default=10
        The largest number that "auto" considers, if there are that many points.
    n_init : int or "auto", default="auto"
        Starts of K-means; "auto" is 10.
    random_state : int, RandomState or None, default=None
        Chooses the starts of K-means. The rotation is deterministic.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        With "rotation" some labels may not occur: those of columns in which no point has its
        largest entry.
    n_clusters_ : int
        The number of clusters asked for, or found by "auto".
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
    embedding_ : ndarray of shape (n_samples, k)
        The rows, of unit length, and rotated unless the alignment is "kmeans".
    alignment_costs_ : ndarray of shape (n_numbers,)
        The minimised cost Σ_ij Z_ij² / max_j Z_ij², divided by the number of points, for
        1, 2, … eigenvectors; 1 is perfect. Not set where K-means makes it superfluous.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X had column names

    See Also
    --------
    NJWSpectralClustering : With one scale for all points.

    Notes
    -----
    Takes O(n³) time and several n × n matrices; raises MemoryError before allocating more than
    fits in memory.

    Gradient descent finds a local minimum of the cost. As in [1]_ the descent for c eigenvectors
    starts from the rotation found for c - 1; here it also starts from the axes of a few rows that
    are almost orthogonal, and the better of both results is kept.

    Where ``n_neighbors`` or more points equal a point, its scale is the distance to the nearest
    distinct one. Normalised affinities are computed from logarithms, so outliers whose affinities
    are all too small for float64 keep their neighbours. A row that is zero stays zero: its point
    takes the label of the nearest point whose row is not.

    References
    ----------
    .. [1] L. Zelnik-Manor, P. Perona, "Self-Tuning Spectral Clustering", Advances in Neural
       Information Processing Systems 17, 2004.

    Examples
    --------
    >>> from isthmus.baselines import SelfTuningSpectralClustering
    >>> points = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> labels = SelfTuningSpectralClustering(n_clusters=2, n_neighbors=1).fit_predict(points)
    >>> bool(labels[0] == labels[2] != labels[3] == labels[4])
    True
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_neighbors: int = 7,
        alignment: str = "rotation",
        max_clusters: int = 10,
        n_init: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.alignment = alignment
        self.max_clusters = max_clusters
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if isinstance(self.n_clusters, str):
            check_choice(self.n_clusters, "n_clusters", ("auto",))
        else:
            check_integer(self.n_clusters, "n_clusters", 1)
        check_integer(self.n_neighbors, "n_neighbors", 1)
        check_choice(self.alignment, "alignment", ("rotation", "kmeans"))
        check_integer(self.max_clusters, "max_clusters", 2)
        spectral.check_n_init(self.n_init)
        check_random_state(self.random_state)

    def _fit_distances(self, distances: Floats) -> None:
        n_points = len(distances)
        automatic = self.n_clusters == "auto"
        k = min(int(self.max_clusters), n_points)
        if not automatic:
            k = check_n_clusters(self.n_clusters, n_points)
        exponents = local_exponents(distances, int(self.n_neighbors))
        vectors, _ = spectral.leading_eigenvectors(normalised_affinities(exponents), k)
        cluster = self._kmeans
        self.__dict__.pop("alignment_costs_", None)  # of an earlier fit
        if automatic or self.alignment == "rotation":
            rotations, self.alignment_costs_ = align_incrementally(vectors)
            k = best_number(self.alignment_costs_) if automatic else k
        rows = spectral.unit_rows(vectors[:, :k])
        if self.alignment == "rotation":
            rows, cluster = rows @ rotations[k - 1], nearest_axes
        self.labels_ = spectral.label_rows(rows, distances, cluster)
        self.n_clusters_ = k
        self.affinity_matrix_ = affinities(exponents)
        self.embedding_ = rows
