"""Clusters as unions of cells → the features in which each differs most from all other rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from isthmus._utils.typing import Array, Floats, Ints
from isthmus.explorer.user_table import Columns

# How many are listed for each cluster.
_LISTED = 3
# A column of texts is one of categories if it has at most this many, at least two rows of each.
_MOST_CATEGORIES = 30
# The most sums, cells times features, that are computed.
_MOST_SUMS = 1 << 22


class Difference(NamedTuple):
    """How a cluster differs from the rest.

    ``effect`` is the difference of means over the standard deviation of all rows. Of a category,
    means are shares.
    """

    name: str
    category: str | None
    effect: float
    inside: float
    outside: float


class _Features(NamedTuple):
    """d features: names and categories, weights and sums by cell, (c, d), and variances, (d,)."""

    names: list[tuple[str, str | None]]
    weight: Floats
    total: Floats
    variance: Floats


def largest_differences(
    columns: Columns, cell_of: Ints, weights: Floats, members: Array
) -> list[list[Difference]]:
    """Return the largest differences of each cluster.

    Parameters
    ----------
    columns : Columns
    cell_of : (n_rows,) int64
    weights : (n_rows,) float64
    members : (n_clusters, c) bool
        The cells of each cluster.
    """
    n_cells = members.shape[1]
    groups = csr_array((weights, (cell_of, np.arange(len(cell_of)))), shape=(n_cells, len(cell_of)))
    parts = [_of_numbers(columns, groups), *_of_categories(columns, groups)]
    names = [name for part in parts for name in part.names]
    if not names:
        return [[] for _ in members]
    weight, total = (np.concatenate([part[i] for part in parts], axis=1) for i in (1, 2))
    variance = np.concatenate([part.variance for part in parts])
    return _ranked(names, _effects(members, weight, total, variance))


def _of_numbers(columns: Columns, groups: csr_array) -> _Features:
    numbers, n_cells, n_columns = columns.numbers, groups.shape[0], columns.numbers.shape[1]
    if n_columns * n_cells > _MOST_SUMS or not columns.names:
        empty = np.empty((n_cells, 0))
        return _Features([], empty, empty, np.empty(0))
    names: list[tuple[str, str | None]] = [(name, None) for name in columns.names]
    if issparse(numbers):
        weight = np.repeat(groups.sum(axis=1)[:, None], n_columns, axis=1)
        total, squares = (groups @ numbers).toarray(), (groups @ numbers.power(2)).toarray()
        mean = total.sum(axis=0) / weight.sum(axis=0)
        return _Features(names, weight, total, squares.sum(axis=0) / weight.sum(axis=0) - mean**2)
    weight, total, variance = *np.empty((2, n_cells, n_columns)), np.empty(n_columns)
    for j in range(n_columns):
        column = numbers[:, j].astype(np.float64)
        present = np.isfinite(column)
        middle = column[present].mean() if present.any() else 0.0
        # about the mean, so that no digits are lost
        centred = np.where(present, column - middle, 0.0)
        weight[:, j], sums = groups @ present.astype(np.float64), groups @ centred
        total[:, j] = sums + weight[:, j] * middle
        whole = max(float(weight[:, j].sum()), 1e-300)
        variance[j] = (groups @ centred**2).sum() / whole - (sums.sum() / whole) ** 2
    return _Features(names, weight, total, variance)


def _of_categories(columns: Columns, groups: csr_array) -> list[_Features]:
    found = []
    for name, texts in columns.texts.items():
        categories, codes = np.unique(np.array(texts, dtype=object), return_inverse=True)
        if not 2 <= len(categories) <= min(_MOST_CATEGORIES, len(texts) // 2):
            continue
        n_rows = len(texts)
        is_in = csr_array(
            (np.ones(n_rows), (np.arange(n_rows), codes)), shape=(n_rows, len(categories))
        )
        total = (groups @ is_in).toarray()
        weight = np.repeat(groups.sum(axis=1)[:, None], len(categories), axis=1)
        names: list[tuple[str, str | None]] = [(name, str(each)) for each in categories]
        share = total.sum(axis=0) / weight.sum(axis=0)
        found.append(_Features(names, weight, total, share * (1.0 - share)))
    return found


def _effects(
    members: Array, weight: Floats, total: Floats, variance: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the effects and the means inside and outside, (n_clusters, d); NaN where unknown."""
    inside, outside = members.astype(np.float64), (~members).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean_inside = (inside @ total) / (inside @ weight)
        mean_outside = (outside @ total) / (outside @ weight)
        effects = (mean_inside - mean_outside) / np.sqrt(variance)
    return effects, mean_inside, mean_outside


def _ranked(
    names: list[tuple[str, str | None]], effects: tuple[Floats, Floats, Floats]
) -> list[list[Difference]]:
    sizes = np.abs(np.nan_to_num(effects[0], nan=0.0, posinf=0.0, neginf=0.0))
    order = np.argsort(-sizes, axis=1, kind="stable")[:, :_LISTED]
    return [
        [
            Difference(*names[j], *(float(each[i, j]) for each in effects))
            for j in columns.tolist()
            if sizes[i, j] > 0.0
        ]
        for i, columns in enumerate(order)
    ]
