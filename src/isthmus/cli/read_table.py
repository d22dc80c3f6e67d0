"""A file, or standard input → Table."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from isthmus._utils.progress import Progress
from isthmus.cli.binary_tables import read_npy, read_parquet
from isthmus.cli.column_options import Selection
from isthmus.cli.compression import require_zstd, unpacked
from isthmus.cli.csv_table import CsvTable, Mixed, TextOptions, read_csv
from isthmus.cli.dialect import Dialect
from isthmus.cli.errors import UserError
from isthmus.cli.excel_table import SheetOptions, read_excel, require_openpyxl
from isthmus.cli.formats import (
    LISTED_COMPRESSIONS,
    LISTED_ENDINGS,
    TEXT_FORMATS,
    compression_of_name,
    format_of_name,
)
from isthmus.cli.table import Table

_CHUNK = 1 << 20


class ReadOptions(NamedTuple):
    """How to read a table; None leaves it to the file's ending and its content."""

    file_format: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    selection: Selection = Selection()  # the columns to take as numbers
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    allow_missing: bool = False  # whether a missing value is NaN, and not an error
    progress: Progress | None = None
    mixed: Mixed | None = None  # whether columns may hold dates and texts


def read_options(args: argparse.Namespace, progress: Progress | None = None) -> ReadOptions:
    """Return how to read the table that the arguments of a command name."""
    known = () if getattr(args, "known", None) is None else (args.known,)
    return ReadOptions(
        file_format=args.format,
        delimiter=args.delimiter,
        header=args.header,
        selection=Selection(args.columns, args.exclude + known),
        decimal=args.decimal,
        encoding=args.encoding,
        sheet=args.sheet,
        allow_missing=args.missing not in (None, "error"),
        progress=progress,
        mixed=Mixed() if getattr(args, "metric", None) == "gower" else None,
    )


def read_table(name: str | None, options: ReadOptions) -> Table:
    """Read the file of that name; ``-`` and None stand for standard input."""
    file_format = input_format(name, options)
    missing, is_mixed = options.allow_missing, options.mixed is not None
    with _open(name) as (stream, source):
        if file_format == "npy":
            return read_npy(stream, source, options.selection, allow_missing=missing or is_mixed)
        if file_format == "parquet":
            return read_parquet(
                stream, source, options.selection, allow_missing=missing, mixed=is_mixed
            )
        shared = (options.header, options.selection, missing, options.progress)
        if file_format == "xlsx":
            return read_excel(stream, source, SheetOptions(options.sheet, *shared, is_mixed))
        delimiter = _delimiter(file_format, options)
        text = TextOptions(delimiter, options.decimal, options.encoding, *shared, options.mixed)
        return read_csv(stream, source, text)


def what_was_taken(table: Table, file_format: str, options: ReadOptions) -> str | None:
    """Return, in one line, what was found out about a text; None where it is as usual."""
    if not isinstance(table, CsvTable):
        return None
    usual = Dialect(_delimiter(file_format, options) or ",", options.decimal or ".")
    taken = [] if table.dialect == usual else [table.dialect.describe()]
    if options.encoding is None and table.encoding != "utf-8":
        taken.append(f"text in {table.encoding}")
    if not taken:
        return None
    return f"{table.source}: {', '.join(taken)} (--delimiter, --decimal, --encoding say otherwise)"


def _delimiter(file_format: str, options: ReadOptions) -> str | None:
    return options.delimiter or ("\t" if file_format == "tsv" else None)


def input_format(name: str | None, options: ReadOptions) -> str:
    """Return the format to read; raise UserError if it is unknown or the options contradict it."""
    file_format = options.file_format
    if file_format is None and (name is None or name == "-"):
        file_format = "csv"
    if file_format is None:
        # A delimiter says that it is text, whatever the file is called.
        file_format = format_of_name(str(name)) or ("csv" if options.delimiter else None)
    if file_format is None:
        raise UserError(
            f"{name}: the format cannot be told from the name. Known endings: {LISTED_ENDINGS}, "
            f"and {LISTED_COMPRESSIONS} after them. For any other file, name it with --format."
        )
    _refuse_misplaced(file_format, options)
    if file_format == "xlsx":
        require_openpyxl()
    if name is not None and compression_of_name(name) == ".zst":
        require_zstd()
    return file_format


def _refuse_misplaced(file_format: str, options: ReadOptions) -> None:
    """Raise UserError for options that the format knows nothing of."""
    of_text = {
        "--delimiter": options.delimiter,
        "--decimal": options.decimal,
        "--encoding": options.encoding,
    }
    given = any(value is not None for value in of_text.values())
    if file_format not in TEXT_FORMATS and given:
        raise UserError(f"{', '.join(of_text)} do not apply to {file_format} input.")
    if file_format in ("npy", "parquet") and options.header is not None:
        raise UserError(f"--header and --no-header do not apply to {file_format} input.")
    if file_format != "xlsx" and options.sheet is not None:
        raise UserError(f"--sheet does not apply to {file_format} input.")


@contextmanager
def _open(name: str | None) -> Iterator[tuple[BinaryIO, str]]:
    if name is None or name == "-":
        yield _standard_input(asked_for=name is not None), "standard input"
        return
    path = Path(name)
    try:
        if path.is_dir():
            raise UserError(f"{name} is a directory, not a file.")
        with path.open("rb") as stream:
            compression = compression_of_name(name)
            if compression is not None:
                yield unpacked(stream, compression, name), name
                return
            # Formats with a directory at their end need to go back and forth; a pipe cannot.
            yield stream if path.is_file() else io.BytesIO(stream.read()), name
    except OSError as error:
        raise UserError(f"cannot read {name}: {error.strerror or error}.") from error


def _standard_input(*, asked_for: bool) -> BinaryIO:
    if sys.stdin is None:
        raise UserError("standard input is closed. Name a file to read.")
    if sys.stdin.isatty() and not asked_for:
        raise UserError("no input. Name a file, or pipe a table into the command.")
    # In chunks: one long read would not see a Ctrl-C that comes between two of its waits.
    buffer: Any = sys.stdin.buffer
    return io.BytesIO(b"".join(iter(lambda: buffer.read1(_CHUNK), b"")))
