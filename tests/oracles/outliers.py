"""Outlier scores word by word, from the dense matrix of transitive distances."""

import math

import numpy as np


def company_heights(matrix, masses, least):
    """The lowest height at which the points within it weigh at least so much, for each point."""
    return np.array(
        [min(h for h in row if masses[row <= h].sum() >= least * (1 - 1e-12)) for row in matrix]
    )


def scores(matrix, masses=None, company=None):
    """1 - the mean ratio of the heights of a point's company to its own."""
    masses = np.ones(len(matrix)) if masses is None else np.asarray(masses, dtype=float)
    least = math.sqrt(masses.sum()) if company is None else min(company, masses.sum())
    heights = company_heights(matrix, masses, least)
    out = []
    for row, height in zip(matrix, heights, strict=True):
        group = row <= height
        ratios = [1.0 if other == height else other / height for other in heights[group]]
        out.append(1.0 - np.average(ratios, weights=masses[group]))
    return np.array(out)
