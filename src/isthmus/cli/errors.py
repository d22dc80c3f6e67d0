"""What the user can put right, told in one line."""

from __future__ import annotations

import contextlib
import re
import sys

_SHOWN = 40
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NUMBERED_ROWS = re.compile(r"\brows? \d", re.IGNORECASE)


class UserError(Exception):
    """A wrong option, or a file that is missing, unreadable or not what it should be."""


def one_line(message: object) -> str:
    """Return a message on one line, whatever it was made of."""
    return " ".join(str(message).split())


def from_library(error: Exception, *, some_left_out: bool = False) -> UserError:
    """Return the error of the library, with its notes, and with how it counts rows if it names any.

    some_left_out : bool
        Whether rows with missing values were left out, so that the library did not count them.
    """
    text = " ".join([str(error), *getattr(error, "__notes__", ())])
    return UserError(text + _how_rows_are_counted(text, some_left_out))


def _how_rows_are_counted(text: str, some_left_out: bool) -> str:
    if _NUMBERED_ROWS.search(_QUOTED.sub("", text)) is None:
        return ""
    without = ", without those left out for missing values" if some_left_out else ""
    return f" (Rows are counted from 0{without}.)"


def shown(value: str) -> str:
    """Quote a value from a file for a message; cut it short if it is long."""
    return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "…")


def harmless(text: str) -> str:
    """Return text in which what a terminal would obey, or not show, is spelled out."""
    if all(character.isprintable() or character == "\n" for character in text):
        return text
    return "".join(
        character
        if character.isprintable() or character == "\n"
        else character.encode("unicode_escape").decode()
        for character in text
    )


def say(text: str) -> None:
    """Write a line to standard error, if there is one that takes it."""
    text = harmless(text)
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text + "\n")
            sys.stderr.flush()
