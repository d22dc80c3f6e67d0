"""Text of a field → a finite number, or why it is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isthmus._utils.typing import Floats
from isthmus.cli.errors import shown

# What spreadsheets and statistics programs write for a value that is not there.
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "nil", "?", "-"})
# float64 holds all integers up to this one.
LARGEST = 2.0**53
ROUNDED = "which float64 rounds: distinct rows would become equal. Subtract a constant first."
MISSING_ADVICE = "missing values must be filled in or removed first, or see --missing."


def is_missing(field: str) -> bool:
    """Whether a field stands for a value that is not there."""
    return field.strip().casefold() in _MISSING


def is_number(field: str, decimal: str = ".") -> bool:
    """Whether a field is a number, as Python reads one; ``1_000`` is none.

    With a decimal comma a point is no part of a number: it may be one that groups digits.
    """
    if decimal == ",":
        if "." in field:
            return False
        field = field.replace(",", ".")
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def parse_numbers(
    fields: Sequence[str], decimal: str = ".", *, allow_missing: bool = False
) -> Floats | None:
    """Return the fields as an array; None unless every one is a finite number.

    allow_missing : bool
        Whether a missing value is NaN, and not wrong.
    """
    joined = "".join(fields)
    if "_" in joined or (decimal == "," and "." in joined):
        return None
    if decimal == ",":
        fields = [field.replace(",", ".") for field in fields]
    numbers = _as_floats(fields)
    if numbers is None and allow_missing:
        numbers = _as_floats(["nan" if is_missing(field) else field for field in fields])
    if numbers is None:
        return None
    if np.isinf(numbers).any() or (not allow_missing and np.isnan(numbers).any()):
        return None
    if np.nanmax(np.abs(numbers), initial=0.0) >= LARGEST and any(map(_is_rounded, fields)):
        return None
    return numbers


def _as_floats(fields: Sequence[str]) -> Floats | None:
    try:
        return np.fromiter(map(float, fields), np.float64, len(fields))
    except ValueError:
        return None


def _is_rounded(field: str) -> bool:
    """Whether a field is an integer that float64 does not hold."""
    digits = field.strip().removeprefix("-")
    return digits.isdecimal() and len(digits) > 15 and int(digits) != int(float(digits))


def why_no_number(field: str, decimal: str = ".") -> str | None:
    """Return why a field is not a finite number, for people; None if it is one."""
    if not field.strip():
        return f"the field is empty; {MISSING_ADVICE}"
    if is_missing(field):
        return f"{shown(field)} is a missing value; {MISSING_ADVICE}"
    if not is_number(field, decimal):
        how = " with a decimal comma" if decimal == "," and is_number(field) else ""
        return f"{shown(field)} is not a number{how}."
    number = float(field.replace(",", ".") if decimal == "," else field)
    if (reason := why_not_finite(number, shown(field))) is not None:
        return reason
    return f"{shown(field)} is an integer {ROUNDED}" if _is_rounded(field) else None


def why_not_finite(number: float, text: str) -> str | None:
    """Return why a number cannot be clustered; None if it can."""
    if np.isfinite(number):
        return None
    if np.isnan(number):
        return f"{text} is a missing value; {MISSING_ADVICE}"
    return f"{text} is infinite; only finite numbers can be clustered."
