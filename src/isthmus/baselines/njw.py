"""NJWSpectralClustering: the algorithm of Ng, Jordan and Weiss."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

from isthmus._utils.parameters import check_integer, check_n_clusters, check_positive
from isthmus._utils.typing import Floats
from isthmus.baselines import spectral
from isthmus.baselines.affinities import affinities, gaussian_exponents, normalised_affinities


class NJWSpectralClustering(spectral.SpectralClusterer):
    """Cluster by the leading eigenvectors of a normalised matrix of Gaussian affinities.

    The algorithm of Ng, Jordan and Weiss [1]_, step by step: affinities
    exp(-‖x_i - x_j‖² / (2 σ²)) between different points and 0 on the diagonal, divided by the
    square roots of both points' row sums; the ``n_clusters`` leading eigenvectors as columns; rows
    scaled to unit length; K-means on these rows.

    Parameters
    ----------
    n_clusters : int, default=8
    sigma : float, default=1.0
        The scale σ of affinities. It must suit the data: no default does.
    n_init : int or "auto", default="auto"
        Starts of K-means; "auto" is 10.
    random_state : int, RandomState or None, default=None
        Chooses the starts of K-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
    embedding_ : ndarray of shape (n_samples, n_clusters)
        The rows that K-means clusters.
    eigengap_ : float
        How far the next eigenvalue is below the leading ones; infinite where there is none. At the
        size of rounding errors, 1e-15, neither eigenvectors nor labels are determined.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X had column names

    See Also
    --------
    SelfTuningSpectralClustering : Without a scale to choose.
    sweep : Error rates over values of the scale.
    sklearn.cluster.SpectralClustering : scikit-learn's.

    Notes
    -----
    Takes O(n³) time and several n × n matrices; raises MemoryError before allocating more than
    fits in memory.

    Affinities below 1e-308 are 0 in ``affinity_matrix_``. The normalised ones are computed from
    logarithms, so no point loses its last neighbour to underflow. With a σ far below the distances
    of neighbours the points fall into more separate groups than there are clusters; all of these
    have eigenvalues of almost 1, so that rounding decides which eigenvectors lead, and with them
    the labels: ``eigengap_`` shows it. Rows are scaled to unit length however short they are. One
    that is zero stays zero: its point takes the label of the nearest point whose row is not.

    References
    ----------
    .. [1] A. Y. Ng, M. I. Jordan, Y. Weiss, "On Spectral Clustering: Analysis and an Algorithm",
       Advances in Neural Information Processing Systems 14, 2001.

    Examples
    --------
    >>> from isthmus.baselines import NJWSpectralClustering
    >>> points = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> labels = NJWSpectralClustering(n_clusters=2, random_state=0).fit_predict(points)
    >>> bool(labels[0] == labels[2] != labels[3] == labels[4])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        sigma: float = 1.0,
        n_init: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.sigma = sigma
        self.n_init = n_init
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_integer(self.n_clusters, "n_clusters", 1)
        check_positive(self.sigma, "sigma")
        spectral.check_n_init(self.n_init)
        check_random_state(self.random_state)

    def _fit_distances(self, distances: Floats) -> None:
        k = check_n_clusters(self.n_clusters, len(distances))
        exponents = gaussian_exponents(distances, float(self.sigma))
        vectors, self.eigengap_ = spectral.leading_eigenvectors(normalised_affinities(exponents), k)
        self.embedding_ = spectral.unit_rows(vectors)
        self.labels_ = spectral.label_rows(self.embedding_, distances, self._kmeans)
        self.affinity_matrix_ = affinities(exponents)
