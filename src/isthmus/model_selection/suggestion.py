"""UltrametricTree → the suggested number of clusters, with the evidence for each number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from isthmus._utils.tables import first_few, import_pandas, text_table
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.cut.numbering import numbers_by_weight
from isthmus.model_selection.evidence import CLEAR, WEAK, Evidence, clear_from
from isthmus.model_selection.gaps import Gaps, find_gaps
from isthmus.model_selection.score_drops import (
    CLEAR_DROP,
    OUTSTANDING,
    ScoreDrops,
    find_score_drops,
)
from isthmus.model_selection.silhouette import AT_ONCE, Silhouette
from isthmus.ultrametric import UltrametricTree

NONE = "no clear structure"
# The most rows that are printed.
_ROWS = 5


@dataclass(frozen=True, eq=False, repr=False)
class Suggestion:
    """The suggested number of clusters, and why. ``print`` shows the best numbers as a table.

    Entry i of each array belongs to ``numbers[i]`` clusters. There are two kinds of evidence: gaps
    in the spanning tree that are wider than chance allows, and the scores of CUT, which drop after
    its last cut between clusters. A drop that stands out decides; otherwise the gaps do; if neither
    does, a drop after which all edges that CUT removes are shorter.

    Attributes
    ----------
    n_clusters : int
        The suggested number; 1 where there is no clear structure.
    confidence : {"clear", "weak", "no clear structure"}
        Also weak where gaps support more than k_max clusters.
    decided_by : {"scores", "gaps", "nothing"}
        The kind of evidence that decided.
    explanation : tuple of str
        Why, in a few sentences.
    labels : ndarray of shape (n_samples,), dtype int32
        The groups that were counted, the parts of CUT or those between gaps, from the largest to
        the smallest; -1 for rows of weight 0, which do not count.
    ranking : ndarray of shape (m,)
        All numbers of clusters, the best one first.
    numbers : ndarray of shape (m,)
        1, 2, … k_max.
    gap : ndarray of shape (m,)
        The length of the weakest gap. NaN, as in all arrays, where there is none.
    ratio : ndarray of shape (m,)
        The weakest gap over the 90th percentile of the edges of the group beside it, on the side
        where it stands out less.
    strength : ndarray of shape (m,)
        log(ratio) / log(90th percentile / 10th percentile) of these edges: without a unit, and with
        the same meaning for points on a line and in space.
    chance : ndarray of shape (m,)
        The number of edges of this strength that are expected if the points have no gaps. Up to
        0.01 is clear.
    drop : ndarray of shape (m,)
        The probability that this gap is so much stronger than all further ones by chance. Below
        1e-6 and that of all smaller numbers it is weak, if its strength is at least 0.3. NaN where
        too few gaps are left.
    score : ndarray of shape (m,)
        The score of the cut by which CUT makes this number of clusters.
    score_drop : ndarray of shape (m,)
        sqrt(k - 1) log(score / score of the next cut). From 1.7 on it decides, from 2.5 on it is
        clear. From 1 on it decides where gaps do not, if k is at least 6 and all edges that were
        cut are longer than those of the next k + 4 cuts. NaN also where CUT's parts are too small
        to count, or its edges hardly longer than those of the cuts that follow.
    silhouette : ndarray of shape (m,)
        The mean silhouette of the groups by transitive distances; it decides nothing.
    sizes : tuple of m arrays
        The number of points of each group.
    verdicts : tuple of m str
        "clear", "weak", or "" where the gaps are no wider than chance allows.
    reasons : tuple of m str
        One sentence for each number.
    clear_from : float
        The strength from which a gap is clear, which depends on the number of points.

    See Also
    --------
    suggest_n_clusters : Compute it.
    isthmus.plotting.plot_suggestion : Draw it.

    Examples
    --------
    >>> from isthmus import suggest_n_clusters
    >>> from isthmus.datasets import make_multi_scale
    >>> suggestion = suggest_n_clusters(make_multi_scale(random_state=0)[0])
    >>> suggestion.n_clusters, suggestion.confidence, suggestion.decided_by
    (3, 'clear', 'gaps')
    """

    n_clusters: int
    confidence: str
    decided_by: str
    explanation: tuple[str, ...]
    labels: Labels
    ranking: Ints
    numbers: Ints
    gap: Floats
    ratio: Floats
    strength: Floats
    chance: Floats
    drop: Floats
    score: Floats
    score_drop: Floats
    silhouette: Floats
    sizes: tuple[Ints, ...]
    verdicts: tuple[str, ...]
    reasons: tuple[str, ...]
    clear_from: float

    def best_of(self, least: float) -> int:
        """Return the best number of clusters whose groups all have at least ``least`` points."""
        return next((k for k in self.ranking.tolist() if _fits(self.sizes[k - 1], k, least)), 1)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: one row per number of clusters, its index, the best first."""
        pandas = import_pandas("to_frame()")
        columns = {
            "verdict": self.verdicts,
            "gap": self.gap,
            "ratio": self.ratio,
            "strength": self.strength,
            "chance": self.chance,
            "drop": self.drop,
            "score": self.score,
            "score_drop": self.score_drop,
            "silhouette": self.silhouette,
            "smallest": [int(sizes.min()) if sizes.size else 0 for sizes in self.sizes],
            "reason": self.reasons,
        }
        frame = pandas.DataFrame(columns, index=pandas.Index(self.numbers, name="n_clusters"))
        return frame.loc[self.ranking]

    def __repr__(self) -> str:
        return f"Suggestion(n_clusters={self.n_clusters}, confidence={self.confidence!r})"

    def __str__(self) -> str:
        header = ("k", "gap", "ratio", "chance", "score drop", "silhouette", "verdict", "sizes")
        rows = [self._cells(int(k) - 1) for k in self.ranking[:_ROWS]]
        return "\n".join([*self.explanation, "", *text_table(header, rows, left_last=True)])

    def _cells(self, i: int) -> tuple[str, ...]:
        figures = (
            self.gap[i], self.ratio[i], self.chance[i], self.score_drop[i], self.silhouette[i]
        )  # fmt: skip
        sizes = first_few(self.sizes[i].tolist())
        return (str(self.numbers[i]), *map(_shown, figures), self.verdicts[i] or "–", sizes)


