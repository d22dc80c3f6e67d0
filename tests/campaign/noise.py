"""Part (b), rows that are noise: scores, thresholds, CUT and new points word by word.

None stands for what cannot be said: a tie that rounding may turn either way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from campaign import definitions, exact
from campaign.definitions import TIE

# Heights that agree to twelve digits are one event.
_EVENT = 1 + 1e-12
RULES = ("auto", 0.2, ("score", 0.5))


def outlier_scores(matrix: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return 1 - (mean height at which a point's reference group joined) / (height of its own)."""
    heights = np.array([joining_height(row, weights) for row in matrix])
    return np.array(
        [
            1 - mean_share(row, heights, height, weights)
            for row, height in zip(matrix, heights, strict=True)
        ]
    )


def scores_of_new(
    rows: np.ndarray, matrix: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of points that are not on the tree, and whether rounding decides none."""
    heights = np.array([joining_height(row, weights) for row in matrix])
    found, sure = [], []
    for row in rows:
        height = joining_height(row, weights)
        found.append(1 - mean_share(row, np.minimum(heights, height), height, weights))
        near = np.abs(row - height) <= TIE * height
        sure.append(bool((row[near] == height).all()))
    return np.array(found), np.array(sure)


def joining_height(row: np.ndarray, weights: np.ndarray) -> exact.Real:
    """Return the lowest height within which the points weigh as much as √n of them."""
    one = min(weights.sum() / len(weights), exact.Real(1))
    least = np.sqrt(weights.sum() / one) * one
    height = min(h for h in row if weights[row <= h * _EVENT].sum() >= least * (1 - 1e-12))
    return row[row <= height * _EVENT].max()


def mean_share(row, heights, height, weights) -> exact.Real:
    """Return the mean height of a group as a share of that of a point; 1 at height 0."""
    group = row <= height * _EVENT
    if height == 0:
        return exact.Real(1)
    return (heights[group] / height * weights[group]).sum() / weights[group].sum()


def threshold(scores: np.ndarray, weights: np.ndarray, rule: Any) -> float | None:
    """Return the score above which a row is noise."""
    if isinstance(rule, tuple):
        return float(rule[1])
    values = _distinct(scores)
    if rule != "auto":
        for value in values:
            above = weights[scores > value + TIE].sum()
            if abs(above - rule * weights.sum()) <= TIE * weights.sum():
                return None
            if above < rule * weights.sum():
                return float(value)
    return _between_groups(scores, weights, values)


def _between_groups(scores: np.ndarray, weights: np.ndarray, values: list[Any]) -> float | None:
    """Return Otsu's threshold of the logarithms where they are two groups, and 0.7 elsewhere."""
    logs, share = -np.log(1 - np.minimum(scores, exact.Real(0.99))), weights / weights.sum()
    mean = (share * logs).sum()
    variance = (share * (logs - mean) ** 2).sum()
    found = []
    for value in values[:-1]:
        low = scores <= value + TIE
        below = share[low].sum()
        apart = (share * logs)[~low].sum() / (1 - below) - (share * logs)[low].sum() / below
        found.append((below * (1 - below) * apart**2, apart, value))
    if not found:
        return 0.7
    between, apart, value = max(found)
    others = [other for other, *_ in found if other != between]
    near = [apart - 1, apart - 0.4, between - 0.8 * variance]
    if min(map(abs, near)) < 1e-6 or any(other > between * (1 - 1e-6) for other in others):
        return None
    return float(value) if apart > 1 or (apart > 0.4 and between > 0.8 * variance) else 0.7


def _distinct(scores: np.ndarray) -> list[Any]:
    """Return the scores, ascending, one of those that rounding tells apart."""
    found: list[Any] = []
    for score in sorted(scores):
        if not found or score > found[-1] + TIE:
            found.append(score)
    return found


def cut(edges, lengths, k: int, weights: np.ndarray, is_noise: np.ndarray) -> np.ndarray | None:
    """Return the clusters that CUT finds where noise weighs nothing, of noise -1."""
    groups = [{i} for i in range(len(weights))]
    left = []
    for e, (a, b) in enumerate(edges.tolist()):
        if not any(all(is_noise[v] for v in groups[x]) for x in (a, b)):
            left.append(e)
        union = groups[a] | groups[b]
        for v in union:
            groups[v] = union
    uncut, kept = set(range(len(edges))), np.where(is_noise, 0, weights)
    for _ in range(k - 1):
        scores = []
        for e in left:
            sides = [definitions._reached(edges, uncut - {e}, int(x)) for x in edges[e]]
            a, b = (kept[side].sum() for side in sides)
            scores.append((lengths[e] * a * b / (a + b), e))
        scores.sort()
        if len(scores) > 1 and scores[-2][0] >= scores[-1][0] * (1 - TIE):
            return None
        uncut.remove(scores[-1][1])
        left.remove(scores[-1][1])
    labels = np.full(len(weights), -1)
    for number in range(k):
        first = int(((labels < 0) & ~is_noise).argmax())
        part = np.array(definitions._reached(edges, uncut, first))
        labels[part[~is_noise[part]]] = number
    return labels


def check_noise(fit: Any) -> None:
    """Which rows and new points are noise, and what CUT makes of the others."""
    case, script = fit.case, fit.script
    rule = RULES[(len(case.X) + case.k) % 3]
    scores = outlier_scores(fit.plain, fit.weights)
    limit = threshold(scores, fit.weights, rule)
    if limit is None:
        return
    is_noise = scores > limit + TIE
    if not isinstance(rule, tuple):  # it is one of the scores, or none is near it
        limit_is_sure = True
    else:
        limit_is_sure = bool((np.abs(scores - limit) > TIE).all())
    weights = ", sample_weight=w" if case.weights is not None else ""
    code = case.constructor[:-1] + f", noise={rule!r})"
    error = script.attempt(f"noisy = {code}.fit(X{weights})", ValueError)
    fit.counts["estimators"] += 1
    if error is not None:
        if "are not noise" not in str(error) or (~is_noise).sum() >= case.k:
            script.fail("ValueError", str(error))
        script.forget()
        return
    if not limit_is_sure:
        return
    fit.counts["noise by brute force"] += 1
    script.given(on_tree=np.flatnonzero(fit.fitted), is_noise=is_noise)
    script.check(
        "((noisy.labels_[on_tree] == -1) == is_noise).all()",
        "other rows are noise",
        "noisy.labels_, noisy.outlier_scores_, noisy.noise_threshold_",
    )
    labels = script.names["noisy"].labels_[fit.fitted]
    if case.method == "cut":
        tree = script.names["noisy"].spanning_tree_
        expected = cut(tree.edges, tree.weights.astype(exact.Real), case.k, fit.weights, is_noise)
        if expected is not None and not definitions.same_partition(expected, labels):
            script.given(expected=expected)
            script.check(
                "len(set(zip(noisy.labels_[on_tree].tolist(), expected.tolist()))) == "
                "len(set(expected.tolist()))",
                "wrong labels beside noise",
                "noisy.labels_",
            )
    _check_new(fit, is_noise, limit)


def _check_new(fit: Any, is_noise: np.ndarray, limit: float) -> None:
    """New points are noise by their own scores; those equal to a row are what it is."""
    case, script = fit.case, fit.script
    hops = exact.distances(case.new, case.X[fit.fitted], case.metric, case.params)
    hops[(case.new[:, None] == case.X[fit.fitted][None]).all(-1)] = 0
    rows = definitions.transitive(hops, fit.plain)
    scores, sure = scores_of_new(rows, fit.plain, fit.weights)
    sure &= np.abs(scores - limit) > 1e-6
    equal = hops.min(axis=1) == 0
    expected = np.where(equal, is_noise[hops.argmin(axis=1)], scores > limit)
    script.given(sure=np.flatnonzero(sure & ~equal | equal & (hops == 0).sum(1) == 1))
    script.given(expected=expected[script.names["sure"]])
    script.check(
        "((noisy.predict(new)[sure] == -1) == expected).all()",
        "other new points are noise",
        "noisy.predict(new)[sure], expected",
    )
