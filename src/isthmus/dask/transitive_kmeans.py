"""TransitiveKMeans for Dask arrays and data frames: the tree on the workers, K-means here."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from isthmus.dask.base import DaskClusterer
from isthmus.dask.fitting import Task
from isthmus.dask.whole_tree import WholeModel, fit_tree, require_whole
from isthmus.estimators import TransitiveKMeans as OneMachine


class TransitiveKMeans(DaskClusterer):
    """K-means on the transitive distances of the rows of a Dask array or data frame.

    The spanning tree is found on the workers. K-means needs all of it: this process gathers it,
    and needs about 360 bytes for each row, which is checked before the tree is found.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
    space, power, min_cluster_size, init, n_init, max_iter, random_state, k_max : optional
        As of :class:`isthmus.TransitiveKMeans`.
    metric, metric_params : as for :func:`isthmus.dask.minimum_spanning_tree`
    n_cells : int, optional
        Into how many cells, or bundles of blocks, points are divided.
    n_jobs : int, optional
        Threads of K-means, and of the tree where there is no client of ``dask.distributed``.
    verbose : int or callable, default=0

    Attributes
    ----------
    labels_ : dask.array.Array of shape (n_samples,), int32
        The cluster of each row, in the blocks of X.
    inertia_ : float
    n_iter_, n_clusters_, n_features_in_ : int
    spanning_tree_ : DistributedTree

    See Also
    --------
    isthmus.TransitiveKMeans : For points that one machine holds.
    isthmus.dask.TransitiveCut : CUT, for which no machine holds all labels.

    Examples
    --------
    >>> import dask.array as da
    >>> from isthmus.dask import TransitiveKMeans
    >>> X = da.from_array([[0.0], [0.1], [0.2], [5.0], [5.1]], chunks=(3, 1))
    >>> TransitiveKMeans(n_clusters=2).fit(X).labels_.compute().tolist()
    [0, 0, 0, 1, 1]
    """

    _fitted: WholeModel

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        space: str = "rows",
        metric: str = "euclidean",
        metric_params: dict[str, Any] | None = None,
        power: float = 1.0,
        min_cluster_size: float | None = None,
        init: Any = "cut",
        n_init: int | str = "auto",
        max_iter: int = 300,
        random_state: Any = None,
        k_max: int = 20,
        n_cells: int | None = None,
        n_jobs: int | None = None,
        verbose: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.space = space
        self.metric = metric
        self.metric_params = metric_params
        self.power = power
        self.min_cluster_size = min_cluster_size
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.k_max = k_max
        self.n_cells = n_cells
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _find_clusters(self, task: Task, sample_weight: Any) -> WholeModel:
        require_whole(int(task.starts[-1]), "kmeans")
        own = self.get_params()
        shared = {name: own[name] for name in OneMachine().get_params() if name in own}
        model = OneMachine(**(shared | {"metric": "precomputed", "metric_params": None}))
        return fit_tree(model, task.find_whole_tree(), task.starts, sample_weight)

    @property
    def _model(self) -> Any:
        """The estimator of one machine."""
        check_is_fitted(self)
        return self._fitted.model

    @property
    def inertia_(self) -> float:
        """The sum of squared distances to the nearest centre."""
        return float(self._model.inertia_)

    @property
    def n_iter_(self) -> int:
        """The iterations of the best start."""
        return int(self._model.n_iter_)
