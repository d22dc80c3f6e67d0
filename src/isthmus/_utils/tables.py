"""Rows of strings → tables as text; numbers → words; pandas, where it is needed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

Row = Sequence[str]


def text_table(header: Row, rows: Sequence[Row], *, left_last: bool = False) -> list[str]:
    """Return the lines of a table, aligned on the right; the last column on the left if asked."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    if left_last:
        widths[-1] = 0
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]


def markdown_table(header: Row, rows: Sequence[Row]) -> list[str]:
    """Return the lines of a Markdown table; what would be HTML is escaped."""
    rule = ["---"] * len(header)
    return [f"| {' | '.join(map(markdown_cell, row))} |" for row in (header, rule, *rows)]


def markdown_cell(text: str) -> str:
    """Return text on one line, with its vertical bars, and what would be HTML, escaped."""
    return markdown_text(" ".join(text.split())).replace("|", "\\|")


def markdown_text(text: str) -> str:
    """Return text in which nothing is taken for HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def count(n: int, noun: str) -> str:
    """Return a number and its noun: ``"1 cluster"``, ``"1,200 clusters"``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def told_apart(a: float, b: float) -> tuple[str, str]:
    """Return two numbers as text, with four digits or as many more as tell them apart."""
    texts = "", ""
    for digits in range(4, 18):
        texts = f"{a:.{digits}g}", f"{b:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def first_few(numbers: Sequence[int], most: int = 6) -> str:
    """Return the first numbers of a list: ``"5, 4, 1"``, or ``"5, 4, 1, …"`` where it is longer."""
    listed = ", ".join(map(str, numbers[:most]))
    return f"{listed}, …" if len(numbers) > most else listed


def import_pandas(caller: str) -> Any:
    """Return pandas; ImportError with the command that installs it, where it is missing."""
    try:
        return import_module("pandas")
    except ImportError as error:
        raise ImportError(f"{caller} needs pandas: pip install pandas.") from error
