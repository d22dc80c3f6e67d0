"""UltrametricTree → how many clusters its points have, with the evidence for each number.

k clusters are as good as the weakest of the k - 1 gaps between them (gaps.py), and there are two
ways in which that one can tell:

- **chance**: so many edges at least as long are expected among the points if there are no gaps at
  all. Where that is far below one, the clusters are clear.
- **drop**: how likely the k - 1 strongest gaps would be so much stronger than all further ones, if
  they were of the same kind. Clouds with wide fringes have few gaps beyond chance, and yet
  these are of another kind than what lies within the clouds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.cut.numbering import numbers_by_weight
from isthmus.model_selection.edge_quantiles import SHORT, WIDE
from isthmus.model_selection.gaps import Gaps, find_gaps
from isthmus.model_selection.silhouette import Silhouette
from isthmus.ultrametric import UltrametricTree

CLEAR, WEAK, NONE = "clear", "weak", "no clear structure"

# A gap of which at most so many are expected by chance is clear.
_CLEAR_CHANCE = 0.01
# Gaps that stand out have at least this strength, and so little probability to do so by chance,
# less than for any smaller number of clusters.
_LEAST_STRENGTH, _OUTSTANDING = 0.3, 1e-6
# ... which is known only where so many weaker links tell how much strengths vary, at least so much.
_FEWEST_WEAKER, _LEAST_VARIATION = 6, 0.03

# With P(edge > x) = exp(-(x / scale)^d): (x / scale)^d at the wide edges, and how many times that
# at the short ones it is.
_AT_WIDE = -math.log(1 - WIDE)
_WIDE_OVER_SHORT = math.log(_AT_WIDE / -math.log(1 - SHORT))

# So many rows are printed, and so many sizes in each.
_ROWS, _SIZES = 5, 6


@dataclass(frozen=True, eq=False, repr=False)
class Suggestion:
    """How many clusters there are, and why. ``print`` shows the best numbers as a table.

    Entry i of each array belongs to ``numbers[i]`` clusters: the groups on both sides of the
    k - 1 strongest gaps in the spanning tree.

    Attributes
    ----------
    n_clusters : int
        The number that is suggested; 1 where there is no clear structure.
    confidence : {"clear", "weak", "no clear structure"}
        Also weak where more than k_max clusters have the gaps.
    explanation : tuple of str
        Why, in a few sentences.
    labels : ndarray of shape (n_samples,), dtype int32
        The groups that the suggestion speaks of, from the largest to the smallest. Rows of weight
        0, which have no part in it, are -1.
    ranking : ndarray of shape (m,)
        All numbers of clusters, the best one first.
    numbers : ndarray of shape (m,)
        1, 2, … k_max.
    gap : ndarray of shape (m,)
        The length of the weakest gap. NaN, as in all arrays, where there is none.
    ratio : ndarray of shape (m,)
        How many times as long it is as the wide edges beside it, which 90 % of the edges of a
        group stay below; of the group on either side where it stands out less.
    strength : ndarray of shape (m,)
        log(ratio) over log(wide edges / short edges), which 10 % stay below: no units, and the
        same for points on a line as for those in space.
    chance : ndarray of shape (m,)
        How many edges of this length are expected if the points have no gaps. Up to 0.01 is clear.
    drop : ndarray of shape (m,)
        The probability that this gap would be so much stronger than all further ones by chance.
        Below 1e-6, and below that of all smaller numbers, it is called weak (with a strength from
        0.3). NaN where too few are left.
    silhouette : ndarray of shape (m,)
        The mean silhouette of the groups by transitive distances. Not used, only shown.
    sizes : tuple of m arrays
        How many points each group has.
    verdicts : tuple of m str
        "clear", "weak", or "" where the gaps are no wider than chance allows.
    reasons : tuple of m str
        One sentence for each number.
    clear_from : float
        The strength from which a gap is clear; it depends on the number of points.
    """

    n_clusters: int
    confidence: str
    explanation: tuple[str, ...]
    labels: Labels
    ranking: Ints
    numbers: Ints
    gap: Floats
    ratio: Floats
    strength: Floats
    chance: Floats
    drop: Floats
    silhouette: Floats
    sizes: tuple[Ints, ...]
    verdicts: tuple[str, ...]
    reasons: tuple[str, ...]
    clear_from: float

    def best_of(self, least: float) -> int:
        """Return the best number of clusters of which each group has so many points at least."""
        return next((k for k in self.ranking.tolist() if _fits(self.sizes[k - 1], k, least)), 1)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: one row per number of clusters, its index, the best first."""
        try:
            pandas: Any = import_module("pandas")
        except ImportError as error:
            raise ImportError(
                "to_frame() needs pandas: pip install pandas. The attributes need nothing."
            ) from error
        columns = {
            "verdict": self.verdicts,
            "gap": self.gap,
            "ratio": self.ratio,
            "strength": self.strength,
            "chance": self.chance,
            "drop": self.drop,
            "silhouette": self.silhouette,
            "smallest": [int(sizes.min()) if sizes.size else 0 for sizes in self.sizes],
            "reason": self.reasons,
        }
        frame = pandas.DataFrame(columns, index=pandas.Index(self.numbers, name="n_clusters"))
        return frame.loc[self.ranking]

    def __repr__(self) -> str:
        return f"Suggestion(n_clusters={self.n_clusters}, confidence={self.confidence!r})"

    def __str__(self) -> str:
        header = ("k", "gap", "ratio", "chance", "silhouette", "verdict", "sizes")
        rows = [self._cells(int(k) - 1) for k in self.ranking[:_ROWS]]
        widths = [max(map(len, column)) for column in zip(header[:6], *rows, strict=False)]
        lines = [
            "  ".join([*map(str.rjust, row[:6], widths), row[6]]).rstrip()
            for row in (header, *rows)
        ]
        return "\n".join([*self.explanation, "", *lines])

    def _cells(self, i: int) -> tuple[str, ...]:
        listed = ", ".join(map(str, self.sizes[i][:_SIZES].tolist()))
        return (
            str(self.numbers[i]),
            _shown(self.gap[i]),
            _shown(self.ratio[i]),
            _shown(self.chance[i]),
            _shown(self.silhouette[i]),
            self.verdicts[i] or "–",
            f"{listed}, …" if len(self.sizes[i]) > _SIZES else listed,
        )


