"""File name → the format of the file, and how it is compressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from isthmus.cli.errors import UserError

FORMATS = ("csv", "tsv", "npy", "parquet", "xlsx")
TEXT_FORMATS = ("csv", "tsv")
_ENDINGS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".npy": "npy", ".parquet": "parquet"}
# Text of no particular form, and workbooks, are read and never written.
_READ_ONLY = {".txt": "csv", ".dat": "csv", ".xlsx": "xlsx", ".xlsm": "xlsx"}
COMPRESSIONS = (".gz", ".zst")
LISTED_ENDINGS = ", ".join([*_ENDINGS, *_READ_ONLY])
WRITTEN_ENDINGS = ", ".join(_ENDINGS)
LISTED_COMPRESSIONS = " or ".join(COMPRESSIONS)
_NAMED_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " "}


def format_of_name(name: str) -> str | None:
    """Return the format that the ending of a file name stands for; None if it is not known."""
    ending = _inner_ending(name)
    return _ENDINGS.get(ending) or _READ_ONLY.get(ending)


def written_format(name: str) -> str | None:
    """Return the format in which a file of that name is written; None if in none."""
    return _ENDINGS.get(_inner_ending(name))


def compression_of_name(name: str) -> str | None:
    """Return ``".gz"``, ``".zst"`` or None for a file that is not compressed."""
    ending = Path(name).suffix.lower()
    return ending if ending in COMPRESSIONS else None


def _inner_ending(name: str) -> str:
    path = Path(name)
    return Path(path.stem if compression_of_name(name) else path.name).suffix.lower()


def check_delimiter(text: str) -> str:
    """Return the one character that separates fields, or raise ValueError."""
    delimiter = _NAMED_DELIMITERS.get(text, text)
    if len(delimiter) != 1:
        raise ValueError(f"must be one character, 'tab' or 'space', got {text!r}")
    if delimiter.isalnum() or delimiter in '+-._"\r\n\0':
        raise ValueError(f"{text!r} can be part of a number or of a quoted field")
    return delimiter


def check_decimal(text: str) -> str:
    """Return the decimal separator, a point or a comma, or raise ValueError."""
    separator = {"point": ".", "comma": ","}.get(text, text)
    if separator not in (".", ","):
        raise ValueError(f"must be 'point', 'comma', '.' or ',', got {text!r}")
    return separator


def check_encoding(text: str) -> str:
    """Return the name of an encoding of text, or raise ValueError."""
    try:
        "".encode(text)
        b"".decode(text)
    except (LookupError, ValueError):
        raise ValueError(
            f"unknown encoding {text!r}; usual ones are utf-8, cp1252, latin-1 and utf-16"
        ) from None
    return text


def require_pyarrow() -> Any:
    """Return the module pyarrow, or say how to install it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise UserError(
            "Parquet files need pyarrow, which is not installed: pip install 'isthmus[parquet]'"
        ) from error
    return pa
