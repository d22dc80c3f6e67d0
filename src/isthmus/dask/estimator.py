"""TransitiveCut for Dask arrays and data frames."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._utils.parameters import check_integer, check_n_clusters, check_n_jobs
from isthmus._utils.progress import check_verbose
from isthmus._utils.typing import Array, Ints, Labels
from isthmus.cut.api import CutClusterer
from isthmus.cut.settings import CutSettings
from isthmus.dask.api import as_dask_tree, as_dask_tree_of, check_n_cells, reporter
from isthmus.dask.clusters import Cutter, NeedsAllPointsError, gather_tree
from isthmus.dask.contraction import RowLabels, join_rows, take_rows
from isthmus.dask.executors import Executor, ThreadExecutor, find_executor, for_each
from isthmus.dask.fitting import Task, begin
from isthmus.dask.inputs import as_blocks, check_weights
from isthmus.dask.prediction import begin_search, index_cell, labels_of, search_cell
from isthmus.dask.tree import CellTree
from isthmus.dask.whole_tree import WholeModel, fit_tree, require_whole
from isthmus.estimators import TransitiveCut as OneMachine
from isthmus.model_selection.suggestion import Suggestion, suggest
from isthmus.ultrametric import UltrametricTree


@dataclass
class _Fitted:
    """What a fit finds.

    Attributes
    ----------
    executor : Executor
        Where the cells are.
    tree : CellTree
    cutter : Cutter
    settings : CutSettings
    labels : list of handles
        Of RowLabels, one for each cell.
    n_features : int
        Of the rows that were given.
    """

    executor: Executor
    tree: CellTree
    cutter: Cutter
    settings: CutSettings
    labels: list[Any]
    n_features: int
    suggestion: Suggestion | None = None
    indexes: list[Any] | None = field(default=None, repr=False)

    def gathered(self) -> _Fitted:
        """Return the same in this process's memory."""
        here: Executor = ThreadExecutor(1)
        tree = replace(self.tree, cells=self.executor.gather(self.tree.cells))
        cutter = replace(self.cutter, executor=here, tree=tree)
        labels = self.executor.gather(self.labels)
        return replace(self, executor=here, tree=tree, cutter=cutter, labels=labels, indexes=None)


