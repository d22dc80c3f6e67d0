"""File name → the format of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from isthmus.cli.errors import UserError

FORMATS = ("csv", "tsv", "npy", "parquet")
TEXT_FORMATS = ("csv", "tsv")
_ENDINGS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".npy": "npy", ".parquet": "parquet"}
LISTED_ENDINGS = ", ".join(_ENDINGS)
_NAMED_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " "}


def format_of_name(name: str) -> str | None:
    """Return the format that the ending of a file name stands for; None if it is not known."""
    return _ENDINGS.get(Path(name).suffix.lower())


def check_delimiter(text: str) -> str:
    """Return the one character that separates fields, or raise ValueError."""
    delimiter = _NAMED_DELIMITERS.get(text, text)
    if len(delimiter) != 1:
        raise ValueError(f"must be one character, 'tab' or 'space', got {text!r}")
    if delimiter.isalnum() or delimiter in '+-._"\r\n\0':
        raise ValueError(f"{text!r} can be part of a number or of a quoted field")
    return delimiter


def require_pyarrow() -> Any:
    """Return the module pyarrow, or say how to install it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise UserError(
            "Parquet files need pyarrow, which is not installed: pip install 'isthmus[parquet]'"
        ) from error
    return pa
