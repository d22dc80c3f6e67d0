"""UltrametricTree → how much of an outlier each point is.

Climb from a point until the group that it is in is large enough to be *company*: of at least √n
points. A point of a cluster gets there early, an outlier late, and so do two or three outliers that
are close to each other. Late compared with whom? With all points of the company. So the score of
a point is

    1 - (mean height at which the points of its company found company) / (its own height),

which no unit of length changes, and which asks of a sparse cluster only what is usual in it. Groups
are those at a height: merges whose heights agree to 12 digits are one event, so neither the order
of ties nor rounding is a matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._numba.kernel import AHEAD, kernel, prefetch
from isthmus._utils.parallel import chunks
from isthmus._utils.parameters import as_real, check_positive
from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric.matvec import sums_below
from isthmus.ultrametric.merges import CHUNK, tops_of_ties
from isthmus.ultrametric.tree import UltrametricTree, check_tree

# Heights, and sums of weights, that agree up to this relative difference are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class ReferenceGroups:
    """Where each of n points finds company.

    Attributes
    ----------
    least : float
        What a group must weigh to be company.
    point_weights : (n,) float64
    heights : (n,) float64
        The lowest height at which the group of each point weighs as much; infinite where only an
        infinite edge leads to enough others.
    scores : (n,) float64
        See :func:`outlier_scores`.
    """

    least: float
    point_weights: Floats
    heights: Floats
    scores: Floats


def outlier_scores(
    tree: UltrametricTree, point_weights: Any = None, *, company: Any = None
) -> Floats:
    """Return a number from 0 to 1 for each point: how late, and how alone, it joins the others.

    Near 0 for a point that finds company as early as those around it do, near 1 for one that
    lies far from any; a few outliers that lie together have high scores too. The scores depend on
    ratios of distances only. They are there to rank points: where to draw a line is a matter of
    the data, and 0.5 says that a point found company at twice the usual height.

    Parameters
    ----------
    tree : UltrametricTree
    point_weights : array-like of shape (n_points,), optional
        How many equal points each one stands for; above 0.
    company : float, optional
        Groups of fewer points are alone, however close their points are to one another. The
        square root of the number of points if None.

    Returns
    -------
    ndarray of shape (n_points,)
        Points at transitive distance 0 have equal scores.

    Notes
    -----
    O(n). With weights whose mean is below 1, such as shares of a whole, the mean takes the place of
    one point in the square root.

    Examples
    --------
    >>> from isthmus import UltrametricTree, outlier_scores
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [2.0], [3.0], [4.0], [50.0]])
    >>> outlier_scores(tree).round(2).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.82]
    """
    return find_reference_groups(tree, point_weights, company=company).scores


def find_reference_groups(
    tree: UltrametricTree, point_weights: Any = None, *, company: Any = None
) -> ReferenceGroups:
    """Return where each point finds company; parameters as for :func:`outlier_scores`."""
    check_tree(tree)
    n_points = tree.n_points
    checked = _check_weights(point_weights, n_points)
    least = None if company is None else check_positive(company, "company")
    node_weights = sums_below(tree.children, checked[:, None])[:, 0]
    total = float(node_weights[-1])
    if least is None:
        one_point = min(total / n_points, 1.0)
        least = np.sqrt(total / one_point) * one_point
    least = min(float(least), total)
    homes = _homes(tree, node_weights, least * (1.0 - _ROUNDING))
    heights = np.concatenate([np.zeros(n_points), tree.heights])[homes]
    finite = np.isfinite(heights)
    # In a unit in which no sum overflows.
    scaled = np.where(finite, heights, 0.0) / (heights[finite].max(initial=0.0) or 1.0)
    means = (sums_below(tree.children, (checked * scaled)[:, None])[:, 0] / node_weights)[homes]
    ratios = np.divide(means, scaled, out=np.ones(n_points), where=scaled > 0.0)
    # Infinite heights are all one event: beside them, finite ones are nothing.
    ratios[~finite] = checked[~finite].sum() / total
    return ReferenceGroups(least, checked, heights, _one_minus(ratios))


def scores_of_new_points(rows: Floats, known: ReferenceGroups) -> Floats:
    """Return the scores of points that are not on the tree and have no weight, (b,).

    Parameters
    ----------
    rows : (b, n) float64
        Their transitive distances to the points of the tree.
    known : Company
        That of the tree.
    """
    ratios = np.ones(len(rows))
    for i, row in enumerate(rows):
        order = np.argsort(row, kind="stable")
        enough = np.cumsum(known.point_weights[order]) >= known.least * (1.0 - _ROUNDING)
        height = row[order[enough.argmax()]]
        if height > 0.0:
            group = row <= height
            # A new point can be the missing link of others, which then were later than it is.
            earlier = np.minimum(known.heights[group], height)
            shares = earlier / height if np.isfinite(height) else np.isinf(earlier)
            ratios[i] = np.average(shares, weights=known.point_weights[group])
    return _one_minus(ratios)


def _homes(tree: UltrametricTree, node_weights: Floats, least: float) -> Ints:
    """Return the node at which each point has company: (n,) int64."""
    heights = tree.heights
    rises = heights[1:] > heights[:-1] * (1.0 + _ROUNDING)
    levels = np.concatenate([np.zeros(min(len(heights), 1)), np.cumsum(rises)])
    tops = tops_of_ties(tree.children, levels)
    homes = np.full(2 * tree.n_points - 1, -1, dtype=np.int64)
    for start, stop in reversed(list(chunks(tree.n_points - 1, CHUNK))):
        hand_homes_down(tree.children, tops, node_weights, least, homes, start, stop)
    own = homes[: tree.n_points]
    return np.where(own < 0, np.arange(tree.n_points), own)


@kernel
def hand_homes_down(
    children: Ints,
    tops: Ints,
    point_weights: Floats,
    least: float,
    homes: Ints,
    start: int,
    stop: int,
) -> None:
    """Give the children of merges stop - 1 … start their homes.

    tops : (n - 1,) int64, in
        The highest merge of the event that each merge is part of.
    point_weights : (2n - 1,) float64, in
        The weight below each node.
    homes : (2n - 1,) int64, in and out
        The node at which those below have company; -1 where some of them have it further down.
    """
    n_points = children.shape[0] + 1
    for e in range(stop - 1, start - 1, -1):
        if e - AHEAD >= start:
            prefetch(homes, children[e - AHEAD, 0])
            prefetch(homes, children[e - AHEAD, 1])
        home = homes[n_points + e]
        for side in range(2):
            child = children[e, side]
            group = child if child < n_points else n_points + tops[child - n_points]
            if home >= 0:
                homes[child] = home
            elif point_weights[group] < least:
                homes[child] = n_points + tops[e]


def _one_minus(ratios: Floats) -> Floats:
    """Return scores; those that are nothing but rounding errors are 0."""
    scores = 1.0 - ratios
    scores[scores < _ROUNDING] = 0.0
    return scores


def _check_weights(point_weights: Any, n_points: int) -> Floats:
    if point_weights is None:
        return np.ones(n_points)
    checked = as_real(point_weights, "point_weights")
    if checked.shape != (n_points,):
        raise ValueError(
            f"weights must be one number for each of {n_points} points; got an array of shape "
            f"{checked.shape}."
        )
    wrong = np.flatnonzero(~(np.isfinite(checked) & (checked > 0.0)))
    if wrong.size:
        raise ValueError(
            f"weights must be finite and above 0, but that of point {wrong[0]} is "
            f"{checked[wrong[0]]:g}. Leave points without weight out of the tree."
        )
    return checked