@dataclass(frozen=True)
class _Evidence:
    """What the gaps say about 1, 2, … clusters, one entry for each."""

    strength: Floats
    chance: Floats
    drop: Floats
    verdicts: list[str]

    @classmethod
    def of_gaps(cls, gaps: Gaps) -> _Evidence:
        strength = np.append(np.nan, gaps.strengths)
        chance = chances_of(strength, gaps.n_different)
        log_drop = np.array([_log_drop(strength, k) for k in range(1, len(strength) + 1)])
        least = np.fmin.accumulate(np.append(math.log(_OUTSTANDING), log_drop[:-1]))
        weak = (log_drop < least) & (strength >= _LEAST_STRENGTH)
        verdicts = np.where(chance <= _CLEAR_CHANCE, CLEAR, np.where(weak, WEAK, ""))
        return cls(strength, chance, np.exp(log_drop), verdicts.tolist())


def suggest(tree: UltrametricTree, k_max: int, point_weights: Floats | None = None) -> Suggestion:
    """Return how many clusters the points of a tree have, from 1 to k_max.

    point_weights : (n,) float64, optional
        How many points each one stands for. Equal points count once, so that this matters to the
        silhouette alone.
    """
    gaps = find_gaps(tree, k_max)
    evidence = _Evidence.of_gaps(gaps)
    n_numbers = min(k_max, tree.n_points)
    supported = [k for k, verdict in enumerate(evidence.verdicts, start=1) if verdict]
    best = max((k for k in supported if k <= n_numbers), default=1)
    more = max((k for k in supported if k > n_numbers), default=0)
    confidence = WEAK if more else evidence.verdicts[best - 1] or NONE
    sizes, silhouette = _study_groups(tree, point_weights, gaps, n_numbers)
    verdicts = _filled(evidence.verdicts, n_numbers, "")
    reasons = [_reason(k, gaps, evidence) for k in range(1, n_numbers + 1)]
    return Suggestion(
        n_clusters=best,
        confidence=confidence,
        explanation=(
            _explained_beyond(best, more, k_max, reasons[best - 1])
            if more
            else _explained(best, confidence, gaps, reasons[best - 1])
        ),
        labels=numbers_by_weight(gaps.labels(best), None, tree),
        ranking=_ranked(verdicts, _filled(evidence.chance.tolist(), n_numbers, np.nan)),
        numbers=np.arange(1, n_numbers + 1),
        gap=_as_array([np.nan, *gaps.widths], n_numbers),
        ratio=_as_array([np.nan, *gaps.ratios], n_numbers),
        strength=_as_array(evidence.strength, n_numbers),
        chance=_as_array(evidence.chance, n_numbers),
        drop=_as_array(evidence.drop, n_numbers),
        silhouette=_as_array(silhouette, n_numbers),
        sizes=tuple(_filled(sizes, n_numbers, np.empty(0, dtype=np.int64))),
        verdicts=tuple(verdicts),
        reasons=tuple(reasons),
        clear_from=_clear_from(gaps.n_different),
    )


