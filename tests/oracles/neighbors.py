"""Neighbours, shared distances and spanning trees by their definitions, from all pairs."""

from __future__ import annotations

import numpy as np


def accumulated(X: np.ndarray, metric: str) -> np.ndarray:
    """Return all distances, as they are compared: squared ones for the Euclidean metric."""
    X = np.asarray(X, dtype=float)
    total = np.zeros((len(X), len(X)))
    for column in X.T:
        difference = np.abs(column[:, None] - column[None, :])
        if metric == "euclidean":
            total += difference * difference
        elif metric == "manhattan":
            total += difference
        else:
            total = np.maximum(total, difference)
    return total


def neighbors_of(distances: np.ndarray, n_neighbors: int) -> np.ndarray:
    """Return each point itself, then the others in the order of (distance, index)."""
    lists = []
    for i, row in enumerate(distances):
        others = [int(j) for j in np.lexsort((np.arange(len(row)), row)) if j != i]
        lists.append([i, *others[: n_neighbors - 1]])
    return np.array(lists)


def jaccard(a: set[int], b: set[int]) -> float:
    return 1.0 - len(a & b) / len(a | b)


def shared(distances: np.ndarray, neighbors: np.ndarray) -> np.ndarray:
    """Return all distances, those of neighbours times the Jaccard distance of their sets."""
    sets = [set(row) for row in neighbors.tolist()]
    result = distances.copy()
    for i, row in enumerate(neighbors):
        for j in row[1:]:
            result[i, j] = result[j, i] = distances[i, j] * jaccard(sets[i], sets[j])
    return result


def shared_of_new(distances: np.ndarray, neighbors: np.ndarray) -> np.ndarray:
    """Return the distances of new points to all, those of their own neighbours multiplied."""
    size = neighbors.shape[1]
    sets = [set(row) for row in neighbors.tolist()]
    result = distances.copy()
    for x, row in enumerate(distances):
        if row.min() == 0.0:
            continue  # it is a point of the fit
        nearest = np.lexsort((np.arange(len(row)), row))[: size - 1].tolist()
        own = {-1, *nearest}  # -1 is the new point itself
        for v in nearest:
            result[x, v] = row[v] * jaccard(own, sets[v])
    return result


def kruskal(distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the spanning tree of all pairs, by (weight, smaller index, larger index)."""
    i, j = np.triu_indices(len(distances), 1)
    weights = distances[i, j]
    parent = list(range(len(distances)))

    def root(x: int) -> int:
        while parent[x] != x:
            x = parent[x]
        return x

    chosen = []
    for e in np.lexsort((j, i, weights)):
        a, b = root(int(i[e])), root(int(j[e]))
        if a != b:
            parent[a] = b
            chosen.append(e)
    return np.column_stack([i[chosen], j[chosen]]), weights[chosen]
