"""Gower's distance (1971) of rows of a table: a mean over the columns that both rows have.

    d(i, j) = sum of w_k d_k(i, j) / sum of w_k,   over the columns k of which neither is missing

d_k is the difference divided by the range of the fit for numbers and dates, and 0 or 1 for equal
or different categories. Without missing values it is the Manhattan distance of mapped rows:
numbers divided by their range, categories as indicators at half weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES
from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Array, Floats
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.maps import unchanged
from isthmus.metrics.rowwise import RowMetric
from isthmus.metrics.table_columns import CATEGORY, TableColumns, learn_columns, weights_of
from isthmus.metrics.table_extension import EncodedTable

NAME = "gower"
_NOTHING_SHARED = (
    "There is no column of which both have a value: fill some in, or leave out such rows."
)
# Indicators of more categories would take more time and memory than rows of distances do.
_MOST_MAPPED = 256


@dataclass(frozen=True)
class GowerMetric:
    """The metric before it has seen a table.

    Attributes
    ----------
    w : sequence, mapping of names, or None
        The weights of the columns.
    """

    w: Any = None
    name: str = NAME

    accepts_nan = True
    accepts_sparse = takes_objects = False

    def learn(self, X: Any) -> Table:
        """Return what a fit needs to know of a table, perhaps one that is encoded."""
        columns, points = X if isinstance(X, EncodedTable) else learn_columns(X)
        return Table(columns, weights_of(self.w, columns), points)


@dataclass(frozen=True, eq=False)
class Table:
    """A table that was read: its columns, their weights, and its rows as numbers."""

    columns: TableColumns
    weights: Floats
    points: Floats

    @property
    def metric(self) -> MappedMetric | RowMetric:
        """The metric between these rows."""
        return gower_between(self.columns, self.weights, self.points)


def table_metric(
    columns: TableColumns, metric_params: Any, *rows: Floats
) -> MappedMetric | RowMetric:
    """Return the metric of encoded rows, with the weights that a user gave."""
    weights = weights_of((metric_params or {}).get("w"), columns)
    return gower_between(columns, weights, *rows)


def gower_between(
    columns: TableColumns, weights: Floats, *rows: Floats
) -> MappedMetric | RowMetric:
    """Return the metric of encoded rows: mapped, unless some values are missing or not known."""
    needs_rows = any(np.isnan(each).any() or columns.is_unseen(each) for each in rows)
    if needs_rows or _n_mapped(columns, weights) > _MOST_MAPPED:
        return gower_by_rows(columns, weights)
    weights = _scaled_weights(weights)
    shares = weights / weights.sum()
    prepare = partial(map_rows, columns, shares)
    return MappedMetric(NAME, ABSOLUTES, 0.0, prepare, unchanged, 1)


def _scaled_weights(weights: Floats) -> Floats:
    """Return weights divided by a power of two, below 1: their sum is finite, none is rounded."""
    scaled: Floats = np.ldexp(weights, -np.frexp(weights.max())[1])
    return scaled


def _n_mapped(columns: TableColumns, weights: Floats) -> int:
    return sum(
        len(column.categories) if column.kind == CATEGORY else 1
        for column, weight in zip(columns.columns, weights, strict=True)
        if weight > 0.0
    )


def map_rows(columns: TableColumns, shares: Floats, points: Array) -> Floats:
    """Return rows whose Manhattan distances are Gower's: see the module.

    points : (n, n_columns), encoded, without missing values and unknown categories
    shares : (n_columns,)
        Weights that add up to 1.
    """
    mapped: list[Floats] = []
    for j, column in enumerate(columns.columns):
        values, share = points[:, j], shares[j]
        if share == 0.0:
            continue
        if column.by_difference:
            mapped.append((values - column.low) * (share / (column.high - column.low)))
        elif column.kind != CATEGORY:  # one number, which a new row may differ from
            mapped.append(share * (values != column.low))
        elif len(column.categories) <= 2:
            mapped.append(share * values)
        else:
            indicators = values[:, None] == np.arange(len(column.categories))
            mapped.extend(0.5 * share * indicators.T)
    return np.column_stack(mapped)


def gower_by_rows(columns: TableColumns, weights: Floats) -> RowMetric:
    """Return the metric, computed a row at a time."""
    weights = _scaled_weights(weights)
    by_difference = np.array([column.by_difference for column in columns.columns])
    lows = np.array([column.low for column in columns.columns])
    ranges = np.array([column.high - column.low for column in columns.columns])
    factors = np.where(by_difference, weights / np.where(by_difference, ranges, 1.0), 1.0)
    origin = np.where(by_difference, lows, 0.0)
    prepare = partial(_scaled, origin, factors)
    fill = partial(_fill, weights, ~by_difference)
    return RowMetric(NAME, prepare, fill, accepts_nan=True, undefined=_NOTHING_SHARED, cost=5)


def _scaled(origin: Floats, factors: Floats, points: Array) -> Floats:
    """Return rows of which the differences of numbers are weighted and divided by ranges."""
    return np.ascontiguousarray((points - origin) * factors, dtype=np.float64)


def _fill(weights: Floats, by_equality: Array, row: Floats, rows: Floats, out: Floats) -> None:
    fill_gower(weights, by_equality, row, rows, out)


@kernel
def fill_gower(weights: Floats, by_equality: Array, row: Floats, rows: Floats, out: Floats) -> None:
    """Fill a row of distances; NaN where two rows share no column that counts.

    weights : (n_columns,) float64, in
    by_equality : (n_columns,) bool, in
        Whether values are compared by whether they are equal, not by their difference.
    row, rows : (1, n_columns), (m, n_columns) float64, in
        Of numbers, weighted and divided by ranges; NaN where a value is missing.
    out : (1, m) float64, out
    """
    for i in range(rows.shape[0]):
        total, shared = 0.0, 0.0
        for j in range(rows.shape[1]):
            difference = abs(rows[i, j] - row[0, j])
            is_known = difference == difference  # noqa: PLR0124 -- neither is NaN
            # Selections, not branches, which no processor could foresee.
            shared += weights[j] if is_known else 0.0
            if by_equality[j]:
                total += weights[j] if difference > 0.0 else 0.0
            else:
                total += difference if is_known else 0.0
        out[0, i] = total / shared if shared > 0.0 else np.nan
