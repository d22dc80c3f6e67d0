"""How Python hands arguments to compiled code: numbers as they are, all else laid out in memory.

In steps of eight bytes the memory holds, for an array, the address of its first element, its shape
and, if it is not C-contiguous, its strides; for a record (a NamedTuple of arrays, numbers and
records), its fields one after the other. Compiled code gets the address in memory of each argument
that is not a number: addresses.py.
"""

from __future__ import annotations

from ctypes import addressof, c_char
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from isthmus._utils.typing import Array

STEP = 8

# What compiled code depends on, in the order of the arguments: the type of a number; the dtype of
# an array, its dimensions, and whether it is C-contiguous; the class of a record, then its fields.
Form: TypeAlias = tuple[Any, ...]

# Compiled code is the same for these.
_SAME = {np.int64: int, np.float64: float, np.bool_: bool}


class Arguments(NamedTuple):
    """The arguments of a call.

    Attributes
    ----------
    form : tuple
    values : list
        What is passed: numbers, or where in the memory an argument begins, in bytes.
    in_memory : list of int
        The indices of the latter.
    contents : list
        What the memory holds.
    """

    form: Form
    values: list[Any]
    in_memory: list[int]
    contents: list[Any]


def arranged(args: tuple[Any, ...]) -> Arguments:
    """Arrange the arguments of a call."""
    form: list[Any] = []
    values: list[Any] = []
    in_memory: list[int] = []
    contents: list[Any] = []
    for i, value in enumerate(args):
        if isinstance(value, np.ndarray | tuple):
            in_memory.append(i)
            values.append(len(contents) * STEP)
            _lay_out(value, form, contents)
        else:
            _lay_out(value, form, values)
    return Arguments(tuple(form), values, in_memory, contents)


def _lay_out(value: Any, form: list[Any], contents: list[Any]) -> None:
    # Rounds of Borůvka lay out hundreds of records, so an array is laid out here, without a call:
    # 30 % less time.
    if isinstance(value, np.ndarray):
        flags = value.flags
        if not flags.aligned:
            raise TypeError("Kernels take aligned arrays only.")
        is_contiguous = flags.c_contiguous
        form += (value.dtype, value.ndim, is_contiguous)
        try:
            contents.append(addressof(c_char.from_buffer(value)))  # type: ignore[arg-type]
        except (TypeError, ValueError):  # it is read-only, empty, or not contiguous
            contents.append(int(value.ctypes.data))
        contents += value.shape
        if not is_contiguous:
            contents += _strides_of(value)
    elif isinstance(value, tuple):
        form.append(type(value))
        for field in value:
            _lay_out(field, form, contents)
    else:
        kind = type(value)
        form.append(_SAME.get(kind, kind))
        contents.append(value.item() if isinstance(value, np.generic) else value)


def _strides_of(array: Array) -> list[int]:
    """Return how many elements lie between neighbours along each axis."""
    strides = [divmod(stride, array.itemsize) for stride in array.strides]
    if any(rest for _, rest in strides):
        raise TypeError("Kernels take arrays of whole elements only.")
    return [stride for stride, _ in strides]
