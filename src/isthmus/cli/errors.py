"""What the user can put right, told in one line."""

from __future__ import annotations

_SHOWN = 40


class UserError(Exception):
    """A wrong option, or a file that is missing, unreadable or not what it should be."""


def one_line(message: object) -> str:
    """Return a message on one line, whatever it was made of."""
    return " ".join(str(message).split())


def shown(value: str) -> str:
    """Quote a value from a file for a message; cut it short if it is long."""
    return repr(value if len(value) <= _SHOWN else value[:_SHOWN] + "…")
