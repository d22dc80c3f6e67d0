"""File name → the format of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from isthmus.cli.errors import UserError

FORMATS = ("csv", "tsv", "npy", "parquet")
TEXT_FORMATS = ("csv", "tsv")
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".npy": "npy",
    ".parquet": "parquet",
}
_NAMED_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " "}


def format_of_name(name: str) -> str | None:
    """Return the format that the ending of a file name stands for; None if it is not known."""
    return _ENDINGS.get(Path(name).suffix.lower())


def listed_endings() -> str:
    """Return the known endings, for a message."""
    return ", ".join(_ENDINGS)


def default_delimiter(file_format: str) -> str:
    """Return the delimiter of a text format."""
    return "\t" if file_format == "tsv" else ","


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
