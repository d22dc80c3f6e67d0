"""Parquet → Table, through pyarrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from isthmus.cli.columns import Selection, describe_column, resolve_selection
from isthmus.cli.errors import UserError, one_line
from isthmus.cli.formats import require_pyarrow
from isthmus.cli.npy_table import refuse_not_finite
from isthmus.cli.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from isthmus._utils.typing import Array

_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class ParquetTable(Table):
    """A table that was a Parquet file."""

    arrow: Any

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield each row; numbers have the fewest digits that tell them apart."""
        pa = require_pyarrow()
        # A float32 that became a Python float would show the digits of a float64.
        columns = [
            column.cast(pa.string()) if pa.types.is_float32(column.type) else column
            for column in self.arrow.columns
        ]
        table = pa.Table.from_arrays(columns, names=self.arrow.column_names)
        for batch in table.to_batches(max_chunksize=_BLOCK):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def to_arrow(self) -> Any:
        """Return the table as it was."""
        return self.arrow


def read_parquet(stream: BinaryIO, source: str, selection: Selection) -> ParquetTable:
    """Read a Parquet file."""
    table = _load(stream, source)
    names = tuple(table.column_names)
    if not names or not table.num_rows:
        raise UserError(f"{source} is empty: {table.num_rows} rows, {len(names)} columns.")
    selected = resolve_selection(selection, names, len(names), source)
    if selection.columns is None:
        _refuse_index(table, selected, source)
    for position in selected:
        _check_column(table.column(position), describe_column(position, names), source)
    points = _stack([table.column(position) for position in selected])
    refuse_not_finite(points, selected, names, source)
    return ParquetTable(names, selected, points, ",", table)


def _load(stream: BinaryIO, source: str) -> Any:
    pa = require_pyarrow()
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(stream).read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"{source} is not a readable Parquet file: {one_line(error)}") from error


def _refuse_index(table: Any, selected: Sequence[int], source: str) -> None:
    # pandas stores an index as one more column; nobody means to cluster by it unasked.
    index = (table.schema.pandas_metadata or {}).get("index_columns", [])
    for position in selected:
        if table.column_names[position] in [name for name in index if isinstance(name, str)]:
            raise UserError(
                f"{source}, {describe_column(position, table.column_names)} is the index of a "
                "pandas DataFrame: choose columns with --columns, or leave it out with --exclude."
            )


def _check_column(column: Any, name: str, source: str) -> None:
    types = require_pyarrow().types
    is_numeric = (types.is_integer, types.is_floating, types.is_decimal)
    if not any(is_kind(column.type) for is_kind in is_numeric):
        raise UserError(
            f"{source}, {name} is of type {column.type}, which is not numeric. "
            "Choose the columns to cluster with --columns, or leave some out with --exclude."
        )
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise UserError(
            f"{source}, row {row + 1}, {name}: the field is empty; "
            "missing values must be filled in or removed first."
        )


def _stack(columns: Sequence[Any]) -> Array:
    pa = require_pyarrow()
    single = all(pa.types.is_float32(column.type) for column in columns)
    kind = pa.float32() if single else pa.float64()
    points = np.empty((len(columns[0]), len(columns)), np.float32 if single else np.float64)
    for j, column in enumerate(columns):
        points[:, j] = column.cast(kind, safe=False).to_numpy()
    return points
