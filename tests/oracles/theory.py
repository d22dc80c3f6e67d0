"""The paper's definitions word by word, for few points."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np


def partitions(n: int) -> Iterator[list[int]]:
    """Every way to label n points, up to the names of the labels."""
    for labels in product(*(range(i + 1) for i in range(n))):
        if all(label <= max(labels[:i], default=-1) + 1 for i, label in enumerate(labels)):
            yield list(labels)


def is_consistent(distances: np.ndarray, labels) -> bool:
    """Definition 2 with any distance; equal points, of which it does not speak, stay together."""
    labels = np.asarray(labels)
    for label in np.unique(labels):
        cluster, others = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        if others.size == 0:
            continue
        to_others = distances[np.ix_(cluster, others)].min()
        if to_others == 0:
            return False
        for size in range(1, len(cluster)):
            for part in combinations(cluster, size):
                rest = [i for i in cluster if i not in part]
                if not distances[np.ix_(part, rest)].min() < to_others:
                    return False
    return True


def consistent_counts(matrix: np.ndarray) -> set[int]:
    """The numbers of clusters of consistent labellings, by dividing an ultrametric top down."""
    diameter = matrix.max()
    if diameter == 0:
        return {1}
    counts, left = {0}, np.arange(len(matrix))
    while left.size:
        near = matrix[left[0], left] < diameter
        part = left[near]
        below = consistent_counts(matrix[np.ix_(part, part)])
        counts = {a + b for a in counts for b in below}
        left = left[~near]
    return {1} | counts


def path_along(edges: np.ndarray, i: int, j: int) -> list[int]:
    """The way from i to j along a tree, by trying every edge."""
    ways = {i: [i]}
    while j not in ways:
        for u, v in [*map(tuple, edges), *map(tuple, edges[:, ::-1])]:
            if u in ways and v not in ways:
                ways[int(v)] = [*ways[u], int(v)]
    return ways[j]
