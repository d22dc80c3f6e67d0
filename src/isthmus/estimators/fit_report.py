"""A finished fit → what can be said about its points and clusters, when it is first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Floats, Labels
from isthmus.estimators.new_rows import NewRows
from isthmus.estimators.weighted_rows import WeightedRows
from isthmus.outliers import find_reference_groups, scores_of_new_points
from isthmus.prediction.attach import transitive_rows
from isthmus.summary.clusters import ClusterSummary, summarise
from isthmus.summary.feature_means import feature_means
from isthmus.ultrametric import UltrametricTree

# Entries of the rows of distances that are held together.
_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class FitReport:
    """What a fit leaves behind for those who ask.

    Attributes
    ----------
    tree : UltrametricTree
    rows : WeightedRows
    labels : (n_rows,) int32
    points : array, CSR matrix, list of objects, or None where distances were given
        The rows with a weight above 0.
    feature_names : tuple of str, or None where X had no names
    """

    tree: UltrametricTree
    rows: WeightedRows
    labels: Labels
    points: Any
    feature_names: tuple[str, ...] | None

    @cached_property
    def outlier_scores(self) -> Floats:
        """The outlier score of each row; rows of weight 0 as new points: (n_rows,)."""
        known = find_reference_groups(self.tree, self.rows.point_weights)
        if self.rows.is_fitted is None or self.rows.links is None:
            return known.scores
        everywhere = np.empty(len(self.rows.is_fitted))
        everywhere[self.rows.is_fitted] = known.scores
        new = []
        for start, stop in chunks(len(self.rows.links), max(1, _AT_ONCE // self.tree.n_points)):
            distances = transitive_rows(self.tree, self.rows.links, start, stop)
            new.append(scores_of_new_points(distances, known))
        everywhere[~self.rows.is_fitted] = np.concatenate(new)
        return everywhere

    @cached_property
    def summary(self) -> ClusterSummary:
        """The figures of each cluster."""
        is_fitted, names = self.rows.is_fitted, self.feature_names
        rows = np.arange(len(self.labels)) if is_fitted is None else np.flatnonzero(is_fitted)
        means = feature_means(self.points, self.labels[rows], self.rows.point_weights)
        if names is None:
            n_features = 0 if means is None else means.shape[1]
            names = tuple(f"x{i}" for i in range(n_features))
        return summarise(
            self.tree,
            self.labels[rows].astype(np.int64),
            np.bincount(self.labels),
            self.rows.point_weights,
            rows,
            self.outlier_scores[rows],
            means,
            names if means is not None else (),
        )


class ReportsFit:
    """For an estimator of trees: figures about its fit, computed when they are first asked for.

    A notebook shows the summary below scikit-learn's diagram.
    """

    tree_: UltrametricTree
    _fitted_rows: WeightedRows
    _new_rows: NewRows
    _report: FitReport

    @property
    def outlier_scores_(self) -> Floats:
        """How much of an outlier each row is, from 0 to 1; computed when first asked for."""
        return self._ready_report().outlier_scores

    @property
    def summary_(self) -> ClusterSummary:
        """The figures of each cluster; computed when first asked for."""
        return self._ready_report().summary

    def _ready_report(self) -> FitReport:
        check_is_fitted(self)
        if not hasattr(self, "_report"):
            names = getattr(self, "feature_names_in_", None)
            self._report = FitReport(
                self.tree_,
                self._fitted_rows,
                self._new_rows.labels,
                self._new_rows.points,
                None if names is None else tuple(names),
            )
        return self._report

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return diagram + self._summary_as_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:  # not where scikit-learn is set to display text
            bundle["text/html"] += self._summary_as_html()
        return bundle

    def _summary_as_html(self) -> str:
        return self.summary_._repr_html_() if "labels_" in vars(self) else ""
