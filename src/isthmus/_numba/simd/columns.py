"""Thirty-two columns of a row at a time, in float32: which of them are near."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from isthmus._numba.simd.emit import I32, I64, address_of, intrinsic, larger

# Columns that are compared at a time.
COLUMNS = 32

_F32 = ir.FloatType()
_SINGLES = ir.VectorType(_F32, COLUMNS)


def _load_columns(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    address = address_of(context, builder, array_type, array, index)
    return builder.load(builder.bitcast(address, _SINGLES.as_pointer()), align=4)


def _splat(builder: Any, scalar: Any) -> Any:
    vector = builder.insert_element(
        ir.Constant(_SINGLES, ir.Undefined), scalar, ir.Constant(I32, 0)
    )
    zeros = ir.Constant(ir.VectorType(I32, COLUMNS), [0] * COLUMNS)
    return builder.shuffle_vector(vector, ir.Constant(_SINGLES, ir.Undefined), zeros)


@intrinsic
def near_columns(  # type: ignore[no-untyped-def]
    typing, products, at, terms, column, limits, first_limit, term, limit
):
    """Return the mask of columns j with term + terms[column + j] - 2 products[at + j] <= a limit.

    That is the larger one of ``limit`` and ``limits[first_limit + j]``. What is not a number is
    never near. All arrays are float32.
    """
    signature = types.uint64(
        products,
        types.int64,
        terms,
        types.int64,
        limits,
        types.int64,
        types.float32,
        types.float32,
    )

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kinds = signature.args
        product = _load_columns(context, builder, kinds[0], args[0], args[1])
        terms_here = _load_columns(context, builder, kinds[2], args[2], args[3])
        limits_here = _load_columns(context, builder, kinds[4], args[4], args[5])
        total = builder.fadd(terms_here, _splat(builder, args[6]))
        total = builder.fsub(total, builder.fadd(product, product))
        limit_here = larger(builder, limits_here, _splat(builder, args[7]))
        near = builder.fcmp_ordered("<=", total, limit_here)
        return builder.zext(builder.bitcast(near, ir.IntType(COLUMNS)), I64)

    return signature, emit
