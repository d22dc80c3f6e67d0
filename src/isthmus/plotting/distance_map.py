"""UltrametricTree → its distance matrix at the size of a picture: means over groups of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._utils.parameters import check_integer, coded_labels
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.group_means import mean_distances_of_groups


@dataclass(frozen=True)
class DistanceMap:
    """A matrix of transitive distances, its rows and columns sorted and put into groups.

    Attributes
    ----------
    means : ndarray of shape (n_groups, n_groups)
        The mean of the distances between the points of two groups; in a group with itself the
        zeros of points to themselves count too, as they do in the matrix.
    bounds : ndarray of shape (n_groups + 1,)
        Group g holds the points ``order[bounds[g] : bounds[g + 1]]``.
    order : ndarray of shape (n_points,)
        The points, sorted.
    cluster_bounds : ndarray of shape (n_clusters + 1,)
        Cluster c holds the points ``order[cluster_bounds[c] : cluster_bounds[c + 1]]``; all
        points are one cluster where no labels were given. No group has points of two clusters.
    names : ndarray of shape (n_clusters,), or None
        The labels of the clusters.

    See Also
    --------
    distance_map : Compute it.
    plot_distance_map : Draw it.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, random_state=0)
    >>> model = TransitiveCut(2).fit(X)
    >>> found = plotting.distance_map(model.tree_, 50)
    >>> found.means.shape, found.n_points
    ((50, 50), 200)
    """

    means: Floats
    bounds: Ints
    order: Ints
    cluster_bounds: Ints
    names: Array | None = None

    @property
    def n_points(self) -> int:
        """The number of points."""
        return len(self.order)


def distance_map(tree: UltrametricTree, size: int = 400, labels: Any = None) -> DistanceMap:
    """Return the matrix of a tree with at most ``size`` rows, each the mean over a group of points.

    Points are in the tree's leaf order or, with labels, sorted by cluster and then in leaf order.
    A group is a run of this order. The matrix of all points is never computed.

    Parameters
    ----------
    tree : UltrametricTree
    size : int, default=400
        The most groups; if it is at least the number of points, each point is a group. With labels
        every cluster has at least one, so there must not be more clusters than groups.
    labels : array-like of shape (n_points,), optional
        The cluster of each point.

    Returns
    -------
    DistanceMap

    See Also
    --------
    plot_distance_map : Draw it.

    Notes
    -----
    A cell is the mean, not the smallest or a sampled distance, so that the map looks as if all
    n × n cells had been drawn and seen from afar. It needs O(n + size²) memory.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, random_state=0)
    >>> model = TransitiveCut(2).fit(X)
    >>> plotting.distance_map(model.tree_, 50).means.shape
    (50, 50)
    """
    order, cluster_bounds, names = sort_by_cluster(tree.leaf_order, labels)
    bounds = group_bounds(cluster_bounds, check_integer(size, "size", 1))
    n_groups = len(bounds) - 1
    groups = np.empty(tree.n_points, dtype=np.int64)
    groups[order] = np.repeat(np.arange(n_groups), np.diff(bounds))
    means = mean_distances_of_groups(tree, groups, n_groups)
    return DistanceMap(means, bounds, order, cluster_bounds, names)


def sort_by_cluster(order: Ints, labels: Any) -> tuple[Ints, Ints, Array | None]:
    """Return an order of points sorted by cluster, the bounds of clusters in it, and their names.

    Without labels the order stays as it is, and all points are one cluster without a name.
    """
    if labels is None:
        return order, np.array([0, len(order)]), None
    names, codes = coded_labels(labels, len(order))
    by_cluster = order[np.argsort(codes[order], kind="stable")]
    return by_cluster, np.concatenate([[0], np.cumsum(np.bincount(codes))]), names


def group_bounds(cluster_bounds: Ints, size: int) -> Ints:
    """Return the bounds of at most ``size`` groups, each within a cluster, of similar sizes.

    A cluster has one group and its share of the others, and no more groups than points.
    """
    n_points, n_clusters = int(cluster_bounds[-1]), len(cluster_bounds) - 1
    if size >= n_points:
        return np.arange(n_points + 1)
    if size < n_clusters:
        raise ValueError(
            f"A map of {size} × {size} cells cannot show {n_clusters} clusters: raise the size, or "
            "leave the labels out."
        )
    sizes = np.diff(cluster_bounds)
    shares = 1 + (size - n_clusters) * sizes // n_points
    clusters = zip(cluster_bounds, sizes, shares, strict=False)
    starts = [start + np.arange(share) * n // share for start, n, share in clusters]
    return np.concatenate([*starts, cluster_bounds[-1:]])
