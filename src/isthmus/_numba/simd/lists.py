"""One point, compared with eight queries: their lists, or the nearest of each."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types

from isthmus._numba.simd.emit import (
    BITS,
    I32,
    I64,
    LANES,
    MASK,
    V64,
    WHOLE,
    accumulate,
    address_of,
    intrinsic,
    largest_lane,
    literal,
    load_block,
    load_number,
    splat,
    vector_at,
)


def _distances_to_point(
    context: Any, builder: Any, signature: Any, args: Any, point: Any, dims: int, kind: int
) -> Any:
    """Emit the distances of eight queries, args[0], to a point of blocks, args[1]."""
    block = builder.lshr(point, ir.Constant(I64, 3))
    lane = builder.and_(point, ir.Constant(I64, LANES - 1))
    begin = builder.add(builder.mul(block, ir.Constant(I64, dims * LANES)), lane)
    total = None
    for t in range(dims):
        offset = ir.Constant(I64, t * LANES)
        here = load_block(context, builder, signature.args[0], args[0], offset)
        index = builder.add(begin, offset)
        there = load_number(context, builder, signature.args[1], args[1], index)
        difference = builder.fsub(here, splat(builder, there))
        total = accumulate(builder, total, difference, kind, args[-1])
    return total


@intrinsic
def insert_in_lists(  # type: ignore[no-untyped-def]
    typing, queries, blocks, first, mask, own, list_distance, list_place, length, dims, kind, power
):
    """Insert points into the lists of eight queries; return the mask of lists that any entered.

    Eight bits higher, the mask of lists whose first two entries are equal.

    queries : (8 * dims,) float64
        A block of points.
    first, mask : int
        The points, counted over all blocks: the mask, which must not be 0, is of first … first + 7.
    own : int
        1 where these are the queries themselves, which do not enter their own lists; otherwise 0.
    list_distance, list_place : (length * 8,) float64 and int32, in and out
        Eight lists, nearest first: the first entries of all, then the second entries, and so on.
    """
    n_dims, n_kind, n_entries = literal(dims), literal(kind), literal(length)
    signature = types.int64(
        queries,
        blocks,
        types.int64,
        types.int64,
        types.int64,
        list_distance,
        list_place,
        length,
        dims,
        kind,
        power,
    )

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        # The lists stay in registers while points go through them, without a branch that could be
        # mispredicted: at each entry the nearer one stays, and the other one goes on.
        addresses = [
            vector_at(context, builder, signature.args[i], args[i], t)
            for i in (5, 6)
            for t in range(n_entries)
        ]
        given = [builder.load(address, align=4) for address in addresses]
        before = builder.block
        loop, done = (builder.append_basic_block(name) for name in ("loop", "done"))
        builder.branch(loop)
        builder.position_at_end(loop)
        rest, entered = builder.phi(I64), builder.phi(BITS)
        entries = [builder.phi(value.type) for value in given]
        lane = builder.cttz(rest, ir.Constant(ir.IntType(1), 1))
        point = builder.add(args[2], lane)
        distance = _distances_to_point(context, builder, signature, args, point, n_dims, n_kind)
        itself = builder.trunc(builder.shl(args[4], lane), MASK)
        infinite = ir.Constant(V64, [float("inf")] * LANES)
        distance = builder.select(builder.bitcast(itself, BITS), infinite, distance)
        enters = builder.fcmp_ordered("<", distance, entries[n_entries - 1])
        place = splat(builder, builder.trunc(point, I32))
        after = list(entries)
        for t in range(n_entries):
            old_distance, old_place = entries[t], entries[n_entries + t]
            nearer = builder.fcmp_ordered("<", distance, old_distance)
            after[t] = builder.select(nearer, distance, old_distance)
            after[n_entries + t] = builder.select(nearer, place, old_place)
            distance = builder.select(nearer, old_distance, distance)
            place = builder.select(nearer, old_place, place)
        next_rest = builder.and_(rest, builder.sub(rest, ir.Constant(I64, 1)))
        next_entered = builder.or_(entered, enters)
        for phi, initial, later in (
            (rest, args[3], next_rest),
            (entered, ir.Constant(BITS, [0] * LANES), next_entered),
            *zip(entries, given, after, strict=True),
        ):
            phi.add_incoming(initial, before)
            phi.add_incoming(later, builder.block)
        is_last = builder.icmp_unsigned("==", next_rest, ir.Constant(I64, 0))
        builder.cbranch(is_last, done, loop)
        builder.position_at_end(done)
        for address, value in zip(addresses, after, strict=True):
            builder.store(value, address, align=4)
        equal = builder.bitcast(builder.fcmp_ordered("==", after[0], after[1]), MASK)
        return builder.or_(
            builder.shl(builder.zext(equal, I64), ir.Constant(I64, LANES)),
            builder.zext(builder.bitcast(next_entered, MASK), I64),
        )

    return signature, emit


@intrinsic
def store_lists(  # type: ignore[no-untyped-def]
    typing, list_distance, list_place, limit, block, places, known, used, length
):
    """Write eight lists to where those of a block of points are kept.

    list_distance, list_place : as above
    limit : (8,) float64
        How far each list goes; entries that are farther give way to the point itself.
    places : (n_blocks * 8 * length,) int32, out
        The lists of all points, one after the other.
    known, used : (n_blocks * 8,) float64 and int8, out
        The distance of each list's second entry, and how many are as near as the first.
    """
    n_entries = literal(length)
    signature = types.void(
        list_distance, list_place, limit, types.int64, places, known, used, length
    )

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def vector(argument: int, row: Any) -> Any:
            return vector_at(context, builder, signature.args[argument], args[argument], row)

        distances, entries = (
            [builder.load(vector(i, t), align=4) for t in range(n_entries)] for i in (0, 1)
        )
        limits = builder.load(vector(2, 0), align=8)
        whole = ir.VectorType(I32, LANES)
        own = builder.trunc(builder.mul(args[3], ir.Constant(I64, LANES)), I32)
        own = builder.add(splat(builder, own), ir.Constant(whole, list(range(LANES))))
        n_equal = ir.Constant(ir.VectorType(MASK, LANES), [0] * LANES)
        first_row = builder.mul(args[3], ir.Constant(I64, n_entries * LANES))
        for t in range(n_entries):
            listed = builder.fcmp_ordered("<=", distances[t], limits)
            place = builder.select(listed, entries[t], own)
            for lane in range(LANES):
                index = builder.add(first_row, ir.Constant(I64, lane * n_entries + t))
                address = address_of(context, builder, signature.args[4], args[4], index)
                builder.store(builder.extract_element(place, ir.Constant(I32, lane)), address)
            equal = builder.fcmp_ordered("==", distances[t], distances[0])
            n_equal = builder.add(n_equal, builder.zext(equal, n_equal.type))
        builder.store(distances[1], vector(5, args[3]), align=8)
        builder.store(n_equal, vector(6, args[3]), align=1)
        return context.get_dummy_value()

    return signature, emit


@intrinsic
def limit_lists(typing, list_distance, limit):  # type: ignore[no-untyped-def]
    """Lower limit[0:8] to the first entries of those lists whose first two are equal."""
    signature = types.void(list_distance, limit)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        first, second = (
            builder.load(vector_at(context, builder, signature.args[0], args[0], t), align=8)
            for t in (0, 1)
        )
        address = vector_at(context, builder, signature.args[1], args[1], 0)
        equal = builder.fcmp_ordered("==", first, second)
        limits = builder.select(equal, first, builder.load(address, align=8))
        builder.store(limits, address, align=8)
        return context.get_dummy_value()

    return signature, emit


@intrinsic
def reach_of_lists(typing, distance, last, limit, steps):  # type: ignore[no-untyped-def]
    """Return how far, of eight lists, the one that reaches farthest goes.

    A list goes as far as its last entry, distance[last + lane], but no farther than the float that
    comes so many steps after limit[lane].
    """
    signature = types.float64(distance, types.int64, limit, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        entry = load_block(context, builder, signature.args[0], args[0], args[1])
        limits = load_block(context, builder, signature.args[2], args[2], ir.Constant(I64, 0))
        bits = builder.add(builder.bitcast(limits, WHOLE), splat(builder, args[3]))
        end = builder.bitcast(bits, V64)
        nearer = builder.fcmp_ordered("<", end, entry)
        return largest_lane(builder, builder.select(nearer, end, entry))

    return signature, emit


@intrinsic
def improve_nearest(  # type: ignore[no-untyped-def]
    typing, queries, blocks, point, label, labels, distance, place, dims, kind, power
):
    """Make a point the nearest one of each of eight queries that it is nearer to than the last.

    queries : as above
    point : int
        Counted over all blocks.
    label, labels : int and (8,) int32
        Only queries whose label differs from the point's take it.
    distance, place : (8,) float64 and int32, in and out
        The nearest point of each query so far.

    Returns the mask of queries for which it is exactly as near as the last.
    """
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.int64(
        queries,
        blocks,
        types.int64,
        types.int32,
        labels,
        distance,
        place,
        dims,
        kind,
        power,
    )

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        total = _distances_to_point(context, builder, signature, args, args[2], n_dims, n_kind)
        label_row, row, place_row = (
            vector_at(context, builder, signature.args[i], args[i], 0) for i in (4, 5, 6)
        )
        own = builder.load(label_row, align=4)
        old_distance, old_place = builder.load(row, align=8), builder.load(place_row, align=4)
        other = builder.icmp_signed("!=", own, splat(builder, args[3]))
        nearer = builder.and_(other, builder.fcmp_ordered("<", total, old_distance))
        new_place = splat(builder, builder.trunc(args[2], I32))
        builder.store(builder.select(nearer, total, old_distance), row, align=8)
        builder.store(builder.select(nearer, new_place, old_place), place_row, align=4)
        equal = builder.and_(other, builder.fcmp_ordered("==", total, old_distance))
        return builder.zext(builder.bitcast(equal, MASK), I64)

    return signature, emit
