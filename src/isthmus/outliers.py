"""UltrametricTree → how much of an outlier each point is.

The *reference group* of a point is the smallest group around it, the points within some height, of
at least √n points. The point *joins* it at that height: a point of a cluster early, an outlier
late, and so do two or three outliers that are close to each other. The score compares it with the
other points of the group,

    1 - (mean height at which these joined their reference groups) / (height at which it did),

so it does not depend on the unit of length, and the points of a sparse cluster are not outliers
beside a dense one. Merges whose heights agree to 12 digits are one event, so neither the order of
ties nor rounding matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._numba.kernel import AHEAD, kernel, prefetch
from isthmus._utils.parallel import chunks
from isthmus._utils.parameters import check_positive
from isthmus._utils.rounding import TIE
from isthmus._utils.typing import Floats, Ints
from isthmus.metrics.validation import check_positive_weights
from isthmus.ultrametric.matvec import sums_below
from isthmus.ultrametric.merges import CHUNK, tops_of_ties
from isthmus.ultrametric.tree import UltrametricTree, check_tree


@dataclass(frozen=True)
class ReferenceGroups:
    """Where each of n points joins its reference group.

    Attributes
    ----------
    least : float
        The least weight of a reference group.
    point_weights : (n,) float64
    heights : (n,) float64
        The lowest height at which the group of each point has that weight; infinite where only an
        infinite edge leads to enough others.
    scores : (n,) float64
        See :func:`outlier_scores`.
    """

    least: float
    point_weights: Floats
    heights: Floats
    scores: Floats


def outlier_scores(
    tree: UltrametricTree, sample_weight: Any = None, *, reference_size: Any = None
) -> Floats:
    """Return a number from 0 to 1 for each point: how late it joins its reference group.

    Near 0 for a point that joins as early as those around it, near 1 for one far from all others; a
    few outliers that lie together have high scores, too. The scores depend on ratios of distances
    only. They rank points; where to draw a line depends on the data. 0.5 is a point that joined at
    twice the usual height.

    Parameters
    ----------
    tree : UltrametricTree
    sample_weight : array-like of shape (n_points,), optional
        How many equal points each one stands for; above 0.
    reference_size : float, optional
        The least number of points of a reference group; the square root of the number of points if
        None. Smaller groups are outliers, however close their points are to one another.

    Returns
    -------
    ndarray of shape (n_points,)
        Points at transitive distance 0 have equal scores.

    See Also
    --------
    TransitiveCut : Its fits have ``outlier_scores_``.
    isthmus.plotting.plot_outliers : Draw them.
    sklearn.neighbors.LocalOutlierFactor : Another score, by local density.

    Notes
    -----
    O(n). With weights whose mean is below 1, such as shares of a total, the mean takes the place of
    one point in the square root.

    Examples
    --------
    >>> from isthmus import UltrametricTree, outlier_scores
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [2.0], [3.0], [4.0], [50.0]])
    >>> outlier_scores(tree).round(2).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.82]
    """
    return find_reference_groups(tree, sample_weight, reference_size=reference_size).scores


def find_reference_groups(
    tree: UltrametricTree, sample_weight: Any = None, *, reference_size: Any = None
) -> ReferenceGroups:
    """Return the reference groups of all points; parameters as for :func:`outlier_scores`."""
    check_tree(tree)
    n_points = tree.n_points
    weights = check_positive_weights(sample_weight, n_points)
    if weights is None:
        weights, node_weights = np.ones(n_points), tree.sizes.astype(np.float64)
    else:
        node_weights = _sums_below(tree, weights)
    least = None if reference_size is None else check_positive(reference_size, "reference_size")
    total = float(node_weights[-1])
    if least is None:
        one_point = min(total / n_points, 1.0)
        least = float(np.sqrt(total / one_point) * one_point)
    least = min(least, total)
    groups = _group_nodes(tree, node_weights, least * (1.0 - TIE))
    heights = np.concatenate([np.zeros(n_points), tree.heights])[groups]
    finite = np.isfinite(heights)
    # In a unit in which no sum overflows.
    scaled = np.where(finite, heights, 0.0) / (heights[finite].max(initial=0.0) or 1.0)
    means = (_sums_below(tree, weights * scaled) / node_weights)[groups]
    ratios = np.divide(means, scaled, out=np.ones(n_points), where=scaled > 0.0)
    # Infinite heights are all one event, beside which finite ones vanish.
    ratios[~finite] = weights[~finite].sum() / total
    return ReferenceGroups(least, weights, heights, _one_minus(ratios))


def scores_of_new_points(rows: Floats, known: ReferenceGroups) -> Floats:
    """Return the scores of points that are not on the tree and have no weight, (b,).

    Parameters
    ----------
    rows : (b, n) float64
        Their transitive distances to the points of the tree.
    known : ReferenceGroups
        Those of the points of the tree.
    """
    ratios = np.ones(len(rows))
    for i, row in enumerate(rows):
        order = np.argsort(row, kind="stable")
        enough = np.cumsum(known.point_weights[order]) >= known.least * (1.0 - TIE)
        height = row[order[enough.argmax()]]
        if height > 0.0:
            group = row <= height * (1.0 + TIE)
            # A new point can connect others, which without it joined later than it does.
            earlier = np.minimum(known.heights[group], height)
            shares = earlier / height if np.isfinite(height) else np.isinf(earlier)
            ratios[i] = np.average(shares, weights=known.point_weights[group])
    return _one_minus(ratios)


def _group_nodes(tree: UltrametricTree, node_weights: Floats, least: float) -> Ints:
    """Return the node that is the reference group of each point: (n,) int64."""
    heights = tree.heights
    rises = heights[1:] > heights[:-1] * (1.0 + TIE)
    levels = np.concatenate([np.zeros(min(len(heights), 1)), np.cumsum(rises)])
    tops = tops_of_ties(tree.children, levels)
    groups = np.full(2 * tree.n_points - 1, -1, dtype=np.int64)
    for start, stop in reversed(list(chunks(tree.n_points - 1, CHUNK))):
        propagate_groups(tree.children, tops, node_weights, least, groups, start, stop)
    own = groups[: tree.n_points]
    return np.where(own < 0, np.arange(tree.n_points), own)


@kernel
def propagate_groups(
    children: Ints,
    tops: Ints,
    node_weights: Floats,
    least: float,
    groups: Ints,
    start: int,
    stop: int,
) -> None:
    """Give the children of merges stop - 1 … start their reference groups.

    tops : (n - 1,) int64, in
        The highest merge of the event that each merge is part of.
    groups : (2n - 1,) int64, in and out
        The reference group of all points below a node; -1 where it is a descendant of the node.
    """
    n_points = children.shape[0] + 1
    for e in range(stop - 1, start - 1, -1):
        if e - AHEAD >= start:
            prefetch(groups, children[e - AHEAD, 0])
            prefetch(groups, children[e - AHEAD, 1])
        group = groups[n_points + e]
        for side in range(2):
            child = children[e, side]
            top = child if child < n_points else n_points + tops[child - n_points]
            if group >= 0:
                groups[child] = group
            elif node_weights[top] < least:
                groups[child] = n_points + tops[e]


def _sums_below(tree: UltrametricTree, values: Floats) -> Floats:
    """Return the sum of one value per point below each node: (2n - 1,)."""
    return sums_below(tree.children, values[:, None])[:, 0]


def _one_minus(ratios: Floats) -> Floats:
    """Return scores; those that are rounding errors only are 0."""
    scores = 1.0 - ratios
    scores[scores < TIE] = 0.0
    return scores