def suggest(
    tree: UltrametricTree,
    k_max: int,
    point_weights: Floats | None = None,
    at_once: int = AT_ONCE,
) -> Suggestion:
    """Return the suggested number of clusters, from 1 to k_max, of the points of a tree.

    point_weights : (n,) float64, optional
        How many points each one stands for. Equal points count once, so that this matters to the
        silhouette only.
    at_once : int
        As for Silhouette.
    """
    gaps = find_gaps(tree, k_max)
    evidence = Evidence.of_gaps(gaps)
    n_numbers = min(k_max, tree.n_points)
    drops = find_score_drops(tree, n_numbers, gaps.smallest_group)
    supported = [k for k, verdict in enumerate(evidence.verdicts, start=1) if verdict]
    best = max((k for k in supported if k <= n_numbers), default=1)
    beyond = max((k for k in supported if k > n_numbers), default=0)
    confidence = WEAK if beyond else evidence.verdicts[best - 1] or NONE
    verdicts = _padded(evidence.verdicts, n_numbers, "")
    reasons = [_reason(k, gaps, evidence) for k in range(1, n_numbers + 1)]
    groups: dict[int, Callable[[], Labels]] = {
        k: partial(gaps.labels, k) for k in range(2, min(n_numbers, len(gaps.strengths) + 1) + 1)
    }
    decided_by = "gaps" if best > 1 or beyond else "nothing"
    by_scores = drops.n_clusters if drops.n_clusters > 1 or best > 1 else drops.n_by_length
    if by_scores > 1 and not beyond:
        best, decided_by = by_scores, "scores"
        confidence = CLEAR if drops.largest >= CLEAR_DROP or verdicts[best - 1] == CLEAR else WEAK
        reason = _reason_of_scores(best, drops)  # beside that of the gaps, where they agree
        reasons[best - 1] = f"{reasons[best - 1]} {reason}" if verdicts[best - 1] else reason
        verdicts[best - 1] = confidence
        groups[best] = partial(drops.labels, best)
    measured = Silhouette(tree, point_weights, at_once)
    sizes, silhouette = _measure_groups(measured, groups, n_numbers)
    chance = _as_array(evidence.chance, n_numbers)
    ranking = _ranked(best, verdicts, drops.drop, chance)
    return Suggestion(
        n_clusters=best,
        confidence=confidence,
        decided_by=decided_by,
        explanation=(
            _explain_beyond(best, beyond, k_max, reasons[best - 1])
            if beyond
            else _explain(best, confidence, gaps, reasons[best - 1], ranking)
        ),
        labels=numbers_by_weight(groups[best]() if best > 1 else gaps.labels(1), None, tree),
        ranking=ranking,
        numbers=np.arange(1, n_numbers + 1),
        gap=_as_array([np.nan, *gaps.widths], n_numbers),
        ratio=_as_array([np.nan, *gaps.ratios], n_numbers),
        strength=_as_array(evidence.strength, n_numbers),
        chance=chance,
        drop=_as_array(evidence.drop, n_numbers),
        score=drops.score,
        score_drop=drops.drop,
        silhouette=silhouette,
        sizes=sizes,
        verdicts=tuple(verdicts),
        reasons=tuple(reasons),
        clear_from=clear_from(gaps.n_different),
    )


