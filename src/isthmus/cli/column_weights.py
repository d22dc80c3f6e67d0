"""``--column-weight COLUMN=WEIGHT``: how much columns count in Gower's distance."""

from __future__ import annotations

import argparse
import math
from typing import NamedTuple

from isthmus.cli.column_options import Selection, describe_column, resolve_selection
from isthmus.cli.errors import UserError, shown
from isthmus.cli.table import Table


class ColumnWeight(NamedTuple):
    """A column as it was asked for, a name or a position from 1, and its weight."""

    column: str
    weight: float


def parse_column_weight(text: str) -> ColumnWeight:
    """Return what ``"age=2"`` says; ValueError where it says nothing of that kind."""
    column, equals, number = text.rpartition("=")  # a name may hold the character, too
    column = column.strip()
    if not equals or not column:
        raise ValueError(f"expected a column and its weight, such as age=2, got {text!r}")
    try:
        weight = float(number)
    except ValueError:
        weight = math.nan
    if not 0.0 <= weight < math.inf:
        raise ValueError(
            f"the weight of {shown(column)} must be a finite number, not below 0; got {number!r}"
        )
    return ColumnWeight(column, weight)


def column_weights(table: Table, args: argparse.Namespace) -> tuple[float, ...] | None:
    """Return the weights of the columns to cluster by, in their order; None if none was given."""
    if not args.column_weight:
        return None
    n_columns = len(table.names or next(table.rows()))
    weights: dict[int, float] = {}
    for column, weight in args.column_weight:
        source = "standard input" if args.input in (None, "-") else args.input
        positions = resolve_selection(Selection((column,)), table.names, n_columns, source)
        for position in positions:
            described = describe_column(position, table.names)
            if position not in table.selected:
                raise UserError(
                    f"--column-weight {column}: rows are not clustered by {described}. Leave out "
                    "the weight, or choose the column with --columns."
                )
            if position in weights:
                raise UserError(f"--column-weight weighs {described} twice.")
            weights[position] = weight
    found = tuple(weights.get(position, 1.0) for position in table.selected)
    if not any(found):
        raise UserError("--column-weight leaves no column a weight above 0.")
    return found
