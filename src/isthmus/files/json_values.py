"""Values of a model ↔ JSON and a list of arrays.

None, booleans, numbers and strings stand for themselves. Everything else is an object with one
entry whose key is its type: ``{"array": 3}`` is array number 3.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse, sparray

from isthmus._utils.typing import Array

# The dtypes of arrays that a file can hold; objects are not among them.
DTYPES = frozenset(
    ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
)
_GENERATOR = "MT19937"
_GENERATOR_WORDS = 624


def encode(value: Any, arrays: list[Array], where: str) -> Any:
    """Return a value as JSON, and append its arrays to a list, each of them once.

    Raises TypeError for what a file cannot hold, naming ``where`` it is.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    kind, inside = _tagged(value, arrays, where)
    return {kind: inside}


def _tagged(value: Any, arrays: list[Array], where: str) -> tuple[str, Any]:
    """Return the type of a value that JSON does not have, and its parts."""
    if isinstance(value, list | tuple):
        parts = [encode(part, arrays, f"{where}[{i}]") for i, part in enumerate(value)]
        return "tuple" if isinstance(value, tuple) else "list", parts
    if isinstance(value, np.ndarray):
        return _tagged_array(value, arrays, where)
    if isinstance(value, dict):
        return "dict", _encode_entries(value, arrays, where)
    if issparse(value) and value.format == "csr":
        return "csr", _encode_entries(_parts_of_csr(value), arrays, where)
    if isinstance(value, np.random.RandomState):
        return "random state", _encode_entries(_parts_of_generator(value), arrays, where)
    raise TypeError(_refused(where, f"a {type(value).__name__}"))


def _encode_entries(entries: dict[Any, Any], arrays: list[Array], where: str) -> dict[str, Any]:
    for key in entries:
        if not isinstance(key, str):
            raise TypeError(_refused(where, f"a dictionary whose key {key!r} is not a string"))
    return {key: encode(value, arrays, f"{where}[{key!r}]") for key, value in entries.items()}


def _tagged_array(array: Array, arrays: list[Array], where: str) -> tuple[str, Any]:
    if array.ndim == 1 and array.dtype.kind in "OU" and all(isinstance(x, str) for x in array):
        return "names", [str(name) for name in array]
    if array.dtype.newbyteorder("<").str not in DTYPES or array.ndim > 2:
        what = f"an array of type {array.dtype} and shape {array.shape}"
        raise TypeError(_refused(where, what))
    for number, other in enumerate(arrays):
        if other is array:
            return "array", number
    arrays.append(array)
    return "array", len(arrays) - 1


def _refused(where: str, what: str) -> str:
    return (
        f"A model file holds numbers and strings, but no code and no objects: {where} is {what}, "
        "which it cannot hold. pickle and joblib can, for files that only you write."
    )


def _parts_of_csr(matrix: Any) -> dict[str, Any]:
    return {
        "is_array": isinstance(matrix, sparray),
        "shape": list(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
    }


def _parts_of_generator(state: np.random.RandomState) -> dict[str, Any]:
    parts: Any = state.get_state(legacy=False)
    name = parts["bit_generator"]
    if name != _GENERATOR:
        raise TypeError(f"A random_state of {name} cannot be saved. Use an integer instead.")
    return {
        "key": np.asarray(parts["state"]["key"], dtype=np.uint32),
        "position": int(parts["state"]["pos"]),
        "has_gauss": int(parts["has_gauss"]),
        "cached_gaussian": float(parts["gauss"]),
    }


def decode(value: Any, arrays: list[Array]) -> Any:
    """Return the value that JSON from a file stands for; raise ValueError where there is none."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a number is too large")
        return value
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("a value is neither plain nor an object with one entry")
    ((kind, inside),) = value.items()
    if kind not in _DECODERS:
        raise ValueError(f"values of the type {kind[:40]!r} are unknown")
    return _DECODERS[kind](inside, arrays)


def _decode_list(parts: Any, arrays: list[Array]) -> list[Any]:
    if not isinstance(parts, list):
        raise ValueError("the content of a list is not a list")  # noqa: TRY004
    return [decode(part, arrays) for part in parts]


def _decode_dict(entries: Any, arrays: list[Array]) -> dict[str, Any]:
    if not isinstance(entries, dict):
        raise ValueError("the content of a dictionary is not a dictionary")  # noqa: TRY004
    return {key: decode(value, arrays) for key, value in entries.items()}


def _decode_float(name: Any, _: list[Array]) -> float:
    if name not in ("inf", "-inf", "nan"):
        raise ValueError("a number that is not finite must be inf, -inf or nan")
    return float(name)


def _decode_array(number: Any, arrays: list[Array]) -> Array:
    if type(number) is not int or not 0 <= number < len(arrays):
        raise ValueError("an array is missing")
    return arrays[number]


def _decode_names(names: Any, _: list[Array]) -> Array:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("names are not strings")
    return np.array(names, dtype=object)


def _decode_csr(entries: Any, arrays: list[Array]) -> Any:
    parts = _decode_dict(entries, arrays)
    shape = parts["shape"]
    if not isinstance(shape, list) or not all(type(n) is int and 0 <= n < 1 << 48 for n in shape):
        raise ValueError("the shape of a sparse matrix makes no sense")
    for name in ("data", "indices", "indptr"):
        if not isinstance(parts[name], np.ndarray) or parts[name].ndim != 1:
            raise ValueError("the parts of a sparse matrix must be arrays of one dimension")
    # SciPy trusts much of what it is given.
    _check_compressed(parts["indptr"], parts["indices"], parts["data"], shape)
    make = csr_array if parts["is_array"] is True else csr_matrix
    return make((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(shape))


def _check_compressed(indptr: Array, indices: Array, data: Array, shape: list[int]) -> None:
    """Raise ValueError where these are not the rows of a CSR matrix of this shape."""
    if len(shape) != 2 or {indptr.dtype.kind, indices.dtype.kind} != {"i"}:
        raise ValueError("the shape of a sparse matrix is wrong, or its indices are not integers")
    if len(indptr) != shape[0] + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("the rows of a sparse matrix are not in order")
    if indptr[-1] != len(indices) or len(indices) != len(data):
        raise ValueError("a sparse matrix has more or fewer entries than it says")
    if len(indices) and (indices.min() < 0 or indices.max() >= shape[1]):
        raise ValueError("a sparse matrix has an entry outside its columns")


def _decode_generator(entries: Any, arrays: list[Array]) -> np.random.RandomState:
    parts = _decode_dict(entries, arrays)
    key, position = parts["key"], parts["position"]
    if not (
        isinstance(key, np.ndarray)
        and key.dtype == np.uint32
        and key.shape == (_GENERATOR_WORDS,)
        and key.any()
        and type(position) is int
        and 0 <= position <= _GENERATOR_WORDS
    ):
        raise ValueError("the state of a random number generator makes no sense")
    state = np.random.RandomState(0)
    gaussian = int(bool(parts["has_gauss"])), float(parts["cached_gaussian"])
    state.set_state((_GENERATOR, key, position, *gaussian))
    return state


_DECODERS: dict[str, Callable[[Any, list[Array]], Any]] = {
    "float": _decode_float,
    "list": _decode_list,
    "tuple": lambda parts, arrays: tuple(_decode_list(parts, arrays)),
    "dict": _decode_dict,
    "array": _decode_array,
    "names": _decode_names,
    "csr": _decode_csr,
    "random state": _decode_generator,
}
