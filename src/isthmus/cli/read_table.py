"""A file, or standard input → Table."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from isthmus.cli.columns import Selection
from isthmus.cli.csv_table import read_csv
from isthmus.cli.errors import UserError
from isthmus.cli.formats import (
    TEXT_FORMATS,
    default_delimiter,
    format_of_name,
    listed_endings,
)
from isthmus.cli.npy_table import read_npy
from isthmus.cli.parquet_table import read_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from isthmus.cli.table import Table

_CHUNK = 1 << 20


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table; None stands for what the file itself says.

    Attributes
    ----------
    file_format : str, optional
        One of ``FORMATS``; by default the file's ending decides.
    delimiter : str, optional
        The character between the fields of a text; by default a comma, for TSV a tab.
    header : bool, optional
        Whether a text begins with a header; by default its first row decides.
    selection : Selection
        The columns to take as numbers.
    """

    file_format: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    selection: Selection = field(default_factory=Selection)


def read_table(name: str | None, options: ReadOptions) -> Table:
    """Read the file of that name; ``-`` and None stand for standard input."""
    file_format = input_format(name, options)
    with _open(name) as (stream, source):
        if file_format == "npy":
            return read_npy(stream, source, options.selection)
        if file_format == "parquet":
            return read_parquet(stream, source, options.selection)
        delimiter = options.delimiter or default_delimiter(file_format)
        return read_csv(stream, source, delimiter, options.header, options.selection)


def input_format(name: str | None, options: ReadOptions) -> str:
    """Return the format to read; raise UserError if it is unknown or the options contradict it."""
    file_format = options.file_format
    if file_format is None and is_standard_input(name):
        file_format = "csv"
    if file_format is None:
        # A delimiter says that it is text, whatever the file is called.
        file_format = format_of_name(str(name)) or ("csv" if options.delimiter else None)
    if file_format is None:
        raise UserError(
            f"{name}: the format cannot be told from the name. Known endings: "
            f"{listed_endings()}. For any other file, name it with --format."
        )
    if file_format not in TEXT_FORMATS and (options.delimiter or options.header is not None):
        raise UserError(
            f"--delimiter, --header and --no-header do not apply to {file_format} input."
        )
    return file_format


def is_standard_input(name: str | None) -> bool:
    """Whether a file name stands for standard input."""
    return name is None or name == "-"


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
