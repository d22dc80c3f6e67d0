"""The user's table → columns of numbers and of texts, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from isthmus._utils.typing import Array

# Kinds of NumPy types that are numbers.
_NUMBERS = "biuf"


@dataclass(frozen=True, eq=False)
class Columns:
    """A table of n rows.

    Attributes
    ----------
    n_rows : int
    names : list of str
        The names of the columns of numbers.
    numbers : (n, d) array, or CSR matrix
        These columns.
    texts : dict of lists of n str
        The other columns, by name.
    """

    n_rows: int
    names: list[str]
    numbers: Any
    texts: dict[str, list[str]]

    def column(self, name: str) -> Array:
        """Return a column of numbers as float64."""
        values = self.numbers[:, [self.names.index(name)]]
        values = values.toarray() if issparse(values) else values
        column: Array = np.asarray(values, dtype=np.float64).ravel()
        return column

    def text_of(self, name: str, rows: Array) -> list[str]:
        """Return the values of any column at some rows, as texts."""
        if name in self.texts:
            values = self.texts[name]
            return [values[row] for row in rows.tolist()]
        return [f"{value:.6g}" for value in self.column(name)[rows].tolist()]

    def require(self, name: object) -> str:
        """Return a name that is one of a column; raise ValueError, with all names, if it is not."""
        known = [*self.names, *self.texts]
        if isinstance(name, str) and name in known:
            return name
        listed = ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
        raise ValueError(f"There is no column {name!r}. The columns are: {listed or 'none'}.")


def read_columns(table: Any, names: Sequence[str] | None = None) -> Columns:
    """Return the columns of a data frame (pandas, polars), a 2-D array or a sparse matrix.

    names : sequence of str, optional
        Of the columns of an array, if it has as many; x0, x1, … otherwise.
    """
    if hasattr(table, "columns") and hasattr(table, "shape") and not isinstance(table, np.ndarray):
        return _read_frame(table)
    if issparse(table):
        numbers: Any = csr_array(table)
    else:
        numbers = np.asarray(table)
        if numbers.ndim != 2 or numbers.dtype.kind not in _NUMBERS:
            raise ValueError(
                f"X must be a data frame, or a table of numbers of shape (n_samples, n_columns); "
                f"got an array of type {numbers.dtype} and shape {numbers.shape}."
            )
    found = [f"x{j}" for j in range(numbers.shape[1])]
    if names is not None and len(names) == len(found):
        found = [*map(str, names)]
    return Columns(numbers.shape[0], found, numbers, {})


def no_columns(n_rows: int) -> Columns:
    """Return a table that has rows alone."""
    return Columns(n_rows, [], np.empty((n_rows, 0)), {})


def _read_frame(frame: Any) -> Columns:
    """Return the columns of a data frame; those that are not numbers become texts."""
    names: list[str] = []
    numbers: list[Array] = []
    texts: dict[str, list[str]] = {}
    for j, given in enumerate(frame.columns):
        name = _unused(str(given), [*names, *texts])
        # by position, since names may stand twice
        series = frame.iloc[:, j] if hasattr(frame, "iloc") else frame.to_series(j)
        values = np.asarray(series)
        if values.dtype.kind in _NUMBERS:
            names.append(name)
            numbers.append(values.astype(np.float64))
        else:
            texts[name] = ["" if _is_missing(value) else str(value) for value in values.tolist()]
    n_rows = frame.shape[0]
    table = np.column_stack(numbers) if numbers else np.empty((n_rows, 0))
    return Columns(n_rows, names, table, texts)


def _unused(name: str, taken: Sequence[str]) -> str:
    number, found = 2, name
    while found in taken:
        found, number = f"{name} ({number})", number + 1
    return found


def _is_missing(value: object) -> bool:
    return value is None or value != value or str(value) in ("<NA>", "NaT")  # noqa: PLR0124 -- NaN
