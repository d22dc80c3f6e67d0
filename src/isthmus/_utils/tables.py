"""Rows of strings → tables as text; numbers → words."""

from __future__ import annotations

from collections.abc import Sequence

Row = Sequence[str]


def text_table(header: Row, rows: Sequence[Row]) -> list[str]:
    """Return the lines of a table whose columns are aligned on the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in (header, *rows)
    ]


def markdown_table(header: Row, rows: Sequence[Row]) -> list[str]:
    """Return the lines of a Markdown table."""
    rule = ["---"] * len(header)
    return [f"| {' | '.join(map(markdown_cell, row))} |" for row in (header, rule, *rows)]


def markdown_cell(text: str) -> str:
    """Return text on one line, with its vertical bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def count(n: int, noun: str) -> str:
    """Return a number and its noun: ``"1 cluster"``, ``"1,200 clusters"``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
