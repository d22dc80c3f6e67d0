"""A fitted model → what its explorer page shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._utils.parameters import check_integer
from isthmus.cut.api import CutClusterer
from isthmus.cut.settings import CutSettings
from isthmus.estimators.fitted import FittedModel
from isthmus.explorer.clustering import AttachedRows, Clustering
from isthmus.explorer.user_table import Columns, no_columns, read_columns
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
    tree, weights = fitted.clustered.tree, fitted.clustered.point_weights
    high = min(max(check_integer(k_max, "k_max", 1), fitted.n_clusters), tree.n_points)
    cut = CutSettings(max(_LEAVES, 2 * high), fitted.settings.min_cluster_size)
    cut = replace(cut, n_clusters=min(cut.n_clusters, tree.n_points))
    constraints = fitted.constraints
    cut_tree = CutClusterer(tree, weights, constraints=constraints).most_parts(cut)
    low = 1 if constraints is None else constraints.n_parts
    high = max(min(high, len(cut_tree.cut_from)), fitted.n_clusters)
    if isinstance(fitted.settings, KMeansSettings) and fitted.settings.given_rows is not None:
        low = high = fitted.n_clusters
    whole = _whole_tree(fitted)
    metric = fitted.metric if isinstance(fitted.metric, str) else "a function"
    noise = "" if fitted.noise is None else f", noise above {fitted.noise.threshold:.2f}"
    return Clustering(
        method=f"{type(model).__name__}, {metric} distances{noise}",
        point_weights=weights,
        cut_tree=cut_tree,
        path=model.path(low, high),
        n_clusters=fitted.n_clusters,
        suggestion=suggest(tree, max(2, high), weights),
        outlier_scores=fitted.outlier_scores,
        paths=whole,
        noise_weight=_noise_weight(fitted),
        **vars(_clustered_tree(fitted, whole)),
    )


def _whole_tree(fitted: FittedModel) -> AttachedRows:
    """Return the rows on the tree of all of them; those of weight 0 are attached to it."""
    attachments = fitted.rows.all_attachments(fitted.tree.n_points)
    is_fitted = fitted.rows.is_fitted
    return AttachedRows(
        tree=fitted.tree,
        rows=np.arange(len(fitted.labels)) if is_fitted is None else np.flatnonzero(is_fitted),
        attached_to=attachments.nearest,
        attached_at=attachments.length[attachments.begin[:-1]],
    )


def _clustered_tree(fitted: FittedModel, whole: AttachedRows) -> AttachedRows:
    """Return the rows on the tree without noise, to which noise is attached."""
    rest = fitted.clustered.rest
    if rest is None:
        return whole
    return AttachedRows(
        tree=rest.tree,
        rows=fitted.clustered_rows,
        attached_to=rest.owner[whole.attached_to],
        attached_at=np.maximum(whole.attached_at, rest.absorbed_at[whole.attached_to]),
    )


def _noise_weight(fitted: FittedModel) -> float:
    """Return the weight of the rows that are noise."""
    if fitted.noise is None:
        return 0.0
    is_noise, weights = fitted.rows.on_tree(fitted.noise.is_noise), fitted.rows.point_weights
    return float(is_noise.sum() if weights is None else weights[is_noise].sum())
