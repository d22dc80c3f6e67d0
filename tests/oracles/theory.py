"""The paper's definitions word by word, for few points."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np


def partitions(n: int) -> Iterator[list[int]]:
    """Every way to label n points, up to the names of the labels."""
    if n == 0:
        yield []
        return
    for labels in partitions(n - 1):
        for label in range(max(labels, default=-1) + 2):
            yield [*labels, label]


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


def consistent_clusters(distances: np.ndarray) -> set[frozenset[int]]:
    """All sets of points that Definition 2 takes as clusters; a labelling is made of such sets."""
    n = len(distances)
    everyone = frozenset(range(n))
    apart: dict[tuple[frozenset[int], frozenset[int]], float] = {}

    def between(one: frozenset[int], other: frozenset[int]) -> float:
        if (one, other) not in apart:
            apart[one, other] = min(distances[i, j] for i in one for j in other)
        return apart[one, other]

    found = {everyone}
    for size in range(1, n):
        for cluster in map(frozenset, combinations(range(n), size)):
            to_others = between(cluster, everyone - cluster)
            parts = (
                frozenset(part)
                for part_size in range(1, size)
                for part in combinations(sorted(cluster), part_size)
            )
            if to_others > 0 and all(between(part, cluster - part) < to_others for part in parts):
                found.add(cluster)
    return found


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
