"""SingleLinkage: the minimum spanning tree without its longest edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from isthmus._utils.parameters import check_integer, check_n_clusters, check_n_jobs
from isthmus.estimators.checked_input import check_input, input_tags
from isthmus.metrics.input import n_points_of
from isthmus.metrics.registry import resolve_metric
from isthmus.spanning_tree import minimum_spanning_tree
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.node_labels import labels_of_parts


class SingleLinkage(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Cut the longest edges of the minimum spanning tree: single-linkage clustering.

    Without its k - 1 longest edges the tree falls into k clusters. The paper shows where this and
    K-means on transitive distances differ: here a few points far from all others are clusters.

    Parameters
    ----------
    n_clusters : int, default=8
    metric : str or callable, default="euclidean"
        The base distance, as for :class:`isthmus.TransitiveCut`.
    metric_params : dict, optional
        Parameters of the metric.
    n_jobs : int, optional
        Threads; -1 for every core. Never changes the result.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters are numbered in the order of their first points.
    spanning_tree_ : SpanningTree
    n_features_in_ : int, unless X was a list of objects
    feature_names_in_ : ndarray of str, where X had column names

    See Also
    --------
    isthmus.TransitiveCut : The same tree, cut between large parts.
    scipy.cluster.hierarchy.fcluster : SciPy's way.

    Notes
    -----
    Edges are cut from the end of the tree's total order, by weight, smaller and larger index; so
    of equally long edges those with the larger indices are cut first.

    Examples
    --------
    >>> from isthmus.baselines import SingleLinkage
    >>> SingleLinkage(n_clusters=2).fit_predict([[0.0], [0.1], [0.2], [5.0], [5.1]]).tolist()
    [0, 0, 0, 1, 1]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> SingleLinkage:  # noqa: ARG002
        """Find the spanning tree of X and cut it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points or distances, as for :class:`isthmus.TransitiveCut`.
        y : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        self
        """
        check_integer(self.n_clusters, "n_clusters", 1)
        metric = resolve_metric(self.metric, self.metric_params)
        n_jobs = check_n_jobs(self.n_jobs)
        data = check_input(self, X, metric)
        k = check_n_clusters(self.n_clusters, n_points_of(data))
        self.spanning_tree_ = minimum_spanning_tree(
            data, metric=self.metric, metric_params=self.metric_params, n_jobs=n_jobs
        )
        tree = UltrametricTree.from_spanning_tree(self.spanning_tree_)
        self.labels_ = labels_of_parts(tree, np.arange(tree.n_points - 1) >= tree.n_points - k)
        return self

    def __sklearn_tags__(self) -> Any:
        return input_tags(super().__sklearn_tags__(), self.metric)
