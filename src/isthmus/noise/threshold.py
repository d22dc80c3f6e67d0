"""Outlier scores → the threshold above which a row is noise.

The logarithm of how much later than usual a point joins its reference group is -log(1 - score).
Where there is noise, these logarithms form two groups, and Otsu's criterion (1979) finds the
threshold between them: that of the largest variance between the groups. Any set of numbers has
such a threshold, so it counts only where the groups are apart: where the mean of the upper group
is a factor e above that of the lower one, or a factor 1.5 while the groups account for 80 % of the
variance. Elsewhere only points that joined more than three times as late as usual are noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from isthmus._utils.rounding import TIE
from isthmus._utils.typing import Array, Floats

# The mean logarithms of the two groups differ at least by the first one; by the second where the
# groups account for this share of the variance.
_APART, _APART_IF_CLEAR, _CLEAR = 1.0, 0.4, 0.8
# The threshold where there are no two groups.
_ONE_GROUP = 0.7
# Scores above count as this one, so that a point at the end of the world is no group of its own.
_LARGEST = 0.99

_EXPECTED = (
    "noise must be None, 'auto', the largest share of rows that may be noise, a number between 0 "
    "and 1, or ('score', threshold) with a threshold from 0 to below 1"
)


@dataclass(frozen=True)
class NoiseRule:
    """How the threshold is chosen.

    Attributes
    ----------
    kind : {"auto", "share", "score"}
    value : float
        The share, or the threshold itself; NaN for "auto".
    """

    kind: str
    value: float = np.nan


def check_noise(noise: Any) -> NoiseRule | None:
    """Return the rule that the parameter ``noise`` stands for; None where nothing is noise."""
    if noise is None:
        return None
    if isinstance(noise, str):
        if noise == "auto":
            return NoiseRule("auto")
        raise ValueError(f"{_EXPECTED}; got {noise!r}.")
    if isinstance(noise, tuple | list):
        if len(noise) != 2 or not isinstance(noise[0], str) or noise[0] != "score":
            raise ValueError(f"{_EXPECTED}; got {noise!r}.")
        threshold = _number(noise[1], noise)
        if not 0.0 <= threshold < 1.0:
            raise ValueError(f"{_EXPECTED}; got {noise!r}.")
        return NoiseRule("score", threshold)
    share = _number(noise, noise)
    if not 0.0 < share < 1.0:
        raise ValueError(f"{_EXPECTED}; got {noise!r}.")
    return NoiseRule("share", share)


def _number(value: Any, noise: Any) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{_EXPECTED}; got {noise!r}.")
    return float(value)


def noise_threshold(scores: Floats, weights: Floats | None, rule: NoiseRule) -> float:
    """Return the threshold: rows of a higher score are noise, see ``is_above``.

    Parameters
    ----------
    scores : (n,) float64
        Outlier scores.
    weights : (n,) float64, optional
        How many equal rows each one stands for, above 0.
    rule : NoiseRule
    """
    if rule.kind == "score":
        return rule.value
    if weights is None:  # counts take a fraction of the time of positions
        values, counts = np.unique(scores, return_counts=True)
        totals = counts.astype(np.float64)
    else:
        values, codes = np.unique(scores, return_inverse=True)
        totals = np.bincount(codes, weights=weights).astype(np.float64)
    values, totals = _without_ties(values, totals)
    if rule.kind == "share":
        return _threshold_of_share(values, totals, rule.value)
    return _threshold_between_groups(values, totals)


def is_above(scores: Floats, threshold: float) -> Array:
    """Whether scores are above a threshold, by more than rounding errors."""
    above: Array = scores > threshold + TIE
    return above


def _without_ties(values: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Return the largest of each group of scores that rounding alone tells apart, and its weight.

    values, totals : (m,) float64
        The scores, ascending and distinct, and the weight of each.
    """
    first = np.flatnonzero(np.append(True, values[1:] > values[:-1] + TIE))
    last = np.append(first[1:], len(values)) - 1
    return values[last], np.add.reduceat(totals, first)


def _threshold_of_share(values: Floats, totals: Floats, share: float) -> float:
    """Return the lowest score above which there is at most a share of the weight."""
    above = np.append(np.cumsum(totals[:0:-1])[::-1], 0.0)
    return float(values[(above <= share * totals.sum() * (1.0 + TIE)).argmax()])


def _threshold_between_groups(values: Floats, totals: Floats) -> float:
    """Return Otsu's threshold of the logarithms, or the fixed one where they are one group.

    values, totals : (m,) float64
        The scores, ascending and distinct, and the weight of each.
    """
    if len(values) < 2:
        return _ONE_GROUP
    shares = totals / totals.sum()
    logarithms = -np.log1p(-np.minimum(values, _LARGEST))
    below, sums = np.cumsum(shares)[:-1], np.cumsum(shares * logarithms)
    mean = sums[-1]
    apart = (mean - sums[:-1]) / (1.0 - below) - sums[:-1] / below
    between = below * (1.0 - below) * apart**2
    best = int(between.argmax())
    variance = float(shares @ (logarithms - mean) ** 2)
    clear = between[best] >= _CLEAR * variance
    if apart[best] >= _APART or (clear and apart[best] >= _APART_IF_CLEAR):
        return float(values[best])
    return _ONE_GROUP
