"""New points and a tree → their attachment edges, by the search that suits the metric.

Few features and many points: the kd-tree is searched for each new point. Otherwise: its distances
to all points of the tree, a row at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.parallel import chunks, map_in_threads
from isthmus._utils.typing import Array, Labels
from isthmus.kdtree.limits import FEW_FEATURES, is_supported
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.registry import AnyMetric
from isthmus.metrics.rowwise import CallableMetric, RowMetric
from isthmus.prediction.attach_by_kdtree import KdTreeSearch
from isthmus.prediction.attach_by_rows import (
    AttachmentSearch,
    CallableSearch,
    KernelSearch,
    PairSearch,
    ScipySearch,
)
from isthmus.prediction.attach_with_neighbors import MeanSearch, SharedSearch
from isthmus.prediction.attachments import Attachments
from isthmus.spanning_tree.result import KdTreeIndex
from isthmus.ultrametric import UltrametricTree

# Up to this many points rows of distances are fast, and nothing large needs to be compiled.
_FEW_POINTS = 1000


class TreeNeighborhood(NamedTuple):
    """The neighbourhoods that a spanning tree is of.

    Attributes
    ----------
    neighbors : (n, n_neighbors) int32 or None
        None for plain distances.
    means : array, CSR matrix or None
        Of the neighbourhoods, where they took the points' place; None where they are shared.
    """

    neighbors: Labels | None = None
    means: Any = None


def attachment_search(
    points: Any, tree: UltrametricTree, metric: AnyMetric, index: KdTreeIndex | None = None
) -> AttachmentSearch:
    """Return the search that suits the points of a tree and their metric.

    points : (n, n_features) array or CSR matrix, or list of n objects
        As the spanning tree takes them, checked.
    index : KdTreeIndex, optional
        The kd-tree that found the spanning tree, if one did; it is built where it is needed.
    """
    if isinstance(metric, CallableMetric):
        return CallableSearch(points, tree, metric)
    if isinstance(metric, RowMetric):
        return ScipySearch(points, tree, metric)
    assert isinstance(metric, MappedMetric)  # precomputed distances have a search of their own
    if not isinstance(points, np.ndarray):
        return PairSearch(points, tree, metric)
    if is_for_tree(points, metric):
        return KdTreeSearch(points, tree, metric, index)
    return KernelSearch(points, tree, metric)


def neighborhood_search(
    points: Any,
    tree: UltrametricTree,
    metric: AnyMetric,
    index: KdTreeIndex | None,
    neighborhood: TreeNeighborhood,
) -> AttachmentSearch:
    """Return the search among points whose tree is that of neighbourhoods, or of plain distances.

    points : array, CSR matrix or list of objects
        As they were given.
    index : KdTreeIndex, optional
        Of the points that the spanning tree was found of.
    """
    neighbors = neighborhood.neighbors
    if neighbors is None:
        return attachment_search(points, tree, metric, index)
    if neighborhood.means is None:
        return SharedSearch(points, tree, metric, neighbors)
    assert isinstance(metric, MappedMetric)  # or there would be no means
    of_data = metric.estimated_from(points)
    of_means = attachment_search(neighborhood.means, tree, of_data, index)
    return MeanSearch(points, metric, neighbors, of_means)


def is_for_tree(points: Array, metric: MappedMetric) -> bool:
    """Whether a kd-tree of the points serves new ones: many points, few features."""
    few = points.shape[1] <= FEW_FEATURES and is_supported(points.shape[1], metric)
    return few and len(points) > _FEW_POINTS


def attach_all(search: AttachmentSearch, new: Any, n_new: int, n_jobs: int = 1) -> Attachments:
    """Return the attachments of all new points, found on some threads."""
    find = search.prepare(new, only_nearest=False, n_jobs=n_jobs)
    blocks = chunks(n_new, search.n_together)
    return Attachments.joined(map_in_threads(lambda block: find(np.arange(*block)), blocks, n_jobs))
