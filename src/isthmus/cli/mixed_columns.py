"""Columns of numbers, dates and texts, for ``--metric gower`` → an array of objects."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus._utils.typing import Array
from isthmus.cli.fields import is_missing, parse_numbers


def column_of_texts(fields: Sequence[str], decimal: str, *, as_text: bool = False) -> list[Any]:
    """Return fields as numbers if each is one, else as dates if each is one, else as texts.

    as_text : bool
        Whether they are texts, whatever they look like. Missing ones are None.
    """
    if not as_text:
        numbers = parse_numbers(fields, decimal, allow_missing=True)
        if numbers is not None:
            return [None if np.isnan(number) else number for number in numbers.tolist()]
        dates = _as_dates(fields)
        if dates is not None:
            return dates
    return [None if is_missing(field) else field.strip() for field in fields]


def _as_dates(fields: Sequence[str]) -> list[dt.datetime | None] | None:
    """Return dates as ISO 8601 writes them: 2024-05-01, or with a time; None unless all are."""
    try:
        return [
            None if is_missing(field) else dt.datetime.fromisoformat(field.strip())
            for field in fields
        ]
    except ValueError:
        return None


def in_array(columns: Sequence[Sequence[Any]]) -> Array:
    """Return columns as an array of objects, (n_rows, n_columns)."""
    array = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        array[:, j] = column
    return array


def is_numeric(column: Sequence[Any]) -> bool:
    """Whether all values of a column are numbers, or missing."""
    return all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool))
        for value in column
    )
