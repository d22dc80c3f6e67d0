"""A fitted model → what its explorer page shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._utils.parameters import check_integer
from isthmus.cut.api import CutClusterer
from isthmus.cut.settings import CutSettings
from isthmus.estimators.fitted import FittedModel
from isthmus.explorer.clustering import Clustering
from isthmus.explorer.columns import Columns, no_columns, read_columns
from isthmus.kmeans import KMeansSettings
from isthmus.model_selection.suggestion import suggest

if TYPE_CHECKING:
    from isthmus.estimators.base import TransitiveClusterer

# The dendrogram has at least this many leaves, or twice as many as the slider has clusters.
_LEAVES = 40


def columns_to_show(fitted: FittedModel, X: Any) -> Columns:
    """Return the columns of X or, where it is None, those of the points that were fitted."""
    n_rows = len(fitted.labels)
    names = None if fitted.feature_names is None else fitted.feature_names.tolist()
    if X is not None:
        columns = X if isinstance(X, Columns) else read_columns(X, names)
        if columns.n_rows != n_rows:
            raise ValueError(f"X has {columns.n_rows} rows, but {n_rows} rows were fitted.")
        return columns
    if fitted.n_features is None or fitted.points is None:
        return no_columns(n_rows)
    if fitted.rows.is_fitted is not None:
        raise ValueError(
            "Rows of weight 0 were left out of the fit, which does not hold them. Give all rows: "
            "explore(X)."
        )
    if fitted.columns is not None:
        raise ValueError("The fit was on a table: give it once more, explore(X).")
    return read_columns(fitted.points, names)


def clustering_of(model: TransitiveClusterer, fitted: FittedModel, k_max: Any) -> Clustering:
    """Return what the page needs of a fit.

    k_max : int
        The largest number of clusters; the number that was fitted, if that is larger.
    """
    high = min(max(check_integer(k_max, "k_max", 1), fitted.n_clusters), fitted.tree.n_points)
    weights = fitted.rows.point_weights
    cut = CutSettings(max(_LEAVES, 2 * high), fitted.settings.min_cluster_size)
    cut = replace(cut, n_clusters=min(cut.n_clusters, fitted.tree.n_points))
    constraints = fitted.constraints
    cut_tree = CutClusterer(fitted.tree, weights, constraints=constraints).most_parts(cut)
    low = 1 if constraints is None else constraints.n_parts
    high = max(min(high, len(cut_tree.cut_from)), fitted.n_clusters)
    if isinstance(fitted.settings, KMeansSettings) and fitted.settings.given_rows is not None:
        low = high = fitted.n_clusters
    all_attachments = fitted.rows.all_attachments(fitted.tree.n_points)
    is_fitted = fitted.rows.is_fitted
    metric = fitted.metric if isinstance(fitted.metric, str) else "a function"
    return Clustering(
        method=f"{type(model).__name__}, {metric} distances",
        tree=fitted.tree,
        point_weights=weights,
        rows=np.arange(len(fitted.labels)) if is_fitted is None else np.flatnonzero(is_fitted),
        attached_to=all_attachments.nearest,
        attached_at=all_attachments.length[all_attachments.begin[:-1]],
        cut_tree=cut_tree,
        path=model.path(low, high),
        n_clusters=fitted.n_clusters,
        suggestion=suggest(fitted.tree, max(2, high), weights),
        outlier_scores=fitted.outlier_scores,
    )
