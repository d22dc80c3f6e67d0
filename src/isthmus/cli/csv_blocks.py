"""CSV files that are larger than memory → blocks of rows in files of numbers.

Text cannot be read from the middle. It is read once, from the beginning to the end, and written to
the scratch folder in blocks: numbers as arrays, and all fields as text where they are wanted again.

pyarrow parses it. A file that Python's parser could read otherwise, or refuse, is read again by
that parser and by the rules of a table in memory, which takes longer.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from isthmus._utils.typing import Array, Floats
from isthmus.cli.block_sources import BLOCK, BlockSource
from isthmus.cli.column_options import Selection, resolve_selection
from isthmus.cli.csv_records import is_utf16, read_records
from isthmus.cli.csv_table import Layout, looks_like_header, read_points
from isthmus.cli.dialect import Dialect, detect_dialect
from isthmus.cli.errors import UserError, one_line
from isthmus.cli.fields import LARGEST, MISSING_ADVICE, parse_numbers
from isthmus.cli.formats import require_pyarrow

_BYTES = 1 << 24  # what is read at once
_ROWS = 1 << 12  # what Python's parser reads at once
_HEAD = (1 << 16) + 1  # what the delimiter is found from: a little more than detect_dialect reads


class CsvFormat(NamedTuple):
    """How the files are to be read; None leaves it to the text."""

    delimiter: str | None
    decimal: str | None
    header: bool | None
    selection: Selection


class _Rows(NamedTuple):
    """Rows of a file: the clustered columns as (n, d) float64, and all columns as text."""

    points: Floats
    texts: Any  # a pyarrow.RecordBatch


class _OtherParserError(Exception):
    """A file that Python's parser must read."""


class CsvSource(BlockSource):
    """CSV files, converted to blocks in a scratch folder."""

    def __init__(
        self, paths: Sequence[Path], how: CsvFormat, scratch: Path, *, with_text: bool
    ) -> None:
        require_pyarrow()
        self._scratch, self._with_text = scratch, with_text
        self.dialect = _dialect_of(paths[0], how)
        first = _first_row(paths[0], self.dialect.delimiter)
        header = looks_like_header(first, how.selection) if how.header is None else how.header
        self.names = first if header else None
        self.selected = resolve_selection(how.selection, self.names, len(first), str(paths[0]))
        self.dtype = np.dtype(np.float64)
        for path in paths[1:]:
            _dialect_of(path, how)  # refuses another encoding
            if _first_row(path, self.dialect.delimiter) != first and header:
                raise UserError(f"{path} has another header than {paths[0]}.")
        self.sizes = []
        layout = Layout(str(paths[0]), self.dialect, self.names, len(first), self.selected)
        self._convert(paths, layout)
        if not self.sizes:
            raise UserError(f"{paths[0]} has a header, but no rows below it.")

    def _convert(self, paths: Sequence[Path], layout: Layout) -> None:
        """Write all rows to the scratch folder."""
        waiting: list[_Rows] = []
        for path in paths:
            of_this = layout._replace(source=str(path))
            n_blocks, before = len(self.sizes), waiting
            try:
                waiting = self._add(_arrow_rows(path, of_this), before)
            except _OtherParserError:
                del self.sizes[n_blocks:]
                waiting = self._add(_python_rows(path, of_this), before)
        if waiting:
            self._keep(waiting)

    def _add(self, rows: Iterator[_Rows], waiting: list[_Rows]) -> list[_Rows]:
        """Write rows to the scratch folder; return those that make no block yet."""
        for part in rows:
            waiting = [*waiting, part]
            if sum(len(each.points) for each in waiting) >= BLOCK:
                self._keep(waiting)
                waiting = []
        return waiting

    def _keep(self, rows: Sequence[_Rows]) -> None:
        import pyarrow.parquet as pq

        pa, block = require_pyarrow(), len(self.sizes)
        points = np.concatenate([each.points for each in rows])
        if not len(points):
            return
        try:
            np.save(self._scratch / f"points-{block}.npy", points)
            if self._with_text:
                table = pa.Table.from_batches([each.texts for each in rows])
                pq.write_table(table, self._scratch / f"text-{block}.parquet")
        except OSError as error:
            raise scratch_error(self._scratch, error) from error
        self.sizes.append(len(points))

    def points(self, block: int) -> Array:
        """Return the clustered columns of a block."""
        points: Array = np.load(self._scratch / f"points-{block}.npy")
        return points

    def table(self, block: int) -> Any:
        """Return all columns of a block, as text."""
        import pyarrow.parquet as pq

        return pq.read_table(self._scratch / f"text-{block}.parquet")


def scratch_error(scratch: object, error: OSError) -> UserError:
    """Return what is said where the scratch folder cannot be written or read."""
    return UserError(
        f"cannot use the scratch folder {scratch}: {one_line(error.strerror or error)}. "
        "Name a folder with more space by --scratch."
    )


