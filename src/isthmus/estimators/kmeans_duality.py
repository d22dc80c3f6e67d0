"""KMeansDuality: K-means on the rows of a distance matrix, the paper's Section 3 by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from isthmus._utils.parameters import check_choice, check_integer, check_n_clusters
from isthmus.estimators.checked_input import check_input, input_tags
from isthmus.metrics.pairwise import distance_matrix
from isthmus.metrics.precomputed import check_full_matrix
from isthmus.metrics.registry import PrecomputedMetric, resolve_metric

_INSTEAD_OF_GRAPH = "TransitiveCut takes graphs, with metric='precomputed'."


class KMeansDuality(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Run K-means on the rows of the matrix of base distances.

    The paper's observation [1]_: where clusters are round or elliptic, this gives nearly the same
    clusters as K-means on the points. With ``metric="precomputed"`` it clusters any matrix of
    distances; given ``transitive_distances(X)`` it is the paper's algorithm with its n × n matrix,
    for which :class:`TransitiveKMeans` is the fast way.

    Parameters
    ----------
    n_clusters : int, default=8
    metric : str or callable, default="euclidean"
        As for :class:`TransitiveCut`.
    metric_params : dict, optional
    init : {"k-means++", "random"}, default="k-means++"
    n_init : int or "auto", default="auto"
        Starts; "auto" is 10.
    max_iter : int, default=300
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    inertia_ : float
        The sum of squared distances of rows to their centres.
    n_iter_ : int
    n_features_in_ : int, unless X was a list of objects
    feature_names_in_ : ndarray of str, where X had column names

    See Also
    --------
    TransitiveKMeans : The same on transitive distances, without the matrix.
    isthmus.theory.duality_gap : How far it agrees with K-means on the points.

    Notes
    -----
    Needs the n × n matrix, and refuses before allocating one that would not fit in memory.

    References
    ----------
    .. [1] C. Xu, J. Liu, X. Tang, "Clustering with Transitive Distance and K-Means Duality".

    Examples
    --------
    >>> from isthmus import KMeansDuality
    >>> points = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> labels = KMeansDuality(n_clusters=2, random_state=0).fit_predict(points)
    >>> bool(labels[0] == labels[2] != labels[3] == labels[4])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        init: str = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> KMeansDuality:  # noqa: ARG002
        """Compute the distances of X and cluster their rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points. With ``metric="precomputed"`` their distances, an array-like of shape
            (n_samples, n_samples) or (n_samples (n_samples - 1) / 2,), the condensed form. A
            sparse graph has no rows to compare, and is refused. With a callable metric also a
            list, or a 1-D array, of anything that it takes.
        y : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        self
        """
        check_choice(self.init, "init", ("k-means++", "random"))
        check_integer(self.max_iter, "max_iter", 1)
        n_init = 10 if self.n_init == "auto" else check_integer(self.n_init, "n_init", 1)
        check_random_state(self.random_state)
        metric = resolve_metric(self.metric, self.metric_params)
        precomputed = isinstance(metric, PrecomputedMetric)
        data: Any = check_input(self, X, metric, dense=True)
        if precomputed:
            data = check_full_matrix(data, _INSTEAD_OF_GRAPH)
        k = check_n_clusters(self.n_clusters, len(data))
        rows = data if precomputed else distance_matrix(data, metric)
        kmeans = KMeans(
            k,
            init=self.init,
            n_init=n_init,
            max_iter=self.max_iter,
            random_state=self.random_state,
        ).fit(rows)
        self.labels_ = kmeans.labels_
        self.inertia_ = kmeans.inertia_
        self.n_iter_ = kmeans.n_iter_
        return self

    def __sklearn_tags__(self) -> Any:
        return input_tags(super().__sklearn_tags__(), self.metric, dense=True)
