"""Gaps between groups, the obvious way: every side listed, every quantile by NumPy."""

from __future__ import annotations

import math

import numpy as np


def percentiles(lengths):
    """Return the logarithm of the 90th percentile, and that of its ratio to the 10th."""
    p10, p90 = np.quantile(np.log(lengths), [0.1, 0.9])
    return p90, max(p90 - p10, 0.4)


def strength(length, sides):
    """Return how far an edge lies beyond those of the side where that is less."""
    return min(round((math.log(length) - p90) / by, 9) for p90, by in map(percentiles, sides))


def components(n_points, edges):
    """Return the smallest member of each point's component."""
    names = np.arange(n_points)
    for i, j in edges:
        low, high = sorted((names[i], names[j]))
        names[names == high] = low
    return names


def find_gaps(tree, n_removed):
    """Return (strength, length, labels) for 2, 3, … groups of a tree without infinite edges."""
    edges, lengths = tree.spanning_tree.edges, tree.heights
    n = tree.n_points
    n_different = np.count_nonzero(lengths) + 1
    smallest = max(4, math.ceil(2 * math.log2(max(n_different, 2))))
    candidates = []
    for merge, children in enumerate(tree.children):
        sides = []
        for child in children:
            inside = np.isin(edges[:merge], tree.members(child)).all(axis=1)
            sides.append(lengths[:merge][inside & (lengths[:merge] > 0)])
        if min(map(len, sides)) + 1 >= smallest:
            candidates.append((-strength(lengths[merge], sides), merge))
    removed = [merge for _, merge in sorted(candidates)[:n_removed]]
    found = []
    while removed:
        kept = np.delete(np.arange(n - 1), removed)
        names = components(n, edges[kept])
        inside = {
            name: lengths[kept][(names[edges[kept, 0]] == name) & (lengths[kept] > 0)]
            for name in set(names.tolist())
        }
        weakest, merge = min(
            (strength(lengths[merge], [inside[names[end]] for end in edges[merge]]), merge)
            for merge in removed
        )
        found.append((weakest, lengths[merge], names))
        removed.remove(merge)
    return found[::-1]
