"""Convex hulls and consistency, word by word: linear programs, least squares, all partitions."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog, nnls


def hulls_intersect(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether some weighted mean of the first points is one of the second, by HiGHS."""
    scale = max(np.abs(first).max(initial=0.0), np.abs(second).max(initial=0.0)) or 1.0
    equal_means = np.concatenate([first, -second]).T / scale
    sums = np.zeros((2, len(first) + len(second)))
    sums[0, : len(first)] = sums[1, len(first) :] = 1.0
    right = np.append(np.zeros(len(equal_means)), [1.0, 1.0])
    result = linprog(np.zeros(sums.shape[1]), A_eq=np.vstack([equal_means, sums]), b_eq=right)
    assert result.status in (0, 2), result.message
    return result.status == 0


def distance_of_hulls(first: np.ndarray, second: np.ndarray) -> float:
    """The smallest distance of two weighted means, by least squares with heavy sums; ± 1e-6."""
    scale = max(np.abs(first).max(initial=0.0), np.abs(second).max(initial=0.0)) or 1.0
    heavy = 1e4 * scale
    sums = np.zeros((2, len(first) + len(second)))
    sums[0, : len(first)] = sums[1, len(first) :] = heavy
    system = np.vstack([np.concatenate([first, -second]).T, sums])
    weights, _ = nnls(system, np.append(np.zeros(first.shape[1]), [heavy, heavy]))
    a, b = weights[: len(first)], weights[len(first) :]
    return float(np.linalg.norm(a @ first / a.sum() - b @ second / b.sum()))
