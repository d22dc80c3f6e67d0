"""Compressed files (``.gz``, ``.zst``): reading and writing them as streams of bytes."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, BinaryIO, cast

from isthmus._utils.memory import require_memory
from isthmus.cli.errors import UserError, one_line

_CHUNK = 1 << 20
# A few bytes can stand for any number: memory is looked at whenever so much has been unpacked.
_CHECKED_EVERY = 1 << 26


def unpacked(stream: BinaryIO, compression: str, source: str) -> BinaryIO:
    """Return all that a compressed stream holds; ``source`` is its name in messages."""
    errors: tuple[type[Exception], ...] = (EOFError, zlib.error, gzip.BadGzipFile)
    unpack: Any
    if compression == ".gz":
        unpack = gzip.GzipFile(fileobj=stream, mode="rb")
    else:
        zstd = require_zstd()
        unpack = zstd.open_to_read(stream)
        errors = (EOFError, zstd.error)
    chunks, size = [], 0
    try:
        while chunk := unpack.read(_CHUNK):
            chunks.append(chunk)
            if (size + len(chunk)) // _CHECKED_EVERY > size // _CHECKED_EVERY:
                # once more as one piece, and once more as text or numbers
                require_memory(2 * len(chunk) + size, source, "Unpack it, and use fewer rows.")
            size += len(chunk)
    except errors as error:
        raise UserError(
            f"{source} is not a readable {compression} file: {one_line(error)}"
        ) from error
    return io.BytesIO(b"".join(chunks))


@contextmanager
def packed(stream: BinaryIO, compression: str | None) -> Iterator[BinaryIO]:
    """Yield a stream that compresses what is written to it; equal content gives equal bytes."""
    if compression is None:
        yield stream
    elif compression == ".gz":
        with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as file:
            yield cast(BinaryIO, file)
    else:
        with require_zstd().open_to_write(stream) as file:
            yield file


class _StandardZstd:
    """Zstandard by Python's own module, which is there from 3.14 on."""

    def __init__(self, module: Any) -> None:
        self.error: type[Exception] = module.ZstdError
        self._module = module

    def open_to_read(self, stream: BinaryIO) -> Any:
        return self._module.ZstdFile(stream, "rb")

    def open_to_write(self, stream: BinaryIO) -> Any:
        return self._module.ZstdFile(stream, "wb")


class _PackageZstd:
    """Zstandard by the package zstandard."""

    def __init__(self, module: Any) -> None:
        self.error: type[Exception] = module.ZstdError
        self._module = module

    def open_to_read(self, stream: BinaryIO) -> Any:
        return _WholeFrames(self._module, stream)

    def open_to_write(self, stream: BinaryIO) -> Any:
        return self._module.ZstdCompressor().stream_writer(stream, closefd=False)


class _WholeFrames:
    """All frames of a stream, one after the other; EOFError where the last one breaks off.

    The reader of the package takes a file that breaks off for one that ends.
    """

    def __init__(self, module: Any, stream: BinaryIO) -> None:
        self._new = module.ZstdDecompressor().decompressobj
        self._stream, self._left = stream, b""
        self._frame: Any = None

    def read(self, size: int) -> bytes:
        while True:
            packed_bytes = self._left or self._stream.read(size)
            self._left = b""
            if not packed_bytes:
                if self._frame is not None:
                    raise EOFError("it breaks off")
                return b""
            if self._frame is None:
                self._frame = self._new()
            content: bytes = self._frame.decompress(packed_bytes)
            if self._frame.eof:
                self._left, self._frame = self._frame.unused_data, None
            if content:
                return content


def require_zstd() -> Any:
    """Return what reads and writes Zstandard, or say how to get it."""
    try:
        return _StandardZstd(import_module("compression.zstd"))
    except ImportError:
        pass
    try:
        return _PackageZstd(import_module("zstandard"))
    except ImportError as error:
        raise UserError(
            "Files that end in .zst need Python 3.14 or the package zstandard, which is not "
            "installed: pip install 'isthmus[zstd]'"
        ) from error
