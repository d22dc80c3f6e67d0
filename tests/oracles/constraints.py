"""What is known of rows, applied one edge and one pair at a time."""

from __future__ import annotations

import numpy as np


def groups_of(n: int, must: list, labels: np.ndarray) -> list[set[int]]:
    """Rows that must-links and labels put together."""
    groups = [{i} for i in range(n)]
    same = [(i, j) for i in range(n) for j in range(i) if labels[i] == labels[j] >= 0]
    for i, j in [*must, *same]:
        a, b = (next(group for group in groups if row in group) for row in (i, j))
        if a is not b:
            groups.remove(b)
            a |= b
    return groups


def forbidden_pairs(n: int, cannot: list, labels: np.ndarray) -> list[tuple[int, int]]:
    """Rows that cannot-links and labels put apart."""
    different = [
        (i, j)
        for i in range(n)
        for j in range(i)
        if labels[i] >= 0 and labels[j] >= 0 and labels[i] != labels[j]
    ]
    return [*map(tuple, cannot), *different]


def is_contradiction(groups: list[set[int]], forbidden: list[tuple[int, int]]) -> bool:
    return any({i, j} <= group for group in groups for i, j in forbidden)


def with_zeros(distances: np.ndarray, groups: list[set[int]]) -> np.ndarray:
    """Distances in which rows that belong together are at distance 0."""
    changed = distances.copy()
    for group in groups:
        changed[np.ix_(sorted(group), sorted(group))] = 0.0
    return changed


def edges_left_out(edges: np.ndarray, groups: list, forbidden: list) -> list[int]:
    """Join edges, the shortest first; return those that would join a forbidden pair."""
    parts = [set(group) for group in groups]
    left_out = []
    for e, (i, j) in enumerate(edges.tolist()):
        a, b = (next(part for part in parts if row in part) for row in (i, j))
        if a is b:
            continue
        if any({x, y} <= a | b for x, y in forbidden):
            left_out.append(e)
        else:
            parts.remove(b)
            a |= b
    return left_out
