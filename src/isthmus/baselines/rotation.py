"""Eigenvectors → the rotation that aligns them best with the axes.

In rows Z of unit length the cost Σ_ij Z_ij² / max_j Z_ij² is the sum of 1 / max_j Z_ij²: the
number of rows where each lies on an axis, and more elsewhere. It is minimised over rotations, as
products of Givens rotations, by gradient descent on their angles.

A product of rotations is a rotation, so each step starts with all angles at zero, from the rows as
rotated so far. There the derivatives are simple: an angle θ of the plane (a, b) turns Z_a into
Z_a - θ Z_b and Z_b into Z_b + θ Z_a, and the cost changes only through the largest entry of a row.
"""

from __future__ import annotations

import numpy as np

from isthmus._utils.typing import Floats, Labels
from isthmus.baselines.spectral import unit_rows

_MAX_STEPS = 200
# Costs are means over rows. A step must lower them by this share of what the gradient predicts …
_SUFFICIENT = 1e-4
# … and descent ends where it predicts less than this.
_NEGLIGIBLE = 1e-12
# Costs with at most this relative difference are equally good.
_SAME_COST = 1e-4


def alignment_cost(rows: Floats) -> float:
    """Return the mean over rows, (n, k), of Σ_j Z_ij² / max_j Z_ij²: from 1 to k."""
    squares = rows * rows
    return float((squares.sum(axis=1) / squares.max(axis=1)).mean())


def align_incrementally(vectors: Floats) -> tuple[list[Floats], Floats]:
    """Align the first c of k eigenvectors, (n, k), the leading one first, for c = 1 … k.

    Returns the k rotations, (c, c), and the minimised costs, as of :func:`alignment_cost`. Each
    descent starts from the rotation before it, which leaves the new eigenvector as it is, and again
    from the axes of c almost orthogonal rows. The better result of both is kept: from either start
    alone it can end in a poor local minimum.
    """
    rotations, costs = [np.eye(1)], [1.0]
    for c in range(2, vectors.shape[1] + 1):
        rows = unit_rows(vectors[:, :c])
        rows = rows[rows.any(axis=1)]  # rows that vanish have no direction
        before = np.eye(c)
        before[:-1, :-1] = rotations[-1]
        found = [minimise_cost(rows, start) for start in (before, orthogonal_rows(rows))]
        rotation, cost = min(found, key=lambda pair: pair[1])
        rotations.append(rotation)
        costs.append(cost)
    return rotations, np.array(costs)


def nearest_axes(rows: Floats) -> Labels:
    """Return the axis, (n,) int32, that each row is nearest to."""
    axes: Labels = np.abs(rows).argmax(axis=1).astype(np.int32)
    return axes


def best_number(costs: Floats) -> int:
    """Return the largest number of columns, from 2 on, that costs no more than any other.

    One column has the perfect cost for any points: it is chosen only where there is no other.
    """
    if len(costs) == 1:
        return 1
    enough = costs[1:].min() * (1.0 + _SAME_COST)
    return 2 + int(np.flatnonzero(costs[1:] <= enough)[-1])


def orthogonal_rows(rows: Floats) -> Floats:
    """Return the rotation, (k, k), whose columns are nearest to k almost orthogonal rows.

    These begin with the first row; each next one has the smallest largest overlap with those
    before it. Where clusters are separate, that chooses one row of each.
    """
    k = rows.shape[1]
    chosen = np.empty((k, k))
    overlap = np.zeros(len(rows))
    row = 0
    for c in range(k):
        chosen[c] = rows[row]
        np.maximum(overlap, np.abs(rows @ rows[row]), out=overlap)
        row = int(overlap.argmin())
    left, _, right = np.linalg.svd(chosen.T)
    rotation: Floats = left @ right
    return rotation


def minimise_cost(rows: Floats, start: Floats) -> tuple[Floats, float]:
    """Return the rotation, (k, k), at a local minimum of the cost of rows @ rotation, and the cost.

    rows : (n, k), of unit length
    start : (k, k), the rotation to start from
    """
    rotation = start
    turned = rows @ rotation
    cost = alignment_cost(turned)
    rate = 1.0
    for _ in range(_MAX_STEPS):
        gradient = cost_gradient(turned)
        slope = float((gradient * gradient).sum()) / 2  # each angle counts twice
        while rate * slope > _NEGLIGIBLE:
            step = givens_product(-rate * gradient)
            turned = rows @ (rotation @ step)
            lower = alignment_cost(turned)
            if lower <= cost - _SUFFICIENT * rate * slope:
                break
            rate /= 2
        else:
            break
        rotation, cost = rotation @ step, lower
        rate *= 2
    return rotation, cost


def cost_gradient(rows: Floats) -> Floats:
    """Return the derivatives of the cost by the angles, (k, k), at zero; antisymmetric.

    Entry (a, b) belongs to the rotation of :func:`givens_product` in the plane (a, b).
    """
    n_rows = len(rows)
    largest = np.abs(rows).argmax(axis=1)
    top = rows[np.arange(n_rows), largest]
    # The cost of a row is |z|² / top², and rotations preserve |z|.
    by_entry = np.zeros_like(rows)
    by_entry[np.arange(n_rows), largest] = -2.0 * (rows * rows).sum(axis=1) / top**3 / n_rows
    products = rows.T @ by_entry
    gradient: Floats = products - products.T
    return gradient


def givens_product(angles: Floats) -> Floats:
    """Return the product of rotations by angles[a, b] in the planes a < b, (k, k).

    Each maps columns a and b to cos θ · a - sin θ · b and sin θ · a + cos θ · b.
    """
    k = len(angles)
    product = np.eye(k)
    cosines, sines = np.cos(angles), np.sin(angles)
    for a in range(k):
        for b in range(a + 1, k):
            column = product[:, a].copy()
            product[:, a] = cosines[a, b] * column - sines[a, b] * product[:, b]
            product[:, b] = sines[a, b] * column + cosines[a, b] * product[:, b]
    return product
