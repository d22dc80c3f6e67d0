"""TransitiveCut for Dask arrays and data frames."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from isthmus._utils.parameters import check_integer, check_n_clusters
from isthmus.cut.settings import CutSettings
from isthmus.dask.base import DaskClusterer
from isthmus.dask.cell_model import CellModel, labels_of_cells
from isthmus.dask.clusters_by_cut import Cutter, gather_tree
from isthmus.dask.fitting import Task
from isthmus.dask.inputs import check_weights
from isthmus.dask.whole_tree import FittedBlocks, WholeModel, fit_tree, require_whole
from isthmus.estimators import TransitiveCut as OneMachine
from isthmus.model_selection.suggestion import suggest
from isthmus.ultrametric import UltrametricTree


class TransitiveCut(DaskClusterer):
    """Cluster the rows of a Dask array or data frame by cutting their minimum spanning tree.

    The tree is exact, and so are the clusters: those of :class:`isthmus.TransitiveCut` on one
    machine. Points stay on the workers; a coordinator, this process, holds a contracted tree of
    some thousand components.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        The number of clusters. "auto" takes what :func:`isthmus.suggest_n_clusters` suggests, for
        which the whole spanning tree is gathered: 72 bytes for each row.
    metric, metric_params : as for :func:`isthmus.dask.minimum_spanning_tree`
    min_cluster_size : int, optional
        Every cluster has at least that many rows; with ``sample_weight``, at least this weight.
    k_max : int, default=20
        The largest number of clusters that "auto" considers.
    n_cells : int, optional
        Into how many cells points are divided.
    n_jobs : int, optional
        Threads, where there is no client of ``dask.distributed``.
    folder : path, optional
        Threads of this process do the work, and keep what they find in files in this folder, not
        in memory. What they take then depends on the largest cells, one for each thread.
    verbose : int or callable, default=0
        With 1, progress bars; a function is called as ``verbose(stage, done, total)``.

    Attributes
    ----------
    labels_ : dask.array.Array of shape (n_samples,), int32
        The cluster of each row, in the blocks of X. Clusters are numbered from the largest to the
        smallest.
    n_clusters_ : int
    suggestion_ : Suggestion
        Why as many, where ``n_clusters="auto"``.
    spanning_tree_ : DistributedTree
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X had column names

    See Also
    --------
    isthmus.TransitiveCut : For points that one machine holds.
    minimum_spanning_tree : The tree alone.

    Notes
    -----
    A fit uses the current client of ``dask.distributed``; without one, threads. A pickle of a
    fitted estimator holds all points and labels, and works without a cluster.

    Examples
    --------
    >>> import dask.array as da
    >>> from isthmus.dask import TransitiveCut
    >>> X = da.from_array([[0.0], [0.1], [0.2], [5.0], [5.1]], chunks=(3, 1))
    >>> TransitiveCut(n_clusters=2).fit(X).labels_.compute().tolist()
    [0, 0, 0, 1, 1]
    """

    _fitted: CellModel | WholeModel

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        metric: str = "euclidean",
        metric_params: dict[str, Any] | None = None,
        min_cluster_size: float | None = None,
        k_max: int = 20,
        n_cells: int | None = None,
        n_jobs: int | None = None,
        folder: Any = None,
        verbose: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.min_cluster_size = min_cluster_size
        self.k_max = k_max
        self.n_cells = n_cells
        self.n_jobs = n_jobs
        self.folder = folder
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.n_clusters, str) and self.n_clusters != "auto":
            raise TypeError(f"n_clusters must be an integer or 'auto', got {self.n_clusters!r}.")

    def _find_clusters(self, task: Task, sample_weight: Any) -> CellModel | WholeModel:
        if task.has_cells:
            return self._fit_cells(task, sample_weight)
        return self._fit_whole(task, sample_weight)

    def _fit_whole(self, task: Task, sample_weight: Any) -> WholeModel:
        """Return what is found where this process holds the whole tree."""
        n_rows = int(task.starts[-1])
        require_whole(n_rows, "cut")
        self._checked_settings(n_rows, sample_weight is not None)
        model = OneMachine(
            self.n_clusters,
            metric="precomputed",
            min_cluster_size=self.min_cluster_size,
            k_max=self.k_max,
            n_jobs=self.n_jobs,
        )
        fitted = fit_tree(model, task.find_whole_tree(), task.starts, sample_weight)
        fitted.blocks = FittedBlocks.of_task(task)
        return fitted

    def _fit_cells(self, task: Task, sample_weight: Any) -> CellModel:
        """Return what is found in cells."""
        executor, n_rows = task.executor, int(task.starts[-1])
        weights = check_weights(executor, sample_weight, task.starts)
        settings = self._checked_settings(n_rows, weights.blocks is not None)
        tree = task.find_cells(weights.blocks)
        cutter = Cutter(executor, tree, weights.unit, weights.blocks is not None)
        suggestion = None
        if self.n_clusters == "auto":
            whole = UltrametricTree.from_spanning_tree(gather_tree(executor, tree))
            suggestion = suggest(whole, min(check_integer(self.k_max, "k_max", 2), n_rows))
            least = settings.min_cluster_size if weights.blocks is None else None
            settings = replace(settings, n_clusters=suggestion.best_of(least or 0))
        labels = labels_of_cells(cutter, settings)
        task.report("clusters", 1, 1)
        return CellModel(executor, tree, cutter, settings, labels, task.n_features, suggestion)

    def _checked_settings(self, n_rows: int, has_weights: bool) -> CutSettings:
        k = 1 if self.n_clusters == "auto" else self.n_clusters
        settings = CutSettings(k, self.min_cluster_size)
        if has_weights:  # their sum is known when the tree is cut
            return replace(settings, n_clusters=check_n_clusters(k, n_rows))
        return settings.checked(n_rows)

    def predict(self, X: Any) -> Any:
        """Return the clusters of new rows, those of the nearest rows of the fit.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_new, n_features)

        Returns
        -------
        dask.array.Array of shape (n_new,), int32
            In the blocks of X. Nothing is computed before it is asked for. Of several rows that
            are equally near in cells, any may count.

        Notes
        -----
        Where cells do not serve, a new row is compared with every row of the fit, whose blocks are
        read again: keep the collection that was fitted as it is.
        """
        check_is_fitted(self)
        return self._fitted.predict(X)
