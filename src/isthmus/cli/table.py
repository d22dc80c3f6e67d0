"""Table: what was read, so that labels can be written beside it."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from isthmus._utils.parallel import chunks
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array

# Rows that are written between two reports of progress.
_BLOCK = 1 << 14
CHOOSE_COLUMNS = "Choose the columns to cluster with --columns, or leave some out with --exclude."


class TextSink(Protocol):
    """Anything that text can be written to."""

    def write(self, text: str, /) -> object:
        """Write the text."""


@dataclass(frozen=True, eq=False)
class Table(ABC):
    """Rows of a file and, as numbers, the columns of it that are clustered."""

    names: tuple[str, ...] | None  # the header
    selected: tuple[int, ...]  # the positions of the clustered columns, counted from 0
    # (n_rows, n_selected), those columns, float64 or float32: finite, or NaN for missing values
    # where these are allowed; for --metric gower objects: numbers, dates, texts, None
    points: Array
    delimiter: str  # between the fields when the table is written to standard output as text

    @abstractmethod
    def rows(self) -> Iterator[Sequence[object]]:
        """Yield each row, every column of it, as values that ``str`` turns into text."""

    @abstractmethod
    def to_arrow(self) -> Any:
        """Return all columns as a ``pyarrow.Table``."""

    def write_text(
        self,
        stream: TextSink,
        delimiter: str,
        name: str,
        values: Sequence[str],
        progress: Progress | None = None,
    ) -> None:
        """Write all columns and one more as delimited text, with a header if there was one."""
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        if self.names is not None:
            writer.writerow([*self.names, name])
        rows = zip(self.rows(), values, strict=True)
        for start, stop in chunks(len(values), _BLOCK):
            writer.writerows([*row, value] for row, value in islice(rows, stop - start))
            if progress is not None:
                progress(stop, len(values))
        if next(rows, None) is not None:
            raise AssertionError("a table has as many rows as points")

    def selected_names(self) -> list[str]:
        """Return the names of the clustered columns, or their positions from 1 without a header."""
        if self.names is None:
            return [str(position + 1) for position in self.selected]
        return [self.names[position] for position in self.selected]


def as_field(text: str, delimiter: str) -> str:
    """Return text as one field of a delimited line, quoted where that is needed."""
    field = io.StringIO()
    csv.writer(field, delimiter=delimiter, lineterminator="").writerow([text])
    return field.getvalue()


def column_names(names: Sequence[str] | None, n_columns: int) -> list[str]:
    """Return the header, or made-up names for a format that must have some."""
    if names is not None:
        return list(names)
    return [f"column_{position + 1}" for position in range(n_columns)]
