"""A model file: a JSON header and raw arrays. docs/file_format.md specifies it.

    prelude   64 bytes: magic, version, lengths of the header and of the file, and the SHA-256 of
              all that and the header
    header    JSON in UTF-8, padded with spaces to a multiple of 64 bytes
    arrays    raw and little-endian, each padded with zeros to a multiple of 64 bytes

Reading trusts nothing: sizes are compared with the file's own before memory is allocated, and a
checksum covers every byte. A file names no code, and nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np

from isthmus._utils.typing import Array
from isthmus._version import __version__
from isthmus.files.atomic_write import atomic_file
from isthmus.files.json_values import DTYPES, decode, encode

T = TypeVar("T")

MAGIC = b"\x89isthmus\r\n\x1a\n"
VERSION = 2
# Magic, version, length of the header, length of the file; the digest follows.
_FIELDS = struct.Struct("<12sIQQ")
_PRELUDE = _FIELDS.size + hashlib.sha256().digest_size
# The header and every array begin at a multiple of this many bytes.
_ALIGNMENT = 64
# A header lists parameters and names of features, and is far shorter.
_MAX_HEADER = 1 << 26


@dataclass(frozen=True)
class _ArrayEntry:
    """The header's entry for one array."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    sha256: str

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def write_file(path: str | os.PathLike[str], kind: str, content: dict[str, Any]) -> None:
    """Write values and arrays to a file, atomically.

    Parameters
    ----------
    path : str or path
    kind : str
        What the file holds, such as ``"UltrametricTree"``.
    content : dict
        Values that json_values.py can encode; others raise TypeError before anything is written.

    Raises FileNotFoundError, with the name of the folder, where there is none.
    """
    target = Path(os.path.realpath(path))  # a symbolic link stays one: its target is replaced
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"Cannot write {os.fspath(path)}: the folder {target.parent} does not exist. Make it "
            "first."
        )
    arrays: list[Array] = []
    values = {name: encode(value, arrays, name) for name, value in content.items()}
    arrays = [_little_endian(array) for array in arrays]
    header = {
        "kind": kind,
        "isthmus": __version__,
        "content": values,
        "arrays": [_describe(array) for array in arrays],
    }
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    text = text.ljust(_aligned(len(text)))
    length = _PRELUDE + len(text) + sum(_aligned(array.nbytes) for array in arrays)
    fields = _FIELDS.pack(MAGIC, VERSION, len(text), length)
    with atomic_file(target) as stream:
        stream.write(fields + hashlib.sha256(fields + text).digest() + text)
        for array in arrays:
            stream.write(array.data)
            stream.write(_padding(array.nbytes))


def read_file(path: str | os.PathLike[str], kind: str, build: Callable[[dict[str, Any]], T]) -> T:
    """Return what ``build`` makes of the content of a file.

    Raises ValueError, with the name of the file, where it is damaged, is no such file, holds
    another kind, or ``build`` does not accept its content.
    """
    with Path(path).open("rb") as stream:
        try:
            return _read(stream, kind, build)
        except (ValueError, OverflowError, RecursionError) as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None


class FileHead(NamedTuple):
    """What a file says of itself."""

    kind: str  # what it holds, such as "TransitiveCut"
    version: str  # of isthmus, which wrote it
    n_bytes: int


def read_head(path: str | os.PathLike[str]) -> FileHead:
    """Return what a file holds, from its header alone; ValueError where it is none of isthmus."""
    with Path(path).open("rb") as stream:
        try:
            text, size = _read_header(stream)
            header = _parse(text)
            return FileHead(_expect(header["kind"], str), _expect(header["isthmus"], str), size)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None


def _read(stream: BinaryIO, kind: str, build: Callable[[dict[str, Any]], T]) -> T:
    text, size = _read_header(stream)
    header = _parse(text)
    entries = [_array_entry(description) for description in _expect(header["arrays"], list)]
    expected = _PRELUDE + len(text) + sum(_aligned(entry.n_bytes) for entry in entries)
    if expected != size:
        raise ValueError(f"its arrays need {expected} bytes, but the file has {size}.")
    found, version = _expect(header["kind"], str), _expect(header["isthmus"], str)
    if found != kind:
        raise ValueError(f"it holds a {found[:80]}, not a {kind}: read it with {found[:80]}.load.")
    arrays = [_read_array(stream, entry) for entry in entries]
    content = _expect(header["content"], dict)
    try:
        return build({name: decode(value, arrays) for name, value in content.items()})
    except KeyError as error:
        reason = f"{error} is missing"
    except (ValueError, TypeError, AttributeError, IndexError, ArithmeticError) as error:
        reason = str(error)
    raise ValueError(
        f"it was written by isthmus {version[:40]}, and isthmus {__version__} does not accept its "
        f"content: {reason}"
    )


