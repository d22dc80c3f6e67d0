"""Rows of coordinates, before they become blocks."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from isthmus._numba.addresses import constant
from isthmus._numba.arrays import Elements
from isthmus._numba.simd.emit import I32, I64, literal


@intrinsic
def swap_rows(typing, rows, a, b, dims):  # type: ignore[no-untyped-def]
    """Exchange rows a and b of a flat array of rows of ``dims`` numbers."""
    n_dims = literal(dims)
    signature = types.void(rows, types.int64, types.int64, dims)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        elements = Elements(context, builder, signature.args[0], args[0])
        first, second = (builder.mul(each, constant(n_dims)) for each in args[1:3])
        a_row, b_row = (elements.load_vector(index, n_dims) for index in (first, second))
        elements.store_vector(b_row, first)
        elements.store_vector(a_row, second)
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
        elements = Elements(context, builder, signature.args[0], args[0])

        def load(index: Any) -> Any:
            return elements.load_vector(builder.mul(index, constant(n_dims)), n_dims)

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
        best, widest = constant(-1), ir.Constant(extent.type.element, 0.0)
        for t in range(n_dims):
            this = builder.extract_element(extent, ir.Constant(I32, t))
            wider = builder.fcmp_ordered(">", this, widest)
            best = builder.select(wider, constant(t), best)
            widest = builder.select(wider, this, widest)
        return best

    return signature, emit
