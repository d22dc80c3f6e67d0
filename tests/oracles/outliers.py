"""Outlier scores word by word, from the dense matrix of transitive distances."""

import math

import numpy as np


def joining_heights(matrix, point_weights, least):
    """The lowest height at which the points within it weigh at least ``least``, for each point."""
    return np.array(
        [
            min(h for h in row if point_weights[row <= h].sum() >= least * (1 - 1e-12))
            for row in matrix
        ]
    )


def scores(matrix, point_weights=None, reference_size=None):
    """1 - the mean ratio of the heights of a point's reference group to its own."""
    point_weights = (
        np.ones(len(matrix)) if point_weights is None else np.asarray(point_weights, dtype=float)
    )
    least = (
        math.sqrt(point_weights.sum())
        if reference_size is None
        else min(reference_size, point_weights.sum())
    )
    heights = joining_heights(matrix, point_weights, least)
    out = []
    for row, height in zip(matrix, heights, strict=True):
        group = row <= height
        ratios = [1.0 if other == height else other / height for other in heights[group]]
        out.append(1.0 - np.average(ratios, weights=point_weights[group]))
    return np.array(out)
