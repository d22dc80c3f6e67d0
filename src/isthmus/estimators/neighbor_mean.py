"""NeighborMean: points → the means of their neighbourhoods, for any pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from isthmus._utils.parameters import check_n_jobs
from isthmus._utils.typing import Labels
from isthmus.estimators.checked_input import check_input, check_new_input, input_tags
from isthmus.metrics.duplicates import RowIndex
from isthmus.metrics.input import n_points_of
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.registry import resolve_metric
from isthmus.neighbors.means import neighborhood_means
from isthmus.neighbors.neighborhood_parameters import check_n_neighbors, check_neighborhood
from isthmus.neighbors.selection import find_neighbors
from isthmus.prediction.attach_with_neighbors import nearest_of_new, stacked


class _Fitted(NamedTuple):
    """What a fit found; the probe knows the features."""

    probe: BaseEstimator
    metric: MappedMetric
    points: Any
    neighbors: Labels


class NeighborMean(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace each point by the mean of its nearest neighbours.

    What is noise in single points averages out, and clusters become denser. It is what
    ``TransitiveCut(n_neighbors=…, neighborhood="mean")`` does first, as a step of its own.

    Parameters
    ----------
    n_neighbors : int, default=30
        The size of neighbourhoods, each point itself included.
    metric : str, default="euclidean"
        How neighbours are found: any metric of :class:`TransitiveCut` that is Euclidean, or
        another simple one, after a map of the points. For ``"cosine"`` and ``"angular"`` rows are
        brought to unit length before and after; for ``"haversine"`` means are taken on the
        sphere.
    metric_params : dict, optional
        Parameters of the metric.
    n_jobs : int, optional
        Threads; -1 for every core. Never changes the result.

    Attributes
    ----------
    neighbors_ : ndarray of shape (n_samples, n_neighbors), dtype int32
        The neighbourhood of each fitted point, itself first.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X had column names

    See Also
    --------
    TransitiveCut : Takes the same step with ``n_neighbors``.
    nearest_neighbors : The neighbours alone.

    Notes
    -----
    The neighbourhood of a new point is itself and its n_neighbors - 1 nearest fitted points. A new
    point that equals a fitted one is that point, so ``fit_transform(X)`` is
    ``fit(X).transform(X)``.

    Examples
    --------
    >>> from isthmus import NeighborMean
    >>> NeighborMean(n_neighbors=2).fit_transform([[0.0], [1.0], [5.0]]).ravel().tolist()
    [0.5, 0.5, 3.0]
    """

    def __init__(
        self,
        n_neighbors: int = 30,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> NeighborMean:  # noqa: ARG002
        """Find the neighbours of the points of X: array-like of shape (n_samples, n_features).

        y is ignored.
        """
        metric = self._resolved()
        n_jobs = check_n_jobs(self.n_jobs)
        probe = clone(self)  # takes what scikit-learn sets while it checks the input
        points = check_input(probe, X, metric)
        size = check_n_neighbors(self.n_neighbors, n_points_of(points))
        neighbors: Labels = find_neighbors(points, metric, size, n_jobs=n_jobs).indices
        self.__dict__.pop("feature_names_in_", None)
        for name, value in vars(probe).items():
            if name.endswith("_in_"):
                setattr(self, name, value)
        self.neighbors_ = neighbors
        self._fitted = _Fitted(probe, metric, points, neighbors)  # at once, for other threads
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the means of the neighbourhoods of the points of X."""
        fitted = self.fit(X, y)._fitted
        n_jobs = check_n_jobs(self.n_jobs)
        return neighborhood_means(fitted.points, fitted.neighbors, fitted.metric, n_jobs)

    def transform(self, X: Any) -> Any:
        """Return the means of the neighbourhoods of new points.

        X : array-like of shape (n_new, n_features)
        """
        check_is_fitted(self)
        probe, metric, points, neighbors = self._fitted
        n_jobs = check_n_jobs(self.n_jobs)
        new: Any = check_new_input(probe, X, points, metric)
        n_points, size = neighbors.shape
        lists = np.empty((new.shape[0], size), dtype=np.int32)
        lists[:, 0] = np.arange(n_points, n_points + new.shape[0])
        if size > 1:
            found = nearest_of_new(points, new, metric, size - 1, n_jobs)
            lists[:, 1:] = found.indices
            same = np.where(found.distances[:, 0] == 0.0, found.indices[:, 0], -1)
            if isinstance(points, np.ndarray):
                same = RowIndex(np.ascontiguousarray(points)).find(np.ascontiguousarray(new))
            lists[same >= 0] = neighbors[same[same >= 0]]
        return neighborhood_means(stacked(points, new), lists, metric, n_jobs)

    def _resolved(self) -> MappedMetric:
        metric = resolve_metric(self.metric, self.metric_params)
        check_neighborhood(self.n_neighbors, "mean", metric)
        assert isinstance(metric, MappedMetric)
        return metric

    def __sklearn_tags__(self) -> Any:
        return input_tags(super().__sklearn_tags__(), self.metric)
