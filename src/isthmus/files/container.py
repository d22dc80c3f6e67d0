"""A header and arrays ↔ bytes of one file.

    prelude   64 bytes: magic, version, lengths of the header and the file, SHA-256 of these and of
              the header
    header    JSON, UTF-8, filled up with spaces to a multiple of 64 bytes
    arrays    raw, little-endian, each filled up with zeros to a multiple of 64 bytes

Reading trusts nothing: sizes are compared with the file's before memory is asked for, and every
byte is covered by a checksum. Nothing in a file names code, and nothing is unpickled.
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
from typing import Any, BinaryIO, TypeVar

import numpy as np

from isthmus._utils.typing import Array
from isthmus._version import __version__
from isthmus.files.values import TYPES, decode, encode, little_endian
from isthmus.files.whole import whole_file

T = TypeVar("T")

MAGIC = b"\x89isthmus\r\n\x1a\n"
VERSION = 1
# Magic, version, length of the header, length of the file; then their digest with the header.
_BEGINNING = struct.Struct("<12sIQQ")
_DIGEST = 32
_PRELUDE = _BEGINNING.size + _DIGEST
# Headers and arrays begin at multiples of so many bytes.
_ALIGNED = 64
# No header of a model comes near: it lists parameters and names of features.
_LARGEST_HEADER = 1 << 26


@dataclass(frozen=True)
class _Section:
    """An array in a file, as the header describes it."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    sha256: str

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def write_file(path: str | os.PathLike[str], kind: str, content: dict[str, Any]) -> None:
    """Write values and arrays to a file, whole or not at all.

    Parameters
    ----------
    path : str or path
    kind : str
        What the file holds, such as ``"UltrametricTree"``.
    content : dict
        Values of the kinds that values.py knows; others raise TypeError before anything is
        written.
    """
    arrays: list[Array] = []
    values = {name: encode(value, arrays, name) for name, value in content.items()}
    arrays = [little_endian(array) for array in arrays]
    described = {
        "kind": kind,
        "isthmus": __version__,
        "content": values,
        "arrays": [_description(array) for array in arrays],
    }
    text = json.dumps(described, allow_nan=False, separators=(",", ":")).encode()
    header = text.ljust(_rounded_up(len(text)))
    length = _PRELUDE + len(header) + sum(_rounded_up(array.nbytes) for array in arrays)
    beginning = _BEGINNING.pack(MAGIC, VERSION, len(header), length)
    place = Path(os.path.realpath(path))  # a link stays a link: what it points to is replaced
    with whole_file(place) as stream:
        stream.write(beginning)
        stream.write(hashlib.sha256(beginning + header).digest())
        stream.write(header)
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


def _read(stream: BinaryIO, kind: str, build: Callable[[dict[str, Any]], T]) -> T:
    header, size = _read_header(stream)
    described = _parse(header)
    sections = [_section(description) for description in _expect(described["arrays"], list)]
    expected = _PRELUDE + len(header) + sum(_rounded_up(each.n_bytes) for each in sections)
    if expected != size:
        raise ValueError(f"its arrays need {expected} bytes, but the file has {size}.")
    found, version = _expect(described["kind"], str), _expect(described["isthmus"], str)
    if found != kind:
        raise ValueError(f"it holds a {found[:80]}, not a {kind}: read it with {found[:80]}.load.")
    arrays = [_read_array(stream, section) for section in sections]
    content = _expect(described["content"], dict)
    try:
        return build({name: decode(value, arrays) for name, value in content.items()})
    except KeyError as error:
        reason = f"{error} is missing"
    except (ValueError, TypeError, AttributeError, IndexError, ArithmeticError) as error:
        reason = str(error)  # something is not what it should be
    raise ValueError(
        f"it was written by isthmus {version[:40]}, and this is isthmus {__version__}, which does "
        f"not accept its content: {reason}"
    )


