"""A block of eight points or boxes, compared with one point or box."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from isthmus._numba.addresses import constant
from isthmus._numba.arrays import Elements
from isthmus._numba.simd.emit import (
    I64,
    LANES,
    MASK,
    accumulate,
    begin_of_point,
    box_gap,
    fields_of,
    literal,
    load_block,
    load_number,
    load_splat,
    splat,
)


def _distances(
    builder: Any,
    difference: Callable[[int], Any],
    dims: int,
    kind: int,
    power: Any,
    bound: Any,
    out: Elements,
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
            results.append((constant(0), builder.block))
            builder.cbranch(none, end, go_on)
            builder.position_at_end(go_on)
    out.store_vector(total, 0)
    mask = builder.bitcast(builder.fcmp_ordered("<=", total, limit), MASK)
    results.append((builder.zext(mask, I64), builder.block))
    builder.branch(end)
    builder.position_at_end(end)
    joined = builder.phi(I64)
    for value, block in results:
        joined.add_incoming(value, block)
    return joined


@intrinsic
def point_distances(typing, blocks, base, group, bound, dims, kind):  # type: ignore[no-untyped-def]
    """Fill group.found[0:8] with the accumulated distances of a block's points; return the mask.

    blocks, base : array and int
        The block begins at blocks[base].
    group : record
        box : (dims,) float64
            The point that they are compared with.
        found : (8,) float64, out
        power : float64
    bound : float
        Bits are set where the distance is at most this. Where no bit is set, found may be stale.
    """
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.int64(blocks, types.int64, group, types.float64, dims, kind)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        points = Elements(context, builder, signature.args[0], args[0])
        read = fields_of(context, builder, signature.args[2], args[2])
        query = read("box")

        def difference(t: int) -> Any:
            block = load_block(builder, points, builder.add(args[1], constant(t * LANES)))
            return builder.fsub(block, load_splat(builder, query, t))

        power, found = read("power"), read("found")
        return _distances(builder, difference, n_dims, n_kind, power, args[3], found)

    return signature, emit


@intrinsic
def points_from_box(typing, blocks, base, group, bound, dims, kind):  # type: ignore[no-untyped-def]
    """Fill group.found[0:8] with how far a block's points are from a box; return the mask.

    group.box : (2 * dims,) float64
        Lower bounds, then upper bounds.
    """
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.int64(blocks, types.int64, group, types.float64, dims, kind)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        points = Elements(context, builder, signature.args[0], args[0])
        read = fields_of(context, builder, signature.args[2], args[2])
        box = read("box")

        def difference(t: int) -> Any:
            block = load_block(builder, points, builder.add(args[1], constant(t * LANES)))
            low, high = (load_splat(builder, box, i) for i in (t, n_dims + t))
            return box_gap(builder, low, high, block, block)

        power, found = read("power"), read("found")
        return _distances(builder, difference, n_dims, n_kind, power, args[3], found)

    return signature, emit


@intrinsic
def boxes_from_box(typing, boxes, base, group, bound, together, dims, kind):  # type: ignore[no-untyped-def]
    """Fill group.gaps[0:8] with how far a block of boxes is from group.box; return the mask.

    together : int
        1 where the box is a point: then its upper bounds are not read.
    """
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.int64(boxes, types.int64, group, types.float64, together, dims, kind)
    upper = 0 if literal(together) == 1 else n_dims

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bounds = Elements(context, builder, signature.args[0], args[0])
        read = fields_of(context, builder, signature.args[2], args[2])
        box = read("box")

        def difference(t: int) -> Any:
            their_low, their_high = (
                load_block(builder, bounds, builder.add(args[1], constant(i * LANES)))
                for i in (2 * t, 2 * t + 1)
            )
            low, high = (load_splat(builder, box, i) for i in (t, upper + t))
            return box_gap(builder, low, high, their_low, their_high)

        power, gaps = read("power"), read("gaps")
        return _distances(builder, difference, n_dims, n_kind, power, args[3], gaps)

    return signature, emit


@intrinsic
def pair_distance(typing, blocks, i, j, dims, kind, power):  # type: ignore[no-untyped-def]
    """Return the accumulated distance of points i and j, counted over all blocks."""
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.float64(blocks, types.int64, types.int64, dims, kind, power)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        points = Elements(context, builder, signature.args[0], args[0])
        begins = [begin_of_point(builder, each, n_dims) for each in args[1:3]]
        total = None
        for t in range(n_dims):
            a, b = (
                load_number(builder, points, builder.add(begin, constant(t * LANES)))
                for begin in begins
            )
            total = accumulate(builder, total, builder.fsub(a, b), n_kind, args[5])
        return total

    return signature, emit
