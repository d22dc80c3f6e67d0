"""Gaps between groups → how much each number of clusters is supported.

k clusters are as good as the weakest of the k - 1 gaps between them (gaps.py). Two figures judge
it:

- **chance**: the number of edges of at least that strength that are expected among the points if
  there are no gaps. Where it is far below one, the clusters are clear.
- **drop**: the probability that the k - 1 strongest gaps are so much stronger than all others if
  they are of the same kind. Clouds with wide fringes have few gaps beyond chance, and yet these
  differ in kind from what lies within the clouds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from isthmus._utils.typing import Floats
from isthmus.model_selection.edge_quantiles import HIGH, LOW
from isthmus.model_selection.gaps import Gaps

CLEAR, WEAK = "clear", "weak"

# A gap is clear if at most this many are expected by chance.
_CLEAR_CHANCE = 0.01
# A gap is weak if it has this strength and at most this probability, less than for any smaller
# number of clusters, of standing out by chance;
_LEAST_STRENGTH, _OUTSTANDING = 0.3, 1e-6
# which is known where this many weaker gaps tell how much strengths vary, at least this much.
_LEAST_WEAKER, _LEAST_VARIATION = 6, 0.03

# With P(edge > x) = exp(-(x / scale)^d): (x / scale)^d at the 90th percentile, and the logarithm of
# its ratio to that at the 10th.
_AT_HIGH = -math.log(1 - HIGH)
_HIGH_OVER_LOW = math.log(_AT_HIGH / -math.log(1 - LOW))


@dataclass(frozen=True)
class Evidence:
    """How much 1, 2, … clusters are supported, one entry for each.

    Attributes
    ----------
    strength, chance, drop : (m,) float64
        NaN for one cluster.
    verdicts : list of m str
        CLEAR, WEAK or "".
    """

    strength: Floats
    chance: Floats
    drop: Floats
    verdicts: list[str]

    @classmethod
    def of_gaps(cls, gaps: Gaps) -> Evidence:
        """Return what the gaps support."""
        strength = np.append(np.nan, gaps.strengths)
        chance = expected_by_chance(strength, gaps.n_different)
        log_drop = np.array([_log_drop(strength, k) for k in range(1, len(strength) + 1)])
        least = np.fmin.accumulate(np.append(math.log(_OUTSTANDING), log_drop[:-1]))
        weak = (log_drop < least) & (strength >= _LEAST_STRENGTH)
        verdicts = np.where(chance <= _CLEAR_CHANCE, CLEAR, np.where(weak, WEAK, ""))
        return cls(strength, chance, np.exp(log_drop), verdicts.tolist())


def expected_by_chance(strength: Floats, n_different: int) -> Floats:
    """Return the expected number of edges of a strength among n_different points without gaps."""
    with np.errstate(over="ignore"):
        exponents = _AT_HIGH * np.exp(_HIGH_OVER_LOW * strength)
        expected: Floats = n_different * np.exp(-exponents)
    return expected


def clear_from(n_different: int) -> float:
    """Return the strength from which a gap is clear."""
    return math.log(math.log(n_different / _CLEAR_CHANCE) / _AT_HIGH) / _HIGH_OVER_LOW


def _log_drop(strength: Floats, k: int) -> float:
    """Return the logarithm of the drop for k clusters; NaN where too few gaps are weaker.

    If strengths have an exponential tail, the step from the (k - 1)-th largest to the next one is
    exponential with mean v / (k - 1), v being the mean excess of strengths over a high level.
    """
    weaker = -np.sort(-strength[k:])
    if k == 1 or len(weaker) < _LEAST_WEAKER:
        return math.nan
    half = len(weaker) // 2
    variation = max(float((weaker[:half] - weaker[half]).mean()), _LEAST_VARIATION)
    return min(0.0, -(k - 1) * float(strength[k - 1] - weaker[0]) / variation)
