"""One point, compared with eight queries: their lists, or the nearest of each."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from isthmus.spanning_tree.simd.emit import (
    BITS,
    I32,
    I64,
    LANES,
    MASK,
    V64,
    accumulate,
    intrinsic,
    literal,
    load_block,
    load_number,
    splat,
    vector_at,
)


def _distances_to_point(
    context: Any, builder: Any, signature: Any, args: Any, dims: int, kind: int
) -> Any:
    """Emit the distances of eight queries, args[2], to a point, args[1], of blocks, args[0]."""
    block = builder.lshr(args[1], ir.Constant(I64, 3))
    lane = builder.and_(args[1], ir.Constant(I64, LANES - 1))
    begin = builder.add(builder.mul(block, ir.Constant(I64, dims * LANES)), lane)
    total = None
    for t in range(dims):
        offset = ir.Constant(I64, t * LANES)
        here = load_block(context, builder, signature.args[2], args[2], offset)
        index = builder.add(begin, offset)
        there = load_number(context, builder, signature.args[0], args[0], index)
        difference = builder.fsub(here, splat(builder, there))
        total = accumulate(builder, total, difference, kind, args[-1])
    return total


@intrinsic
def insert_in_lists(  # type: ignore[no-untyped-def]
    typing, blocks, point, queries, lanes, list_distance, list_place, length, dims, kind, power
):
    """Insert a point into the lists of eight queries; return the mask of lists that it entered.

    point : int
        Counted over all blocks.
    queries : (8 * dims,) float64
        A block of points.
    lanes : int
        The mask of lists that may take the point.
    list_distance, list_place : (length * 8,) float64 and int32, in and out
        Eight lists, nearest first: the first entries of all, then the second entries, and so on.
    """
    n_dims, n_kind, n_entries = literal(dims), literal(kind), literal(length)
    signature = types.int64(
        blocks,
        types.int64,
        queries,
        types.int64,
        list_distance,
        list_place,
        length,
        dims,
        kind,
        power,
    )

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        total = _distances_to_point(context, builder, signature, args, n_dims, n_kind)
        rows = [
            vector_at(context, builder, signature.args[4], args[4], t) for t in range(n_entries)
        ]
        last = builder.load(rows[-1], align=8)
        mask = builder.bitcast(builder.fcmp_ordered("<", total, last), MASK)
        mask = builder.and_(mask, builder.trunc(args[3], MASK))
        with builder.if_then(builder.icmp_unsigned("!=", mask, ir.Constant(MASK, 0))):
            may = builder.bitcast(mask, BITS)
            distance = builder.select(may, total, ir.Constant(V64, [float("inf")] * LANES))
            place = splat(builder, builder.trunc(args[1], I32))
            for t in range(n_entries):
                place_row = vector_at(context, builder, signature.args[5], args[5], t)
                old_distance = builder.load(rows[t], align=8)
                old_place = builder.load(place_row, align=4)
                nearer = builder.fcmp_ordered("<", distance, old_distance)
                builder.store(builder.select(nearer, distance, old_distance), rows[t], align=8)
                builder.store(builder.select(nearer, place, old_place), place_row, align=4)
                distance = builder.select(nearer, old_distance, distance)
                place = builder.select(nearer, old_place, place)
        return builder.zext(mask, I64)

    return signature, emit


@intrinsic
def improve_nearest(  # type: ignore[no-untyped-def]
    typing, blocks, point, queries, label, labels, distance, place, dims, kind, power
):
    """Make a point the nearest one of each of eight queries that it is nearer to than the last.

    point, queries : as above
    label, labels : int and (8,) int32
        Only queries whose label differs from the point's take it.
    distance, place : (8,) float64 and int32, in and out
        The nearest point of each query so far.

    Returns the mask of queries for which it is exactly as near as the last.
    """
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.int64(
        blocks,
        types.int64,
        queries,
        types.int32,
        labels,
        distance,
        place,
        dims,
        kind,
        power,
    )

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        total = _distances_to_point(context, builder, signature, args, n_dims, n_kind)
        label_row, row, place_row = (
            vector_at(context, builder, signature.args[i], args[i], 0) for i in (4, 5, 6)
        )
        own = builder.load(label_row, align=4)
        old_distance, old_place = builder.load(row, align=8), builder.load(place_row, align=4)
        other = builder.icmp_signed("!=", own, splat(builder, args[3]))
        nearer = builder.and_(other, builder.fcmp_ordered("<", total, old_distance))
        new_place = splat(builder, builder.trunc(args[1], I32))
        builder.store(builder.select(nearer, total, old_distance), row, align=8)
        builder.store(builder.select(nearer, new_place, old_place), place_row, align=4)
        equal = builder.and_(other, builder.fcmp_ordered("==", total, old_distance))
        return builder.zext(builder.bitcast(equal, MASK), I64)

    return signature, emit
