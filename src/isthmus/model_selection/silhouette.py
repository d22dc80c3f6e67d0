"""UltrametricTree and labels → how well each point fits into its cluster, without the matrix.

The silhouette of a point compares a, its mean distance to the others of its own cluster, with b,
the smallest of its mean distances to the other clusters: (b - a) / max(a, b), from -1 to 1. All
points below a node of the frontier (kmeans/frontier.py) have the same b, and their sums of
distances within the cluster differ only by what lies below the node. So sums per cluster are needed
at the few nodes of the frontier only, and one pass down gives each point its own. For the mean even
that is rarely needed: where all points of a node have a ≤ b, the sum of distances below it is
enough.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from isthmus._utils.parallel import chunks
from isthmus._utils.parameters import coded_labels
from isthmus._utils.rounding import in_range, unit_of
from isthmus._utils.typing import Floats, Labels
from isthmus.cut.score import finite_weights
from isthmus.kmeans.aggregates import TreeArrays
from isthmus.kmeans.frontier import Frontier, frontier_of, with_labels_from
from isthmus.metrics.validation import check_positive_weights
from isthmus.model_selection.silhouette_sums import (
    MeanDistances,
    Stack,
    add_others,
    compare_means,
    fill_aggregates,
    measure_clusters,
    propagate_inside,
    sum_silhouettes,
)
from isthmus.noise.without_noise import without_noise
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import CHUNK
from isthmus.ultrametric.tree import check_tree

# Sums per cluster that are held together, where memory is not short.
AT_ONCE = 1 << 21


@overload
def transitive_silhouette(
    tree: UltrametricTree,
    labels: Any,
    *,
    sample_weight: Any = ...,
    per_point: Literal[False] = ...,
    noise_label: Any = ...,
) -> float: ...


@overload
def transitive_silhouette(
    tree: UltrametricTree,
    labels: Any,
    *,
    sample_weight: Any = ...,
    per_point: Literal[True],
    noise_label: Any = ...,
) -> Floats: ...


def transitive_silhouette(
    tree: UltrametricTree,
    labels: Any,
    *,
    sample_weight: Any = None,
    per_point: bool = False,
    noise_label: Any = None,
) -> float | Floats:
    """Return the silhouette of a labelling by transitive distances, in O(n) memory.

    It is scikit-learn's ``silhouette_score`` (or ``silhouette_samples``) of the dense distance
    matrix, without the matrix. For each point, with a its mean distance to the others of its
    cluster and b the smallest of its mean distances to the other clusters, it is
    ``(b - a) / max(a, b)``; 0 for the only point of a cluster, and where a and b are both 0.

    Parameters
    ----------
    tree : UltrametricTree
    labels : array-like of shape (n_points,)
        The cluster of each point: integers or strings, of at least two clusters.
    sample_weight : array-like of shape (n_points,), optional
        How many equal points each one stands for, above 0. Integers give what as many copies of
        the points would give. A point of a weight below 1 has no copies of itself, and counts for
        less in the means.
    per_point : bool, default=False
        Whether to return the value of each point in place of the mean.
    noise_label : label, optional
        Points of this label, -1 in ``labels_`` of a fit with ``noise``, are in no cluster: they
        count nowhere, and have no value (NaN). By default every label is a cluster, as in
        scikit-learn.

    Returns
    -------
    float, or ndarray of shape (n_points,)
        From -1 to 1. Where points are infinitely far apart it is the limit of growing distances.

    See Also
    --------
    isthmus.TransitiveCut.path : Silhouettes for many numbers of clusters.
    sklearn.metrics.silhouette_score : The same for a distance matrix.

    Notes
    -----
    O(n + k v) time, v being the number of nodes above which the tree is divided between clusters:
    few for clusters that are nodes of the tree or nearly so, at most 2n - 1 for any labels.

    Examples
    --------
    >>> from isthmus import UltrametricTree
    >>> from isthmus.model_selection import transitive_silhouette
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [7.0]])
    >>> transitive_silhouette(tree, [0, 0, 1, 1])
    0.625
    """
    check_tree(tree)
    clusters, codes = coded_labels(labels, tree.n_points)
    point_weights = check_positive_weights(sample_weight, tree.n_points)
    if noise_label is not None and (noise := np.flatnonzero(clusters == noise_label)).size:
        is_noise = codes == noise[0]
        if is_noise.all():
            raise ValueError("A silhouette needs two clusters, and all points are noise.")
        rest = without_noise(tree, is_noise)
        value = transitive_silhouette(
            rest.tree,
            np.asarray(labels)[rest.kept],
            sample_weight=None if point_weights is None else point_weights[rest.kept],
            per_point=per_point,  # type: ignore[call-overload]
        )
        if not per_point:
            return float(value)
        values = np.full(tree.n_points, np.nan)
        values[rest.kept] = value
        return values
    if len(clusters) < 2:
        raise ValueError(
            "A silhouette compares a cluster with others, so labels must be of at least two "
            "clusters; got one."
        )
    silhouette = Silhouette(tree, point_weights)
    wanted = silhouette.of_points if per_point else silhouette.mean
    return wanted(codes.astype(np.int32), len(clusters))


class Silhouette:
    """A tree, for the silhouettes of any number of labellings.

    Parameters
    ----------
    tree : UltrametricTree
    point_weights : (n,) float64, optional
        How many points each one stands for, above 0; one, where not given.
    at_once : int
        The most sums per cluster that are held together, or as many as the tree has nodes.
    """

    def __init__(
        self, tree: UltrametricTree, point_weights: Floats | None = None, at_once: int = AT_ONCE
    ) -> None:
        self.tree = tree
        self._at_once = at_once
        self.point_weights, unit = in_range(point_weights)
        # the weight of one point
        self._one = 1.0 / unit

    @cached_property
    def arrays(self) -> TreeArrays:
        """The tree as kernels take it; see silhouette_sums.py."""
        tree, n_points = self.tree, self.tree.n_points
        # Ratios only: scaled by powers of two, nothing overflows. In place of infinity there is a
        # number beside which all others vanish, which gives the limit.
        heights = finite_weights(tree.heights, unit_of(tree.heights))
        heights.flags.writeable = False  # as those of other trees: kernels see one type
        arrays = TreeArrays(tree.children, heights, np.zeros((2 * n_points - 1, 3)))
        arrays.aggregates[:n_points, 0] = 1.0 if self.point_weights is None else self.point_weights
        for start, stop in chunks(n_points - 1, CHUNK):
            fill_aggregates(arrays, start, stop)
        return arrays

    def of_points(self, labels: Labels, n_clusters: int) -> Floats:
        """Return the silhouette of each point: (n,).

        labels : (n,) int32
            From 0 to n_clusters - 1, all of which occur; at least two.
        """
        tree, n_points = self.tree, self.tree.n_points
        node_labels, frontier = frontier_of(self.arrays, labels)
        measured = self._measure(frontier, self._weights_of(labels, n_clusters))
        inside = np.empty(2 * n_points - 1)
        inside[frontier.node] = measured.inside
        weights = self.arrays.aggregates[:, 0].copy()  # side by side, for the cache
        for start, stop in reversed(list(chunks(n_points - 1, CHUNK))):
            propagate_inside(self.arrays, weights, node_labels, inside, start, stop)
        others = self._others(labels, n_clusters)
        alone = others == 0.0
        others[alone] = 1.0
        values: Floats = inside[:n_points] / others
        compare_means(frontier, tree.starts, tree.sizes, tree.leaf_order, measured.nearest, values)
        values[alone] = 0.0
        return values

    def mean(self, labels: Labels, n_clusters: int) -> float:
        """Return the mean silhouette, weighted by the weights of the points."""
        if self.point_weights is not None and self.point_weights.min() < self._one:
            # Points of one cluster differ in the weight of the others.
            values = self.of_points(labels, n_clusters)
            return float((values * self.point_weights).sum() / self.point_weights.sum())
        _, frontier = frontier_of(self.arrays, labels)
        weights = self._weights_of(labels, n_clusters)
        measured = self._measure(frontier, weights)
        sums = np.empty(len(frontier.node))
        stack = Stack(np.empty(len(labels), dtype=np.int64), np.empty(len(labels)))
        others = weights - min(self._one, 1.0)
        sum_silhouettes(self.arrays, frontier, others, measured, stack, sums)
        return float(sums.sum() / self.arrays.aggregates[-1, 0])

    def _weights_of(self, labels: Labels, n_clusters: int) -> Floats:
        """Return the weight of each cluster: (n_clusters,)."""
        weights = np.bincount(labels, weights=self.point_weights, minlength=n_clusters)
        return weights.astype(np.float64)

    def _measure(self, frontier: Frontier, weights: Floats) -> MeanDistances:
        """Return the distances of the frontier to clusters of these weights."""
        k, count = len(weights), len(frontier.node)
        measured = MeanDistances(np.full(count, np.inf), np.empty(count))
        n_at_once = min(k, max(1, max(self._at_once, 2 * self.tree.n_points) // count))
        for start, stop in chunks(k, n_at_once):
            members, distances = np.empty((2, count, stop - start))
            some = with_labels_from(frontier, start, stop)
            measure_clusters(some, weights[start:stop], members, distances, measured)
        return measured

    def _others(self, labels: Labels, n_clusters: int) -> Floats:
        """Return the weight of the others in each point's cluster, its own copies among them."""
        if self.point_weights is None:
            counts = self._weights_of(labels, n_clusters) - min(self._one, 1.0)
            return np.asarray(counts[labels], dtype=np.float64)
        others: Floats = np.maximum(self.point_weights - self._one, 0.0)
        add_others(labels, self.point_weights, np.zeros((2, n_clusters)), others)
        return others
