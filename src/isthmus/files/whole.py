"""A file that appears under its name only when it is complete."""

from __future__ import annotations

import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing beside ``path``; it takes that name when all is written.

    Whatever goes wrong, Ctrl-C included, what had the name before is left as it was.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as stream:
            yield stream
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    with whole_file(path) as stream:
        stream.write(content)
