"""NumPy's ``.npy``, and Parquet through pyarrow → Table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from isthmus._utils.memory import require_memory
from isthmus._utils.typing import Array
from isthmus.cli.column_options import Selection, describe_column, resolve_selection
from isthmus.cli.errors import UserError, one_line
from isthmus.cli.fields import MISSING_ADVICE, ROUNDED, why_not_finite
from isthmus.cli.formats import require_pyarrow
from isthmus.cli.mixed_columns import in_array
from isthmus.cli.table import CHOOSE_COLUMNS, Table, column_names

_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class NpyTable(Table):
    """A table that was a two-dimensional array."""

    array: Array

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield each row; numbers have the fewest digits that tell them apart."""
        # A float32 that became a Python float would show the digits of a float64.
        exact = self.array.dtype.kind != "f" or self.array.dtype.itemsize == 8
        for start in range(0, len(self.array), _BLOCK):
            block = self.array[start : start + _BLOCK]
            yield from (block if exact else block.astype(str)).tolist()

    def to_arrow(self) -> Any:
        """Return the columns, named ``column_1`` and so on, in the array's own type."""
        pa = require_pyarrow()
        native = self.array.astype(self.array.dtype.newbyteorder("="), copy=False)
        columns = [pa.array(np.ascontiguousarray(column)) for column in native.T]
        return pa.Table.from_arrays(columns, names=column_names(None, len(columns)))


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


def read_npy(
    stream: BinaryIO, source: str, selection: Selection, *, allow_missing: bool = False
) -> NpyTable:
    """Read a two-dimensional array of numbers; nothing in the file is ever executed."""
    # NumPy reads the header as Python source: what a damaged one raises has no common type.
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # headers of old files take a second try
            array: Array = np.lib.format.read_array(stream, allow_pickle=False)
    except Exception as error:
        raise UserError(f"{source} is not a .npy file of numbers: {one_line(error)}") from error
    if array.dtype.kind not in "iuf":
        raise UserError(f"{source} holds an array of type {array.dtype}, which is not numeric.")
    if array.ndim != 2:
        raise UserError(
            f"{source} holds an array of shape {array.shape}; "
            "expected two dimensions: one row per point, one column per feature."
        )
    if 0 in array.shape:
        raise UserError(f"{source} is empty: its shape is {array.shape}.")
    selected = resolve_selection(selection, None, array.shape[1], source)
    chosen = array if selected == tuple(range(array.shape[1])) else array[:, selected]
    _refuse_rounded(chosen, source)
    points = chosen.astype(np.float32 if chosen.dtype == np.float32 else np.float64, copy=False)
    _refuse_not_finite(points, Found(selected, None, source, allow_missing))
    return NpyTable(None, selected, points, ",", array)


def read_parquet(
    stream: BinaryIO,
    source: str,
    selection: Selection,
    *,
    allow_missing: bool = False,
    mixed: bool = False,
) -> ParquetTable:
    """Read a Parquet file; ``mixed`` takes columns of dates and texts, too."""
    pa = require_pyarrow()
    import pyarrow.parquet as pq

    try:
        parquet = pq.ParquetFile(stream)
        _require_space(parquet.metadata, source)
        table = parquet.read()
        table.validate(full=True)  # texts that are none would be found when they are written
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"{source} is not a readable Parquet file: {one_line(error)}") from error
    names = tuple(table.column_names)
    if not names or not table.num_rows:
        raise UserError(f"{source} is empty: {table.num_rows} rows, {len(names)} columns.")
    _refuse_impossible_times(table, source)
    selected = resolve_selection(selection, names, len(names), source)
    if selection.columns is None:
        _refuse_index(table, selected, source)
    columns = [table.column(position) for position in selected]
    if mixed:
        points = in_array([column.to_pylist() for column in columns])
        return ParquetTable(names, selected, points, ",", table)
    for position, column in zip(selected, columns, strict=True):
        _check_column(column, describe_column(position, names), source, allow_missing)
    single = all(pa.types.is_float32(column.type) for column in columns)
    points = np.empty((len(columns[0]), len(columns)), np.float32 if single else np.float64)
    for j, column in enumerate(columns):
        if pa.types.is_integer(column.type):
            _refuse_rounded(column.drop_null().to_numpy(), source)
        kind = pa.float32() if single else pa.float64()
        points[:, j] = column.cast(kind, safe=False).to_numpy()  # NaN where it is null
    _refuse_not_finite(points, Found(selected, names, source, allow_missing))
    return ParquetTable(names, selected, points, ",", table)


