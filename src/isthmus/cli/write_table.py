"""Table and labels → a file, or standard output."""

from __future__ import annotations

import codecs
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from isthmus._utils.typing import Ints
from isthmus.cli.errors import UserError
from isthmus.cli.formats import require_pyarrow
from isthmus.cli.output_file import Output, open_output
from isthmus.cli.table import Table, TextSink, as_field


class WriteOptions(NamedTuple):
    """How to write labels."""

    output: Output
    label_column: str
    labels_only: bool
    delimiter: str | None  # the one that was asked for


def check_label_column(table: Table, options: WriteOptions) -> None:
    """Raise UserError if the input already has a column of that name."""
    beside = not options.labels_only and options.output.file_format != "npy"
    if beside and table.names is not None and options.label_column in table.names:
        raise UserError(
            f"the input already has a column named {options.label_column!r}. Choose another name "
            "with --label-column, or write the labels alone with --labels-only."
        )


def write_labels(table: Table, labels: Ints, options: WriteOptions) -> None:
    """Write labels beside the columns of the input, or alone."""
    with open_output(options.output) as stream:
        if options.output.file_format == "npy":
            np.lib.format.write_array(stream, labels.astype(np.int64), allow_pickle=False)
        elif options.output.file_format == "parquet":
            _write_parquet(stream, table, labels, options)
        else:
            # UTF-8 and line ends as written, whatever the system's habits are.
            _write_text(codecs.getwriter("utf-8")(stream), table, labels, options)


def _write_text(stream: TextSink, table: Table, labels: Ints, options: WriteOptions) -> None:
    if not options.labels_only:
        table.write_text(stream, _delimiter(table, options), options.label_column, labels)
        return
    if table.names is not None:
        stream.write(as_field(options.label_column, _delimiter(table, options)) + "\n")
    for label in labels.tolist():
        stream.write(f"{label}\n")


def _delimiter(table: Table, options: WriteOptions) -> str:
    if options.output.file_format == "tsv":
        return "\t"
    if options.output.path is None:
        return table.delimiter
    return options.delimiter or ","


def _write_parquet(stream: BinaryIO, table: Table, labels: Ints, options: WriteOptions) -> None:
    pa: Any = require_pyarrow()
    import pyarrow.parquet as pq

    column = pa.array(labels.astype(np.int64))
    if options.labels_only:
        pq.write_table(pa.Table.from_arrays([column], names=[options.label_column]), stream)
    else:
        pq.write_table(table.to_arrow().append_column(options.label_column, column), stream)
