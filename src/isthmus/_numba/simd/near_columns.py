"""Thirty-two columns of a row at a time, in float32: which of them are near."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from isthmus._numba.arrays import Elements
from isthmus._numba.simd.emit import I32, I64, larger

# Columns that are compared at a time.
COLUMNS = 32

_F32 = ir.FloatType()
_SINGLES = ir.VectorType(_F32, COLUMNS)


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
        product, terms_here, limits_here = (
            Elements(context, builder, signature.args[i], args[i]).load_vector(args[i + 1], COLUMNS)
            for i in (0, 2, 4)
        )
        total = builder.fadd(terms_here, _splat(builder, args[6]))
        total = builder.fsub(total, builder.fadd(product, product))
        limit_here = larger(builder, limits_here, _splat(builder, args[7]))
        near = builder.fcmp_ordered("<=", total, limit_here)
        return builder.zext(builder.bitcast(near, ir.IntType(COLUMNS)), I64)

    return signature, emit
