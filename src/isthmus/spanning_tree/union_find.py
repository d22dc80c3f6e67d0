"""Disjoint sets of integers. Parents are smaller than their children: roots are the smallest."""

from __future__ import annotations

from isthmus._numba.kernel import kernel_part
from isthmus._utils.typing import Ints


@kernel_part
def find(parent: Ints, x: int) -> int:
    """Return the root of x's set, shortening the path to it."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@kernel_part
def unite(parent: Ints, a: int, b: int) -> bool:
    """Join the sets of two integers; return whether they differed.

    Both paths are climbed at once, always from where the parent is larger, and that parent gives
    way to the smaller one: Rem's algorithm, which often ends before it has come to a root.
    """
    while True:
        above_a, above_b = parent[a], parent[b]
        if above_a == above_b:
            return False
        if above_a < above_b:
            a, b = b, a
            above_a, above_b = above_b, above_a
        parent[a] = above_b
        if above_a == a:
            return True
        a = int(above_a)
