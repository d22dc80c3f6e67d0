"""Ties, rounding to twelve digits, and units in which nothing overflows."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats

# Numbers that agree up to this relative difference are equal, so that rounding errors decide no
# tie: of two clusters at equal distances the one with the smaller number wins.
TIE = 1e-12
# The same in binary digits, for numbers that are rounded before they are ranked.
DIGITS = 40


def is_nearer(distances: Floats, best: Floats) -> Array:
    """Whether squared distances to a cluster are below the best so far, and not tied with it."""
    # (1 - TIE) inf is inf: anything finite is nearer
    nearer: Array = distances < (1.0 - TIE) * best - TIE * np.abs(distances)
    return nearer


def to_twelve_digits(values: Any) -> Array:
    """Return numbers rounded to 12 digits, so that rounding errors do not rank them."""
    mantissas, exponents = np.frexp(values)
    rounded: Array = np.ldexp(np.rint(np.ldexp(mantissas, DIGITS)), exponents - DIGITS)
    return rounded


def highest_finite(heights: Floats) -> float:
    """Return the largest of sorted heights that is finite, or 0 where there is none."""
    n_finite = int(np.searchsorted(heights, np.inf))
    return float(heights[n_finite - 1]) if n_finite else 0.0


def unit_of(heights: Floats) -> float:
    """Return the power of two just below the largest finite height, or 1 where all are zero."""
    highest = highest_finite(heights)
    return float(np.ldexp(1.0, np.frexp(highest)[1] - 1)) if highest > 0.0 else 1.0


def in_range(point_weights: Floats | None) -> tuple[Floats | None, float]:
    """Return weights divided by a unit, so that products of a few stay in range; and the unit.

    The weights are None where all are equal, to the unit. Otherwise it is a power of two.
    """
    if point_weights is None:
        return None, 1.0
    largest = float(point_weights.max())
    if point_weights.min() == largest:
        return None, largest
    exponent = np.frexp(largest)[1] - 1
    return np.ldexp(point_weights, -exponent), float(np.ldexp(1.0, exponent))


def product(factors: list[float]) -> float:
    """Return a product that overflows only where the result does, not on the way there."""
    mantissas, exponents = np.frexp(factors)
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(mantissas.prod(), exponents.sum()))
