"""A sheet of an Excel workbook, through openpyxl → Table."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from isthmus._utils.memory import require_memory
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Floats
from isthmus.cli.column_options import (
    Selection,
    describe_column,
    resolve_selection,
    select_by_position,
)
from isthmus.cli.errors import UserError, one_line, shown
from isthmus.cli.fields import is_missing, is_number, parse_numbers, why_no_number
from isthmus.cli.formats import require_pyarrow
from isthmus.cli.mixed_columns import in_array
from isthmus.cli.table import CHOOSE_COLUMNS, Table, column_names

# Rows between two reports of progress.
_BLOCK = 1 << 10


class SheetOptions(NamedTuple):
    """Which sheet to read, and how; None leaves it to the workbook."""

    sheet: str | None = None
    header: bool | None = None
    selection: Selection = Selection()
    allow_missing: bool = False
    progress: Progress | None = None
    mixed: bool = False  # whether selected columns may hold dates and texts


@dataclass(frozen=True, eq=False)
class ExcelTable(Table):
    """A table that was a sheet: its cells as they were, without the header."""

    cells: list[tuple[Any, ...]]

    def rows(self) -> Iterator[Sequence[object]]:
        """Yield each row; an empty cell is an empty text."""
        return (["" if cell is None else cell for cell in row] for row in self.cells)

    def to_arrow(self) -> Any:
        """Return clustered columns as float64, and the others as strings."""
        pa = require_pyarrow()
        n_columns = len(self.cells[0])
        columns = []
        for position in range(n_columns):
            if position in self.selected and self.points.dtype != object:
                numbers = np.ascontiguousarray(self.points[:, self.selected.index(position)])
                columns.append(pa.array(numbers, from_pandas=True))
                continue
            texts = [None if row[position] is None else str(row[position]) for row in self.cells]
            columns.append(pa.array(texts, pa.string()))
        return pa.Table.from_arrays(columns, names=column_names(self.names, n_columns))


def require_openpyxl() -> Any:
    """Return the module openpyxl, or say how to install it."""
    try:
        return import_module("openpyxl")
    except ImportError as error:
        raise UserError(
            "Excel workbooks need openpyxl, which is not installed: pip install 'isthmus[excel]'"
        ) from error


def read_excel(stream: BinaryIO, source: str, options: SheetOptions) -> ExcelTable:
    """Read a sheet, the first one unless another is named; of formulas, their last results.

    The first row is a header if a selected column of it holds something that is neither a number
    nor empty.
    """
    rows = _read_cells(stream, source, options)
    if not rows:
        raise UserError(f"{source} is empty.")
    first = [_text_of(cell).strip() for cell in rows[0]]
    header = options.header
    if header is None:
        header = _looks_like_header(rows[0], options.selection)
    names = tuple(first) if header else None
    cells = rows[1:] if header else rows
    if not cells:
        raise UserError(f"{source} has a header, but no rows below it.")
    selected = resolve_selection(options.selection, names, len(first), source)
    if options.mixed:
        chosen = [[_or_none(row[position]) for row in cells] for position in selected]
        return ExcelTable(names, selected, in_array(chosen), ",", cells)
    points = np.empty((len(cells), len(selected)))
    for j, position in enumerate(selected):
        column = [row[position] for row in cells]
        numbers = _numbers_of(column, allow_missing=options.allow_missing)
        if numbers is None:
            row = next(
                i
                for i, cell in enumerate(column)
                if _numbers_of([cell], allow_missing=options.allow_missing) is None
            )
            where = f"{source}, row {row + 1 + header}, {describe_column(position, names)}"
            raise UserError(f"{where}: {_why_no_number(column[row])}")
        points[:, j] = numbers
    return ExcelTable(names, selected, points, ",", cells)


def _read_cells(stream: BinaryIO, source: str, options: SheetOptions) -> list[tuple[Any, ...]]:
    openpyxl = require_openpyxl()
    # What a damaged workbook raises has no common type.
    try:
        with zipfile.ZipFile(stream) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
        require_memory(unpacked, f"{source}, unpacked,", "Save fewer rows to it.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles that openpyxl does not know
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            sheet = _sheet_of(book, source, options.sheet)
            return _cells_of(sheet, options.progress)
    except (UserError, MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise UserError(
            f"{source} is not a readable Excel workbook: {one_line(error) or type(error).__name__}"
        ) from error


def _sheet_of(book: Any, source: str, wanted: str | None) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if not sheets:
        raise UserError(f"{source} has no sheet with cells.")
    if wanted is None:
        return next(iter(sheets.values()))
    if wanted not in sheets:
        listed = ", ".join(map(shown, sheets))
        raise UserError(f"{source} has no sheet {shown(wanted)}. Its sheets are {listed}.")
    return sheets[wanted]


def _cells_of(sheet: Any, progress: Progress | None) -> list[tuple[Any, ...]]:
    """Return the cells, without rows and columns at the end that hold nothing."""
    rows: list[tuple[Any, ...]] = []
    every = sheet.iter_rows(values_only=True)
    total = sheet.max_row or 0
    while block := list(islice(every, _BLOCK)):
        rows += block
        if progress is not None and total:
            progress(min(len(rows), total), total)
    while rows and all(cell is None for cell in rows[-1]):
        rows.pop()
    width = max((_width_of(row) for row in rows), default=0)
    return [(*row[:width], *[None] * (width - len(row))) for row in rows]


def _or_none(cell: Any) -> Any:
    return None if isinstance(cell, str) and is_missing(cell) else cell


def _width_of(row: Sequence[Any]) -> int:
    return max((i + 1 for i, cell in enumerate(row) if cell is not None), default=0)


def _text_of(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _numbers_of(column: Sequence[Any], *, allow_missing: bool) -> Floats | None:
    """Return cells as numbers; None unless each is one, or a text of one."""
    if not all(cell is None or isinstance(cell, str) or _is_number(cell) for cell in column):
        return None
    return parse_numbers([_text_of(cell) for cell in column], allow_missing=allow_missing)


def _why_no_number(cell: Any) -> str:
    if cell is None or isinstance(cell, str) or _is_number(cell):
        text = _text_of(cell)
        reason = why_no_number(text) or f"{shown(text)} is not a number."
        return reason if is_missing(text) or is_number(text) else f"{reason} {CHOOSE_COLUMNS}"
    return f"{shown(str(cell))} is a {type(cell).__name__}, not a number. {CHOOSE_COLUMNS}"


def _looks_like_header(row: Sequence[Any], selection: Selection) -> bool:
    texts = [_text_of(cell).strip() for cell in row]
    if any(token in texts and not is_number(token) for token in selection.tokens):
        return True
    chosen = [row[position] for position in select_by_position(selection, len(row))]
    return any(
        isinstance(cell, str) and not is_number(cell) and not is_missing(cell) for cell in chosen
    )