def _require_space(metadata: Any, source: str) -> None:
    """Refuse a file that unpacks to more than is available: a few bytes can stand for any number.

    Each entry takes 8 bytes at most, beside what strings take.
    """
    groups = range(metadata.num_row_groups)
    packed = sum(metadata.row_group(group).total_byte_size for group in groups)
    needed = 8 * metadata.num_rows * max(metadata.num_columns, 1) + packed
    what = f"{source}, {metadata.num_rows:,} rows of {metadata.num_columns} columns,"
    require_memory(needed, what, "Write fewer rows or columns to it.")


def _refuse_impossible_times(table: Any, source: str) -> None:
    """Refuse dates and durations that Python does not have: they could not be written as text."""
    pa = require_pyarrow()
    import pyarrow.compute as pc

    for position, column in enumerate(table.columns):
        if not pa.types.is_temporal(column.type) or column.type.bit_width not in (32, 64):
            continue
        integer = pa.int32() if column.type.bit_width == 32 else pa.int64()
        ends = pc.min_max(column.cast(integer))
        for end in (ends["min"], ends["max"]):
            try:
                end.cast(column.type).as_py()
            except (OverflowError, ValueError) as error:
                name = describe_column(position, table.column_names)
                raise UserError(
                    f"{source}, {name}: a value of type {column.type} is beyond what Python "
                    f"holds ({one_line(error)}). Leave such rows, or the column, out of the file."
                ) from error


def _refuse_rounded(values: Array, source: str) -> None:
    from isthmus.metrics.integers import first_rounded  # loads SciPy

    rounded = first_rounded(values)
    if rounded is not None:
        raise UserError(f"{source} holds the integer {rounded}, {ROUNDED}")


class Found(NamedTuple):
    """Where numbers come from, and whether some may be missing."""

    selected: Sequence[int]
    names: Sequence[str] | None
    source: str
    allow_missing: bool


def _refuse_not_finite(points: Array, found: Found) -> None:
    """Raise UserError that names the first NaN or infinity, rows counted from 1."""
    wrong = np.isinf(points) if found.allow_missing else ~np.isfinite(points)
    if not wrong.any():
        return
    row, j = (int(index[0]) for index in np.nonzero(wrong))
    number = float(points[row, j])
    where = f"{found.source}, row {row + 1}, {describe_column(found.selected[j], found.names)}"
    raise UserError(f"{where}: {why_not_finite(number, str(number))}")


def _refuse_index(table: Any, selected: Sequence[int], source: str) -> None:
    # pandas stores an index as one more column; nobody means to cluster by it unasked.
    index = _index_columns(table.schema)
    for position in selected:
        if table.column_names[position] in index:
            raise UserError(
                f"{source}, {describe_column(position, table.column_names)} is the index of a "
                "pandas DataFrame: choose columns with --columns, or leave it out with --exclude."
            )


def _index_columns(schema: Any) -> list[str]:
    """Return the names of the columns of an index, by what pandas noted; none if it is no JSON."""
    try:
        notes = schema.pandas_metadata
    except ValueError:
        return []
    index = notes.get("index_columns") if isinstance(notes, dict) else None
    return [name for name in index if isinstance(name, str)] if isinstance(index, list) else []


def _check_column(column: Any, name: str, source: str, allow_missing: bool) -> None:
    types = require_pyarrow().types
    is_numeric = (types.is_integer, types.is_floating, types.is_decimal)
    if not any(is_kind(column.type) for is_kind in is_numeric):
        raise UserError(
            f"{source}, {name} is of type {column.type}, which is not numeric. {CHOOSE_COLUMNS}"
        )
    if column.null_count and not allow_missing:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise UserError(f"{source}, row {row + 1}, {name}: the field is empty; {MISSING_ADVICE}")
