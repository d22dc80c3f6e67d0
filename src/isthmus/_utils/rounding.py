"""Rounding to twelve digits, ties, and units in which nothing overflows: each defined once."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats

# Squared distances that agree up to this relative difference are equal: the tie goes to the
# cluster with the smaller number, whatever the order in which rounding errors were made.
TIE = 1e-12
# The same in binary digits, for numbers that are rounded so that they can be ranked.
DIGITS = 40


def is_nearer(distances: Floats, best: Floats) -> Array:
    """Whether squared distances to a cluster are below the best to those before it, ties aside."""
    # (1 - TIE) inf is inf: whatever is finite comes before it
    nearer: Array = distances < (1.0 - TIE) * best - TIE * np.abs(distances)
    return nearer


def to_twelve_digits(values: Any) -> Array:
    """Return numbers rounded to 12 digits, so that rounding errors no longer rank them."""
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
    """Return weights divided by a unit, so that no product of a few over- or underflows; the unit.

    None in place of the weights says that all are the unit. Otherwise it is a power of two.
    """
    if point_weights is None:
        return None, 1.0
    largest = float(point_weights.max())
    if point_weights.min() == largest:
        return None, largest
    exponent = np.frexp(largest)[1] - 1
    return np.ldexp(point_weights, -exponent), float(np.ldexp(1.0, exponent))


def product(factors: list[float]) -> float:
    """Return a product that overflows only where the whole of it does, not on the way."""
    mantissas, exponents = np.frexp(factors)
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(mantissas.prod(), exponents.sum()))
