"""The slow, obvious versions: dense matrices, brute force, exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np


def minimax_matrix(distances: np.ndarray) -> np.ndarray:
    """Transitive distances by Floyd and Warshall's recursion with (min, max)."""
    out = distances.copy()
    for m in range(len(out)):
        out = np.minimum(out, np.maximum(out[:, m : m + 1], out[m : m + 1, :]))
    return out


def minimax_of_order(distances: np.ndarray, order: int) -> np.ndarray:
    """Definition 1 word by word: all paths of at most ``order`` vertices."""
    n = len(distances)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i == j:
                continue
            others = [m for m in range(n) if m not in (i, j)]
            longest_hops = [
                max(distances[a, b] for a, b in zip((i, *inner), (*inner, j), strict=True))
                for length in range(max(order, 2) - 1)
                for inner in permutations(others, length)
            ]
            out[i, j] = min(longest_hops)
    return out


def kruskal(distances: np.ndarray) -> tuple[list[tuple[int, int]], list[float]]:
    """The spanning tree that is first in the order (weight, smaller index, larger index)."""
    n = len(distances)
    ranked = sorted((distances[i, j], i, j) for i in range(n) for j in range(i + 1, n))
    group = list(range(n))
    edges, weights = [], []
    for weight, i, j in ranked:
        if group[i] != group[j]:
            old, new = group[i], group[j]
            group = [new if g == old else g for g in group]
            edges.append((i, j))
            weights.append(weight)
    return edges, weights


def cut(
    n: int, edges: np.ndarray, weights: np.ndarray, k: int, point_weights=None, least=0, known=()
):
    """CUT by trying every edge of every part, sides found by walking.

    Returns fewer parts where no edge leaves the least weight on both sides. What is known are the
    edges that are cut first, and those that never are.
    """
    first, never = known or ((), ())
    weight_of = [
        Fraction(1 if point_weights is None else float(point_weights[i])) for i in range(n)
    ]
    smallest = Fraction(float(least))
    left = [e for e in range(n - 1) if e not in first]
    for _ in range(k - 1 - len(first)):
        scores = []
        for e in left:
            rest = [f for f in left if f != e]
            a, b = (sum(weight_of[i] for i in _reached(edges, rest, int(end))) for end in edges[e])
            allowed = min(a, b) >= smallest and e not in never
            scores.append(Fraction(float(weights[e])) * a * b / (a + b) if allowed else -1)
        if not scores or max(scores) < 0:
            break
        if scores.count(max(scores)) > 1:
            raise ValueError("a tie")
        left.remove(left[scores.index(max(scores))])
    return sorted({frozenset(_reached(edges, left, i)) for i in range(n)}, key=min)


def joins(n: int, edges: np.ndarray, weights: np.ndarray, point_weights=None):
    """CUT from below by measuring every edge before every join.

    Returns the edges as they join, their scores, and the parts after each join. Scores that agree
    to 40 binary digits are equal: the first edge joins.
    """
    part_of = list(range(n))
    weight = {
        i: Fraction(1 if point_weights is None else float(point_weights[i])) for i in range(n)
    }
    left = list(range(n - 1))
    found, scores, parts = [], [], []
    while left:
        exact = {}
        for e in left:
            a, b = (weight[part_of[int(end)]] for end in edges[e])
            exact[e] = Fraction(float(weights[e])) * a * b / (a + b)
        best = min(left, key=lambda e: (_to_40_bits(exact[e]), e))
        kept, lost = (part_of[int(end)] for end in edges[best])
        weight[kept] += weight.pop(lost)
        part_of = [kept if part == lost else part for part in part_of]
        left.remove(best)
        found.append(best)
        scores.append(float(exact[best]))
        parts.append(list(part_of))
    return found, scores, parts


def _to_40_bits(value: Fraction) -> float:
    mantissa, exponent = np.frexp(float(value))
    return float(np.ldexp(np.rint(np.ldexp(mantissa, 40)), exponent - 40))


def _reached(edges: np.ndarray, using: list[int], start: int) -> set[int]:
    found, pairs = {start}, np.asarray(edges)[using].tolist()
    while True:
        more = {j for pair in pairs for i, j in (pair, pair[::-1]) if i in found and j not in found}
        if not more:
            return found
        found |= more


def rows_lloyd(matrix, points, max_iter: int = 300, point_weights=None):
    """Lloyd's iteration on the rows of a matrix; ties go to the first cluster.

    With weights, each row and each column counts as often as its weight says.

    Works on arrays of longdouble or, exactly, of Fraction. Returns labels, inertia, iterations
    and the smallest relative margin between the two nearest centres in any step, or None if a
    cluster became empty on the way.
    """
    point_weights = _weights_or_ones(point_weights, matrix)
    return _lloyd(
        lambda centres: ((matrix[:, None] - centres[None]) ** 2 * point_weights).sum(-1),
        matrix,
        points,
        max_iter,
        point_weights,
    )


