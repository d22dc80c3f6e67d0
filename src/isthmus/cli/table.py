"""Table: what was read, so that labels can be written beside it."""

from __future__ import annotations

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from isthmus._utils.typing import Array, Ints

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
    points: Array  # (n_rows, n_selected), those columns: finite, float64 or float32
    delimiter: str  # between the fields when the table is written to standard output as text

    @abstractmethod
    def rows(self) -> Iterator[Sequence[object]]:
        """Yield each row, every column of it, as values that ``str`` turns into text."""

    @abstractmethod
    def to_arrow(self) -> Any:
        """Return all columns as a ``pyarrow.Table``."""

    def write_text(self, stream: TextSink, delimiter: str, label_column: str, labels: Ints) -> None:
        """Write all columns and the labels as delimited text, with a header if there was one."""
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        if self.names is not None:
            writer.writerow([*self.names, label_column])
        for row, label in zip(self.rows(), labels.tolist(), strict=True):
            writer.writerow([*row, label])

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
