"""CSV files that are larger than memory → blocks of rows in files of numbers.

Text cannot be read from the middle. It is read once, from the beginning to the end, and written to
the scratch folder in blocks: numbers as arrays, and all fields as text where they are wanted again.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.typing import Array
from isthmus.cli.block_sources import BLOCK, BlockSource
from isthmus.cli.column_options import Selection, describe_column, resolve_selection
from isthmus.cli.errors import UserError, one_line, shown
from isthmus.cli.formats import require_pyarrow

_BYTES = 1 << 24  # what is read at once


class CsvFormat(NamedTuple):
    """How the files are to be read."""

    delimiter: str
    header: bool | None
    selection: Selection


class CsvSource(BlockSource):
    """CSV files, converted to blocks in a scratch folder."""

    def __init__(
        self, paths: Sequence[Path], how: CsvFormat, scratch: Path, *, with_text: bool
    ) -> None:
        require_pyarrow()
        self._scratch, self._with_text = scratch, with_text
        first = _first_row(paths[0], how.delimiter)
        has_header = not all(map(_is_number, first)) if how.header is None else how.header
        self.names = tuple(first) if has_header else None
        self.selected = resolve_selection(how.selection, self.names, len(first), str(paths[0]))
        self.dtype = np.dtype(np.float64)
        self.sizes = []
        for block in self._blocks(paths, how, len(first)):
            self._keep(block)
        if not self.sizes:
            raise UserError(f"{paths[0]} has no rows.")

    def _blocks(self, paths: Sequence[Path], how: CsvFormat, n_columns: int) -> Iterator[Any]:
        """Yield tables of text, of about BLOCK rows."""
        pa = require_pyarrow()
        waiting, n_waiting = [], 0
        for path in paths:
            first = _first_row(path, how.delimiter)
            if self.names is not None and tuple(first) != self.names:
                raise UserError(f"{path} has another header than {paths[0]}.")
            start = 0
            for batch in _batches(path, how.delimiter, n_columns, self.names is not None):
                self._where = path, start
                start += batch.num_rows
                waiting.append(self._checked(batch))
                n_waiting += batch.num_rows
                if n_waiting >= BLOCK:
                    yield pa.Table.from_batches(waiting)
                    waiting, n_waiting = [], 0
        if n_waiting:
            yield pa.Table.from_batches(waiting)

    def _checked(self, batch: Any) -> Any:
        """Return a batch whose clustered columns are numbers."""
        pa = require_pyarrow()
        for position in self.selected:
            try:
                batch.column(position).cast(pa.float64())
            except pa.ArrowInvalid:
                raise UserError(self._what_is_wrong(batch.column(position), position)) from None
        return batch

    def _what_is_wrong(self, column: Any, position: int) -> str:
        path, start = self._where
        fields = column.to_pylist()
        row = next((r for r, field in enumerate(fields) if not _is_number(field)), 0)
        text = shown(fields[row]) if fields[row].strip() else "an empty field"
        return (
            f"{path}, row {start + row + 1}, {describe_column(position, self.names)}: expected a "
            f"number, got {text}. Leave such rows, or the column (--exclude), out."
        )

    def _keep(self, table: Any) -> None:
        import pyarrow.parquet as pq

        pa, block = require_pyarrow(), len(self.sizes)
        columns = [table.column(p).cast(pa.float64()).to_numpy() for p in self.selected]
        np.save(self._scratch / f"points-{block}.npy", np.column_stack(columns))
        if self._with_text:
            pq.write_table(table, self._scratch / f"text-{block}.parquet")
        self.sizes.append(table.num_rows)

    def points(self, block: int) -> Array:
        """Return the clustered columns of a block."""
        points: Array = np.load(self._scratch / f"points-{block}.npy")
        return points

    def table(self, block: int) -> Any:
        """Return all columns of a block, as text."""
        import pyarrow.parquet as pq

        return pq.read_table(self._scratch / f"text-{block}.parquet")


def _first_row(path: Path, delimiter: str) -> list[str]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = csv.reader(itertools.islice(stream, 1000), delimiter=delimiter)
            row = next((row for row in rows if row), None)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"cannot read {path}: {one_line(error)}") from error
    if row is None:
        raise UserError(f"{path} is empty.")
    return row


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _batches(path: Path, delimiter: str, n_columns: int, has_header: bool) -> Iterator[Any]:
    """Yield the rows of a file, all fields as text."""
    pa = require_pyarrow()
    from pyarrow import csv as arrow_csv

    names = [f"column_{i + 1}" for i in range(n_columns)]
    try:
        yield from arrow_csv.open_csv(
            path,
            arrow_csv.ReadOptions(
                use_threads=False,
                block_size=_BYTES,
                column_names=names,
                skip_rows_after_names=int(has_header),
            ),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"cannot read {path}: {one_line(error)}") from error
