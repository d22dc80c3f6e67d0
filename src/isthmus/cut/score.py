"""The score of CUT, in both directions: w · a · b / (a + b).

w is the weight of an edge of the spanning tree; a and b are the weights of the points (where none
are given, their numbers) on its two sides within a part. That is the inertia which a split along
the edge saves in the coordinate √w · [side of the edge].

divisive.py cuts the edge of the largest score, agglomerative.py merges along the smallest one.
Scores that agree to twelve digits are a tie.
"""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import kernel_part
from isthmus._utils.rounding import DIGITS
from isthmus._utils.typing import Floats

# Stands for the weight of an infinite edge, where the others are below 2: whatever the weights of
# its sides, it is cut first, and of several such edges the one that divides most evenly.
INFINITE = 2.0**500

# Times this, a number loses all but the leading DIGITS of its 53 binary digits.
_SPLITTER = 2.0 ** (53 - DIGITS) + 1.0


def finite_weights(lengths: Floats, unit: float) -> Floats:
    """Return lengths of edges in a unit, with INFINITE in the place of infinity."""
    weights: Floats = lengths / unit
    return np.minimum(weights, INFINITE, out=weights)


@kernel_part
def cut_score(edge_weight: float, a: float, b: float, whole: float) -> float:
    """Return the score of an edge; whole is a + b, which the caller knows."""
    return edge_weight * (a * b / whole)


@kernel_part
def rounded_score(score: float) -> float:
    """Return a score rounded to twelve digits, by Veltkamp's splitting."""
    large = score * _SPLITTER
    return large - (large - score)