def _measure_groups(
    silhouette: Silhouette, groups: dict[int, Callable[[], Labels]], n_numbers: int
) -> tuple[tuple[Ints, ...], Floats]:
    """Return the sizes and the mean silhouette of the groups for each number of them."""
    sizes = [np.array([silhouette.tree.n_points])]
    sizes += [np.empty(0, dtype=np.int64)] * (n_numbers - 1)
    means = np.full(n_numbers, np.nan)
    for k, labels_of in groups.items():
        labels = labels_of()
        sizes[k - 1] = -np.sort(-np.bincount(labels))
        means[k - 1] = silhouette.mean(labels, k)
    return tuple(sizes), means


def _fits(sizes: Ints, n_clusters: int, least: float) -> bool:
    return len(sizes) == n_clusters and bool(sizes.min() >= least)


def _ranked(best: int, verdicts: list[str], drops: Floats, chances: Floats) -> Ints:
    """Return all numbers of clusters from the best to the worst.

    The best one comes first, then others that their gaps support, from the largest to the smallest;
    then one cluster; then those that chance allows, by the drop of their scores, or, where that is
    not known, by ascending chance.
    """

    def key(k: int) -> tuple[int, float]:
        if k == best:
            return 0, 0.0
        if verdicts[k - 1]:
            return 1, -k
        if k == 1:
            return 2, 0.0
        drop, chance = float(drops[k - 1]), float(chances[k - 1])
        if not math.isnan(drop):
            return 3, -drop
        return (5, k) if math.isnan(chance) else (4, chance)

    return np.array(sorted(range(1, len(verdicts) + 1), key=key))


def _reason_of_scores(k: int, drops: ScoreDrops) -> str:
    drop = float(drops.drop[k - 1])
    ratio = math.exp(drop / math.sqrt(k - 1))
    cuts = "the cut that makes" if k == 2 else f"the {k - 1} cuts that make"
    after = f"After {cuts} {k} clusters the score of the next one is {ratio:.3g} times lower"
    if k == drops.n_clusters:
        return (
            f"{after}: a drop of {drop:.2g}, where points without clusters seldom reach "
            f"{OUTSTANDING}."
        )
    return f"{after}, and each of the next {k + 4} cuts is of a shorter edge than all of these."


def _reason(k: int, gaps: Gaps, evidence: Evidence) -> str:
    if k == 1:
        return "One cluster: right if no gap between larger groups of points stands out."
    if k > len(evidence.verdicts):
        return f"No gap is left between groups of at least {gaps.smallest_group} different points."
    which = "The gap" if k == 2 else f"The weakest of the {k - 1} gaps"
    times = f"{gaps.ratios[k - 2]:.3g} times the 90th percentile of the edges beside it"
    chance = f"{_shown(evidence.chance[k - 1])} of that length are expected by chance"
    verdict = evidence.verdicts[k - 1]
    if verdict == CLEAR:
        return f"{which} is {times}; {chance}."
    if verdict == WEAK:
        drop = _shown(evidence.drop[k - 1])
        return f"{which} is {times}; {chance}, but it stands out from all others (p = {drop})."
    return f"{which} is only {times}; {chance}."


def _explain(best: int, confidence: str, gaps: Gaps, reason: str, ranking: Ints) -> tuple[str, ...]:
    if best > 1:
        return f"{best} clusters ({confidence}).", reason
    if gaps.n_different < 2 * gaps.smallest_group:
        why = (
            f"Too few different points to tell: there are {gaps.n_different}, and a group must "
            f"have {gaps.smallest_group} to count."
        )
    else:
        why = (
            f"No gap between groups of at least {gaps.smallest_group} different points is wider "
            f"than chance allows, and the scores of CUT drop nowhere by {OUTSTANDING}."
        )
    if len(ranking) > 1:
        return "No clear structure: one cluster.", why, f"The next best number is {ranking[1]}."
    return "No clear structure: one cluster.", why


def _explain_beyond(best: int, beyond: int, k_max: int, reason: str) -> tuple[str, ...]:
    """Return the explanation where the gaps support more than k_max clusters."""
    advice = f"The gaps support {beyond} clusters as well: raise k_max, which is {k_max}."
    if best > 1:
        return f"At least {best} clusters ({WEAK}).", reason, advice
    return f"One cluster ({WEAK}).", f"The gaps support no other number up to {k_max}.", advice


def _padded(values: list[Any], length: int, value: Any) -> list[Any]:
    return [*values[:length], *[value] * (length - len(values))]


def _as_array(values: Any, length: int) -> Floats:
    return np.array(_padded(list(values), length, np.nan), dtype=np.float64)


def _shown(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.2g}" if value >= 1e-99 else "<1e-99"
