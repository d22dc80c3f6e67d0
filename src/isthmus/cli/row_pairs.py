"""A file of pairs of row numbers → an array, or a UserError that names the line."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isthmus._utils.typing import Ints
from isthmus.cli.errors import UserError


def read_pairs(path: str, option: str, n_rows: int) -> Ints:
    """Return the pairs of a file, (m, 2), counted from 0.

    In the file rows of the table are counted from 1, without the header; two numbers a line,
    separated by a comma or by spaces. Empty lines are skipped.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise UserError(f"{option} {path}: {reason}.") from error
    pairs = [_pair(line, f"{option} {path}, line {i}", n_rows) for i, line in enumerate(lines, 1)]
    return np.array([pair for pair in pairs if pair], dtype=np.int64).reshape(-1, 2) - 1


def _pair(line: str, where: str, n_rows: int) -> list[int]:
    fields = line.replace(",", " ").split()
    if not fields:
        return []
    if len(fields) != 2 or not all(field.isascii() and field.isdigit() for field in fields):
        raise UserError(f"{where}: expected two row numbers, such as 3,17; got {line.strip()!r}.")
    pair = [int(field) for field in fields]
    if min(pair) < 1 or max(pair) > n_rows:
        raise UserError(f"{where}: rows are numbered from 1 to {n_rows}, got {line.strip()!r}.")
    return pair
