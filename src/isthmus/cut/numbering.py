"""Clusters → their numbers: by weight, and whatever the order of rows."""

from __future__ import annotations

import numpy as np

from isthmus._utils.rounding import to_twelve_digits, unit_of
from isthmus._utils.typing import Floats, Labels
from isthmus.ultrametric import UltrametricTree


def numbers_by_weight(
    labels: Labels, point_weights: Floats | None, tree: UltrametricTree | None = None
) -> Labels:
    """Return labels with the clusters numbered from the largest to the smallest.

    Of clusters that are equal, to 12 digits, the one whose spanning tree is the shortest comes
    first, so that the order of rows does not matter; where no tree is given, or these are equal,
    too, that of the first row.
    """
    sizes = to_twelve_digits(np.bincount(labels, weights=point_weights))
    order = np.argsort(-sizes)
    if len(np.unique(sizes)) < len(sizes):
        lengths = np.zeros((2, len(sizes)))
        if tree is not None:
            lengths = _lengths_of_clusters(labels, tree, len(sizes))
        first_rows = np.full(len(sizes), len(labels))
        np.minimum.at(first_rows, labels, np.arange(len(labels)))
        order = np.lexsort((first_rows, lengths[1], lengths[0], -sizes))
    new_number = np.empty(len(sizes), dtype=np.int32)
    new_number[order] = np.arange(len(sizes))
    renumbered: Labels = new_number.take(labels)
    return renumbered


def _lengths_of_clusters(labels: Labels, tree: UltrametricTree, n_clusters: int) -> Floats:
    """Return how long the edges within each cluster are in sum, and those that lead out of it."""
    ends = labels[tree.spanning_tree.edges]
    weights = tree.heights / unit_of(tree.heights)
    finite = np.isfinite(weights)
    inside = (ends[:, 0] == ends[:, 1]) & finite
    outside = (ends[:, 0] != ends[:, 1]) & finite
    # The edges are in the order of their lengths, and so are the sums, whatever that of rows.
    return to_twelve_digits(
        [
            np.bincount(ends[inside, 0], weights[inside], n_clusters),
            np.bincount(ends[outside].ravel(), np.repeat(weights[outside], 2), n_clusters),
        ]
    )
