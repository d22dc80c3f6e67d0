"""What the user can put right, told in one line."""

from __future__ import annotations

import contextlib
import sys

_SHOWN = 40


class UserError(Exception):
    """A wrong option, or a file that is missing, unreadable or not what it should be."""


def one_line(message: object) -> str:
    """Return a message on one line, whatever it was made of."""
    return " ".join(str(message).split())


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
