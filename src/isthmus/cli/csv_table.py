"""CSV, TSV and other delimited text → Table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from isthmus._utils.typing import Floats, Ints
from isthmus.cli.columns import (
    Selection,
    describe_column,
    is_position,
    resolve_selection,
    select_by_position,
)
from isthmus.cli.errors import UserError, shown
from isthmus.cli.fields import finite_numbers, is_missing, is_number, why_no_number
from isthmus.cli.formats import require_pyarrow
from isthmus.cli.table import CHOOSE_COLUMNS, Table, TextSink, as_field, column_names

# Rows converted together: enough to be fast, few enough for their strings to be small beside
# the file itself.
_BLOCK = 1 << 12
# Fed to the parser after the last line. If it does not come back as a record of its own, a quote
# was never closed. No file holds it: a NUL byte is refused before.
_END = "\0"
_OTHER_DELIMITERS = ";\t|"


class Record(NamedTuple):
    """One row of a file: the line it begins on, its fields, and its text with the line's end."""

    line: int
    fields: list[str]
    text: str


class Layout(NamedTuple):
    """What is known of a file after its first row; ``source`` is its name in messages."""

    source: str
    delimiter: str
    names: tuple[str, ...] | None
    n_columns: int
    selected: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class CsvTable(Table):
    """A table of delimited text, kept as the bytes it was read from."""

    data: bytes
    source: str
    n_columns: int

    def records(self) -> Iterator[Record]:
        """Yield the rows, the header not among them."""
        rows = read_records(self.data, self.delimiter, self.source)
        return islice(rows, 0 if self.names is None else 1, None)

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield the fields of each row."""
        return (record.fields for record in self.records())

    def to_arrow(self) -> Any:
        """Return clustered columns as float64, and the others as strings, as they were."""
        pa = require_pyarrow()
        texts: dict[int, list[str]] = {
            position: [] for position in range(self.n_columns) if position not in self.selected
        }
        for record in self.records() if texts else ():
            for position, column in texts.items():
                column.append(record.fields[position])
        columns = [
            pa.array(texts[position], pa.string())
            if position in texts
            else pa.array(np.ascontiguousarray(self.points[:, self.selected.index(position)]))
            for position in range(self.n_columns)
        ]
        return pa.Table.from_arrays(columns, names=column_names(self.names, self.n_columns))

    def write_text(self, stream: TextSink, delimiter: str, label_column: str, labels: Ints) -> None:
        """Write the rows with their labels; with the same delimiter, each row's text unchanged."""
        if delimiter != self.delimiter:
            super().write_text(stream, delimiter, label_column, labels)
            return
        additions: Iterable[str] = map(str, labels.tolist())
        if self.names is not None:
            additions = chain([as_field(label_column, delimiter)], additions)
        ending = "\n"
        rows = read_records(self.data, self.delimiter, self.source)
        for record, addition in zip(rows, additions, strict=True):
            line = record.text.rstrip("\r\n")
            ending = record.text[len(line) :] or ending  # the last line may have none
            stream.write(f"{line}{delimiter}{addition}{ending}")


def read_csv(
    stream: BinaryIO, source: str, delimiter: str, header: bool | None, selection: Selection
) -> CsvTable:
    """Read delimited text in UTF-8; ``source`` is its name in messages.

    Where it is not said, the first row is a header if a selected column of it holds something that
    is neither a number nor a missing value.
    """
    data = stream.read()
    _check_text(data, source)
    rows = read_records(data, delimiter, source)
    first = next(rows, None)
    if first is None:
        raise UserError(f"{source} is empty.")
    fields = tuple(field.strip() for field in first.fields)
    if header is None:
        header = _looks_like_header(fields, selection)
    names = fields if header else None
    selected = resolve_selection(selection, names, len(fields), source)
    layout = Layout(source, delimiter, names, len(fields), selected)
    points = _read_points(rows if header else chain([first], rows), layout)
    if not len(points):
        raise UserError(f"{source} has a header, but no rows below it.")
    return CsvTable(names, selected, points, delimiter, data, source, len(fields))


def read_records(data: bytes, delimiter: str, source: str) -> Iterator[Record]:
    """Yield the rows of a text, its header first; blank lines at the end are none."""
    blank: int | None = None
    for record in _parse(data, delimiter, source):
        if not record.text.strip(" \r\n"):
            blank = record.line if blank is None else blank
            continue
        if blank is not None:
            raise UserError(f"{source}, line {blank}: the line is blank, but rows follow it.")
        yield record


def _parse(data: bytes, delimiter: str, source: str) -> Iterator[Record]:
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
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


def _check_text(data: bytes, source: str) -> None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{source} is not text in UTF-8 (byte 0x{data[error.start]:02x} on line {line}). "
            "Save it as UTF-8, or name its format with --format."
        ) from error
    if b"\0" in data:
        raise UserError(
            f"{source} is not text (it holds NUL bytes). Name its format with --format."
        )


def _looks_like_header(fields: Sequence[str], selection: Selection) -> bool:
    n_columns = len(fields)
    if any(token in fields and not is_position(token, n_columns) for token in selection.tokens):
        return True
    candidates = [fields[position] for position in select_by_position(selection, n_columns)]
    return any(not is_number(field) and not is_missing(field) for field in candidates)


def _read_points(records: Iterator[Record], layout: Layout) -> Floats:
    blocks = [np.empty((0, len(layout.selected)))]
    while block := list(islice(records, _BLOCK)):
        for record in block:
            if len(record.fields) != layout.n_columns:
                raise UserError(
                    f"{layout.source}, line {record.line}: expected {layout.n_columns} fields, "
                    f"found {len(record.fields)}."
                )
        points = np.empty((len(block), len(layout.selected)))
        for j, position in enumerate(layout.selected):
            numbers = finite_numbers([record.fields[position] for record in block])
            if numbers is None:
                raise _first_wrong_field(block, layout)
            points[:, j] = numbers
        blocks.append(points)
    return np.concatenate(blocks)


def _first_wrong_field(block: Sequence[Record], layout: Layout) -> UserError:
    reasons = (
        (record, position, reason)
        for record in block
        for position in layout.selected
        if (reason := why_no_number(record.fields[position])) is not None
    )
    record, position, reason = next(reasons)
    where = f"{layout.source}, line {record.line}, {describe_column(position, layout.names)}"
    return UserError(f"{where}: {reason}{_advice(record.fields[position], layout.delimiter)}")


def _advice(field: str, delimiter: str) -> str:
    if is_missing(field) or is_number(field):
        return ""
    for other in _OTHER_DELIMITERS:
        if other in field and other != delimiter:
            return f" If {shown(other)} separates the columns, add --delimiter {shown(other)}."
    return f" {CHOOSE_COLUMNS}"
