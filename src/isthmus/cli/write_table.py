"""Table and one more column → a file, or standard output."""

from __future__ import annotations

import codecs
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array
from isthmus.cli.errors import UserError
from isthmus.cli.formats import require_pyarrow
from isthmus.cli.output_file import Output, open_output
from isthmus.cli.table import Table, TextSink, as_field


class WriteOptions(NamedTuple):
    """How to write a column beside the others."""

    output: Output
    column: str  # its name
    column_only: bool
    delimiter: str | None  # the one that was asked for
    column_option: str = "--label-column"  # what sets its name
    alone_option: str = "--labels-only"  # what leaves the others out
    progress: Progress | None = None


class NewColumn(NamedTuple):
    """A value for each row that took part; the others have none."""

    values: Array  # (n_taken,) integers or floats
    taken: Array | None = None  # (n_rows,) bool; None where all rows took part

    def texts(self) -> list[str]:
        """Return the values as text, empty where there is none."""
        texts = list(map(str, self.values.tolist()))
        if self.taken is None:
            return texts
        values = iter(texts)
        return [next(values) if taken else "" for taken in self.taken.tolist()]

    def filled(self) -> Array:
        """Return an array of all rows: -1, of floats NaN, where there is no value."""
        is_float = self.values.dtype.kind == "f"
        if self.taken is None:
            return self.values.astype(np.float64 if is_float else np.int64)
        filled: Array = (
            np.full(len(self.taken), np.nan) if is_float else np.full(len(self.taken), -1)
        )
        filled[self.taken] = self.values
        return filled

    def to_arrow(self) -> Any:
        """Return it as a column of Arrow, null where there is no value."""
        absent = None if self.taken is None else ~self.taken
        return require_pyarrow().array(self.filled(), mask=absent)


def check_new_column(table: Table, options: WriteOptions) -> None:
    """Raise UserError if the input already has a column of that name."""
    beside = not options.column_only and options.output.file_format != "npy"
    if beside and table.names is not None and options.column in table.names:
        raise UserError(
            f"the input already has a column named {options.column!r}. Choose another name "
            f"with {options.column_option}, or write it alone with {options.alone_option}."
        )


def write_column(table: Table, column: NewColumn, options: WriteOptions) -> None:
    """Write a column beside those of the input, or alone."""
    with open_output(options.output) as stream:
        if options.output.file_format == "npy":
            np.lib.format.write_array(stream, column.filled(), allow_pickle=False)
        elif options.output.file_format == "parquet":
            _write_parquet(stream, table, column, options)
        else:
            # UTF-8 and line ends as written, whatever the system's habits are.
            _write_text(codecs.getwriter("utf-8")(stream), table, column, options)


def _write_text(stream: TextSink, table: Table, column: NewColumn, options: WriteOptions) -> None:
    delimiter, values = _delimiter(table, options), column.texts()
    if not options.column_only:
        table.write_text(stream, delimiter, options.column, values, options.progress)
        return
    if table.names is not None:
        stream.write(as_field(options.column, delimiter) + "\n")
    for value in values:
        stream.write(f"{value or as_field('', delimiter)}\n")  # a blank line would be no row


def _delimiter(table: Table, options: WriteOptions) -> str:
    if options.output.file_format == "tsv":
        return "\t"
    if options.output.path is None:
        return table.delimiter
    return options.delimiter or ","


def _write_parquet(
    stream: BinaryIO, table: Table, column: NewColumn, options: WriteOptions
) -> None:
    pa: Any = require_pyarrow()
    import pyarrow.parquet as pq

    values = column.to_arrow()
    if options.column_only:
        pq.write_table(pa.Table.from_arrays([values], names=[options.column]), stream)
    else:
        pq.write_table(table.to_arrow().append_column(options.column, values), stream)
