"""Distances in integers: exact for all finite float64, however large or small."""

from fractions import Fraction
from math import isqrt

import numpy as np

# Every finite float64 is a multiple of the smallest one; and digits of roots beyond that.
UNIT, DIGITS = 1074, 200


def exact_distances(X, metric):
    """Return all distances as fractions, a list of lists; roots to 60 digits."""
    rows = [[int(Fraction(float(x)) * 2**UNIT) for x in row] for row in X]
    return [[_distance(a, b, metric) for b in rows] for a in rows]


def _distance(a, b, metric):
    differences = [abs(x - y) for x, y in zip(a, b, strict=True)]
    if metric == "manhattan":
        return Fraction(sum(differences), 2**UNIT)
    if metric == "chebyshev":
        return Fraction(max(differences), 2**UNIT)
    square = sum(difference**2 for difference in differences)
    if metric == "sqeuclidean":
        return Fraction(square, 2 ** (2 * UNIT))
    return Fraction(isqrt(square << (2 * DIGITS)), 2 ** (UNIT + DIGITS))


def exact_tree_weights(distances):
    """Return the weights of a minimum spanning tree, ascending."""
    outside = dict(enumerate(distances[0]))
    del outside[0]
    weights = []
    while outside:
        nearest = min(outside, key=outside.__getitem__)
        weights.append(outside.pop(nearest))
        outside = {i: min(d, distances[nearest][i]) for i, d in outside.items()}
    return sorted(weights)


def assert_rounded(found, exact):
    """Check numbers against fractions: 14 digits, or the last bit of what is denormal."""
    for number, expected in zip(np.ravel(found).tolist(), exact, strict=True):
        error = abs(Fraction(number) - expected)
        assert error <= expected / 10**14 + Fraction(2, 2**UNIT), (number, float(expected))
