"""CSV, TSV and other delimited text → Table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from isthmus._utils.parallel import chunks
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array, Floats
from isthmus.cli.column_options import (
    Selection,
    describe_column,
    is_position,
    resolve_selection,
    select_by_position,
)
from isthmus.cli.csv_records import Record, check_text, plain_lines, read_records, to_utf8
from isthmus.cli.dialect import Dialect, detect_dialect
from isthmus.cli.errors import UserError, shown
from isthmus.cli.fast_csv import read_numbers
from isthmus.cli.fields import is_missing, is_number, parse_numbers, why_no_number
from isthmus.cli.formats import require_pyarrow
from isthmus.cli.mixed_columns import UnusableNumberError, column_of_texts, in_array
from isthmus.cli.table import CHOOSE_COLUMNS, Table, TextSink, as_field, column_names

# Rows converted together: enough to be fast, few enough for their strings to be small beside
# the file itself.
_BLOCK = 1 << 12
_OTHER_DELIMITERS = ";\t|"


class Mixed(NamedTuple):
    """What to take for a text among selected columns, though it may look like a number."""

    texts: tuple[int, ...] = ()  # counted from 0 among the selected ones


class TextOptions(NamedTuple):
    """How to read delimited text; None leaves it to the text."""

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | None = None
    selection: Selection = Selection()
    allow_missing: bool = False  # whether a missing value is NaN, and not an error
    progress: Progress | None = None
    mixed: Mixed | None = None  # whether selected columns may hold dates and texts


class Layout(NamedTuple):
    """What is known of a file after its first row; ``source`` is its name in messages."""

    source: str
    dialect: Dialect
    names: tuple[str, ...] | None
    n_columns: int
    selected: tuple[int, ...]
    allow_missing: bool = False


@dataclass(frozen=True, eq=False)
class CsvTable(Table):
    """A table of delimited text, kept as the bytes it was read from, in UTF-8."""

    data: bytes
    source: str
    n_columns: int
    decimal: str = "."
    encoding: str = "utf-8"

    @property
    def dialect(self) -> Dialect:
        """How the text was read."""
        return Dialect(self.delimiter, self.decimal)

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
            else self._selected_to_arrow(pa, self.selected.index(position))
            for position in range(self.n_columns)
        ]
        return pa.Table.from_arrays(columns, names=column_names(self.names, self.n_columns))

    def _selected_to_arrow(self, pa: Any, j: int) -> Any:
        column = self.points[:, j]
        if column.dtype == object:
            return pa.array(column.tolist())
        return pa.array(np.ascontiguousarray(column), from_pandas=True)  # NaN is missing

    def write_text(
        self,
        stream: TextSink,
        delimiter: str,
        name: str,
        values: Sequence[str],
        progress: Progress | None = None,
    ) -> None:
        """Write the rows and one column; with the same delimiter, each row's text unchanged."""
        if delimiter != self.delimiter:
            super().write_text(stream, delimiter, name, values, progress)
            return
        additions: Iterable[str] = values
        if self.names is not None:
            additions = chain([as_field(name, delimiter)], additions)
        total = len(values) + (self.names is not None)
        lines = zip(self._lines(), additions, strict=True)
        for start, stop in chunks(total + 1, _BLOCK):  # one more, to meet the end of both
            part = islice(lines, stop - start)
            stream.write("".join(f"{line}{delimiter}{value}{end}" for (line, end), value in part))
            if progress is not None:
                progress(min(stop, total), total)

    def _lines(self) -> Iterator[tuple[str, str]]:
        """Yield the text of each row, the header included, and the end of its line."""
        plain = plain_lines(self.data)
        if plain is not None:
            lines, ending = plain
            yield from ((line, ending) for line in lines)
            return
        ending = "\n"
        for record in read_records(self.data, self.delimiter, self.source):
            line = record.text.rstrip("\r\n")
            ending = record.text[len(line) :] or ending  # the last line may have none
            yield line, ending


def read_csv(stream: BinaryIO, source: str, options: TextOptions) -> CsvTable:
    """Read delimited text; ``source`` is its name in messages.

    Where it is not said, the first row is a header if a selected column of it holds something that
    is neither a number nor a missing value.
    """
    data, encoding = to_utf8(stream.read(), options.encoding, source)
    check_text(data, source)
    dialect = detect_dialect(data, options.delimiter, options.decimal)
    rows = read_records(data, dialect.delimiter, source)
    first = next(rows, None)
    if first is None:
        raise UserError(f"{source} is empty.")
    fields = tuple(field.strip() for field in first.fields)
    header = options.header
    if header is None:
        header = looks_like_header(fields, options.selection)
    names = fields if header else None
    selected = resolve_selection(options.selection, names, len(fields), source)
    layout = Layout(source, dialect, names, len(fields), selected, options.allow_missing)
    points = None if options.mixed else read_numbers(data, layout, options.progress)
    if points is None:
        counted = _counted(rows if header else chain([first], rows), len(data), options.progress)
        if options.mixed is None:
            points = read_points(counted, layout)
        else:
            points = _read_mixed(counted, layout, options.mixed)
    if not len(points):
        raise UserError(f"{source} has a header, but no rows below it.")
    return CsvTable(
        names=names,
        selected=selected,
        points=points,
        delimiter=dialect.delimiter,
        data=data,
        source=source,
        n_columns=len(fields),
        decimal=dialect.decimal,
        encoding=encoding,
    )


