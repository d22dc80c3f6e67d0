"""Noise word by word: thresholds, and CUT that counts noise for nothing."""

import math

import numpy as np


def threshold_of_share(scores, share):
    """The lowest score above which there are at most a share of the points."""
    fitting = [s for s in scores if (scores > s).sum() <= share * len(scores) * (1 + 1e-12)]
    return min(fitting)


def threshold_between_groups(scores):
    """Otsu's threshold of the logarithms where they are two groups, and 0.7 elsewhere."""
    logs = [-math.log(1 - min(s, 0.99)) for s in scores]
    best, found = -1.0, (0.7, 0.0, 0.0)
    for s in sorted(set(scores))[:-1]:
        low = [x for x, score in zip(logs, scores, strict=True) if score <= s]
        high = [x for x, score in zip(logs, scores, strict=True) if score > s]
        apart = np.mean(high) - np.mean(low)
        between = len(low) * len(high) / len(logs) ** 2 * apart**2
        if between > best:
            best, found = between, (s, apart, between)
    threshold, apart, between = found
    if apart >= 1.0 or (apart >= 0.4 and between >= 0.8 * np.var(logs)):
        return threshold
    return 0.7


def cut_without_noise(edges, weights, is_noise, n_clusters):
    """The parts, as sets of kept points, of a tree from which n_clusters - 1 edges are cut.

    Sides are counted in kept points. An edge along which noise alone joins others is never cut.
    """
    groups = {i: {i} for i in range(len(is_noise))}
    allowed = []
    for e, (a, b) in enumerate(edges):
        if not any(all(is_noise[v] for v in groups[x]) for x in (a, b)):
            allowed.append(e)
        union = groups[a] | groups[b]
        for v in union:
            groups[v] = union
    cut = set()
    for _ in range(n_clusters - 1):
        scored = {}
        for e in set(allowed) - cut:
            sides = [_kept(edges, cut | {e}, is_noise, x) for x in edges[e]]
            a, b = (len(side) for side in sides)
            scored[e] = weights[e] * a * b / (a + b)
        cut.add(max(scored, key=scored.get))
    kept = np.flatnonzero(~is_noise)
    return {frozenset(_kept(edges, cut, is_noise, x)) for x in kept}


def _kept(edges, removed, is_noise, start):
    """The kept points that edges, but for some, connect with a point."""
    reached, waiting = {start}, [start]
    while waiting:
        x = waiting.pop()
        for e, (a, b) in enumerate(edges):
            if e not in removed and x in (a, b):
                y = b if x == a else a
                if y not in reached:
                    reached.add(y)
                    waiting.append(y)
    return {int(x) for x in reached if not is_noise[x]}
