"""Encoded rows of a table, and new rows → all of them, encoded by what is known of both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.typing import Floats
from isthmus.metrics.table_columns import (
    CATEGORY,
    EMPTY,
    Column,
    TableColumns,
    Values,
    learn_column,
    read_values,
)


class EncodedTable(NamedTuple):
    """What is known of a table, and its rows as numbers, (n_rows, n_columns)."""

    columns: TableColumns
    points: Floats


def join_table(columns: TableColumns, points: Floats, X: Any) -> EncodedTable:
    """Return what :func:`learn_columns` would of old rows and new ones behind them.

    columns : TableColumns
        Of the old rows.
    points : (n_old, n_columns) float64
        The old rows, encoded.
    X : data frame or array-like
        New rows, which ``columns`` can encode: that has been checked.
    """
    found = zip(columns.columns, points.T, read_values(X), strict=True)
    joined = [_joined_column(column, codes, values) for column, codes, values in found]
    return EncodedTable(
        TableColumns(tuple(column for column, _ in joined)),
        np.column_stack([codes for _, codes in joined]),
    )


def _joined_column(old: Column, codes: Floats, values: Values) -> tuple[Column, Floats]:
    """Return a column of old and new values, and these as numbers."""
    column = old
    if old.kind == EMPTY:
        column = learn_column(values)
    elif old.kind == CATEGORY and values.kind == CATEGORY:
        column = replace(old, categories=_joined_categories(old, values))
        number = {category: float(i) for i, category in enumerate(column.categories)}
        numbers = np.array([number[category] for category in old.categories])
        present = ~np.isnan(codes)
        codes = codes.copy()
        codes[present] = numbers[codes[present].astype(np.int64)]
    encoded = np.concatenate([codes, column.encoded(values)])
    if column.kind in (EMPTY, CATEGORY):
        return column, encoded
    low, high = float(np.nanmin(encoded)), float(np.nanmax(encoded))
    if not np.isfinite(high - low):
        raise ValueError(f"Column {old.name!r} holds infinity, or numbers too far apart.")
    return replace(column, low=low, high=high), encoded


def _joined_categories(old: Column, values: Values) -> tuple[Any, ...]:
    categories = set(old.categories) | {value for value in values.values if value is not None}
    return tuple(sorted(categories))