def chances_of(strength: Floats, n_different: int) -> Floats:
    """Return how many edges of a strength are expected among those of so many points."""
    with np.errstate(over="ignore"):
        exponents = _AT_WIDE * np.exp(_WIDE_OVER_SHORT * strength)
        chances: Floats = n_different * np.exp(-exponents)
    return chances


def _clear_from(n_different: int) -> float:
    """Return the strength at which the chance is just small enough."""
    return math.log(math.log(n_different / _CLEAR_CHANCE) / _AT_WIDE) / _WIDE_OVER_SHORT


def _log_drop(strength: Floats, k: int) -> float:
    """Return the logarithm of how likely k - 1 gaps, of one kind with all others, stand out so far.

    Of strengths with an exponential tail, the step from the (k - 1)-th to the next is exponential
    with the mean of what strengths exceed a high level by, over k - 1.
    """
    weaker = -np.sort(-strength[k:])
    if k == 1 or len(weaker) < _FEWEST_WEAKER:
        return math.nan
    half = len(weaker) // 2
    variation = max(float((weaker[:half] - weaker[half]).mean()), _LEAST_VARIATION)
    return min(0.0, -(k - 1) * float(strength[k - 1] - weaker[0]) / variation)


def _study_groups(
    tree: UltrametricTree, point_weights: Floats | None, gaps: Gaps, n_numbers: int
) -> tuple[list[Ints], list[float]]:
    """Return the sizes and the mean silhouette of 1, 2, … groups, as far as there are gaps."""
    sizes, means = [np.array([tree.n_points])], [np.nan]
    silhouette = Silhouette(tree, point_weights)
    for k in range(2, min(n_numbers, len(gaps.strengths) + 1) + 1):
        groups = gaps.labels(k)
        sizes.append(-np.sort(-np.bincount(groups)))
        means.append(silhouette.mean(groups, k))
    return sizes, means


def _fits(sizes: Ints, n_clusters: int, least: float) -> bool:
    return len(sizes) == n_clusters and bool(sizes.min() >= least)


def _ranked(verdicts: list[str], chances: list[float]) -> Ints:
    """Return all numbers of clusters from the best to the worst.

    Those that their gaps support come first, the finest division of them before the others; then
    one cluster; then those of gaps that chance allows, by how many of them.
    """

    def key(k: int) -> tuple[int, float]:
        if verdicts[k - 1]:
            return 0, -k
        if k == 1:
            return 1, 0.0
        chance = chances[k - 1]
        return (3, k) if math.isnan(chance) else (2, chance)

    return np.array(sorted(range(1, len(verdicts) + 1), key=key))


def _reason(k: int, gaps: Gaps, evidence: _Evidence) -> str:
    if k == 1:
        return "One cluster: right if no gap between larger groups of points stands out."
    if k > len(evidence.verdicts):
        return f"No gap is left between groups of at least {gaps.smallest_group} different points."
    which = "The gap" if k == 2 else f"The weakest of the {k - 1} gaps"
    times = f"{gaps.ratios[k - 2]:.3g} times as long as the wide edges beside it"
    chance = f"{_shown(evidence.chance[k - 1])} of that length are expected by chance"
    verdict = evidence.verdicts[k - 1]
    if verdict == CLEAR:
        return f"{which} is {times}; {chance}."
    if verdict == WEAK:
        drop = _shown(evidence.drop[k - 1])
        return f"{which} is {times}; {chance}, but it stands out from all others (p = {drop})."
    return f"{which} is only {times}; {chance}."


def _explained(best: int, confidence: str, gaps: Gaps, reason: str) -> tuple[str, ...]:
    if best > 1:
        return f"{best} clusters ({confidence}).", reason
    if gaps.n_different < 2 * gaps.smallest_group:
        told = (
            f"Too few different points to tell: there are {gaps.n_different}, and a group must "
            f"have {gaps.smallest_group} to count."
        )
    else:
        told = (
            f"No gap between groups of at least {gaps.smallest_group} different points is wider "
            "than chance allows."
        )
    return "No clear structure: one cluster.", told


def _explained_beyond(best: int, more: int, k_max: int, reason: str) -> tuple[str, ...]:
    """Return what to say where the gaps support more clusters than were asked about."""
    advice = f"The gaps between {more} clusters count as well: raise k_max, which is {k_max}."
    if best > 1:
        return f"At least {best} clusters ({WEAK}).", reason, advice
    return f"One cluster ({WEAK}).", f"No other number up to {k_max} has the gaps.", advice


def _filled(values: list[Any], length: int, value: Any) -> list[Any]:
    return [*values[:length], *[value] * (length - len(values))]


def _as_array(values: Any, length: int) -> Floats:
    return np.array(_filled(list(values), length, np.nan), dtype=np.float64)


def _shown(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.2g}" if value >= 1e-99 else "<1e-99"
