"""Must-links, cannot-links and partial labels as users give them → checked rules, or an error."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from isthmus._utils.typing import Array, Floats, Ints
from isthmus.cut.constraints import UNKNOWN, Rules


def check_rules(
    must_link: Any,
    cannot_link: Any,
    partial_labels: Any,
    n_rows: int,
    weights: Floats | None = None,
) -> Rules | None:
    """Return what is known of the rows on the tree; None where that is nothing.

    weights : (n_rows,) float64, optional
        Rows of weight 0 are not on the tree; nothing may be said of them.
    """
    if must_link is None and cannot_link is None and partial_labels is None:
        return None
    together = _check_pairs(must_link, "must_link", n_rows)
    apart = _check_pairs(cannot_link, "cannot_link", n_rows)
    label = _check_labels(partial_labels, n_rows)
    group = _groups(together, label)
    _refuse_contradictions(group, apart, label)
    rules = Rules(_stars(group), apart, label)
    if len(rules.together) == 0 and rules.only_together:
        return None
    return rules if weights is None else _on_tree(rules, weights)


def _check_pairs(pairs: Any, name: str, n_rows: int) -> Ints:
    """Return pairs of row numbers, (m, 2) int64, the smaller one first."""
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    array = _as_array(pairs, f"{name} must be pairs of row numbers, of shape (n_pairs, 2)")
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"{name} must be pairs of row numbers, an array of shape (n_pairs, 2); got shape "
            f"{array.shape}."
        )
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be pairs of integers, got dtype {array.dtype}.")
    if array.min() < 0 or array.max() >= n_rows:
        wrong = array[(array < 0) | (array >= n_rows)][0]
        raise ValueError(f"{name} names row {wrong}, but rows are numbered from 0 to {n_rows - 1}.")
    return np.sort(array.astype(np.int64), axis=1)


def _as_array(given: Any, expected: str) -> Array:
    try:
        return np.asarray(given)
    except ValueError:
        raise ValueError(f"{expected}; got lists of several lengths.") from None


def _check_labels(labels: Any, n_rows: int) -> Ints:
    """Return one label for each row, UNKNOWN where there is none."""
    if labels is None:
        return np.full(n_rows, UNKNOWN)
    array = _as_array(labels, f"partial_labels must have one label for each of {n_rows} rows")
    if array.shape != (n_rows,):
        raise ValueError(
            f"partial_labels must have one label for each of {n_rows} rows, -1 where it is not "
            f"known; got shape {array.shape}."
        )
    if array.dtype.kind not in "iu":
        raise TypeError(
            "partial_labels must be integers, -1 where the label is not known; got dtype "
            f"{array.dtype}."
        )
    if array.min() < UNKNOWN:
        raise ValueError(
            f"partial_labels must be 0 or more, or -1 where the label is not known; row "
            f"{int(array.argmin())} has {array.min()}."
        )
    return array.astype(np.int64)


def _groups(together: Ints, label: Ints) -> Ints:
    """Return the group of each row: rows that must-links and labels put together, (n,)."""
    n_rows = len(label)
    known = np.flatnonzero(label != UNKNOWN)
    _, first, inverse = np.unique(label[known], return_index=True, return_inverse=True)
    pairs = np.concatenate([together, np.column_stack([known[first][inverse], known])])
    graph = coo_array((np.ones(len(pairs), dtype=np.int8), pairs.T), shape=(n_rows, n_rows))
    groups: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    return groups


def _stars(group: Ints) -> Ints:
    """Return edges from the first row of each group to the others, (m, 2)."""
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    others = np.flatnonzero(first[inverse] != np.arange(len(group)))
    return np.column_stack([first[inverse[others]], others])


def _refuse_contradictions(group: Ints, apart: Ints, label: Ints) -> None:
    together = np.flatnonzero(group[apart[:, 0]] == group[apart[:, 1]])
    if len(together):
        i, j = apart[together[0]].tolist()
        if i == j:
            raise ValueError(f"cannot_link puts row {i} apart from itself.")
        raise ValueError(
            f"cannot_link puts rows {i} and {j} apart, but must_link or partial_labels put them "
            "together, directly or by way of other rows."
        )
    known = np.flatnonzero(label != UNKNOWN)
    _, first, inverse = np.unique(group[known], return_index=True, return_inverse=True)
    others = known[first][inverse]  # of each row with a label, the first in its group
    wrong = np.flatnonzero(label[others] != label[known])
    if len(wrong):
        i, j = int(others[wrong[0]]), int(known[wrong[0]])
        raise ValueError(
            f"must_link puts rows {i} and {j} together, directly or by way of other rows, but "
            f"partial_labels are {label[i]} and {label[j]}."
        )


def _on_tree(rules: Rules, weights: Floats) -> Rules:
    """Return the rules with rows numbered as the points of the tree."""
    aside = weights == 0.0
    if not aside.any():
        return rules
    named = np.concatenate(
        [rules.together.ravel(), rules.apart.ravel(), np.flatnonzero(rules.label != UNKNOWN)]
    )
    if aside[named].any():
        raise ValueError(
            f"Row {int(named[aside[named]][0])} has a sample_weight of 0, so it takes no part in "
            "the fit: must_link, cannot_link and partial_labels may not name it."
        )
    number = np.cumsum(~aside) - 1
    return Rules(number[rules.together], number[rules.apart], rules.label[~aside])
