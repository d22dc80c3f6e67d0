"""The total order of edges: by weight, then by smaller index, then by larger index."""

from __future__ import annotations

import numpy as np

from isthmus._compile import kernel
from isthmus._typing import Floats, Ints

# Runs of equal weights up to this length are sorted in compiled code.
_SHORT = 4096


def total_order(edges: Ints, weights: Floats) -> Ints:
    """Return the order of edges, each given with its smaller index first.

    Sorting by three keys at once is slow. Weights are sorted alone, and only runs of equal ones
    by a key made of both indices.
    """
    order = np.argsort(weights)
    ranked = weights[order]
    changes = np.flatnonzero(ranked[1:] != ranked[:-1]) + 1
    begins = np.concatenate([[0], changes])
    ends = np.concatenate([changes, [len(order)]])
    tied = ends - begins > 1
    if not tied.any():
        return order
    begins, ends = begins[tied], ends[tied]
    keys = edges[:, 0] * (len(weights) + 1) + edges[:, 1]
    short = ends - begins <= _SHORT
    sort_runs(order, keys, begins[short], ends[short])
    for begin, end in zip(begins[~short], ends[~short], strict=True):
        run = order[begin:end]
        order[begin:end] = run[np.argsort(keys[run])]
    return order


@kernel
def sort_runs(order: Ints, keys: Ints, begins: Ints, ends: Ints) -> None:
    """Sort the runs order[begins[r]:ends[r]], in place, by keys[order[…]]: Shell's sort."""
    for r in range(begins.shape[0]):
        begin, end = begins[r], ends[r]
        gap = 1
        while 3 * gap + 1 < end - begin:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(begin + gap, end):
                edge = order[i]
                key = keys[edge]
                j = i
                while j >= begin + gap and keys[order[j - gap]] > key:
                    order[j] = order[j - gap]
                    j -= gap
                order[j] = edge
            gap //= 3
