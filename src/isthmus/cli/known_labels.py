"""``--known COLUMN``: clusters that are known of some rows, from a column of the table."""

from __future__ import annotations

import argparse

import numpy as np

from isthmus._utils.typing import Ints
from isthmus.cli.column_options import Selection, resolve_selection
from isthmus.cli.errors import UserError
from isthmus.cli.fields import is_missing
from isthmus.cli.prepare import Prepared
from isthmus.cli.table import Table


def known_labels(table: Table, prepared: Prepared, args: argparse.Namespace) -> Ints | None:
    """Return a label for each row that is fitted, -1 where its field is missing; None if not asked.

    Labels number the different values of the column in the order in which they first appear.
    """
    if args.known is None:
        return None
    rows = table.rows()
    first = next(rows)
    chosen = Selection((args.known,))
    positions = resolve_selection(chosen, table.names, len(first), args.input or "standard input")
    if len(positions) > 1:
        raise UserError(f"--known takes one column, and {args.known} are {len(positions)}.")
    numbers: dict[str, int] = {}
    labels = np.array(
        [_number_of(row[positions[0]], numbers) for row in (first, *rows)], dtype=np.int64
    )
    if not numbers:
        raise UserError(
            f"--known: column {args.known} is empty; it must name the cluster of a row."
        )
    return labels if prepared.taken is None else labels[prepared.taken]


def _number_of(value: object, numbers: dict[str, int]) -> int:
    text = "" if value is None else str(value).strip()
    return -1 if is_missing(text) else numbers.setdefault(text, len(numbers))