def _counted(
    records: Iterator[Record], n_bytes: int, progress: Progress | None
) -> Iterator[Record]:
    """Yield records, reporting how much of the text they make up."""
    done = 0
    for number, record in enumerate(records):
        done += len(record.text)
        if progress is not None and number % _BLOCK == 0:
            progress(min(done, n_bytes), n_bytes)
        yield record
    if progress is not None:
        progress(n_bytes, n_bytes)


def looks_like_header(fields: Sequence[str], selection: Selection) -> bool:
    """Whether the fields of the first row are names."""
    n_columns = len(fields)
    if any(token in fields and not is_position(token, n_columns) for token in selection.tokens):
        return True
    candidates = [fields[position] for position in select_by_position(selection, n_columns)]
    # What is a number in another notation is wrong, and no name.
    return any(
        not (is_number(field) or is_number(field, ",") or is_missing(field)) for field in candidates
    )


def read_points(records: Iterator[Record], layout: Layout) -> Floats:
    """Return the selected columns of some rows as numbers: (n_rows, n_selected)."""
    blocks = [np.empty((0, len(layout.selected)))]
    while block := list(islice(records, _BLOCK)):
        for record in block:
            _check_length(record, layout)
        points = np.empty((len(block), len(layout.selected)))
        for j, position in enumerate(layout.selected):
            fields = [record.fields[position] for record in block]
            numbers = parse_numbers(
                fields, layout.dialect.decimal, allow_missing=layout.allow_missing
            )
            if numbers is None:
                raise _first_wrong_field(block, layout)
            points[:, j] = numbers
        blocks.append(points)
    return np.concatenate(blocks)


def _read_mixed(records: Iterator[Record], layout: Layout, mixed: Mixed) -> Array:
    """Return selected columns as objects, (n_rows, n_selected): numbers, dates, texts, None."""
    fields: list[list[str]] = [[] for _ in layout.selected]
    lines: list[int] = []
    for record in records:
        _check_length(record, layout)
        lines.append(record.line)
        for column, position in zip(fields, layout.selected, strict=True):
            column.append(record.fields[position])
    columns = []
    for j, column in enumerate(fields):
        decimal = layout.dialect.decimal
        try:
            columns.append(column_of_texts(column, decimal, as_text=j in mixed.texts))
        except UnusableNumberError as error:
            where = f"line {lines[error.row]}, {describe_column(layout.selected[j], layout.names)}"
            reason = why_no_number(column[error.row], decimal)
            raise UserError(f"{layout.source}, {where}: {reason} {CHOOSE_COLUMNS}") from error
    return in_array(columns)


def _check_length(record: Record, layout: Layout) -> None:
    if len(record.fields) != layout.n_columns:
        raise UserError(
            f"{layout.source}, line {record.line}: expected {layout.n_columns} fields, "
            f"found {len(record.fields)}."
        )


def _first_wrong_field(block: Sequence[Record], layout: Layout) -> UserError:
    decimal = layout.dialect.decimal
    reasons = (
        (record, position, why_no_number(record.fields[position], decimal))
        for record in block
        for position in layout.selected
        if parse_numbers([record.fields[position]], decimal, allow_missing=layout.allow_missing)
        is None
    )
    record, position, reason = next(reasons)
    where = f"{layout.source}, line {record.line}, {describe_column(position, layout.names)}"
    return UserError(f"{where}: {reason}{_advice(record.fields[position], layout.dialect)}")


def _advice(field: str, dialect: Dialect) -> str:
    if is_missing(field) or is_number(field, dialect.decimal):
        return ""
    for other in _OTHER_DELIMITERS:
        if other in field and other != dialect.delimiter:
            return f" If {shown(other)} separates the columns, add --delimiter {shown(other)}."
    if dialect.decimal == "." and is_number(field, ","):
        return " If its comma is a decimal one, add --decimal comma."
    if dialect.decimal == "," and is_number(field):
        return " If its point is a decimal one, add --decimal point."
    return f" {CHOOSE_COLUMNS}"
