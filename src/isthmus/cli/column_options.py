"""``--columns`` and ``--exclude`` → the positions of the columns to cluster."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from isthmus.cli.errors import UserError, shown

_POSITIONS = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_LISTED = 20


class Selection(NamedTuple):
    """Columns as they were asked for: header names, positions from 1, ranges of positions."""

    columns: tuple[str, ...] | None = None  # None takes all
    exclude: tuple[str, ...] = ()
    exact: bool = False  # whether columns are names only, whatever they look like

    @property
    def tokens(self) -> tuple[str, ...]:
        """Everything that was asked for, to take or to leave out."""
        return (self.columns or ()) + self.exclude


def split_tokens(text: str) -> tuple[str, ...]:
    """Split ``"x,2-5"`` at its commas; a name that holds a comma can be quoted."""
    tokens = tuple(token.strip() for token in next(csv.reader([text], skipinitialspace=True), []))
    if not tokens or "" in tokens:
        raise ValueError(f"expected names, positions or ranges like x,y or 1,3-5, got {text!r}")
    return tokens


def resolve_selection(
    selection: Selection, names: Sequence[str] | None, n_columns: int, source: str
) -> tuple[int, ...]:
    """Return the selected positions, counted from 0, in the order asked for.

    ``names`` is the header, if there is one; ``source`` is the file's name in messages.
    """
    chosen = list(range(n_columns))
    if selection.columns is not None:
        if selection.exact:
            _require_names(selection.columns, names or (), n_columns, source)
        chosen = _resolve_tokens(selection.columns, names, n_columns, source)
        twice = next((position for position in chosen if chosen.count(position) > 1), None)
        if twice is not None:
            raise UserError(f"--columns takes {describe_column(twice, names)} of {source} twice.")
    excluded = set(_resolve_tokens(selection.exclude, names, n_columns, source))
    selected = tuple(position for position in chosen if position not in excluded)
    if not selected:
        raise UserError(f"--columns and --exclude leave no column of {source} to cluster.")
    return selected


def _require_names(
    wanted: Sequence[str], names: Sequence[str], n_columns: int, source: str
) -> None:
    named = positions_by_name(names)
    for name in wanted:
        if name not in named:
            raise UserError(_unknown_name(name, names, n_columns, source))
        if len(named[name]) > 1:
            positions = " and ".join(map(str, named[name]))
            raise UserError(
                f"{source} has several columns named {shown(name)} (columns {positions}), and the "
                "model takes its columns by their names. Rename them, so that one has this name."
            )


def positions_by_name(names: Sequence[str]) -> dict[str, list[int]]:
    """Return the positions of the columns of each name, counted from 1."""
    named: dict[str, list[int]] = {}
    for position, name in enumerate(names, 1):
        named.setdefault(name, []).append(position)
    return named


def select_by_position(selection: Selection, n_columns: int) -> tuple[int, ...]:
    """Return what the positions of a selection select, as if it held no names."""
    columns = [token for token in selection.columns or () if is_position(token, n_columns)]
    exclude = [token for token in selection.exclude if is_position(token, n_columns)]
    chosen = _resolve_tokens(columns, None, n_columns, "") or range(n_columns)
    excluded = _resolve_tokens(exclude, None, n_columns, "")
    return tuple(position for position in chosen if position not in excluded)


def is_position(token: str, n_columns: int) -> bool:
    """Whether a token is a position, or a range of positions, among ``n_columns`` columns."""
    match = _POSITIONS.fullmatch(token)
    if match is None:
        return False
    first, last = int(match[1]), int(match[2] or match[1])
    return 1 <= first <= last <= n_columns


def describe_column(position: int, names: Sequence[str] | None) -> str:
    """Return how messages call a column: its position from 1, and its name if it has one."""
    return f"column {position + 1}" + (f" ({shown(names[position])})" if names else "")


def _resolve_tokens(
    tokens: Sequence[str], names: Sequence[str] | None, n_columns: int, source: str
) -> list[int]:
    resolved = (_resolve_token(token, names, n_columns, source) for token in tokens)
    return list(chain.from_iterable(resolved))


def _resolve_token(
    token: str, names: Sequence[str] | None, n_columns: int, source: str
) -> Sequence[int]:
    named = [position for position, name in enumerate(names or ()) if name == token]
    if len(named) > 1:
        positions = " and ".join(str(position + 1) for position in named)
        raise UserError(
            f"{source} has several columns named {shown(token)} (columns {positions}): "
            "select them by position."
        )
    if named:
        return named
    match = _POSITIONS.fullmatch(token)
    if match is None:
        raise UserError(_unknown_name(token, names, n_columns, source))
    if not is_position(token, n_columns):
        raise UserError(
            f"{source} has no column {token}: positions go from 1 to {n_columns}, "
            "ranges from the smaller to the larger."
        )
    return range(int(match[1]) - 1, int(match[2] or match[1]))


def _unknown_name(token: str, names: Sequence[str] | None, n_columns: int, source: str) -> str:
    if names is None:
        return (
            f"{source} has no header, so {shown(token)} names no column: "
            f"select columns by position, from 1 to {n_columns}."
        )
    listed = ", ".join(shown(name) for name in names[:_LISTED])
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{source} has no column {shown(token)}. Its columns are {listed}{more}."