class TransitiveCut(ClusterMixin, BaseEstimator):  # type: ignore[misc]
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

    _fitted: _Fitted | WholeModel

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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Find the spanning tree of X, and cut it.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
        y : ignored
        sample_weight : array or Dask array of shape (n_samples,), optional
            How many equal points each row stands for, above 0.

        Returns
        -------
        self
        """
        check_verbose(self.verbose)
        check_n_cells(self.n_cells)
        if isinstance(self.n_clusters, str) and self.n_clusters != "auto":
            raise TypeError(f"n_clusters must be an integer or 'auto', got {self.n_clusters!r}.")
        executor = find_executor(None, check_n_jobs(self.n_jobs), self.folder)
        self._forget()
        named = self.metric, self.metric_params
        task = begin(X, named, executor, self.n_cells, reporter(self.verbose))
        if task.has_cells:
            fitted: _Fitted | WholeModel = self._fit_cells(task, sample_weight)
        else:
            fitted = self._fit_whole(task, sample_weight)
        self.n_features_in_ = task.n_features
        if task.feature_names is not None:
            self.feature_names_in_ = task.feature_names
        self._fitted = fitted
        return self

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
        return fit_tree(model, task.find_whole_tree(), task.starts, sample_weight)

    def _fit_cells(self, task: Task, sample_weight: Any) -> _Fitted:
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
        labels = _labels(cutter, settings)
        task.report("clusters", 1, 1)
        return _Fitted(executor, tree, cutter, settings, labels, task.n_features, suggestion)

    def _checked_settings(self, n_rows: int, has_weights: bool) -> CutSettings:
        k = 1 if self.n_clusters == "auto" else self.n_clusters
        settings = CutSettings(k, self.min_cluster_size)
        if has_weights:  # their sum is known when the tree is cut
            return replace(settings, n_clusters=check_n_clusters(k, n_rows))
        return settings.checked(n_rows)

    def _forget(self) -> None:
        for name in ("_fitted", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    @property
    def _record(self) -> _Fitted | WholeModel:
        check_is_fitted(self)
        return self._fitted

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if isinstance(state.get("_fitted"), _Fitted):
            gathered = state["_fitted"].gathered()
            gathered.executor = gathered.cutter.executor = None
            state = state | {"_fitted": gathered}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        record = vars(self).get("_fitted")
        if isinstance(record, _Fitted):
            record.executor = record.cutter.executor = ThreadExecutor(1)

    @property
    def labels_(self) -> Any:
        """The cluster of each row, in the blocks of X."""
        record = self._record
        if isinstance(record, WholeModel):
            return record.in_blocks(record.model.labels_)
        return _as_dask_array(record.executor, record.labels, record.tree.starts)

    @property
    def n_clusters_(self) -> int:
        """The number of clusters, given or suggested."""
        record = self._record
        if isinstance(record, WholeModel):
            return int(record.model.n_clusters_)
        return int(record.settings.n_clusters)

    @property
    def suggestion_(self) -> Suggestion:
        """Why there are as many clusters, where ``n_clusters="auto"``."""
        record = self._record
        if isinstance(record, WholeModel):
            found: Suggestion | None = getattr(record.model, "suggestion_", None)
        else:
            found = record.suggestion
        if found is None:
            raise AttributeError("suggestion_ is there after a fit with n_clusters='auto'.")
        return found

    @property
    def spanning_tree_(self) -> Any:
        """The minimum spanning tree."""
        record = self._record
        if isinstance(record, WholeModel):
            return as_dask_tree_of(record.tree)
        return as_dask_tree(record.executor, record.tree)

    def labels_for(self, n_clusters: int) -> Any:
        """Return the labels for another number of clusters, a Dask array in the blocks of X."""
        record = self._record
        k = check_n_clusters(n_clusters, record.tree.n_points)
        if isinstance(record, WholeModel):
            return record.in_blocks(record.model.labels_for(k))
        labels = _labels(record.cutter, replace(record.settings, n_clusters=k))
        return _as_dask_array(record.executor, labels, record.tree.starts)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the labels of the rows of X: a Dask array."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> Any:
        """Return the clusters of new rows, those of the nearest rows of the fit.

        X : dask.array.Array or dask.dataframe.DataFrame

        Returns a Dask array; nothing is computed before it is asked for. Of several rows that are
        equally near any may count.
        """
        import dask.array as da
        from dask.delayed import delayed

        record = self._record
        if isinstance(record, WholeModel):
            raise NotImplementedError(
                "isthmus.dask predicts by cells in space: for up to eight features, after a map to "
                "Euclidean distances. Predict with isthmus.TransitiveCut on one machine."
            )
        executor, tree = record.executor, record.tree
        given = as_blocks(X)
        if record.indexes is None:
            record.indexes = [
                executor.submit("index", index_cell, cell, labels, where=c, large=True)
                for c, (cell, labels) in enumerate(zip(tree.cells, record.labels, strict=True))
            ]
        indexes = [executor.delayed(index) for index in record.indexes]
        sizes = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(given.blocks)
        found = []
        for block, size in zip(given.blocks, sizes, strict=True):
            search = delayed(begin_search)(block, tree.mapping, record.n_features)
            for c, index in enumerate(indexes):
                search = delayed(search_cell)(search, index, tree.boxes.take([c]))
            found.append(da.from_delayed(delayed(labels_of)(search), (size,), np.int32))
        return da.concatenate(found, allow_unknown_chunksizes=True)


def _labels(cutter: Cutter, settings: CutSettings) -> list[Any]:
    """Return handles of the labels of each cell."""
    try:
        return cutter.labels(settings)
    except NeedsAllPointsError:
        whole = UltrametricTree.from_spanning_tree(gather_tree(cutter.executor, cutter.tree))
        weights = _gathered_weights(cutter) if cutter.has_weights else None
        labels = CutClusterer(whole, weights).labels(settings)
        rows = for_each(cutter.executor, "rows", _rows_of, cutter.tree.cells)
        return [RowLabels(of_cell, labels[of_cell]) for of_cell in rows]


def _rows_of(cell: Any) -> Ints:
    rows: Ints = cell.rows.copy()
    return rows


def _rows_and_weights(cell: Any) -> tuple[Ints, Array]:
    return cell.rows, cell.weights


def _gathered_weights(cutter: Cutter) -> Array:
    weights = np.empty(cutter.tree.n_points)
    for rows, of_cell in for_each(cutter.executor, "rows", _rows_and_weights, cutter.tree.cells):
        weights[rows] = of_cell
    return weights


def _as_dask_array(executor: Executor, labels: list[Any], starts: Ints) -> Any:
    """Return the labels of all rows, in the blocks of the input, empty ones included."""
    import dask.array as da
    from dask.delayed import delayed
    from dask.highlevelgraph import HighLevelGraph

    blocks = []
    for start, stop in pairwise(starts.tolist()):
        parts = [executor.delayed(cell) for cell in labels]
        if not executor.shares_memory:  # what other workers hold is not worth moving as a whole
            parts = [delayed(take_rows)(part, start, stop) for part in parts]
        blocks.append(delayed(join_rows)(parts, start, stop))
    name = f"labels-{uuid.uuid4().hex}"
    layer = {(name, b): (_as_it_is, block.key) for b, block in enumerate(blocks)}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=blocks)
    return da.Array(graph, name, chunks=(tuple(np.diff(starts).tolist()),), dtype=np.int32)


def _as_it_is(labels: Labels) -> Labels:
    return labels
