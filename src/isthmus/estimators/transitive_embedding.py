"""TransitiveEmbedding: coordinates in which transitive distances are Euclidean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from isthmus._utils.memory import require_memory
from isthmus._utils.parameters import check_disconnected, check_n_jobs, check_positive
from isthmus._utils.typing import Floats
from isthmus.estimators.checked_input import check_input, input_tags
from isthmus.metrics.input import n_points_of
from isthmus.metrics.registry import resolve_metric
from isthmus.neighbors.neighborhood_parameters import check_neighborhood
from isthmus.spanning_tree.neighborhood import find_neighborhood_tree
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.embedding import MergeCoordinates, check_components


class TransitiveEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Embed points into a Euclidean space by their transitive distances.

    n points have images in n - 1 dimensions whose Euclidean distances are the transitive distances
    of the points: the paper's Lemma 1 [1]_. Each coordinate belongs to one merge of the tree of
    transitive distances, and tells its two sides apart. The leading ones, those of the largest
    variances, show what the tree divides first; they serve as features and for plots.

    Parameters
    ----------
    n_components : int or None, default=2
        How many coordinates; below the number of points. None for all of them, n - 1, as a dense
        array: ``tree_.embedding()`` is the sparse one.
    metric : str or callable, default="euclidean"
        The base distance, as for :class:`TransitiveCut`.
    metric_params : dict, optional
        Parameters of the metric.
    n_neighbors, neighborhood : int or None, and str
        Neighbourhoods, as for :class:`TransitiveCut`.
    disconnected : "error" or float, default="error"
        How far apart the components of a sparse graph are to be put, at least the longest edge
        of their spanning trees. "join" is refused: an embedding needs finite distances.
    power : float, default=1.0
        Distances are raised to this power first. Below 1 weakens the pull of outliers.
    n_jobs : int, optional
        Threads; -1 for every core. Never changes the result.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The coordinates of the points.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of each coordinate in the variance of all n - 1, from the largest on; zeros
        where all points coincide.
    tree_ : UltrametricTree
        All transitive distances, before they are raised to the power.
    n_features_in_ : int, unless X was a list of objects
    feature_names_in_ : ndarray of str, where X had column names

    See Also
    --------
    UltrametricTree.embedding : The same coordinates, all of them.
    TransitiveKMeans : With ``space="embedding"``, K-means in this space without coordinates.

    Notes
    -----
    There is no ``transform``: a new point may change the tree, and with it all coordinates.

    References
    ----------
    .. [1] C. Xu, J. Liu, X. Tang, "Clustering with Transitive Distance and K-Means Duality".

    Examples
    --------
    >>> from isthmus import TransitiveEmbedding
    >>> points = [[0.0], [1.0], [3.0], [3.5]]
    >>> TransitiveEmbedding(n_components=1).fit_transform(points).round(3).ravel().tolist()
    [0.911, 0.911, -1.009, -1.009]
    """

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        metric: str | Callable[..., float] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        n_neighbors: int | None = None,
        neighborhood: str = "mean",
        disconnected: str | float = "error",
        power: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.n_neighbors = n_neighbors
        self.neighborhood = neighborhood
        self.disconnected = disconnected
        self.power = power
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> TransitiveEmbedding:  # noqa: ARG002
        """Find the tree of transitive distances of X and the coordinates of its points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points or distances, as for :class:`TransitiveCut`.
        y : ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        self
        """
        metric = resolve_metric(self.metric, self.metric_params)
        neighborhood = check_neighborhood(self.n_neighbors, self.neighborhood, metric)
        check_disconnected(self.disconnected)
        power = check_positive(self.power, "power")
        n_jobs = check_n_jobs(self.n_jobs)
        data = check_input(self, X, metric)
        n_points = n_points_of(data)
        n_components = check_components(self.n_components, n_points, "n_components")
        require_memory(
            n_points * n_components * 8,
            f"The array of {n_components} coordinates of {n_points} points",
            "Ask for fewer: n_components=<number>.",
        )
        found = find_neighborhood_tree(
            data,
            metric,
            neighborhood,
            disconnected=self.disconnected,
            n_jobs=n_jobs,
            keep_index=False,
        )
        tree = UltrametricTree.from_spanning_tree(found.tree)
        with np.errstate(over="ignore", under="ignore"):
            raised = tree if power == 1.0 else tree.with_heights(lambda heights: heights**power)
        embedding = raised.embedding(n_components or None).toarray()
        ratios = _variance_ratios(raised)[:n_components]
        self.tree_ = tree
        self.embedding_: Floats = embedding
        self.explained_variance_ratio_ = ratios
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit, and return ``embedding_``; parameters as for :meth:`fit`."""
        return self.fit(X, y).embedding_

    @property
    def _n_features_out(self) -> int:
        """How many names ``get_feature_names_out`` returns."""
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        return input_tags(super().__sklearn_tags__(), self.metric)


def _variance_ratios(tree: UltrametricTree) -> Floats:
    """Return the share of each coordinate in the variance of all, in the order of coordinates."""
    coordinates = MergeCoordinates.of_merges(tree.children, tree.heights, tree.sizes)
    ordered = coordinates.variances[coordinates.order]
    total = ordered.sum()
    ratios: Floats = ordered / total if total > 0.0 else ordered
    return ratios
