"""Columns of numbers, dates and texts, for ``--metric gower`` → an array of objects."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus._utils.typing import Array
from isthmus.cli.fields import is_missing, is_number, parse_numbers

# How the library calls the columns of an array.
_NUMBERED_COLUMN = re.compile(r"\b([Cc]olumn )'x([0-9]+)'")


class UnusableNumberError(ValueError):
    """A column of numbers, one of which is infinite or rounded; ``row`` is its row, from 0."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def column_of_texts(fields: Sequence[str], decimal: str, *, as_text: bool = False) -> list[Any]:
    """Return fields as numbers if each is one, else as dates if each is one, else as texts.

    as_text : bool
        Whether they are texts, whatever they look like. Missing ones are None.

    Raises UnusableNumberError where all are numbers, but one is no finite one, or is rounded.
    """
    if not as_text:
        numbers = parse_numbers(fields, decimal, allow_missing=True)
        if numbers is not None:
            return [None if np.isnan(number) else number for number in numbers.tolist()]
        if all(is_number(field, decimal) or is_missing(field) for field in fields):
            raise UnusableNumberError(_first_unusable(fields, decimal))
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


def _first_unusable(fields: Sequence[str], decimal: str) -> int:
    return next(
        row
        for row, field in enumerate(fields)
        if parse_numbers([field], decimal, allow_missing=True) is None
    )


def with_names(message: str, names: Sequence[str] | None, known_names: Sequence[str] = ()) -> str:
    """Return a message on columns of an array, x0, x1 and so on, with their names or positions.

    known_names : sequence of str
        What the library calls these columns; a name that may mean another column stays.
    """

    def name_of(match: re.Match[str]) -> str:
        called, j = f"x{match[2]}", int(match[2])
        if called in known_names and [*known_names].index(called) != j:
            return match[0]
        if names is None:
            return f"{match[1]}{j + 1}"
        return f"{match[1]}{names[j]!r}" if j < len(names) else match[0]

    return _NUMBERED_COLUMN.sub(name_of, message)


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
