"""Clusters, new points and figures by their definitions, from the dense matrix, in long double.

None stands for what cannot be said: a tie that rounding may turn either way.
"""

from __future__ import annotations

import numpy as np

from campaign.exact import Real

# Scores and distances nearer to one another than this, in proportion, are ties.
TIE = 1e-9


def cut(edges: np.ndarray, lengths: np.ndarray, k: int, weights: np.ndarray) -> np.ndarray | None:
    """CUT word by word: every edge of every part is tried, its sides found by walking."""
    n = len(weights)
    left = set(range(n - 1))
    scores: dict[int, Real] = {}
    for _ in range(k - 1):
        for e in left - scores.keys():
            others = left - {e}
            a, b = (weights[_reached(edges, others, int(end))].sum() for end in edges[e])
            scores[e] = Real(lengths[e]) * a * b / (a + b)
        ranked = sorted(left, key=lambda e: scores[e])
        best = ranked[-1]
        if len(ranked) > 1 and scores[ranked[-2]] >= scores[best] * (1 - TIE):
            return None
        part = set(_reached(edges, left, int(edges[best][0])))
        left.remove(best)
        scores = {e: s for e, s in scores.items() if e in left and int(edges[e][0]) not in part}
    labels = np.full(n, -1)
    for number in range(k):
        labels[_reached(edges, left, int((labels < 0).argmax()))] = number
    return labels


def _reached(edges: np.ndarray, using: set[int], start: int) -> list[int]:
    beside: dict[int, list[int]] = {}
    for e in using:
        i, j = int(edges[e][0]), int(edges[e][1])
        beside.setdefault(i, []).append(j)
        beside.setdefault(j, []).append(i)
    found, to_visit = {start}, [start]
    while to_visit:
        for other in beside.get(to_visit.pop(), ()):
            if other not in found:
                found.add(other)
                to_visit.append(other)
    return sorted(found)


def squared_to_centres(rows, matrix, labels, weights, space: str) -> np.ndarray:
    """Return squared distances to the centres of clusters, of points given by their distances.

    rows : (m, n) distances of the points to the fitted ones; matrix : (n, n), of the fitted ones
    """
    found = []
    for a in range(int(labels.max()) + 1):
        share = weights * (labels == a)
        share = share / share.sum()
        if space == "rows":
            found.append(((rows - matrix @ share) ** 2 * weights).sum(-1))
        else:
            found.append(rows**2 @ share - share @ matrix**2 @ share / 2)
    return np.array(found).T


def first_nearest(squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest centre of each row, and whether no other is as near."""
    ranked = np.sort(squared, axis=1)
    sure = np.ones(len(squared), dtype=bool)
    if squared.shape[1] > 1:
        sure = ranked[:, 1] - ranked[:, 0] > TIE * ranked[:, 1]
    return squared.argmin(axis=1), sure


def lloyd(matrix, labels, weights, space: str) -> np.ndarray | None:
    """K-means from a partition until nothing changes."""
    k = int(labels.max()) + 1
    for _ in range(300):
        new, sure = first_nearest(squared_to_centres(matrix, matrix, labels, weights, space))
        if not sure.all() or len(set(new.tolist())) < k:
            return None
        if (new == labels).all():
            return labels
        labels = new
    return None


def inertia(matrix, labels, weights, space: str) -> Real:
    """Return the sum of squared distances of points to their own centres."""
    squared = squared_to_centres(matrix, matrix, labels, weights, space)
    return (squared[np.arange(len(labels)), labels] * weights).sum()


def silhouettes(matrix, labels, weights) -> np.ndarray:
    """Return scikit-learn's silhouettes; integer weights count as repeated rows."""
    sums = np.array([matrix @ (weights * (labels == a)) for a in range(int(labels.max()) + 1)]).T
    sizes = np.array([weights[labels == a].sum() for a in range(int(labels.max()) + 1)])
    own = np.arange(len(labels)), labels
    inside = sums[own] / np.maximum(sizes[labels] - 1, 1)
    outside = sums / sizes
    outside[own] = np.inf
    nearest = outside.min(axis=1)
    largest = np.maximum(inside, nearest)
    found = np.where(largest > 0, (nearest - inside) / np.where(largest > 0, largest, 1), 0)
    return np.where(sizes[labels] > 1, found, 0)


def transitive(hops: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return D(x, v) = min over u of max(d(x, u), D(u, v)) for new points x."""
    return np.array([np.maximum(row[:, None], matrix).min(axis=0) for row in hops])


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two labellings differ in the numbers of clusters alone."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs})