def _read_header(stream: BinaryIO) -> tuple[bytes, int]:
    """Return the header, its checksum verified, and the size of the file."""
    size = os.fstat(stream.fileno()).st_size
    prelude = stream.read(_PRELUDE)
    if not prelude.startswith(MAGIC):
        raise ValueError(
            "this is not a file that isthmus has saved: its first bytes differ. Files of pickle "
            "and joblib are read by these, if you trust them."
        )
    if len(prelude) < _PRELUDE:
        raise ValueError(f"the file is cut short: only {size} bytes are left of it.")
    _, version, header_length, length = _FIELDS.unpack_from(prelude)
    if version > VERSION:
        raise ValueError(
            f"its format has version {version}, and isthmus {__version__} reads version {VERSION}. "
            "Read it with a newer isthmus."
        )
    if 1 <= version < VERSION:
        raise ValueError(
            f"its format has version {version}, which isthmus {__version__} no longer reads: fit "
            "the model, or build the tree, again and save it."
        )
    if length != size:
        short = f"the file is cut short: only {size} of {length} bytes are left of it."
        raise ValueError(short if size < length else "the file is longer than it says.")
    if header_length > min(size - _PRELUDE, _MAX_HEADER) or version < 1:
        raise ValueError("the file is damaged: the lengths at its beginning make no sense.")
    text = stream.read(header_length)
    if hashlib.sha256(prelude[: _FIELDS.size] + text).digest() != prelude[_FIELDS.size :]:
        raise ValueError("the file is damaged: the checksum of its header is wrong.")
    return text, size


def _parse(text: bytes) -> dict[str, Any]:
    header = json.loads(
        text.decode(), object_pairs_hook=_without_repeats, parse_constant=_refuse_constant
    )
    if not isinstance(header, dict) or header.keys() != {"kind", "isthmus", "content", "arrays"}:
        raise ValueError("its header does not have the entries that it should have.")
    return header


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("its header has an entry twice.")
    return entries


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"its header holds {name}, which is not JSON.")


def _array_entry(description: Any) -> _ArrayEntry:
    """Return a checked entry of the table of arrays."""
    if not isinstance(description, dict) or description.keys() != {"dtype", "shape", "sha256"}:
        raise ValueError("its table of arrays does not have the entries that it should have.")
    dtype, shape = description["dtype"], _expect(description["shape"], list)
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(
            f"it holds an array of type {str(dtype)[:40]}; known are {sorted(DTYPES)}."
        )
    if len(shape) > 2 or not all(type(n) is int and 0 <= n < 1 << 48 for n in shape):
        raise ValueError(f"it holds an array of shape {str(shape)[:80]}.")
    return _ArrayEntry(np.dtype(dtype), tuple(shape), _expect(description["sha256"], str))


def _read_array(stream: BinaryIO, entry: _ArrayEntry) -> Array:
    raw = np.empty(entry.n_bytes, dtype=np.uint8)
    n_read = stream.readinto(raw.data) if entry.n_bytes else 0  # type: ignore[attr-defined]
    padding = stream.read(len(_padding(entry.n_bytes)))
    if n_read != entry.n_bytes or _digest(raw, padding) != entry.sha256:
        raise ValueError("the file is damaged: the checksum of an array is wrong.")
    if entry.dtype == np.bool_ and raw.size and raw.max() > 1:
        raise ValueError("it holds truth values that are neither true nor false.")
    array = raw.view(entry.dtype).reshape(entry.shape)
    return array.astype(entry.dtype.newbyteorder("="), copy=False)


def _little_endian(array: Array) -> Array:
    """Return an array as it is written: contiguous, little-endian."""
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)


def _describe(array: Array) -> dict[str, Any]:
    """Return the header's entry for an array."""
    digest = _digest(array, _padding(array.nbytes))
    return {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest}


def _digest(array: Array, padding: bytes) -> str:
    digest = hashlib.sha256(array.data)
    digest.update(padding)
    return digest.hexdigest()


def _padding(n_bytes: int) -> bytes:
    return bytes(_aligned(n_bytes) - n_bytes)


def _aligned(n_bytes: int) -> int:
    return -(-n_bytes // _ALIGNMENT) * _ALIGNMENT


def _expect(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise ValueError(  # noqa: TRY004 - the file is wrong, not the caller
            f"its header has a {type(value).__name__} where a {kind.__name__} should be."
        )
    return value
