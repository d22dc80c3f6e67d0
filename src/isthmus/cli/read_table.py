"""A file, or standard input → Table."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from isthmus.cli.binary_tables import read_npy, read_parquet
from isthmus.cli.columns import Selection
from isthmus.cli.csv_table import read_csv
from isthmus.cli.errors import UserError
from isthmus.cli.formats import LISTED_ENDINGS, TEXT_FORMATS, format_of_name
from isthmus.cli.table import Table

_CHUNK = 1 << 20


class ReadOptions(NamedTuple):
    """How to read a table; None leaves it to the file's ending and its first row."""

    file_format: str | None
    delimiter: str | None
    header: bool | None
    selection: Selection  # the columns to take as numbers


def read_table(name: str | None, options: ReadOptions) -> Table:
    """Read the file of that name; ``-`` and None stand for standard input."""
    file_format = input_format(name, options)
    with _open(name) as (stream, source):
        if file_format == "npy":
            return read_npy(stream, source, options.selection)
        if file_format == "parquet":
            return read_parquet(stream, source, options.selection)
        delimiter = options.delimiter or ("\t" if file_format == "tsv" else ",")
        return read_csv(stream, source, delimiter, options.header, options.selection)


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
            f"{name}: the format cannot be told from the name. Known endings: "
            f"{LISTED_ENDINGS}. For any other file, name it with --format."
        )
    if file_format not in TEXT_FORMATS and (options.delimiter or options.header is not None):
        raise UserError(
            f"--delimiter, --header and --no-header do not apply to {file_format} input."
        )
    return file_format


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
