"""Arrays and records as compiled code sees them: addresses in the memory that arguments.py fills.

To Numba an array is seven values, counted references among them, and a record as many times that;
each function passes them on to those it calls. Kernels allocate nothing, so that one address will
do, and they compile in two thirds of the time.

Arrays are indexed in arrays.py; records have fields, and no more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr_generic, models, register_model

import numba
from isthmus._numba.arguments import Form

INTEGER = ir.IntType(64)
_ADDRESS = ir.IntType(8).as_pointer()
_NUMBERS = {int: types.int64, float: types.float64, bool: types.boolean}


class ArrayType(types.Type):
    """An array of numbers."""

    def __init__(self, dtype: Any, ndim: int, *, is_contiguous: bool) -> None:
        self.dtype = dtype
        self.ndim = ndim
        self.is_contiguous = is_contiguous
        self.n_steps = 1 + ndim if is_contiguous else 1 + 2 * ndim
        super().__init__(f"Array({dtype}, {ndim}, {is_contiguous})")


class RecordType(types.Type):
    """A NamedTuple of arrays, numbers and records."""

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self.fields = fields
        self.n_steps = sum(map(_n_steps, fields.values()))
        # Names of compiled functions contain this one: short, and another for another layout.
        described = ", ".join(f"{field}: {kind}" for field, kind in fields.items())
        super().__init__(f"{name}_{hashlib.sha256(described.encode()).hexdigest()[:16]}")


def _n_steps(kind: Any) -> int:
    return kind.n_steps if isinstance(kind, ArrayType | RecordType) else 1


register_model(ArrayType)(models.OpaqueModel)
register_model(RecordType)(models.OpaqueModel)


def types_of(form: Form) -> list[Any]:
    """Return the types of arguments of some form."""
    rest = iter(form)
    return [_type_of(first, rest) for first in rest]


def _type_of(first: Any, rest: Iterator[Any]) -> Any:
    if isinstance(first, np.dtype):
        return ArrayType(numba.from_dtype(first), next(rest), is_contiguous=next(rest))
    if issubclass(first, tuple):
        fields = {name: _type_of(next(rest), rest) for name in first._fields}
        return RecordType(first.__name__, fields)
    return _NUMBERS.get(first) or numba.from_dtype(np.dtype(first))


def constant(number: int) -> Any:
    """Return an integer that is known at compilation."""
    return ir.Constant(INTEGER, number)


def load_step(builder: Any, address: Any, step: int, kind: Any) -> Any:
    """Emit loading what Python has written to the memory; no compiled code changes it."""
    begin = builder.bitcast(address, kind.as_pointer())
    loaded = builder.load(builder.gep(begin, [constant(step)], source_etype=kind), typ=kind)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def field(context: Any, builder: Any, record_type: RecordType, address: Any, name: str) -> Any:
    """Emit reading a field of a record: a number, or the address of an array or a record."""
    step = 0
    for each, kind in record_type.fields.items():
        if each == name:
            break
        step += _n_steps(kind)
    if isinstance(kind, ArrayType | RecordType):
        begin = builder.bitcast(address, INTEGER.as_pointer())
        field = builder.gep(begin, [constant(step)], source_etype=INTEGER)
        return builder.bitcast(field, _ADDRESS)
    is_float = isinstance(kind, types.Float)
    number = load_step(builder, address, step, ir.DoubleType() if is_float else INTEGER)
    return context.cast(builder, number, types.float64 if is_float else types.int64, kind)


@infer_getattr
class _RecordAttributes(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record_type: RecordType, name: str) -> Any:
        return record_type.fields.get(name)


lower_getattr_generic(RecordType)(field)
