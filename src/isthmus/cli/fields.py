"""Text of a field → a finite number, or why it is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isthmus._utils.typing import Floats
from isthmus.cli.errors import shown

# What spreadsheets and statistics programs write for a value that is not there.
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "nil", "?", "-"})
# float64 holds all integers up to this one.
_LARGEST = 2.0**53
ROUNDED = "which float64 rounds: distinct rows would become equal. Subtract a constant first."
MISSING_ADVICE = "missing values must be filled in or removed first."


def is_missing(field: str) -> bool:
    """Whether a field stands for a value that is not there."""
    return field.strip().casefold() in _MISSING


def is_number(field: str) -> bool:
    """Whether a field is a number, as Python reads one; ``1_000`` is none."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def finite_numbers(fields: Sequence[str]) -> Floats | None:
    """Return the fields as an array; None unless every one is a finite number."""
    try:
        numbers = np.fromiter(map(float, fields), np.float64, len(fields))
    except ValueError:
        return None
    if not np.isfinite(numbers).all() or "_" in "".join(fields):
        return None
    if np.abs(numbers).max(initial=0.0) >= _LARGEST and any(map(_is_rounded, fields)):
        return None
    return numbers


def _is_rounded(field: str) -> bool:
    """Whether a field is an integer that float64 does not hold."""
    digits = field.strip().removeprefix("-")
    return digits.isdecimal() and len(digits) > 15 and int(digits) != int(float(digits))


def why_no_number(field: str) -> str | None:
    """Return why a field is not a finite number, for people; None if it is one."""
    if not field.strip():
        return f"the field is empty; {MISSING_ADVICE}"
    if is_missing(field):
        return f"{shown(field)} is a missing value; {MISSING_ADVICE}"
    if not is_number(field):
        return f"{shown(field)} is not a number."
    if (reason := why_not_finite(float(field), shown(field))) is not None:
        return reason
    return f"{shown(field)} is an integer {ROUNDED}" if _is_rounded(field) else None


def why_not_finite(number: float, text: str) -> str | None:
    """Return why a number cannot be clustered; None if it can."""
    if np.isfinite(number):
        return None
    if np.isnan(number):
        return f"{text} is a missing value; {MISSING_ADVICE}"
    return f"{text} is infinite; only finite numbers can be clustered."
