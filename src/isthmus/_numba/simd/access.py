"""Single numbers and lanes: reading and comparing."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from isthmus._numba.arrays import Elements
from isthmus._numba.simd.emit import (
    F64,
    I64,
    LANES,
    MASK,
    largest_lane,
    load_block,
    splat,
)


@intrinsic
def lowest_lane(typing, mask):  # type: ignore[no-untyped-def]
    """Return the number of the lowest bit that is set; the mask must not be 0."""
    signature = types.int64(types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return signature, emit


@intrinsic
def lanes_at_most(typing, numbers, bound):  # type: ignore[no-untyped-def]
    """Return the mask of the first eight numbers that are at most as large as a bound."""
    signature = types.int64(numbers, types.float64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        eight = load_block(builder, Elements(context, builder, signature.args[0], args[0]), 0)
        within = builder.fcmp_ordered("<=", eight, splat(builder, args[1]))
        return builder.zext(builder.bitcast(within, MASK), I64)

    return signature, emit


@intrinsic
def lanes_other_than(typing, labels, base, label):  # type: ignore[no-untyped-def]
    """Return the mask of the eight int32 labels from labels[base] on that differ from label."""
    signature = types.int64(labels, types.int64, types.int32)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        elements = Elements(context, builder, signature.args[0], args[0])
        eight = elements.load_vector(args[1], LANES)
        differ = builder.icmp_signed("!=", eight, splat(builder, args[2]))
        return builder.zext(builder.bitcast(differ, MASK), I64)

    return signature, emit


@intrinsic
def largest_of_eight(typing, numbers, base):  # type: ignore[no-untyped-def]
    """Return the largest of numbers[base:base + 8]."""
    signature = types.float64(numbers, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        elements = Elements(context, builder, signature.args[0], args[0])
        return largest_lane(builder, load_block(builder, elements, args[1]))

    return signature, emit


@intrinsic
def neighbouring_float(typing, number, steps):  # type: ignore[no-untyped-def]
    """Return the float that comes n steps after a positive one.

    One step back from zero leads to a number that compares with nothing.
    """
    signature = types.float64(types.float64, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = builder.bitcast(args[0], I64)
        return builder.bitcast(builder.add(bits, args[1]), F64)

    return signature, emit
