"""Distances, trees and neighbours by their definitions, in long double.

Nothing here is from the library. Long doubles of x86 have 64 binary digits and exponents to 16383,
so squares of float64 neither overflow nor underflow. Where they are no longer than float64
(Windows, ARM) the campaign still compares, with fewer digits.
"""

from __future__ import annotations

import numpy as np

Real = np.longdouble
# Differences that are held together.
_AT_ONCE = 1 << 21


def differences(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.asarray(X, dtype=Real)[:, None] - np.asarray(Y, dtype=Real)[None]


def distances(X: np.ndarray, Y: np.ndarray, metric: str, params: dict | None = None) -> np.ndarray:
    """Return all distances between the rows of X and of Y, in long double."""
    X, Y = np.asarray(X, dtype=Real), np.asarray(Y, dtype=Real)
    size = max(1, _AT_ONCE // max(Y.size, 1))
    with np.errstate(all="ignore"):
        blocks = [
            _METRICS[metric](X[start : start + size], Y, **(params or {}))
            for start in range(0, len(X), size)
        ]
    return np.concatenate(blocks)


def _euclidean(X, Y, w=1.0):
    return np.sqrt((differences(X, Y) ** 2 * np.asarray(w, dtype=Real)).sum(-1))


def _sqeuclidean(X, Y, w=1.0):
    return (differences(X, Y) ** 2 * np.asarray(w, dtype=Real)).sum(-1)


def _manhattan(X, Y, w=1.0):
    return (np.abs(differences(X, Y)) * np.asarray(w, dtype=Real)).sum(-1)


def _chebyshev(X, Y):
    return np.abs(differences(X, Y)).max(-1)


def _minkowski(X, Y, p=2.0, w=1.0):
    apart = np.abs(differences(X, Y))
    largest = apart.max(-1)
    scaled = apart / np.where(largest > 0, largest, 1)[..., None]
    return largest * (scaled ** Real(p) * np.asarray(w, dtype=Real)).sum(-1) ** (1 / Real(p))


def _seuclidean(X, Y, V):
    return np.sqrt((differences(X, Y) ** 2 / np.asarray(V, dtype=Real)).sum(-1))


def _mahalanobis(X, Y, VI):
    apart = differences(X, Y)
    return np.sqrt(np.einsum("xyi,ij,xyj->xy", apart, np.asarray(VI, dtype=Real), apart))


def _unit(X):
    X = X / np.abs(X).max(axis=1, keepdims=True)
    return X / np.sqrt((X**2).sum(axis=1, keepdims=True))


def _cosine(X, Y):
    return _sqeuclidean(_unit(X), _unit(Y)) / 2


def _angular(X, Y):
    return _angle(_euclidean(_unit(X), _unit(Y)))


def _angle(chords):
    return 2 * np.arctan2(chords / 2, np.sqrt(np.maximum(1 - chords**2 / 4, 0)))


def _correlation(X, Y):
    return _cosine(X - X.mean(axis=1, keepdims=True), Y - Y.mean(axis=1, keepdims=True))


def _haversine(X, Y):
    def on_sphere(P):
        latitude, longitude = P[:, 0], P[:, 1]
        flat = np.cos(latitude)
        return np.column_stack(
            [flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)]
        )

    return _angle(_euclidean(on_sphere(X), on_sphere(Y)))


def _hellinger(X, Y):
    X, Y = (np.sqrt(P / P.sum(axis=1, keepdims=True)) for P in (X, Y))
    return np.minimum(_euclidean(X, Y) / np.sqrt(Real(2)), 1)


def _canberra(X, Y):
    below = np.abs(X)[:, None] + np.abs(Y)[None]
    return (np.abs(differences(X, Y)) / np.where(below > 0, below, 1)).sum(-1)


def _braycurtis(X, Y):
    return np.abs(differences(X, Y)).sum(-1) / np.abs(X[:, None] + Y[None]).sum(-1)


def _hamming(X, Y):
    return (X[:, None] != Y[None]).mean(-1, dtype=Real)


def _jensenshannon(X, Y):
    X, Y = (P / P.sum(axis=1, keepdims=True) for P in (X, Y))
    P, Q = X[:, None], Y[None]
    middle = (P + Q) / 2

    def relative_entropy(A):
        A, M = np.broadcast_arrays(A, middle)
        terms = np.zeros_like(A)
        np.log(A / M, out=terms, where=A > 0)
        return (A * terms).sum(-1)

    return np.sqrt(np.maximum(relative_entropy(P) + relative_entropy(Q), 0) / 2)


def _nan_euclidean(X, Y):
    apart = differences(X, Y)
    there = ~np.isnan(apart)
    squares = np.where(there, apart, 0) ** 2
    return np.sqrt(squares.sum(-1) * X.shape[1] / there.sum(-1, dtype=Real))


def _boolean(formula):
    def of_counts(X, Y):
        P, Q = (X != 0)[:, None], (Y != 0)[None]
        both, neither, differing = (kind.sum(-1, dtype=Real) for kind in (P & Q, ~P & ~Q, P != Q))
        first, second = (P & ~Q).sum(-1, dtype=Real), (~P & Q).sum(-1, dtype=Real)
        return formula(both, neither, differing, first * second, Real(X.shape[1]))

    return of_counts


_METRICS = {
    "euclidean": _euclidean,
    "sqeuclidean": _sqeuclidean,
    "manhattan": _manhattan,
    "chebyshev": _chebyshev,
    "minkowski": _minkowski,
    "seuclidean": _seuclidean,
    "mahalanobis": _mahalanobis,
    "cosine": _cosine,
    "angular": _angular,
    "correlation": _correlation,
    "haversine": _haversine,
    "hellinger": _hellinger,
    "canberra": _canberra,
    "braycurtis": _braycurtis,
    "hamming": _hamming,
    "jensenshannon": _jensenshannon,
    "nan_euclidean": _nan_euclidean,
    "jaccard": _boolean(lambda both, _, unlike, __, ___: unlike / (both + unlike)),
    "dice": _boolean(lambda both, _, unlike, __, ___: unlike / (2 * both + unlike)),
    "rogerstanimoto": _boolean(
        lambda both, neither, unlike, _, __: 2 * unlike / (both + neither + 2 * unlike)
    ),
    "sokalsneath": _boolean(lambda both, _, unlike, __, ___: 2 * unlike / (both + 2 * unlike)),
}
METRICS = tuple(_METRICS)


def tree_weights(matrix: np.ndarray) -> np.ndarray:
    """Return the sorted weights of a minimum spanning tree, by Prim's algorithm."""
    n = len(matrix)
    if n < 2:
        return np.empty(0, dtype=matrix.dtype)
    nearest = matrix[0].copy()
    joined = np.zeros(n, dtype=bool)
    joined[0] = True
    nearest[0] = np.inf
    found = np.empty(n - 1, dtype=matrix.dtype)
    for step in range(n - 1):
        new = int(nearest.argmin())
        if joined[new]:  # all that are left are infinitely far
            new = int((~joined).argmax())
        found[step] = nearest[new]
        joined[new] = True
        np.minimum(nearest, matrix[new], out=nearest)
        nearest[joined] = np.inf
    return np.sort(found)


def is_tree(edges: np.ndarray, n: int) -> bool:
    """Whether n - 1 pairs join all of n points."""
    group = list(range(n))

    def root(i: int) -> int:
        while group[i] != i:
            group[i] = i = group[group[i]]
        return i

    for i, j in edges.tolist():
        a, b = root(i), root(j)
        if a == b:
            return False
        group[a] = b
    return len(edges) == n - 1


def minimax(matrix: np.ndarray) -> np.ndarray:
    """Return transitive distances by Floyd and Warshall's recursion with (min, max)."""
    out = matrix.copy()
    np.fill_diagonal(out, 0)
    for m in range(len(out)):
        np.minimum(out, np.maximum(out[:, m : m + 1], out[m : m + 1]), out=out)
    return out


def nearest(matrix: np.ndarray, size: int) -> np.ndarray:
    """Return each point itself, then the others in the order of (distance, index)."""
    ranked = matrix.copy()
    np.fill_diagonal(ranked, -1)
    return np.argsort(ranked, axis=1, kind="stable")[:, :size]


def shared(matrix: np.ndarray, lists: np.ndarray) -> np.ndarray:
    """Return distances, those of neighbours times the Jaccard distance of their lists."""
    n, size = lists.shape
    member = np.zeros((n, n))
    np.put_along_axis(member, lists, 1.0, axis=1)
    common = member @ member.T
    jaccard = 1 - Real(1) * common / (2 * size - common)
    return np.where((member + member.T) > 0, matrix * jaccard, matrix)