def _dialect_of(path: Path, how: CsvFormat) -> Dialect:
    """Return what separates fields and decimals, by the rule of a table in memory."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        raise _unreadable(path, error) from error
    if is_utf16(head):
        raise UserError(
            f"{path} is text in UTF-16, and --out-of-core reads UTF-8 only: convert it first, for "
            "example by iconv -f utf-16 -t utf-8."
        )
    return detect_dialect(head, how.delimiter, how.decimal)


def _first_row(path: Path, delimiter: str) -> tuple[str, ...]:
    """Return the fields of the first row, without the spaces around them."""
    with _Text(path) as text:
        record = next(_records(text, delimiter), None)
    if record is None:
        raise UserError(f"{path} is empty.")
    return tuple(field.strip() for field in record.fields)


def _arrow_rows(path: Path, layout: Layout) -> Iterator[_Rows]:
    """Yield the rows of a file, parsed by pyarrow; _OtherParserError where that may be wrong."""
    pa = require_pyarrow()
    from pyarrow import csv as arrow_csv

    if not layout.dialect.delimiter.isascii():
        raise _OtherParserError
    names = _positions(layout)
    try:
        with _Text(path) as text:
            batches = arrow_csv.open_csv(
                text,
                arrow_csv.ReadOptions(
                    use_threads=False,
                    block_size=_BYTES,
                    column_names=names,
                    skip_rows_after_names=int(layout.names is not None),
                ),
                arrow_csv.ParseOptions(
                    delimiter=layout.dialect.delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=False,
                ),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
                ),
            )
            for batch in batches:
                if text.has_quotes:
                    _check_quotes(batch)
                columns = [_numbers(batch.column(p), layout) for p in layout.selected]
                yield _Rows(np.column_stack(columns), batch)
    except pa.ArrowException as error:
        raise _OtherParserError from error


def _check_quotes(batch: Any) -> None:
    """Raise _OtherParserError where quotes may be read otherwise, or one is never closed."""
    import pyarrow.compute as pc

    padded = (pc.any(pc.match_substring_regex(column, '^ +"')) for column in batch.columns)
    last = batch.column(batch.num_columns - 1)[-1].as_py() if batch.num_rows else ""
    if "\n" in last or any(each.as_py() for each in padded):
        raise _OtherParserError


def _numbers(column: Any, layout: Layout) -> Floats:
    """Return a column of text as numbers; _OtherParserError unless all are finite and exact."""
    pa = require_pyarrow()
    import pyarrow.compute as pc

    if layout.dialect.decimal == ",":
        if pc.any(pc.match_substring(column, ".")).as_py():
            raise _OtherParserError
        column = pc.replace_substring(column, ",", ".")
    try:
        cast = column.cast(pa.float64())
    except pa.ArrowInvalid:
        cast = pc.utf8_trim_whitespace(column).cast(pa.float64())
    numbers: Floats = cast.to_numpy(zero_copy_only=False)
    if not np.isfinite(numbers).all():
        raise _OtherParserError
    large = np.flatnonzero(np.abs(numbers) >= LARGEST)
    if len(large) and parse_numbers(column.take(pa.array(large)).to_pylist()) is None:
        raise _OtherParserError  # an integer that float64 rounds
    return numbers


def _python_rows(path: Path, layout: Layout) -> Iterator[_Rows]:
    """Yield the rows of a file, parsed by Python, or say what is wrong with one of them."""
    pa = require_pyarrow()
    with _Text(path) as text:
        rows = islice(_records(text, layout.dialect.delimiter), int(layout.names is not None), None)
        while block := list(islice(rows, _ROWS)):
            try:
                points = read_points(iter(block), layout)
            except UserError as error:
                advice = "leave such rows, or the column (--exclude), out."
                raise UserError(str(error).replace(MISSING_ADVICE, advice)) from None
            columns = zip(*(record.fields for record in block), strict=True)
            texts = [pa.array(column, pa.string()) for column in columns]
            yield _Rows(points, pa.RecordBatch.from_arrays(texts, names=_positions(layout)))


def _positions(layout: Layout) -> list[str]:
    return [f"column_{i + 1}" for i in range(layout.n_columns)]


def _records(text: _Text, delimiter: str) -> Iterator[Any]:
    try:
        yield from read_records(io.BufferedReader(text), delimiter, str(text.path))
    except UnicodeDecodeError as error:
        raise UserError(
            f"{text.path} is not text in UTF-8 (byte 0x{error.object[error.start]:02x}). Save it "
            "as UTF-8: --out-of-core reads no other encoding."
        ) from error


def _unreadable(path: Path, error: OSError) -> UserError:
    return UserError(f"cannot read {path}: {one_line(error.strerror or error)}.")


class _Text(io.RawIOBase):
    """The bytes of a text file, without blank lines at its end, and with an end of its last line.

    Attributes
    ----------
    path : Path
    has_quotes : bool
        Whether a quote was among what has been read.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.has_quotes = path, False
        self._stream: BinaryIO = io.BytesIO()
        try:
            self._stream = path.open("rb")
            self._left = _end_of_rows(self._stream)
        except OSError as error:
            raise _unreadable(path, error) from error
        self._stream.seek(0)
        self._ended = self._left == 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return the number of bytes."""
        try:
            data: bytes = self._stream.read(min(len(buffer), self._left))
        except OSError as error:
            raise _unreadable(self.path, error) from error
        if b"\0" in data:
            raise UserError(
                f"{self.path} is not text (it holds NUL bytes). Name its format with --format."
            )
        self._left = self._left - len(data) if data else 0
        if not data and not self._ended:
            data, self._ended = b"\n", True
        self.has_quotes = self.has_quotes or b'"' in data
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()


def _end_of_rows(stream: BinaryIO) -> int:
    """Return the number of bytes up to the end of the last line that is not blank, without it."""
    end = stream.seek(0, io.SEEK_END)
    while end > 0:
        start = max(end - _ROWS, 0)
        stream.seek(start)
        kept = len(stream.read(end - start).rstrip(b" \r\n"))
        if kept:
            stream.seek(start + kept)
            rest = stream.read(_ROWS)
            return start + kept + len(rest) - len(rest.lstrip(b" "))
        end = start
    return 0