def _read_header(stream: BinaryIO) -> tuple[bytes, int]:
    """Return the header, its checksum verified, and the size of the file."""
    size = os.fstat(stream.fileno()).st_size
    prelude = stream.read(_PRELUDE)
    if not prelude.startswith(MAGIC):
        raise ValueError(
            "this is not a file that isthmus has saved: it does not begin as those do. "
            "Files of pickle and joblib are read by these, if you trust them."
        )
    if len(prelude) < _PRELUDE:
        raise ValueError(f"the file is cut short: only {size} bytes are left of it.")
    _, version, header_length, length = _BEGINNING.unpack_from(prelude)
    if version > VERSION:
        raise ValueError(
            f"its format has version {version}, and this isthmus {__version__} reads versions up "
            f"to {VERSION}. Read it with a newer isthmus."
        )
    if length != size:
        short = f"the file is cut short: only {size} of {length} bytes are left of it."
        raise ValueError(short if size < length else "the file is longer than it says.")
    if header_length > min(size - _PRELUDE, _LARGEST_HEADER) or version < 1:
        raise ValueError("the file is damaged: the lengths at its beginning make no sense.")
    header = stream.read(header_length)
    digest = hashlib.sha256(prelude[: _BEGINNING.size] + header).digest()
    if digest != prelude[_BEGINNING.size :]:
        raise ValueError("the file is damaged: the checksum of its header is wrong.")
    return header, size


def _parse(header: bytes) -> dict[str, Any]:
    parsed = json.loads(
        header.decode(), object_pairs_hook=_without_repeats, parse_constant=_refuse_constant
    )
    if not isinstance(parsed, dict) or parsed.keys() != {"kind", "isthmus", "content", "arrays"}:
        raise ValueError("its header does not have the entries that it should have.")
    return parsed


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("an entry of its header is there twice.")
    return entries


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"its header holds {name}, which is not JSON.")


def _section(description: Any) -> _Section:
    """Return a checked entry of the table of arrays."""
    if not isinstance(description, dict) or description.keys() != {"dtype", "shape", "sha256"}:
        raise ValueError("its table of arrays does not have the entries that it should have.")
    dtype, shape = description["dtype"], _expect(description["shape"], list)
    if not isinstance(dtype, str) or dtype not in TYPES:
        raise ValueError(f"it holds an array of type {str(dtype)[:40]}; known are {sorted(TYPES)}.")
    if len(shape) > 2 or not all(type(n) is int and 0 <= n < 1 << 48 for n in shape):
        raise ValueError(f"it holds an array of shape {str(shape)[:80]}.")
    return _Section(np.dtype(dtype), tuple(shape), _expect(description["sha256"], str))


def _read_array(stream: BinaryIO, section: _Section) -> Array:
    raw = np.empty(section.n_bytes, dtype=np.uint8)
    read = stream.readinto(raw.data) if section.n_bytes else 0  # type: ignore[attr-defined]
    padding = stream.read(len(_padding(section.n_bytes)))
    digest = hashlib.sha256(raw.data)
    digest.update(padding)
    if read != section.n_bytes or digest.hexdigest() != section.sha256:
        raise ValueError("the file is damaged: the checksum of an array is wrong.")
    if section.dtype == np.bool_ and raw.size and raw.max() > 1:
        raise ValueError("it holds truth values that are neither true nor false.")
    array = raw.view(section.dtype).reshape(section.shape)
    return array.astype(section.dtype.newbyteorder("="), copy=False)


def _description(array: Array) -> dict[str, Any]:
    digest = hashlib.sha256(array.data)
    digest.update(_padding(array.nbytes))
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "sha256": digest.hexdigest(),
    }


def _padding(n_bytes: int) -> bytes:
    return bytes(_rounded_up(n_bytes) - n_bytes)


def _rounded_up(n_bytes: int) -> int:
    return -(-n_bytes // _ALIGNED) * _ALIGNED


def _expect(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise ValueError(  # noqa: TRY004 - the file is wrong, not the caller
            f"its header has a {type(value).__name__} where a {kind.__name__} should be."
        )
    return value
