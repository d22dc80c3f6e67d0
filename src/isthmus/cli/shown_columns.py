"""Table → its columns by name, as numbers and as texts, for pages and explanations."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus.cli.column_options import Selection, resolve_selection
from isthmus.cli.mixed_columns import is_numeric
from isthmus.cli.prepare import Prepared
from isthmus.cli.table import Table, column_names
from isthmus.explorer.user_table import Columns


def columns_to_show(
    table: Table, prepared: Prepared, hover: tuple[str, ...] | None, source: str
) -> Columns:
    """Return the clustered columns as numbers, and those to hover over as texts.

    Numbers are shown as they were read, except those that were missing.
    """
    rows: list[Any] = list(table.rows()) if hover else []
    n_columns = len(rows[0]) if rows else max(table.selected) + 1
    names = _told_apart(column_names(table.names, n_columns))
    texts = {}
    if hover:
        wanted = resolve_selection(Selection(hover), table.names, len(rows[0]), source)
        texts = {names[j]: ["" if row[j] is None else str(row[j]) for row in rows] for j in wanted}
    if table.points.dtype == object:
        return _mixed_columns(table, [names[position] for position in table.selected], texts)
    numbers, fill = table.points, prepared.preparation.fill
    if fill is not None:
        numbers = np.where(np.isnan(numbers), fill, numbers)
    if prepared.taken is not None:
        kept = np.flatnonzero(prepared.taken).tolist()
        numbers = numbers[kept]
        texts = {name: [values[row] for row in kept] for name, values in texts.items()}
    shown = [names[position] for position in table.selected]
    return Columns(len(numbers), shown, numbers, texts)


def _told_apart(names: list[str]) -> list[str]:
    """Return names of which no two are equal: a second column named a becomes ``a (2)``."""
    apart: dict[str, None] = {}
    given = set(names)
    for name in names:
        number, found = 1, name
        while found in apart or (number > 1 and found in given):
            number += 1
            found = f"{name} ({number})"
        apart[found] = None
    return list(apart)


def _mixed_columns(table: Table, names: list[str], texts: dict[str, list[str]]) -> Columns:
    """Return the columns of a table with dates and texts."""
    columns = dict(zip(names, table.points.T.tolist(), strict=True))
    numeric = [name for name in names if is_numeric(columns[name])]
    numbers = np.array([columns[name] for name in numeric], dtype=np.float64).T
    others = {
        name: ["" if value is None else str(value) for value in columns[name]]
        for name in names
        if name not in numeric and name not in texts
    }
    n_rows = len(table.points)
    return Columns(n_rows, numeric, numbers.reshape(n_rows, -1), others | texts)
