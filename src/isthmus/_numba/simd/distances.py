"""A block of eight points or boxes, compared with one point or box."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types

from isthmus._numba.simd.emit import (
    I64,
    LANES,
    MASK,
    V64,
    accumulate,
    intrinsic,
    larger,
    literal,
    load_block,
    load_number,
    load_splat,
    splat,
    vector_at,
)


def _distances(
    builder: Any,
    difference: Callable[[int], Any],
    dims: int,
    kind: int,
    power: Any,
    bound: Any,
    out: Any,
) -> Any:
    """Emit the accumulation over coordinates; store the eight results, return the mask <= bound.

    With many coordinates it stops as soon as no lane can stay within the bound.
    """
    limit = splat(builder, bound)
    checks = range(8, dims, 8)
    end = builder.append_basic_block("end")
    results = []
    total = None
    for t in range(dims):
        total = accumulate(builder, total, difference(t), kind, power)
        if t + 1 in checks:
            within = builder.bitcast(builder.fcmp_ordered("<=", total, limit), MASK)
            none = builder.icmp_unsigned("==", within, ir.Constant(MASK, 0))
            go_on = builder.append_basic_block("go_on")
            results.append((ir.Constant(I64, 0), builder.block))
            builder.cbranch(none, end, go_on)
            builder.position_at_end(go_on)
    builder.store(total, out, align=8)
    mask = builder.bitcast(builder.fcmp_ordered("<=", total, limit), MASK)
    results.append((builder.zext(mask, I64), builder.block))
    builder.branch(end)
    builder.position_at_end(end)
    joined = builder.phi(I64)
    for value, block in results:
        joined.add_incoming(value, block)
    return joined


def _gap(builder: Any, low: Any, high: Any, their_low: Any, their_high: Any) -> Any:
    """Emit how far intervals are apart; 0 where they meet."""
    apart = larger(builder, builder.fsub(their_low, high), builder.fsub(low, their_high))
    return larger(builder, apart, ir.Constant(V64, [0.0] * LANES))


@intrinsic
def point_distances(typing, blocks, base, query, bound, out, dims, kind, power):  # type: ignore[no-untyped-def]
    """Fill out[0:8] with accumulated distances of a block's points to a query; return the mask.

    blocks, base : array and int
        The block begins at blocks[base].
    query : (dims,) float64
    bound : float
        Bits are set where the distance is at most this. Where no bit is set, out may be stale.
    """
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.int64(blocks, types.int64, query, types.float64, out, dims, kind, power)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def difference(t: int) -> Any:
            index = builder.add(args[1], ir.Constant(I64, t * LANES))
            block = load_block(context, builder, signature.args[0], args[0], index)
            here = load_splat(context, builder, signature.args[2], args[2], t)
            return builder.fsub(block, here)

        target = vector_at(context, builder, signature.args[4], args[4], 0)
        return _distances(builder, difference, n_dims, n_kind, args[-1], args[3], target)

    return signature, emit


@intrinsic
def points_from_box(typing, blocks, base, box, bound, out, dims, kind, power):  # type: ignore[no-untyped-def]
    """Fill out[0:8] with how far a block's points are from a box; return the mask.

    box : (2 * dims,) float64
        Lower bounds, then upper bounds.
    """
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.int64(blocks, types.int64, box, types.float64, out, dims, kind, power)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def difference(t: int) -> Any:
            index = builder.add(args[1], ir.Constant(I64, t * LANES))
            block = load_block(context, builder, signature.args[0], args[0], index)
            low, high = (
                load_splat(context, builder, signature.args[2], args[2], i) for i in (t, n_dims + t)
            )
            return _gap(builder, low, high, block, block)

        target = vector_at(context, builder, signature.args[4], args[4], 0)
        return _distances(builder, difference, n_dims, n_kind, args[-1], args[3], target)

    return signature, emit


@intrinsic
def boxes_from_box(typing, boxes, base, box, bound, out, together, dims, kind, power):  # type: ignore[no-untyped-def]
    """Do the same for a block of boxes.

    together : int
        1 where the box is a point: then its upper bounds are not read.
    """
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.int64(
        boxes, types.int64, box, types.float64, out, together, dims, kind, power
    )
    upper = 0 if literal(together) == 1 else n_dims

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def difference(t: int) -> Any:
            low_at = builder.add(args[1], ir.Constant(I64, 2 * t * LANES))
            high_at = builder.add(args[1], ir.Constant(I64, (2 * t + 1) * LANES))
            their_low = load_block(context, builder, signature.args[0], args[0], low_at)
            their_high = load_block(context, builder, signature.args[0], args[0], high_at)
            low, high = (
                load_splat(context, builder, signature.args[2], args[2], i) for i in (t, upper + t)
            )
            return _gap(builder, low, high, their_low, their_high)

        target = vector_at(context, builder, signature.args[4], args[4], 0)
        return _distances(builder, difference, n_dims, n_kind, args[-1], args[3], target)

    return signature, emit


@intrinsic
def pair_distance(typing, blocks, i, j, dims, kind, power):  # type: ignore[no-untyped-def]
    """Return the accumulated distance of points i and j, counted over all blocks."""
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.float64(blocks, types.int64, types.int64, dims, kind, power)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def coordinate(point: Any, t: int) -> Any:
            block = builder.lshr(point, ir.Constant(I64, 3))
            lane = builder.and_(point, ir.Constant(I64, LANES - 1))
            index = builder.add(
                builder.mul(block, ir.Constant(I64, n_dims * LANES)),
                builder.add(lane, ir.Constant(I64, t * LANES)),
            )
            return load_number(context, builder, signature.args[0], args[0], index)

        total = None
        for t in range(n_dims):
            difference = builder.fsub(coordinate(args[1], t), coordinate(args[2], t))
            total = accumulate(builder, total, difference, n_kind, args[5])
        return total

    return signature, emit
