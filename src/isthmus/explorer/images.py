"""A column of pictures → data URIs, since the page loads nothing from anywhere."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path

from isthmus._utils.typing import Ints
from isthmus.explorer.user_table import Columns

_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
_DATA_URI = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*")
# The most bytes of all pictures together.
_MOST_BYTES = 50_000_000


def check_images(columns: Columns, name: str) -> None:
    """Raise ValueError unless a column holds pictures: data URIs, paths of files, or nothing."""
    if name not in columns.texts:
        raise ValueError(f"images={name!r} is a column of numbers; expected paths or data URIs.")
    for row, text in enumerate(columns.texts[name]):
        if text and not _DATA_URI.fullmatch(text) and Path(text).suffix.lower() not in _TYPES:
            raise ValueError(
                f"Row {row} of {name!r} is no picture: expected the path of a file that ends in "
                f"{', '.join(_TYPES)}, or a data URI (data:image/png;base64,…)."
            )


def data_uris(columns: Columns, name: str, shown: Ints) -> list[str]:
    """Return the pictures of the rows that are shown."""
    found, n_bytes = [], 0
    for row in shown.tolist():
        text = columns.texts[name][row]
        found.append(text if not text or text.startswith("data:") else _embedded(Path(text)))
        n_bytes += len(found[-1])
        if n_bytes > _MOST_BYTES:
            raise ValueError(
                f"The pictures in {name!r} take more than {_MOST_BYTES // 1_000_000} MB together. "
                "Give smaller ones, or show fewer points: max_points."
            )
    return found


def _embedded(path: Path) -> str:
    return f"data:{_TYPES[path.suffix.lower()]};base64,{b64encode(path.read_bytes()).decode()}"
