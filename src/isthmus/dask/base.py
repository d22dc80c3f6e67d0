"""What the estimators of Dask collections have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol, Self

from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._utils.parameters import check_n_clusters, check_n_jobs
from isthmus._utils.progress import check_verbose
from isthmus.dask.api import DistributedTree, check_n_cells, reporter
from isthmus.dask.executors import find_executor
from isthmus.dask.fitting import Task, begin
from isthmus.model_selection.suggestion import Suggestion


class FittedClusters(Protocol):
    """What a fit finds."""

    @property
    def n_points(self) -> int:
        """The number of rows."""

    @property
    def n_clusters(self) -> int:
        """The number of clusters, given or suggested."""

    @property
    def suggestion(self) -> Suggestion | None:
        """Why as many, where ``n_clusters="auto"``."""

    def labels(self) -> Any:
        """Return the cluster of each row: a Dask array in the blocks of X."""

    def labels_for(self, n_clusters: int) -> Any:
        """Return the same for another number of clusters, checked."""

    def spanning_tree(self) -> DistributedTree:
        """Return the minimum spanning tree."""


class DaskClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer of the rows of a Dask array or data frame.

    A subclass stores its parameters, and finds clusters; a fit is one record, assigned last.
    """

    _fitted: FittedClusters
    metric: str
    metric_params: dict[str, Any] | None
    n_cells: int | None
    n_jobs: int | None
    verbose: Any
    folder: Any = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Find the spanning tree of X, and clusters of it.

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
        self._check_parameters()
        executor = find_executor(None, check_n_jobs(self.n_jobs), self.folder)
        for name in ("_fitted", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        named = self.metric, self.metric_params
        task = begin(X, named, executor, self.n_cells, reporter(self.verbose))
        fitted = self._find_clusters(task, sample_weight)
        self.n_features_in_ = task.n_features
        if task.given.feature_names is not None:
            self.feature_names_in_ = task.given.feature_names
        self._fitted = fitted
        return self

    def _check_parameters(self) -> None:
        check_verbose(self.verbose)
        check_n_cells(self.n_cells)

    @abstractmethod
    def _find_clusters(self, task: Task, sample_weight: Any) -> FittedClusters:
        """Return the clusters of a checked task."""

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and return the labels of the rows of X: a Dask array."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    @property
    def _record(self) -> FittedClusters:
        check_is_fitted(self)
        return self._fitted

    @property
    def labels_(self) -> Any:
        """The cluster of each row, in the blocks of X."""
        return self._record.labels()

    @property
    def n_clusters_(self) -> int:
        """The number of clusters, given or suggested."""
        return self._record.n_clusters

    @property
    def suggestion_(self) -> Suggestion:
        """Why there are as many clusters, where ``n_clusters="auto"``."""
        found = self._record.suggestion
        if found is None:
            raise AttributeError("suggestion_ is there after a fit with n_clusters='auto'.")
        return found

    @property
    def spanning_tree_(self) -> DistributedTree:
        """The minimum spanning tree."""
        return self._record.spanning_tree()

    def labels_for(self, n_clusters: int) -> Any:
        """Return the labels for another number of clusters, a Dask array in the blocks of X."""
        record = self._record
        return record.labels_for(check_n_clusters(n_clusters, record.n_points))
