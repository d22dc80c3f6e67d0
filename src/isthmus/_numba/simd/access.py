"""Single numbers and lanes: reading, writing, comparing."""

from __future__ import annotations

from llvmlite import ir
from numba.core import types

from isthmus._numba.simd.emit import (
    F64,
    I32,
    I64,
    LANES,
    MASK,
    address_of,
    intrinsic,
    largest_lane,
    load_block,
    splat,
)


@intrinsic
def peek(typing, array, index):  # type: ignore[no-untyped-def]
    """Return array[index] of a contiguous array, without a negative index's detour."""
    signature = array.dtype(array, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.load(address_of(context, builder, signature.args[0], args[0], args[1]))

    return signature, emit


@intrinsic
def poke(typing, array, index, value):  # type: ignore[no-untyped-def]
    """Set array[index] = value, likewise."""
    signature = types.void(array, types.int64, array.dtype)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        address = address_of(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], address)
        return context.get_dummy_value()

    return signature, emit


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
        eight = load_block(context, builder, signature.args[0], args[0], ir.Constant(I64, 0))
        within = builder.fcmp_ordered("<=", eight, splat(builder, args[1]))
        return builder.zext(builder.bitcast(within, MASK), I64)

    return signature, emit


@intrinsic
def lanes_other_than(typing, labels, base, label):  # type: ignore[no-untyped-def]
    """Return the mask of the eight int32 labels from labels[base] on that differ from label."""
    signature = types.int64(labels, types.int64, types.int32)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        address = address_of(context, builder, signature.args[0], args[0], args[1])
        vector = ir.VectorType(I32, LANES)
        eight = builder.load(builder.bitcast(address, vector.as_pointer()), align=4)
        differ = builder.icmp_signed("!=", eight, splat(builder, args[2]))
        return builder.zext(builder.bitcast(differ, MASK), I64)

    return signature, emit


@intrinsic
def largest_of_eight(typing, numbers, base):  # type: ignore[no-untyped-def]
    """Return the largest of numbers[base:base + 8]."""
    signature = types.float64(numbers, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        eight = load_block(context, builder, signature.args[0], args[0], args[1])
        return largest_lane(builder, eight)

    return signature, emit


@intrinsic
def neighbouring_float(typing, number, steps):  # type: ignore[no-untyped-def]
    """Return the float that comes so many steps after a positive one.

    One step back from zero leads to a number that compares with nothing.
    """
    signature = types.float64(types.float64, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = builder.bitcast(args[0], I64)
        return builder.bitcast(builder.add(bits, args[1]), F64)

    return signature, emit
