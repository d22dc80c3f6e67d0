"""Bytes of delimited text → its rows, by Python's own parser."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from isthmus.cli.errors import UserError

# Fed to the parser after the last line. If it does not come back as a record of its own, a quote
# was never closed. No file holds it: a NUL byte is refused before.
_END = "\0"
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Record(NamedTuple):
    """One row of a file: the line it begins on, its fields, and its text with the line's end."""

    line: int
    fields: list[str]
    text: str


def read_records(data: bytes | BinaryIO, delimiter: str, source: str) -> Iterator[Record]:
    """Yield the rows of a text, its header first; blank lines at the end are none.

    data : bytes, or binary stream
        UTF-8. A stream is closed at the end.
    """
    blank: int | None = None
    for record in _parse(data, delimiter, source):
        if not record.text.strip(" \r\n"):
            blank = record.line if blank is None else blank
            continue
        if blank is not None:
            raise UserError(f"{source}, line {blank}: the line is blank, but rows follow it.")
        yield record


def _parse(data: bytes | BinaryIO, delimiter: str, source: str) -> Iterator[Record]:
    stream = io.BytesIO(data) if isinstance(data, bytes) else data
    lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    taken: list[str] = []

    def feed() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line
        yield _END

    reader = csv.reader(feed(), delimiter=delimiter, skipinitialspace=delimiter != " ")
    start = 1
    try:
        for fields in reader:
            if fields and fields[-1].endswith(_END):
                if taken:
                    raise UserError(f"{source}, line {start}: a quoted field is never closed.")
                return
            yield Record(start, fields, "".join(taken))
            taken.clear()
            start = reader.line_num + 1
    except csv.Error as error:
        raise UserError(f"{source}, line {start}: {error}; is a quote not closed?") from error


def is_utf16(data: bytes) -> bool:
    """Whether a text begins with the mark of UTF-16."""
    return data.startswith(_UTF16_MARKS)


def to_utf8(data: bytes, encoding: str | None, source: str) -> tuple[bytes, str]:
    """Return text in UTF-8, and what it was in; UTF-16 is known by its first two bytes."""
    if encoding is None:
        if not is_utf16(data):
            return data, "utf-8"
        encoding = "utf-16"
    if codecs.lookup(encoding).name == "utf-8":
        return data, "utf-8"
    try:
        return data.decode(encoding).encode(), encoding
    except UnicodeError as error:
        raise UserError(f"{source} is not text in {encoding}: {error}.") from error


def check_text(data: bytes, source: str) -> None:
    """Raise UserError for bytes that are not text in UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{source} is not text in UTF-8 (byte 0x{data[error.start]:02x} on line {line}). "
            "Save it as UTF-8, name its encoding with --encoding, such as cp1252, or its format "
            "with --format."
        ) from error
    if b"\0" in data:
        raise UserError(
            f"{source} is not text (it holds NUL bytes). Name its format with --format."
        )


def plain_lines(data: bytes) -> tuple[list[str], str] | None:
    """Return the rows of a text, without the ends of lines, and what these ends are.

    None where a row may be more than a line, since there are quotes, or lines end in several ways.
    Blank lines at the end are left out.
    """
    n_returns, n_lines = data.count(b"\r"), data.count(b"\n")
    if b'"' in data or (n_returns and not n_returns == n_lines == data.count(b"\r\n")):
        return None
    ending = "\r\n" if n_returns else "\n"
    lines = data.decode("utf-8-sig").split(ending)
    while lines and not lines[-1].strip(" \r\n"):
        lines.pop()
    return lines, ending
