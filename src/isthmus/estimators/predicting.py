"""New rows → clusters and distances, as methods of an estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._utils.parameters import check_n_jobs
from isthmus._utils.progress import Stages
from isthmus._utils.typing import Floats, Labels
from isthmus.estimators.input import check_new_input
from isthmus.estimators.new_rows import NewRows
from isthmus.metrics.validation import check_sample_weight


class PredictsNewRows(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
):
    """For an estimator whose fit leaves ``_new_rows`` behind.

    It has the parameters ``n_jobs`` and ``verbose``.
    """

    n_jobs: int | None
    verbose: Any
    _new_rows: NewRows

    def predict(self, X: Any) -> Labels:
        """Return the clusters of new points; the fit stays as it is.

        A new point is hung on the spanning tree of the fitted ones: its transitive distance to
        each of them is the longest hop on the best way there, over any of them. It belongs to the
        nearest centre, as the objective measures it; for ``objective="cut"`` to the cluster of
        the nearest fitted point. A point that equals a fitted one gets its label (of several, that
        of the first), so that ``predict(X)`` of the fitted points is ``labels_``, unless equal
        points were spread over clusters.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New points, of the kind that was fitted. With ``metric="precomputed"`` their distances
            to the points of the fit, an array-like or a ``scipy.sparse`` matrix of shape
            (n_new, n_samples), where what is not stored is no edge.

        Returns
        -------
        ndarray of shape (n_new,)

        Notes
        -----
        Up to 8 features: some microseconds for each point, after a preparation that the first call
        makes. Otherwise O(n_samples n_features) for each point.
        """
        labels: Labels = self._new(X, NewRows.label, "new points")
        return labels

    def transform(self, X: Any) -> Floats:
        """Return the distances of new points to the centres of the clusters.

        In the space of rows, whose coordinates are transitive distances (raised to ``power``) to
        the fitted points; for ``objective="embedding"`` in the embedded space. With weights each
        coordinate counts as often as its point. Where the fit has points that are infinitely far
        apart (``disconnected="join"``), a centre is at a finite distance only if its cluster lies
        in one component of the graph and the new point reaches that one alone.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            As for :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_new, n_clusters)
        """
        distances: Floats = self._new(X, NewRows.distances, "distances")
        return distances

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Floats:
        """Fit, and return the distances of all rows to the centres: ``fit(X).transform(X)``.

        Parameters as for :meth:`fit`.
        """
        fitted: NewRows = self.fit(X, y, sample_weight)._new_rows
        return fitted.distances_of_fit()

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:  # noqa: ARG002
        """Return minus the sum of squared distances to the nearest centres, as of `transform`.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            As for :meth:`predict`.
        y : ignored
        sample_weight : array-like of shape (n_new,) or float, optional
            How often each point counts.
        """
        check_is_fitted(self)
        nearest = self._new(X, NewRows.distances, "distances").min(axis=1)
        weights = check_sample_weight(sample_weight, len(nearest))
        with np.errstate(over="ignore", under="ignore"):
            squares = nearest**2
            return -float(squares.sum() if weights is None else squares @ weights)

    def _new(self, X: Any, what: Callable[..., Any], name: str) -> Any:
        check_is_fitted(self)
        rows: NewRows = self._new_rows
        data = check_new_input(self, X, rows.points, rows.resolved_metric)
        return what(rows, data, check_n_jobs(self.n_jobs), Stages(self.verbose).stage(name))

    @property
    def _n_features_out(self) -> int:
        """How many names ``get_feature_names_out`` returns."""
        return self._new_rows.n_clusters
