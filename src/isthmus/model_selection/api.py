"""Points, distances or a tree → how many clusters they have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from isthmus._utils.parameters import check_disconnected, check_integer, check_n_jobs
from isthmus.metrics.input import check_data, n_points_of, read_table, take_rows
from isthmus.metrics.registry import resolve_metric
from isthmus.metrics.validation import check_sample_weight
from isthmus.model_selection.silhouette import AT_ONCE
from isthmus.model_selection.suggestion import Suggestion, suggest
from isthmus.spanning_tree import SpanningTree
from isthmus.ultrametric import UltrametricTree


def suggest_n_clusters(
    X: Any,
    k_max: int = 20,
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: dict[str, Any] | None = None,
    disconnected: str | float = "error",
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> Suggestion:
    """Return how many clusters there are, with the evidence for each number.

    k clusters are as good as the weakest of the k - 1 gaps between them. A gap is an edge of the
    spanning tree that is longer than the edges on both of its sides let expect, between groups
    that are large enough not to be outliers. Where there is no such gap, as in uniform noise or
    a single shape, the answer is one cluster and "no clear structure".

    Parameters
    ----------
    X : UltrametricTree, SpanningTree, or data as for :class:`isthmus.TransitiveCut`
    k_max : int, default=20
        The largest number that is considered, at least 2.
    metric, metric_params, disconnected, n_jobs
        As for :class:`isthmus.TransitiveCut`. Not used where X is a tree.
    sample_weight : array-like of shape (n_samples,) or float, optional
        How many equal points each row stands for. Equal points count once as evidence, so only
        the weight 0, which leaves a row out, makes a difference to the number of clusters.

    Returns
    -------
    Suggestion
        ``n_clusters``, ``confidence`` ("clear", "weak" or "no clear structure"), ``explanation``,
        ``ranking``, and arrays of evidence; ``print`` shows a table.

    See Also
    --------
    TransitiveCut : With ``n_clusters="auto"`` it takes the suggested number.
    isthmus.plotting.plot_suggestion : Draw the evidence.
    isthmus.model_selection.Suggestion : What is returned.

    Notes
    -----
    O(n log n + n k_max) time after the spanning tree, nothing random. It does not depend on units,
    offsets or the order of rows (but for equal distances).

    It sees gaps, not densities: clouds that touch are one cluster to it. Groups of less than about
    2 log2(n) different points are not counted as clusters.

    Examples
    --------
    >>> from isthmus import suggest_n_clusters
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(random_state=0)
    >>> suggest_n_clusters(X)
    Suggestion(n_clusters=2, confidence='clear')
    """
    k = check_integer(k_max, "k_max", 2)
    check_n_jobs(n_jobs)
    if isinstance(X, SpanningTree):
        X = UltrametricTree.from_spanning_tree(X)
    if isinstance(X, UltrametricTree):
        weights = check_sample_weight(sample_weight, X.n_points)
        if weights is not None and not weights.all():
            raise ValueError(
                f"sample_weight of point {int(weights.argmin())} is 0, but it is on the tree. "
                "Leave such points out before the tree is built, or give the data."
            )
        return suggest(X, k, weights)
    X, resolved = read_table(X, resolve_metric(metric, metric_params))
    check_disconnected(disconnected)
    data = check_data(X, resolved)
    weights = check_sample_weight(sample_weight, n_points_of(data))
    if weights is not None and not weights.all():
        data = take_rows(data, np.flatnonzero(weights))
    tree = UltrametricTree.from_data(
        data,
        metric=resolved,
        disconnected=disconnected,
        n_jobs=n_jobs,
    )
    return suggest_for_rows(tree, k, weights)


def suggest_for_rows(
    tree: UltrametricTree, k_max: int, weights: Any, at_once: int = AT_ONCE
) -> Suggestion:
    """Return the suggestion for the tree of the rows with a weight above 0.

    at_once : int
        As for Silhouette.
    """
    if weights is None or weights.all():
        return suggest(tree, k_max, weights, at_once)
    is_fitted = weights > 0.0
    suggestion = suggest(tree, k_max, weights[is_fitted], at_once)
    labels = np.full(len(weights), -1, dtype=np.int32)
    labels[is_fitted] = suggestion.labels
    return replace(suggestion, labels=labels)
