"""Model files, taken apart and put together again with other contents and right checksums.

Written from docs/file_format.md alone.
"""

from __future__ import annotations

import copy
import hashlib
import json
import struct
from typing import Any

import numpy as np

_MAGIC = b"\x89isthmus\r\n\x1a\n"
_NUMBERS = (0, 1, -1, 2, 3, 7, 100_000, 2**31, 2**63 - 1, 2**64, -(2**63), 0.5, -0.0, 1e308, 1e-320)
_WORDS = ("", "x", "euclidean", "precomputed", "haversine", "minkowski", "shared", "mean", "auto")
_ENTRIES = (0, 1, -1, 2, 5, 127, 2**31 - 1, -(2**31), 2**40, 2**62)
_FLOATS = (0.0, -0.0, -1.0, 1e-320, 1e300, np.inf, -np.inf, np.nan, 0.5, 3.0)
_DTYPES = ("|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<u8", "<f2", "<f4", "<f8")


def take_apart(raw: bytes) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Return the header and the arrays of a file."""
    length = struct.unpack_from("<Q", raw, 16)[0]
    header = json.loads(raw[64 : 64 + length])
    arrays, offset = [], 64 + length
    for entry in header["arrays"]:
        count = int(np.prod(entry["shape"], dtype=np.int64))
        array = np.frombuffer(raw, entry["dtype"], count, offset).reshape(entry["shape"])
        arrays.append(array.copy())
        offset += _aligned(array.nbytes)
    return header, arrays


def put_together(header: dict[str, Any], arrays: list[np.ndarray]) -> bytes:
    """Return a file whose lengths and checksums are right."""
    sections, entries = [], []
    for array in arrays:
        section = np.ascontiguousarray(array).tobytes()
        section = section.ljust(_aligned(len(section)), b"\0")
        digest = hashlib.sha256(section).hexdigest()
        entries.append({"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest})
        sections.append(section)
    header = {**header, "arrays": entries}
    text = json.dumps(header).encode()
    text = text.ljust(_aligned(len(text)))
    length = 64 + len(text) + sum(map(len, sections))
    beginning = struct.pack("<12sIQQ", _MAGIC, 2, len(text), length)
    return b"".join([beginning, hashlib.sha256(beginning + text).digest(), text, *sections])


def _aligned(n_bytes: int) -> int:
    return -(-n_bytes // 64) * 64


def forge(rng: np.random.Generator, raw: bytes) -> bytes:
    """Return a file with one to three changes, and right checksums."""
    header, arrays = take_apart(raw)
    for _ in range(int(rng.integers(1, 4))):
        if arrays and rng.random() < 0.6:
            number = int(rng.integers(len(arrays)))
            arrays[number] = changed_array(rng, arrays[number], arrays)
        else:
            _change_value(rng, header["content"], len(arrays))
    return put_together(header, arrays)


def changed_array(
    rng: np.random.Generator, array: np.ndarray, others: list[np.ndarray]
) -> np.ndarray:
    """Return an array that differs: in entries, in their order, in its type or in its shape."""
    how = int(rng.integers(9))
    out = array.copy()
    flat = out.reshape(-1)
    if how <= 2 and flat.size:  # some entries
        where = rng.integers(flat.size, size=int(rng.integers(1, 4)))
        flat[where] = _entries(rng, array.dtype, len(where))
    elif how == 3 and flat.size:  # one more or less
        where = int(rng.integers(flat.size))
        flat[where] = flat[where] + 1 if rng.random() < 0.5 else flat[where - 1]
    elif how == 4:
        out = rng.permutation(out)
    elif how == 5:  # all alike
        out[...] = _entries(rng, array.dtype, 1)[0]
    elif how == 6:
        with np.errstate(all="ignore"):
            out = out.astype(str(rng.choice(_DTYPES)))
    elif how == 7 and out.ndim:  # longer or shorter
        out = out[:-1] if rng.random() < 0.5 else np.concatenate([out, out[:1]])
    elif how == 8:
        out = others[int(rng.integers(len(others)))].copy()
    return out


def _entries(rng: np.random.Generator, dtype: np.dtype, count: int) -> np.ndarray:
    values = _FLOATS if dtype.kind == "f" else _ENTRIES
    with np.errstate(all="ignore"):
        return np.array(values)[rng.integers(len(values), size=count)].astype(dtype)


def _change_value(rng: np.random.Generator, content: dict[str, Any], n_arrays: int) -> None:
    """Change one value of the header, wherever it is."""
    places = list(_places(content))
    holder, key = places[int(rng.integers(len(places)))]
    how = int(rng.integers(7))
    if how == 0 and isinstance(holder, dict):
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[str(rng.choice(["x", *_WORDS]))] = copy.deepcopy(holder[key])
    elif how == 2:
        other, its_key = places[int(rng.integers(len(places)))]
        holder[key] = copy.deepcopy(other[its_key])
    elif how == 3 and isinstance(holder[key], int | float):
        holder[key] += int(rng.choice([-1, 1]))
    else:
        holder[key] = _value(rng, n_arrays)


def _places(value: Any) -> Any:
    """Yield every place of a value in nested containers."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _value(rng: np.random.Generator, n_arrays: int) -> Any:
    kind = int(rng.integers(10))
    if kind == 0:
        return None
    if kind == 1:
        return bool(rng.integers(2))
    if kind == 2:
        return str(rng.choice(_WORDS))
    if kind == 3:
        return {"float": str(rng.choice(["inf", "-inf", "nan"]))}
    if kind == 4:
        return {
            str(rng.choice(["list", "tuple"])): [_NUMBERS[int(rng.integers(len(_NUMBERS)))]] * 3
        }
    if kind == 5:
        return {"array": int(rng.integers(-1, n_arrays + 1))}
    if kind == 6:
        return {"dict": {}}
    if kind == 7:
        return {"names": ["a\x1b[31m", "b"]}
    return _NUMBERS[int(rng.integers(len(_NUMBERS)))]


def mutate(rng: np.random.Generator, raw: bytes) -> bytes:
    """Return other bytes: flipped, cut, doubled or set."""
    out = raw
    while out == raw:
        out = _mutated(rng, raw)
    return out


def _mutated(rng: np.random.Generator, raw: bytes) -> bytes:
    out = bytearray(raw)
    for _ in range(int(rng.integers(1, 5))):
        if not out:
            break
        at, size = int(rng.integers(len(out))), int(rng.integers(1, 9))
        how = int(rng.integers(6))
        if how == 0:
            out[at] ^= 1 << int(rng.integers(8))
        elif how == 1:
            out[at : at + size] = rng.bytes(size)
        elif how == 2:
            del out[at : at + size]
        elif how == 3:
            del out[at:]
        elif how == 4:
            out[at:at] = out[max(0, at - 40) : at]
        else:
            out[at : at + size] = bytes([int(rng.choice([0, 255, 127, 10, 44, 34]))]) * size
    return bytes(out)
