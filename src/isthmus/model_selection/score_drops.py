"""UltrametricTree → how much the score of CUT drops after each number of clusters.

CUT removes one edge after the other, and the scores w · a · b / (a + b) of its cuts never rise. As
long as a cut separates clusters its score is high; the first one that divides a cluster has a much
lower one. Without clusters scores drop as well, but evenly: after k - 1 cuts there are k parts to
choose from, and the best cut of one of them is not much worse than the last one. In points without
structure the logarithm of the ratio of two consecutive scores has a spread of about
1 / sqrt(k - 1), so this is the scale on which drops are compared.

A smaller drop counts where lengths agree with it: if each of the k - 1 edges that were cut is
longer than every one of the m edges that are cut next. If length had nothing to do with the order,
the probability of that would be one in (k - 1 + m choose m).

Copies of a point count once, and so do the weights of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from isthmus._utils.rounding import to_twelve_digits, unit_of
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.cut.divisive import cut_spanning_tree
from isthmus.cut.parts import CutTree
from isthmus.cut.score import finite_weights
from isthmus.ultrametric import UltrametricTree

# A drop stands out from this on: of 3,600 generated sets without structure 0.4 % have one.
OUTSTANDING = 1.7
# None of these sets comes near this.
CLEAR_DROP = 2.5
# The median edge that was cut is longer than that of as many further cuts, and some, by this
# factor. On lattices, where all edges are equally long, scores halve whenever all parts have been
# halved.
_LONGER, _FURTHER = 1.2, 5
# All edges that were cut are longer than all that follow, by this factor, after at least this drop,
# with at most this probability. Of 1,800 generated sets without structure two have such a drop.
_ALL_LONGER, _LEAST_DROP, _BY_ORDER = 1.05, 1.0, 1e-3


@dataclass(frozen=True, eq=False)
class ScoreDrops:
    """The scores of CUT, and how much they drop.

    Entry i of each array belongs to i + 1 clusters. NaN where there is no such cut.

    Attributes
    ----------
    cut : CutTree
    score : (m,) float64
        The score of the cut that makes this number of clusters.
    drop : (m,) float64
        sqrt(k - 1) · log(score / score of the next cut). NaN also where a cluster has fewer points
        than a group must have to count.
    n_clusters : int
        The number of clusters of the largest drop; 1 where none stands out.
    n_by_length : int
        That of the largest drop after which all edges are shorter; 1 where there is none.
    """

    cut: CutTree
    score: Floats
    drop: Floats
    n_clusters: int
    n_by_length: int

    @property
    def largest(self) -> float:
        """The largest drop of all."""
        return float(np.nanmax(np.append(self.drop, 0.0)))

    def labels(self, n_clusters: int) -> Labels:
        """Return the clusters of all points, (n_points,) int32."""
        return self.cut.labels(n_clusters)


def find_score_drops(tree: UltrametricTree, n_numbers: int, smallest_group: int) -> ScoreDrops:
    """Return the drops after 1, 2, … n_numbers clusters.

    smallest_group : int
        The least number of different points that counts as a group.
    """
    weights, n_different = _weights_of_copies(tree)
    n_parts = min(2 * n_numbers + _FURTHER, n_different)
    cut = cut_spanning_tree(tree, n_parts, weights)
    lengths = finite_weights(tree.heights[cut.cuts], unit_of(tree.heights))
    factors, smallest = _sizes_at_cuts(cut, weights)
    scores = to_twelve_digits(lengths * factors)
    drop, all_longer = np.full(n_numbers, np.nan), np.zeros(n_numbers, dtype=np.bool_)
    for k in range(2, min(n_numbers, len(scores)) + 1):
        before, further = lengths[: k - 1], lengths[k - 1 : 2 * k - 2 + _FURTHER]
        longer = np.median(before) >= _LONGER * np.median(further)
        if smallest[k - 2] >= smallest_group and longer:
            drop[k - 1] = np.sqrt(k - 1) * np.log(scores[k - 2] / scores[k - 1])
            all_longer[k - 1] = before.min() >= _ALL_LONGER * further.max() and (
                1.0 / comb(len(before) + len(further), len(before)) <= _BY_ORDER
            )
    score = np.full(n_numbers, np.nan)
    n_known = min(n_numbers - 1, len(scores))
    score[1 : n_known + 1] = tree.heights[cut.cuts[:n_known]] * factors[:n_known]
    by_length = np.where(all_longer & (drop >= _LEAST_DROP), drop, np.nan)
    n_clusters, n_by_length = _number_of_largest(drop, OUTSTANDING), _number_of_largest(by_length)
    return ScoreDrops(cut, score, drop, n_clusters, n_by_length)


def _number_of_largest(drop: Floats, least: float = 0.0) -> int:
    """Return the number of clusters of the largest drop; 1 where none is large enough."""
    best = int(np.nanargmax(np.append(0.0, drop)))  # a drop of 0 for no cut
    return best if best > 0 and drop[best - 1] >= least else 1


def _weights_of_copies(tree: UltrametricTree) -> tuple[Floats | None, int]:
    """Return the weights with which equal points count once in sum, and how many differ."""
    starts_anew = np.concatenate([[True], tree.gaps > 0.0])
    n_different = int(np.count_nonzero(starts_anew))
    if n_different == tree.n_points:
        return None, n_different
    group = (np.cumsum(starts_anew) - 1)[tree.starts[: tree.n_points]]
    return 1.0 / np.bincount(group)[group], n_different


def _sizes_at_cuts(cut: CutTree, weights: Floats | None) -> tuple[Floats, Floats]:
    """Return, for each cut, a · b / (a + b) of its two sides, and the smallest part after it."""
    n_parts = len(cut.cut_from)
    sizes = np.bincount(cut.labels(n_parts), weights, n_parts).astype(np.float64)
    factors, smallest = np.empty((2, n_parts - 1))
    for part in range(n_parts - 1, 0, -1):  # from the last cut back to the first
        other: Ints = cut.cut_from[part]
        smallest[part - 1] = sizes[: part + 1].min()
        factors[part - 1] = sizes[part] * sizes[other] / (sizes[part] + sizes[other])
        sizes[other] += sizes[part]
    return factors, smallest
