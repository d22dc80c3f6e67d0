"""TransitiveClustering: clusters of any shape from a number of clusters alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._utils.parameters import check_disconnected, check_integer
from isthmus._utils.progress import Stages, check_verbose
from isthmus._utils.typing import Floats
from isthmus.estimators.budget import keep_to_limit
from isthmus.estimators.fit_report import ReportsFit
from isthmus.estimators.input import check_input
from isthmus.estimators.many_numbers import ClustersForManyNumbers
from isthmus.estimators.new_rows import NewRows
from isthmus.estimators.predicting import PredictsNewRows
from isthmus.estimators.saved import DERIVED, load_model, save_model
from isthmus.estimators.suggest import suggest_for_rows
from isthmus.estimators.tree_memory import TreeMemory
from isthmus.estimators.weighted_rows import RowsToFit
from isthmus.estimators.whole_fit import forget_fit, whole_fit
from isthmus.kmeans import Plan, TreeClusterer
from isthmus.metrics.input import n_points_of
from isthmus.metrics.precomputed import Precomputed
from isthmus.metrics.registry import (
    SPARSE_METRICS,
    canonical_name,
    resolve_metric,
)
from isthmus.metrics.validation import check_sample_weight
from isthmus.ultrametric import UltrametricTree


class TransitiveClustering(
    ReportsFit,
    ClustersForManyNumbers,
    PredictsNewRows,
    ClusterMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Cluster points by their transitive distances.

    The transitive distance of two points is the longest hop on the path between them in the
    minimum spanning tree. K-means on the rows of the matrix of these distances finds clusters of
    any shape and scale [1]_. The matrix is never built: it is a tree, and takes O(n) memory.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        The number of clusters; exactly so many are returned, none of them empty. "auto" takes
        what :func:`isthmus.suggest_n_clusters` suggests: one cluster where there is no clear
        structure.
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
    disconnected : {"error", "join"} or float, default="error"
        What to do with a sparse graph of several components: refuse it, put them infinitely far
        apart (for ``objective="cut"`` only, which then cuts between components first; with fewer
        clusters than components some of them stay together), or put them as far apart as this
        number, at least the longest edge of their spanning trees.
    objective : {"rows", "embedding", "cut"}, default="rows"
        What makes a good clustering.

        - ``"rows"``: K-means on the rows of the distance matrix, the paper's algorithm.
        - ``"embedding"``: K-means in the Euclidean space in which transitive distances are
          ordinary ones, for which the rows are the paper's stand-in.
        - ``"cut"``: the parts that CUT, the default start, cuts the spanning tree into. Often the
          best of the three, and the fastest.
    power : float, default=1.0
        Distances are raised to this power first. Below 1 (0.5 is the square root) weakens the
        pull of outliers.
    min_cluster_size : int, optional
        Every cluster has at least so many rows, so that none is spent on a handful of outliers;
        with ``sample_weight`` at least this weight, any number above 0. CUT then removes only
        edges that leave as much on both sides, and K-means from there ends with the last step
        that does; results of random starts that end below it are set aside. An error says how
        many clusters CUT finds where these are fewer than n_clusters.
    init : {"cut", "k-means++", "random"} or array of n_clusters row indices, default="cut"
        Where K-means starts. ``"cut"`` is deterministic and is run once: it removes n_clusters - 1
        edges of the spanning tree, each the one with the largest ``w · a · b / (a + b)``, w being
        its weight, a and b the numbers of points (the sums of ``sample_weight``) on its two sides.
        Given rows are the first centres, and cluster i is the one that began with row
        ``init[i]``. Not used by ``objective="cut"``.
    n_init : int or "auto", default="auto"
        How many random starts to try; the result with the lowest inertia is kept. "auto" is 10.
        Only for ``init="k-means++"`` and ``"random"``.
    max_iter : int, default=300
        At most so many iterations per start.
    random_state : int, RandomState or None, default=None
        The seed of random starts. With ``init="cut"`` nothing is random.
    k_max : int, default=20
        The largest number of clusters that ``n_clusters="auto"`` considers; not used otherwise.
    n_jobs : int, optional
        Threads; None is one, -1 every core. Never changes the result.
    verbose : int or callable, default=0
        With 1, a progress bar on standard error for a fit of more than two seconds; in a log, a
        line for each tenth. A function is called as ``verbose(stage, done, total)`` for the stages
        "spanning tree", "merges" and "clusters"; what it raises ends the fit.
    memory : str, path or joblib.Memory, optional
        Where to keep the spanning tree, most of the work. A fit on equal data with the same
        metric, in this process or another, then begins with it, whatever ``n_clusters``,
        ``objective``, ``init`` and weights above 0 are. Data are recognised by their content.
        Not for metrics that are functions.
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
        The sum of squared distances to the nearest centre in the objective's space; for
        ``"cut"``, in the space of rows. Weights count as repeated rows would. Infinite where a
        cluster holds points at an infinite distance.
    n_iter_ : int
        The iterations of the best start, one that ``min_cluster_size`` took back included; 1 for
        ``"cut"``, which does not iterate.
    n_clusters_ : int
        The number of clusters, given or suggested.
    suggestion_ : Suggestion
        Why so many, where ``n_clusters="auto"``.
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
    >>> from isthmus import TransitiveClustering
    >>> points = [[0.0], [0.1], [0.2], [5.0], [5.1]]
    >>> TransitiveClustering(n_clusters=2).fit_predict(points).tolist()
    [0, 0, 0, 1, 1]
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        disconnected: str | float = "error",
        objective: str = "rows",
        power: float = 1.0,
        min_cluster_size: float | None = None,
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
        self.metric = metric
        self.metric_params = metric_params
        self.disconnected = disconnected
        self.objective = objective
        self.power = power
        self.min_cluster_size = min_cluster_size
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.k_max = k_max
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.memory = memory
        self.memory_limit = memory_limit

    @whole_fit
    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        sample_weight: Any = None,
    ) -> TransitiveClustering:
        """Find the spanning tree of X, its transitive distances, and the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points (arrays, pandas and polars frames; ``scipy.sparse`` matrices for Euclidean,
            cosine, angular and Hellinger distances). With ``metric="precomputed"`` distances, an
            array-like of shape (n_samples, n_samples) or (n_samples (n_samples - 1) / 2,), or a
            graph, a ``scipy.sparse`` matrix or array of shape (n_samples, n_samples). With a
            callable metric also a list, or a 1-D array, of anything that it takes.
        y : ignored
            Present for scikit-learn's conventions.
        sample_weight : array-like of shape (n_samples,) or float, optional
            How many equal points each row stands for: a finite number, not negative. A whole
            number gives what so many copies of the row would give, wherever no copies are torn
            apart; only the ratios of weights matter to the labels. A row of weight 0 takes no
            part in the fit, and then gets the label that a new point would, see :meth:`predict`:
            that of the nearest centre, and for ``objective="cut"`` that of the nearest fitted row.

        Returns
        -------
        self
        """
        metric = resolve_metric(self.metric, self.metric_params)
        check_disconnected(self.disconnected)
        check_verbose(self.verbose)
        tree_memory = TreeMemory(self.memory, self.metric)
        data = check_input(self, X, metric)
        n_points = n_points_of(data)
        weights = check_sample_weight(sample_weight, n_points)
        plan = self._plan(n_points, weights)
        if isinstance(self.n_clusters, str):  # memory must do for all that may be suggested
            plan = replace(plan, n_clusters=min(self.k_max, n_points))
        left, plan, workspace = keep_to_limit(self.memory_limit, data, weights, plan, metric)
        forget_fit(self, keep_features=True)
        stages = Stages(self.verbose)
        to_fit = RowsToFit(data, weights, metric)
        spanning_tree = tree_memory.spanning_tree(
            to_fit.points,
            metric=self.metric,
            metric_params=self.metric_params,
            disconnected=self.disconnected,
            n_jobs=self.n_jobs,
            progress=stages.stage("spanning tree"),
            memory_limit=left,
        )
        with stages.whole("merges"):
            tree = UltrametricTree.from_spanning_tree(spanning_tree)
            suggestion = None
            if isinstance(self.n_clusters, str):  # "auto"
                suggestion = suggest_for_rows(tree, self.k_max, weights)
                # of weights a suggestion knows nothing: there CUT finds out
                least = self.min_cluster_size if weights is None else None
                plan = replace(plan, n_clusters=suggestion.best_of(least or 0))
            rows = to_fit.hung_on(tree, plan.n_jobs)
        clusterer = TreeClusterer(
            tree,
            objective=plan.objective,
            power=plan.power,
            point_weights=rows.point_weights,
            workspace=workspace,
        )
        solution = clusterer.run(plan, stages.stage("clusters"))
        labels = rows.labels(clusterer, tree, solution.labels)
        self.spanning_tree_ = spanning_tree
        self.tree_ = tree
        self._fitted_plan = plan
        self._fitted_rows = rows
        self._clusterer = clusterer
        self._new_rows = NewRows(
            None if isinstance(data, Precomputed) else to_fit.points,
            rows,
            tree,
            labels,
            plan.objective,
            plan.power,
            self.metric,
            self.metric_params,
            clusterer,
            resolved=metric,
        )
        self.labels_ = labels.copy()
        self.inertia_ = solution.inertia
        self.n_iter_ = max(solution.n_iter, 1)
        self.n_clusters_ = plan.n_clusters
        if suggestion is not None:
            self.suggestion_ = suggestion
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that :meth:`load` reads.

        The file holds numbers and strings and no code: docs/file_format.md describes it. It
        appears under its name only when it is complete. A metric that is a function cannot be
        saved: TypeError, and no file is written.
        """
        check_is_fitted(self)
        save_model(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TransitiveClustering:
        """Return the fitted model that :meth:`save` wrote.

        Nothing is unpickled, and nothing in the file can make Python run code. ValueError, with
        the reason, where the file is damaged, not of isthmus, or of a newer one.
        """
        return load_model(cls, path)

    def _plan(self, n_points: int, weights: Floats | None) -> Plan:
        return Plan.check(
            n_points,
            1 if self._is_automatic() else self.n_clusters,
            objective=self.objective,
            power=self.power,
            min_cluster_size=self.min_cluster_size,
            weights=weights,
            init=self.init,
            n_init=self.n_init,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )

    def _is_automatic(self) -> bool:
        """Whether the number of clusters is to be suggested; raise where that cannot be."""
        if not isinstance(self.n_clusters, str):
            return False
        if self.n_clusters != "auto":
            raise TypeError(f"n_clusters must be an integer or 'auto', got {self.n_clusters!r}.")
        check_integer(self.k_max, "k_max", 2)
        given = not isinstance(self.init, str)
        if given:
            raise ValueError(
                "init gives a row for each cluster, so their number is known: set n_clusters to "
                "it in place of 'auto', or init to 'cut'."
            )
        return True

    def __getstate__(self) -> dict[str, Any]:
        # What is derived from the rest is made again when needed.
        state = dict(super().__getstate__())
        for name in DERIVED:
            state.pop(name, None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = canonical_name(self.metric) == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = precomputed
        tags.input_tags.sparse = precomputed or canonical_name(self.metric) in SPARSE_METRICS
        tags.input_tags.allow_nan = canonical_name(self.metric) == "nan_euclidean"
        return tags
