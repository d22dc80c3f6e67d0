"""TransitiveKMeans: the paper's method, K-means on transitive distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isthmus.estimators.base import TransitiveClusterer
from isthmus.kmeans import KMeansSettings


class TransitiveKMeans(TransitiveClusterer):
    """The method of Xu, Liu and Tang [1]_: K-means on the rows of transitive distances.

    The transitive distance of two points is the longest edge on the path between them in the
    minimum spanning tree. K-means on the rows of the matrix of these distances finds clusters of
    any shape and scale: the paper's Algorithm 1. The matrix is an ultrametric, so a tree of n - 1
    merges holds it exactly, in O(n) memory.

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
    metric : str or callable, default="euclidean"
        The base distance: ``"euclidean"``, ``"sqeuclidean"``, ``"manhattan"``, ``"chebyshev"``,
        ``"minkowski"``, ``"seuclidean"``, ``"mahalanobis"``, ``"cosine"``, ``"angular"``,
        ``"correlation"``, ``"haversine"`` (latitude and longitude in radians), ``"hellinger"``
        (rows are divided by their sums), or ``"precomputed"`` where X holds distances: a square
        matrix, a condensed one as of ``scipy.spatial.distance.pdist``, or a sparse graph as of
        scikit-learn's ``kneighbors_graph``. In O(n²) time also every other name of SciPy and
        scikit-learn, and any function of two points; see :func:`isthmus.minimum_spanning_tree`.
    metric_params : dict, optional
        Parameters of the metric, such as ``{"p": …}`` for ``"minkowski"`` or ``{"w": weights}``;
        keyword arguments of a callable.
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
    k_max : int, default=20
        The largest number of clusters that ``n_clusters="auto"`` considers.
    n_jobs : int, optional
        Threads; None is one, -1 every core. Never changes the result.
    verbose : int or callable, default=0
        With 1, a progress bar on standard error for a fit of more than two seconds; in a log, a
        line for each tenth. A function is called as ``verbose(stage, done, total)`` for the stages
        "spanning tree", "merges" and "clusters"; what it raises ends the fit.
    memory : str, path or joblib.Memory, optional
        Where to keep the spanning tree, most of the work. A fit on equal data with the same
        metric, in this process or another, then begins with it, whatever the other parameters and
        the weights above 0 are. Data are recognised by their content. Not for metrics that are
        functions.
    memory_limit : int or str, optional
        The most memory that a fit may take beside the data, in bytes or as a string such as
        ``"2GB"`` or ``"512 MiB"``. Where more is needed it tries smaller blocks and fewer threads,
        and then raises MemoryError, which says how much it needs, before the work begins. The
        result is the same, but for ties between equal distances.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row. Clusters are numbered from the largest to the smallest (by the
        sum of weights; of equal ones, by the lengths of their spanning trees), unless ``init`` gave
        a row for each.
    inertia_ : float
        The sum of squared distances to the nearest centre, in ``space``. Weights count as
        repeated rows would.
    n_iter_ : int
        The iterations of the best start, one that ``min_cluster_size`` took back included.
    n_clusters_ : int
        The number of clusters, given or suggested.
    suggestion_ : Suggestion
        Why as many, where ``n_clusters="auto"``.
    tree_ : UltrametricTree
        All transitive distances; rows of weight 0 are left out, and the others numbered on.
    spanning_tree_ : SpanningTree
        The minimum spanning tree, of the same rows.
    outlier_scores_ : ndarray of shape (n_samples,)
        How late, and how alone, each row joins the others: near 0 within a cluster, dense or
        sparse, near 1 far from all. See :func:`isthmus.outlier_scores`. Computed when first asked
        for, in O(n).
    summary_ : ClusterSummary
        Of each cluster its size, widest inner gap, distance to the nearest other cluster, whether
        it is consistent, its medoid, its mean outlier score and the means of the features.
        ``print`` shows a table, ``summary_.to_frame()`` is a pandas data frame. Computed when
        first asked for.
    n_features_in_ : int, unless X was a list of objects
    feature_names_in_ : ndarray of str, where X had column names

    See Also
    --------
    TransitiveCut : Cuts the spanning tree instead; often better, and faster.

    Notes
    -----
    float32 data stay float32; distances are computed in float64 from the values given. Permuting
    rows permutes the labels where no distances are equal. Ties are decided by the order of rows,
    in the same way in every run, so permuting rows may decide them differently. Points with equal
    rows are at distance 0; if there are fewer different points than clusters, equal points are
    spread over clusters.

    For :meth:`predict` and :meth:`transform` a fit keeps a reference to its points, which must not
    be changed in place, and pickles hold them; of precomputed distances nothing is kept.

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
        power: float = 1.0,
        min_cluster_size: float | None = None,
        disconnected: str | float = "error",
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
        self.power = power
        self.min_cluster_size = min_cluster_size
        self.disconnected = disconnected
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
        settings = self._record.settings
        assert isinstance(settings, KMeansSettings)
        if settings.given_rows is not None and n_clusters != settings.n_clusters:
            raise ValueError(
                f"The fit began with {settings.n_clusters} given rows, which do not fit "
                f"{n_clusters} clusters. Fit with init='cut' to ask for other numbers of clusters."
            )
