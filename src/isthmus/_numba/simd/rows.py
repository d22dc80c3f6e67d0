"""Rows of coordinates, before they become blocks."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from isthmus._numba.simd.emit import (
    I32,
    I64,
    address_of,
    intrinsic,
    literal,
)


def _row(context: Any, builder: Any, array_type: Any, array: Any, row: Any, dims: int) -> Any:
    index = builder.mul(row, ir.Constant(I64, dims))
    address = address_of(context, builder, array_type, array, index)
    vector = ir.VectorType(address.type.pointee, dims)
    return builder.bitcast(address, vector.as_pointer())


@intrinsic
def swap_rows(typing, rows, a, b, dims):  # type: ignore[no-untyped-def]
    """Exchange rows a and b of a flat array of rows of ``dims`` numbers."""
    n_dims = literal(dims)
    signature = types.void(rows, types.int64, types.int64, dims)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        first = _row(context, builder, signature.args[0], args[0], args[1], n_dims)
        second = _row(context, builder, signature.args[0], args[0], args[2], n_dims)
        a_row, b_row = builder.load(first, align=4), builder.load(second, align=4)
        builder.store(b_row, first, align=4)
        builder.store(a_row, second, align=4)
        return context.get_dummy_value()

    return signature, emit


@intrinsic
def widest_dimension(typing, rows, start, stop, step, dims):  # type: ignore[no-untyped-def]
    """Return the coordinate in which every step-th of some rows extends farthest.

    They are start, start + step … below stop; -1 if all are equal.
    """
    n_dims = literal(dims)
    signature = types.int64(rows, types.int64, types.int64, types.int64, dims)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def load(index: Any) -> Any:
            pointer = _row(context, builder, signature.args[0], args[0], index, n_dims)
            return builder.load(pointer, align=4)

        before = builder.block
        initial = load(args[1])
        loop = builder.append_basic_block("loop")
        done = builder.append_basic_block("done")
        builder.branch(loop)
        builder.position_at_end(loop)
        i, low, high = builder.phi(I64), builder.phi(initial.type), builder.phi(initial.type)
        row = load(i)
        next_low = builder.select(builder.fcmp_ordered("<", row, low), row, low)
        next_high = builder.select(builder.fcmp_ordered(">", row, high), row, high)
        next_i = builder.add(i, args[3])
        for phi, first, later in (
            (i, args[1], next_i),
            (low, initial, next_low),
            (high, initial, next_high),
        ):
            phi.add_incoming(first, before)
            phi.add_incoming(later, builder.block)
        builder.cbranch(builder.icmp_signed("<", next_i, args[2]), loop, done)
        builder.position_at_end(done)
        extent = builder.fsub(next_high, next_low)
        best, widest = ir.Constant(I64, -1), ir.Constant(extent.type.element, 0.0)
        for t in range(n_dims):
            this = builder.extract_element(extent, ir.Constant(I32, t))
            wider = builder.fcmp_ordered(">", this, widest)
            best = builder.select(wider, ir.Constant(I64, t), best)
            widest = builder.select(wider, this, widest)
        return best

    return signature, emit
