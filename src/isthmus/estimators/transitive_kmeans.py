"""TransitiveKMeans: the paper's method, K-means on transitive distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isthmus.estimators.base import TransitiveClusterer
from isthmus.kmeans import KMeansSettings


class TransitiveKMeans(TransitiveClusterer):
    """The method of Xu, Liu and Tang: K-means on the rows of transitive distances.

    The transitive distance of two points is the longest edge on the path between them in the
    minimum spanning tree. K-means on the rows of the matrix of these distances finds clusters of
    any shape and scale: Algorithm 1 of the paper [1]_. The matrix is an ultrametric, so a tree of
    n - 1 merges holds it exactly, in O(n) memory.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        The number of clusters; exactly that many are returned, none of them empty. "auto" takes
        what :func:`isthmus.suggest_n_clusters` suggests: one cluster where there is no clear
        structure.
    space : {"rows", "embedding"}, default="rows"
        Where K-means runs: on the rows of the distance matrix, as in the paper's algorithm, or in
        the Euclidean space in which transitive distances are ordinary ones, for which the rows
        are the paper's stand-in.
    power : float, default=1.0
        Distances are raised to this power first. Below 1 (0.5 is the square root) weakens the
        pull of outliers.
    min_cluster_size : int, optional
        Every cluster has at least that many rows, so that none is spent on a handful of outliers;
        with ``sample_weight`` at least this weight, any number above 0. K-means from ``"cut"``
        ends with the last step that keeps to it; results of random starts that end below it are
        set aside. An error says how many clusters CUT finds where these are fewer than
        n_clusters.
    disconnected : "error" or float, default="error"
        What to do with a sparse graph of several components: refuse it, or put them as far apart
        as this number, at least the longest edge of their spanning trees.
    init : {"cut", "k-means++", "random"} or array of n_clusters row indices, default="cut"
        Where K-means starts. ``"cut"`` is deterministic and is run once: the clusters of
        :class:`TransitiveCut`. Given rows are the first centres, and cluster i is the one that
        began with row ``init[i]``.
    n_init : int or "auto", default="auto"
        How many random starts to try; the result with the lowest inertia is kept. "auto" is 10.
        A start that is not random is run once.
    max_iter : int, default=300
        The largest number of iterations per start.
    random_state : int, RandomState or None, default=None
        The seed of random starts. With ``init="cut"`` nothing is random.
    metric : str or callable, default="euclidean"
        The base distance: a name such as ``"manhattan"``, ``"angular"``, ``"haversine"`` (latitude
        and longitude), ``"gower"`` (tables with texts and missing values), ``"nan_euclidean"`` or
        ``"precomputed"``, or any function of two points: :doc:`Metrics </metrics>` lists them all.
    metric_params, n_neighbors, neighborhood, engine, noise, k_max, n_jobs, verbose, memory,
    memory_limit
        As for :class:`TransitiveCut`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, -1 for noise. Clusters are numbered from the largest to the
        smallest (by the sum of weights; of equal ones, by the lengths of their spanning trees),
        unless ``init`` gave a row for each.
    inertia_ : float
        The sum of squared distances to the nearest centre, in ``space``. Weights count as
        repeated rows would.
    n_iter_ : int
        The iterations of the best start, one that ``min_cluster_size`` took back included.
    n_clusters_, suggestion_, tree_, spanning_tree_, outlier_scores_, noise_threshold_, summary_,
    n_features_in_
        As of :class:`TransitiveCut`, and ``feature_names_in_`` where X had column names.

    See Also
    --------
    TransitiveCut : Cuts the spanning tree instead; often better, and faster.

    Notes
    -----
    Data types, ties and what a fit keeps: as for :class:`TransitiveCut`.

    References
    ----------
    .. [1] C. Xu, J. Liu, X. Tang, "Clustering with Transitive Distance and K-Means Duality".

    Examples
    --------
    >>> from isthmus import TransitiveKMeans
    >>> points = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> TransitiveKMeans(n_clusters=2).fit_predict(points).tolist()
    [0, 0, 0, 1, 1]
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        space: str = "rows",
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_neighbors: int | None = None,
        neighborhood: str = "mean",
        engine: str = "auto",
        power: float = 1.0,
        min_cluster_size: float | None = None,
        disconnected: str | float = "error",
        noise: str | float | tuple[str, float] | None = None,
        init: Any = "cut",
        n_init: int | str = "auto",
        max_iter: int = 300,
        random_state: Any = None,
        k_max: int = 20,
        n_jobs: int | None = None,
        verbose: int | Callable[[str, int, int], Any] = 0,
        memory: Any = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.space = space
        self.metric = metric
        self.metric_params = metric_params
        self.n_neighbors = n_neighbors
        self.neighborhood = neighborhood
        self.engine = engine
        self.power = power
        self.min_cluster_size = min_cluster_size
        self.disconnected = disconnected
        self.noise = noise
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.k_max = k_max
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory = memory
        self.memory_limit = memory_limit

    @property
    def n_iter_(self) -> int:
        """The iterations of the best start."""
        n_iter = self._record.n_iter
        assert n_iter is not None  # K-means iterates
        return n_iter

    def _settings(self) -> KMeansSettings:
        if isinstance(self.n_clusters, str) and not isinstance(self.init, str):
            raise ValueError(  # noqa: TRY004 -- each is right by itself
                "init gives a row for each cluster, so their number is known: set n_clusters to "
                "it in place of 'auto', or init to 'cut'."
            )
        return KMeansSettings(
            self.n_clusters,
            self.space,
            self.power,
            self.min_cluster_size,
            self.init,
            self.n_init,
            self.max_iter,
            self.random_state,
            self.n_jobs,
        )

    def _refuse_other_number(self, n_clusters: int) -> None:
        """Raise ValueError where rows were given for another number of clusters."""
        super()._refuse_other_number(n_clusters)
        settings = self._record.settings
        assert isinstance(settings, KMeansSettings)
        if settings.given_rows is not None and n_clusters != settings.n_clusters:
            raise ValueError(
                f"The fit began with {settings.n_clusters} given rows, which do not fit "
                f"{n_clusters} clusters. Fit with init='cut' to ask for other numbers of clusters."
            )
