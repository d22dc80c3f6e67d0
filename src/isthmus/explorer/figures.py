"""Partitions of a tree → the figures of their clusters, as the page's table lists them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from isthmus._utils.typing import Floats, Ints
from isthmus.summary.clusters import medoids_of
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.separation import gaps_of_clusters


@dataclass(frozen=True, eq=False)
class ClusterFigures:
    """The figures of m clusters, of any number of partitions.

    Attributes
    ----------
    medoids : (m,) int64
        The point of the tree with the smallest sum of distances to those of its cluster.
    widest_gaps : (m,) float64
        The largest transitive distance within each cluster.
    distances : (m,) float64
        The smallest one to a point outside; infinite for a cluster of all points.
    nearest : (m,) int64
        That point; -1 where there is none.
    """

    medoids: Ints
    widest_gaps: Floats
    distances: Floats
    nearest: Ints


def measure_clusters(
    tree: UltrametricTree,
    point_weights: Floats | None,
    n_clusters: int,
    partitions: Iterable[Ints],
) -> ClusterFigures:
    """Return the figures of clusters 0 … n_clusters - 1, each of which is in some partition.

    partitions : iterable of (n,) int64
        The cluster of each point of the tree.
    """
    figures = ClusterFigures(
        np.full(n_clusters, -1),
        np.full(n_clusters, np.nan),
        np.full(n_clusters, np.nan),
        np.full(n_clusters, -1),
    )
    for clusters in partitions:
        present = np.bincount(clusters, minlength=n_clusters) > 0
        if (figures.medoids[present] >= 0).all():
            continue
        codes = (np.cumsum(present) - 1)[clusters]
        gaps = gaps_of_clusters(tree, codes, int(present.sum()))
        figures.medoids[present] = medoids_of(tree, codes, point_weights)
        figures.widest_gaps[present] = gaps.inside
        figures.distances[present] = gaps.outside
        figures.nearest[present] = gaps.outside_pairs[:, 1]
    return figures
