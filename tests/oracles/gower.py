"""Gower's distance by its definition: two loops, one pair and one column at a time."""

import math


def gower_matrix(rows, others, kinds, ranges, weights):
    """Return the distances of rows to others, as lists; NaN where nothing is shared.

    kinds : "number" or "category" of each column; a missing value is None
    ranges : of each column of numbers, those of the fit
    """
    return [[_distance(x, y, kinds, ranges, weights) for y in others] for x in rows]


def _distance(x, y, kinds, ranges, weights):
    total = shared = 0.0
    for a, b, kind, extent, weight in zip(x, y, kinds, ranges, weights, strict=True):
        if a is None or b is None:
            continue
        shared += weight
        if kind == "number" and extent > 0.0:
            total += weight * abs(a - b) / extent
        elif a != b:
            total += weight
    return total / shared if shared > 0.0 else math.nan
