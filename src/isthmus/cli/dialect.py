"""Delimited text → what separates its fields, and what its decimals."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from isthmus.cli.fields import is_missing, is_number

_DELIMITERS = (",", ";", "\t", "|", " ")
_SAMPLE_BYTES, _SAMPLE_ROWS = 1 << 16, 200
# 1,234 may be a thousand or a little more than one.
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+")
_NAMES = {"\t": "tabs", " ": "spaces", ",": "commas"}


class Dialect(NamedTuple):
    """How the fields of a text are separated and its numbers written."""

    delimiter: str = ","
    decimal: str = "."

    def describe(self) -> str:
        """Return it in words: ``"fields separated by ';', decimal comma"``."""
        separated = _NAMES.get(self.delimiter, repr(self.delimiter))
        return f"fields separated by {separated}, decimal {_DECIMALS[self.decimal]}"


_DECIMALS = {".": "point", ",": "comma"}


class _Candidate(NamedTuple):
    dialect: Dialect
    share: float  # of the fields that are numbers, among those that are not missing
    n_fields: int


def detect_dialect(text: bytes, delimiter: str | None, decimal: str | None) -> Dialect:
    """Return the dialect that reads most fields of the first rows as numbers.

    text : bytes
        UTF-8.
    delimiter, decimal : str or None
        What was given is taken.

    A delimiter must give every row the same number of fields, two at least. Of equals the first of
    comma, semicolon, tab, bar and space is taken, and the decimal point before the comma. A comma
    that may group thousands is not taken for a decimal one.
    """
    if delimiter is not None and decimal is not None:
        return Dialect(delimiter, decimal)
    lines = _first_lines(text)
    candidates = [
        candidate
        for each in ([delimiter] if delimiter else _DELIMITERS)
        for candidate in _candidates(lines, each, decimal)
        if delimiter or candidate.n_fields > 1
    ]
    if not candidates and delimiter is None and lines and "," not in lines[0]:
        # one column below its name: nothing separates, and a comma is a decimal one
        single = [each for each in _candidates(lines, ";", decimal) if each.share == 1.0]
        candidates = [each for each in single if each.dialect.decimal == ","]
    if not candidates:
        return Dialect(delimiter or ",", decimal or ".")
    return max(candidates, key=lambda candidate: candidate.share).dialect


def _first_lines(text: bytes) -> list[str]:
    sample = text[:_SAMPLE_BYTES].removeprefix(codecs.BOM_UTF8).decode(errors="ignore")
    lines = io.StringIO(sample, newline="").readlines()
    if len(text) > _SAMPLE_BYTES:
        lines = lines[:-1]  # the last one may be cut
    return [line for line in lines if line.strip(" \r\n")]


def _candidates(lines: Sequence[str], delimiter: str, decimal: str | None) -> list[_Candidate]:
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter != " ")
    try:
        rows = list(islice(reader, _SAMPLE_ROWS))
    except csv.Error:
        return []
    if not rows or len({len(row) for row in rows}) != 1:
        return []
    body = rows if not _may_be_names(rows[0]) else rows[1:] or rows
    fields = [field for row in body for field in row if not is_missing(field)]
    decimals = [decimal] if decimal else [".", ","] if _has_decimal_commas(fields) else ["."]
    return [
        _Candidate(
            Dialect(delimiter, each),
            sum(is_number(field, each) for field in fields) / max(len(fields), 1),
            len(rows[0]),
        )
        for each in decimals
        if delimiter != "," or decimal or each == "."
    ]


def _may_be_names(row: Sequence[str]) -> bool:
    return any(not is_number(field) and not is_number(field, ",") for field in row)


def _has_decimal_commas(fields: Sequence[str]) -> bool:
    """Whether there are numbers with commas that cannot group thousands."""
    return any(
        "," in field and is_number(field, ",") and not _GROUPED.fullmatch(field.strip())
        for field in fields
    )
