"""TransitiveCut: clusters of any shape by cutting the spanning tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isthmus.cut.settings import CutSettings
from isthmus.estimators.base import TransitiveClusterer


class TransitiveCut(TransitiveClusterer):
    """Cluster points by cutting their minimum spanning tree.

    CUT removes n_clusters - 1 edges, one after the other: each time the edge with the largest
    ``w · a · b / (a + b)`` over all parts, w being its length, a and b the numbers of points (the
    sums of ``sample_weight``) on its two sides within the part. Nothing is random and nothing
    iterates. Clusters may have any shape, size and density.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        The number of clusters; exactly that many are returned, none of them empty. "auto" takes
        what :func:`isthmus.suggest_n_clusters` suggests: one cluster where there is no clear
        structure.
    metric : str or callable, default="euclidean"
        The base distance: ``"euclidean"``, ``"sqeuclidean"``, ``"manhattan"``, ``"chebyshev"``,
        ``"minkowski"``, ``"seuclidean"``, ``"mahalanobis"``, ``"cosine"``, ``"angular"``,
        ``"correlation"``, ``"haversine"`` (latitude and longitude), ``"hellinger"``
        (rows are divided by their sums), ``"gower"`` (tables of numbers, dates, categories and
        texts, with missing values), or ``"precomputed"`` where X holds distances: a square
        matrix, a condensed one as of ``scipy.spatial.distance.pdist``, or a sparse graph as of
        scikit-learn's ``kneighbors_graph``. In O(n²) time also every other name of SciPy and
        scikit-learn, such as ``"nan_euclidean"`` (numbers with missing values), ``"hamming"`` and
        ``"jaccard"``, and any function of two points. :doc:`Metrics </metrics>` lists them all.
    metric_params : dict, optional
        Parameters of the metric, such as ``{"p": …}`` for ``"minkowski"``, ``{"w": weights}`` or
        ``{"unit": "degrees"}`` for ``"haversine"``, which then measures kilometres; by default it
        takes radians and measures angles. Keyword arguments of a callable.
    n_neighbors : int, optional
        The size of neighbourhoods, each point itself included. Where there are more than a few
        features (tables, images, embeddings), single distances are noise, and neighbourhoods of
        20 to 50 points often find clusters better; compare with None: see
        :doc:`Tables, images, texts, embeddings </embeddings>`. None, as 1: plain distances. Rows
        count once, whatever their weights.
    neighborhood : {"mean", "shared"}, default="mean"
        What neighbourhoods are for. ``"mean"`` replaces each point by the mean of its
        neighbourhood before anything else (for cosine and angular distances of rows of unit
        length, brought back to it); it serves tables and texts. ``"shared"`` multiplies the
        distance of two points, one of which is in the other's neighbourhood, by the Jaccard
        distance of the two neighbourhoods; it serves images, and any metric.
    engine : str, default="auto"
        How the spanning tree is found, see :func:`isthmus.minimum_spanning_tree`. All but one are
        exact, and "auto" takes the fastest. ``"approximate"`` serves millions of embeddings: it
        takes neighbours that pynndescent finds, or that are given to :meth:`fit`.
    min_cluster_size : int, optional
        Every cluster has at least that many rows, so that none is spent on a handful of outliers;
        with ``sample_weight`` at least this weight, any number above 0. None: no limit. Only edges
        that leave as much on both sides are removed, so smaller groups stay part of a cluster;
        nothing is called noise. A ValueError says how many clusters there are then, where these
        are fewer than n_clusters.
    disconnected : {"error", "join"} or float, default="error"
        What to do with a sparse graph of several components: refuse it, put them infinitely far
        apart (then the edges between components are cut first; with fewer clusters than
        components some of them stay together), or put them as far apart as this number, at least
        the longest edge of their spanning trees.
    noise : None, "auto", float or ("score", float), default=None
        Which rows are noise: they get the label -1, belong to no cluster and count for nothing
        where the tree is cut; so do new points in :meth:`predict`. None: no row. A number between
        0 and 1: the rows of the highest ``outlier_scores_``, at most this share of all rows (as
        scikit-learn's ``contamination``), or of all weight. ``("score", 0.7)``: rows of a score
        above 0.7. "auto" finds the threshold between the scores of rows in clusters and of noise,
        where there are two such groups; see :doc:`Outliers </outliers_and_summaries>`.
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
        The cluster of each row, -1 for noise. Clusters are numbered from the largest to the
        smallest (by the sum of weights; of equal ones, by the lengths of their spanning trees).
    inertia_ : float
        The sum of squared distances to the centres in the space of rows, as :meth:`transform`
        measures them. Weights count as repeated rows would. Infinite where a cluster holds points
        at an infinite distance. Computed when first asked for, in O(n).
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
    noise_threshold_ : float
        Rows of a higher outlier score are noise; unless ``noise`` is None.
    summary_ : ClusterSummary
        Of each cluster its size, widest inner gap, distance to the nearest other cluster, whether
        it is consistent, its medoid, its mean outlier score and the means of the features.
        ``print`` shows a table, ``summary_.to_frame()`` is a pandas data frame. Computed when
        first asked for.
    n_features_in_ : int, unless X was a list of objects
    feature_names_in_ : ndarray of str, where X had column names

    See Also
    --------
    TransitiveKMeans : The paper's method, K-means on transitive distances.

    Notes
    -----
    :meth:`labels_for` gives nested clusters: each cluster for k is part of one for k - 1.

    float32 data stay float32; distances are computed in float64 from the values given. Permuting
    rows permutes the labels where no distances are equal. Ties are decided by the order of rows,
    in the same way in every run, so permuting rows may decide them differently. Points with equal
    rows are at distance 0; if there are fewer different points than clusters, equal points are
    spread over clusters.

    For :meth:`predict` and :meth:`transform` a fit keeps a reference to its points, which must not
    be changed in place, and pickles hold them; of precomputed distances nothing is kept.

    Examples
    --------
    >>> from isthmus import TransitiveCut
    >>> points = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> TransitiveCut(n_clusters=2).fit_predict(points).tolist()
    [0, 0, 0, 1, 1]
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_neighbors: int | None = None,
        neighborhood: str = "mean",
        engine: str = "auto",
        min_cluster_size: float | None = None,
        disconnected: str | float = "error",
        noise: str | float | tuple[str, float] | None = None,
        k_max: int = 20,
        n_jobs: int | None = None,
        verbose: int | Callable[[str, int, int], Any] = 0,
        memory: Any = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.n_neighbors = n_neighbors
        self.neighborhood = neighborhood
        self.engine = engine
        self.min_cluster_size = min_cluster_size
        self.disconnected = disconnected
        self.noise = noise
        self.k_max = k_max
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory = memory
        self.memory_limit = memory_limit

    def _settings(self) -> CutSettings:
        return CutSettings(self.n_clusters, self.min_cluster_size)