def embedded_lloyd(matrix, points, max_iter: int = 300, point_weights=None):
    """The same in coordinates in which the entries of the matrix are Euclidean distances."""
    squares = matrix.astype(np.longdouble) ** 2
    n = len(matrix)
    centring = np.eye(n, dtype=np.longdouble) - np.longdouble(1) / n
    gram = -centring @ squares @ centring / 2

    # coordinates are never needed: a centre is its weights on the points
    def distances(weights):
        cross = gram @ weights.T
        own = (weights * (weights @ gram)).sum(1)
        return np.diag(gram)[:, None] - 2 * cross + own[None]

    point_weights = _weights_or_ones(point_weights, matrix)
    return _lloyd(distances, np.eye(n, dtype=np.longdouble), points, max_iter, point_weights)


def guarded_lloyd(matrix, labels, k: int, least: float, point_weights):
    """Lloyd's iteration on rows from a partition, as long as every cluster keeps the least weight.

    Returns the labels, their inertia about their own means, whether a step was taken back, and the
    smallest margin; or None if a cluster became empty on the way.
    """
    rows = matrix.astype(np.longdouble)
    point_weights = point_weights.astype(np.longdouble)

    def distances_to_means(labels):
        means = [
            np.average(rows[labels == a], axis=0, weights=point_weights[labels == a])
            for a in range(k)
        ]
        return ((rows[:, None] - np.array(means)[None]) ** 2 * point_weights).sum(-1)

    margin, taken_back = float("inf"), False
    while True:
        distances = distances_to_means(labels)
        margin = min(margin, _margin(distances))
        new = _first_nearest(distances)
        sizes = np.bincount(new, weights=point_weights.astype(float), minlength=k)
        if (sizes == 0).any():
            return None
        taken_back = sizes.min() < least
        if taken_back or (new == labels).all():
            break
        labels = new
    inertia = (distances[np.arange(len(rows)), labels] * point_weights).sum()
    return labels, float(inertia), bool(taken_back), margin


def _weights_or_ones(point_weights, matrix):
    return np.ones(len(matrix), dtype=matrix.dtype) if point_weights is None else point_weights


def _lloyd(distances_to, rows, points, max_iter, point_weights):
    k = len(points)
    centres = rows[list(points)]
    old, margin = None, float("inf")
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        distances = distances_to(centres)
        labels = _first_nearest(distances)
        margin = min(margin, _margin(distances))
        if len(set(labels.tolist())) < k:
            return None
        if old is not None and (labels == old).all():
            break
        old = labels
        centres = np.stack(
            [
                (rows * point_weights[:, None])[labels == a].sum(0)
                / point_weights[labels == a].sum()
                for a in range(k)
            ]
        )
    inertia = (distances[np.arange(len(rows)), labels] * point_weights).sum()
    return labels, float(inertia), n_iter, margin


def _first_nearest(distances):
    """The first of the nearest centres; in floating point equal up to 1e-12 counts as equal."""
    nearest = distances.min(axis=1, keepdims=True)
    if distances.dtype != object:
        nearest = nearest + abs(nearest) * np.longdouble(1e-12)  # rounding may make it negative
    return (distances <= nearest).argmax(1)


def _margin(distances) -> float:
    if distances.shape[1] == 1:
        return float("inf")
    ranked = np.sort(distances, axis=1)
    first, second = ranked[:, 0], ranked[:, 1]
    scale = np.where(second > 0, second, 1)
    return float(((second - first) / scale).min())


def fractions(matrix: np.ndarray) -> np.ndarray:
    """The matrix with its entries as exact fractions."""
    out = np.empty(matrix.shape, dtype=object)
    for index, value in np.ndenumerate(matrix):
        out[index] = Fraction(float(value))
    return out


def distances_of_new_point(distances: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Transitive distances of a new point: one hop onto the tree, over any point of it."""
    return np.maximum(distances[:, None], matrix).min(axis=0)


def label_of_new_point(row, matrix, labels, point_weights, objective):
    """The cluster of the nearest mean, and the relative margin to the next.

    row : transitive distances of the new point; matrix : those of the fitted ones.
    """
    row, matrix, point_weights = (
        np.asarray(a, dtype=np.longdouble) for a in (row, matrix, point_weights)
    )
    squared = []
    for a in range(labels.max() + 1):
        own = point_weights * (labels == a)
        if objective == "rows":
            squared.append((point_weights * (row - matrix @ own / own.sum()) ** 2).sum())
        else:
            half = own @ matrix**2 @ own / (2 * own.sum() ** 2)
            squared.append(own @ row**2 / own.sum() - half)
    found = np.array(squared)[None]
    return int(_first_nearest(found)[0]), _margin(found)
