"""Boxes of points, and how far they are apart.

All distances are squared, as the kernels of spanning trees accumulate them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Array, Floats

_EPSILON = float(np.finfo(np.float64).eps)


class Boxes(NamedTuple):
    """Bounds of m sets of points.

    Attributes
    ----------
    low, high : (m, d) float64
    """

    low: Floats
    high: Floats

    def take(self, rows: Any) -> Boxes:
        """Return some of the boxes."""
        return Boxes(self.low[rows], self.high[rows])


def box_around(points: Array) -> Boxes:
    """Return the bounds of points: (1, d)."""
    box = Boxes(np.full((1, points.shape[1]), np.inf), np.full((1, points.shape[1]), -np.inf))
    enclose_points(points, box)
    return box


@kernel
def enclose_points(points: Array, box: Boxes) -> None:
    """Extend a box, (1, d), to all points."""
    for p in range(points.shape[0]):
        for t in range(points.shape[1]):
            x = np.float64(points[p, t])
            box.low[0, t] = min(box.low[0, t], x)
            box.high[0, t] = max(box.high[0, t], x)


def safe_share(n_features: int) -> float:
    """Return the share of a squared distance that rounding leaves, whatever it does."""
    return 1.0 - 4.0 * (n_features + 16) * _EPSILON


def gaps_between(boxes: Boxes, others: Boxes) -> Floats:
    """Return the squared distances of all boxes to all others: (m, k)."""
    low, high = boxes.low[:, None, :], boxes.high[:, None, :]
    apart = np.maximum(np.maximum(others.low - high, low - others.high), 0.0)
    squares: Floats = np.einsum("ijk,ijk->ij", apart, apart) * safe_share(boxes.low.shape[1])
    return squares


def gaps_of_pairs(boxes: Boxes, x: Any, others: Boxes, y: Any) -> Floats:
    """Return the squared distances of boxes x to others y: (m,)."""
    apart = np.maximum(others.low[y] - boxes.high[x], boxes.low[x] - others.high[y])
    apart = np.maximum(apart, 0.0)
    squares: Floats = np.einsum("ij,ij->i", apart, apart) * safe_share(apart.shape[1])
    return squares


def squared_diameters(boxes: Boxes) -> Floats:
    """Return upper bounds of the squared distances within boxes: (m,)."""
    sides = boxes.high - boxes.low
    return np.asarray(np.einsum("ij,ij->i", sides, sides) / safe_share(sides.shape[1]))


@kernel_part
def gap(low: Floats, high: Floats, x: int, low2: Floats, high2: Floats, y: int) -> float:
    """Return the squared distance of box x and box y of two arrays, as computed."""
    total = 0.0
    for t in range(low.shape[1]):
        apart = max(low[x, t] - high2[y, t], low2[y, t] - high[x, t])
        apart = max(apart, 0.0)
        total += apart * apart
    return total


@kernel_part
def gap_of_point(points: Array, p: int, low: Floats, high: Floats, r: int, share: float) -> float:
    """Return a lower bound of the squared distances of a point to those in a box."""
    total = 0.0
    for t in range(low.shape[1]):
        apart = beyond(np.float64(points[p, t]), low[r, t], high[r, t])
        total += apart * apart
    return total * share


@kernel_part
def beyond(x: float, low: float, high: float) -> float:
    """Return how far a coordinate is from an interval."""
    apart = max(low - x, x - high)
    return max(apart, 0.0)
