"""Features and clusters → for each cluster a rule, from a decision tree, that tells it from others.

The rule is one leaf of a tree of limited depth, grown for the cluster against all other rows: that
of the best F1 score. Conditions on one feature and in one direction are one condition.

Trees of scikit-learn hold features as float32, so they are grown from ranks. A bound lies between
the values of two neighbouring ranks, with as few digits as that takes, and is measured as it is
written.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, issparse
from sklearn.tree import DecisionTreeClassifier

from isthmus._utils.typing import Array, Floats, Ints

# The most rows that a tree is grown from; precision and recall are those of all rows.
_MOST_ROWS = 20_000


class Rule(NamedTuple):
    """A conjunction of conditions, and how well it describes a cluster.

    Attributes
    ----------
    text : str
        Such as ``"petal length <= 2.45 and petal width > 0.8"``; "every row" without conditions.
    precision : float
        The share of the rows that meet it that are in the cluster.
    recall : float
        The share of the cluster's rows that meet it.

    See Also
    --------
    isthmus.summary.explanation.ClusterExplanation : Has it.

    Examples
    --------
    >>> from isthmus import TransitiveCut
    >>> points = [[0.0, 3.0], [0.1, 2.0], [0.2, 4.0], [5.0, 3.0], [5.1, 2.0]]
    >>> explanations = TransitiveCut(n_clusters=2).fit(points).explain()
    >>> rule = explanations[1].rule
    >>> rule.text, rule.precision, rule.recall
    ('x0 > 2.6', 1.0, 1.0)
    """

    text: str
    precision: float
    recall: float


def find_rules(
    numbers: Any, names: list[str], codes: Ints, weights: Floats, max_depth: int
) -> list[Rule]:
    """Return a rule for each cluster.

    Parameters
    ----------
    numbers : (n, d) array or sparse matrix
        NaN where a value is missing, which meets no condition.
    names : list of d str
    codes : (n,) int64
        The cluster of each row, from 0; none is empty.
    weights : (n,) float64
    max_depth : int
        The most conditions of a rule.
    """
    if issparse(numbers):
        columns: Any = csc_array(numbers)
    else:
        columns = np.asfortranarray(numbers, dtype=np.float64)  # each column in one piece
    rows = _rows_to_grow_from(codes)
    ranks, values = _ranked(columns[rows])
    found = []
    for cluster in range(int(codes.max()) + 1):
        is_in = codes == cluster
        tree = DecisionTreeClassifier(max_depth=max_depth, random_state=0)
        tree.fit(ranks, is_in[rows], sample_weight=weights[rows])
        candidates = [
            _measured(path, columns, is_in, weights) for path in _paths(tree.tree_, values)
        ]
        conditions, rule = max(candidates, key=lambda each: _f1(each[1]))
        found.append(rule._replace(text=_text(conditions, names)))
    return found


class _Values(NamedTuple):
    """The different values of a feature, ascending, and which of them has the rank 0."""

    values: Floats
    zero: int

    def bound(self, rank: float) -> float:
        """Return a number with few digits between the values next to a rank."""
        below = math.floor(rank) + self.zero
        return _between(float(self.values[below]), float(self.values[below + 1]))


def _ranked(columns: Any) -> tuple[Any, list[_Values]]:
    """Return the rank of each entry in its column, and the values; of a sparse matrix 0 has rank 0.

    Where values are missing the median takes their place.
    """
    found = []
    if not issparse(columns):
        filled = _filled(columns)
        ranks = np.empty(filled.shape, dtype=np.float32)
        for j, column in enumerate(filled.T):
            values, ranks[:, j] = np.unique(column, return_inverse=True)
            found.append(_Values(values, 0))
        return ranks, found
    ranks = columns.astype(np.float32)
    for start, stop in pairwise(columns.indptr):
        stored = columns.data[start:stop]
        has_zero = stop - start < columns.shape[0]
        values = np.unique(np.append(stored, 0.0) if has_zero else stored)
        found.append(_Values(values, int(np.searchsorted(values, 0.0)) if has_zero else 0))
        ranks.data[start:stop] = np.searchsorted(values, stored) - found[-1].zero
    return ranks, found


def _between(low: float, high: float) -> float:
    """Return a number of four digits, or as few more as it takes, from low up to below high."""
    middle = low / 2.0 + high / 2.0
    rounded = (float(f"{middle:.{digits}g}") for digits in range(4, 18))
    return next((number for number in rounded if low <= number < high), low)


# Of a feature, by its number, the values above the first and up to the second bound.
Conditions = dict[int, tuple[float, float]]


def _paths(tree: Any, values: list[_Values]) -> list[Conditions]:
    """Return the conditions that lead to each leaf of a decision tree, grown from ranks."""
    found, waiting = [], [(0, Conditions())]
    while waiting:
        node, conditions = waiting.pop()
        if tree.children_left[node] < 0:
            found.append(conditions)
            continue
        feature = int(tree.feature[node])
        value = values[feature].bound(float(tree.threshold[node]))
        low, high = conditions.get(feature, (-np.inf, np.inf))
        right = conditions | {feature: (max(low, value), high)}
        left = conditions | {feature: (low, min(high, value))}
        waiting += [(int(tree.children_right[node]), right), (int(tree.children_left[node]), left)]
    return found


def _measured(
    conditions: Conditions, columns: Any, is_in: Array, weights: Floats
) -> tuple[Conditions, Rule]:
    meets = np.ones(len(is_in), dtype=bool)
    for feature, (low, high) in conditions.items():
        column = columns[:, [feature]] if issparse(columns) else columns[:, feature]
        if issparse(columns):
            column = column.toarray().ravel()
        if low > -np.inf:
            meets &= column > low
        if high < np.inf:
            meets &= column <= high
    # sums by products: picking rows takes longer
    both, met = float((meets & is_in) @ weights), float(meets @ weights)
    inside = float(is_in @ weights)
    return conditions, Rule("", both / met if met else 0.0, both / inside)


def _f1(rule: Rule) -> float:
    return 2.0 * rule.precision * rule.recall / ((rule.precision + rule.recall) or 1.0)


def _text(conditions: Conditions, names: list[str]) -> str:
    parts = []
    for feature, (low, high) in conditions.items():
        name = names[feature]
        if np.isinf(low):
            parts.append(f"{name} <= {_number(high)}")
        elif np.isinf(high):
            parts.append(f"{name} > {_number(low)}")
        else:
            parts.append(f"{_number(low)} < {name} <= {_number(high)}")
    return " and ".join(parts) or "every row"


def _number(bound: float) -> str:
    """Return all digits of a number."""
    return repr(bound).removesuffix(".0")


def _rows_to_grow_from(codes: Ints) -> Ints:
    """Return all rows, or as many of each cluster as its share of them, and at least one."""
    if len(codes) <= _MOST_ROWS:
        return np.arange(len(codes))
    order = np.random.default_rng(0).permutation(len(codes))
    first = order[np.unique(codes[order], return_index=True)[1]]
    return np.union1d(order[:_MOST_ROWS], first)


def _filled(numbers: Floats) -> Floats:
    """Return numbers with the median of a feature where a value is missing."""
    missing = np.isnan(numbers)
    if not missing.any():
        return numbers
    medians = [
        float(np.median(column[~gone])) if not gone.all() else 0.0
        for column, gone in zip(numbers.T, missing.T, strict=True)
    ]
    return np.where(missing, medians, numbers)
