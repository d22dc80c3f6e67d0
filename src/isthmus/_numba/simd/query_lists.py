"""One point, compared with eight queries: their lists, or the nearest of each.

group : record
    What the queries need, with these fields.

    queries : (8 * dims,) float64
        A block of points.
    labels : (8,) int32
    distance, position : (length * 8,) float64 and int32
        Eight lists, nearest first: the first entries of all, then the second entries, and so on.
    limit : (8,) float64
        How far each list goes.
    power : float64
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from isthmus._numba.addresses import constant
from isthmus._numba.arrays import Elements
from isthmus._numba.simd.emit import (
    BITS,
    I32,
    I64,
    INTEGERS,
    LANES,
    MASK,
    V64,
    accumulate,
    begin_of_point,
    fields_of,
    largest_lane,
    literal,
    load_block,
    load_splat,
    splat,
)


class _Distances:
    """Emits the distances of eight queries to a point of blocks."""

    def __init__(self, builder: Any, read: Any, points: Elements, dims: int, kind: int) -> None:
        self.queries, self.power = read("queries"), read("power")
        self.builder, self.points, self.dims, self.kind = builder, points, dims, kind

    def to(self, point: Any) -> Any:
        """Return those to a point, counted over all blocks."""
        builder = self.builder
        begin = begin_of_point(builder, point, self.dims)
        total = None
        for t in range(self.dims):
            offset = constant(t * LANES)
            here = load_block(builder, self.queries, offset)
            there = load_splat(builder, self.points, builder.add(begin, offset))
            difference = builder.fsub(here, there)
            total = accumulate(builder, total, difference, self.kind, self.power)
        return total


@intrinsic
def insert_in_lists(typing, blocks, first, mask, own, group, length, dims, kind):  # type: ignore[no-untyped-def]
    """Insert points into the lists of a group's queries; return the mask of lists that any entered.

    first, mask : int
        The points, counted over all blocks: the mask, which must not be 0, is of first … first + 7.
    own : int
        1 where these are the queries themselves, which do not enter their own lists; otherwise 0.
    """
    n_dims, n_kind, n_entries = literal(dims), literal(kind), literal(length)
    signature = types.int64(
        blocks, types.int64, types.int64, types.int64, group, length, dims, kind
    )

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        # The lists stay in registers while points go through them, without a branch that could be
        # mispredicted: at each entry the nearer one stays, and the other one goes on.
        _, first, mask, own, group = args[:5]
        points = Elements(context, builder, signature.args[0], args[0])
        read = fields_of(context, builder, signature.args[4], group)
        distances = _Distances(builder, read, points, n_dims, n_kind)
        rows = [
            (read(name), t * LANES) for name in ("distance", "position") for t in range(n_entries)
        ]
        given = [elements.load_vector(index, LANES) for elements, index in rows]
        before = builder.block
        loop, done = (builder.append_basic_block(name) for name in ("loop", "done"))
        builder.branch(loop)
        builder.position_at_end(loop)
        rest, entered = builder.phi(I64), builder.phi(BITS)
        entries = [builder.phi(value.type) for value in given]
        lane = builder.cttz(rest, ir.Constant(ir.IntType(1), 1))
        point = builder.add(first, lane)
        distance = distances.to(point)
        itself = builder.trunc(builder.shl(own, lane), MASK)
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
        next_rest = builder.and_(rest, builder.sub(rest, constant(1)))
        next_entered = builder.or_(entered, enters)
        for phi, initial, later in (
            (rest, mask, next_rest),
            (entered, ir.Constant(BITS, [0] * LANES), next_entered),
            *zip(entries, given, after, strict=True),
        ):
            phi.add_incoming(initial, before)
            phi.add_incoming(later, builder.block)
        is_last = builder.icmp_unsigned("==", next_rest, constant(0))
        builder.cbranch(is_last, done, loop)
        builder.position_at_end(done)
        for (elements, index), value in zip(rows, after, strict=True):
            elements.store_vector(value, index)
        return builder.zext(builder.bitcast(next_entered, MASK), I64)

    return signature, emit


@intrinsic
def store_lists(typing, group, block, found, length):  # type: ignore[no-untyped-def]
    """Write the lists of a group to where those of a block of points are kept.

    Entries beyond a list's limit give way to the point itself.

    found : record
        positions : (n_blocks * 8 * length,) int32, out
            The lists of all points, one after the other.
        known, n_nearest : (n_blocks * 8,) float64 and int8, out
            The distance of each list's second entry, and how many are as near as the first.
    """
    n_entries = literal(length)
    signature = types.void(group, types.int64, found, length)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        block = args[1]
        read = fields_of(context, builder, signature.args[0], args[0])
        write = fields_of(context, builder, signature.args[2], args[2])
        distances, entries = (
            [elements.load_vector(t * LANES, LANES) for t in range(n_entries)]
            for elements in (read("distance"), read("position"))
        )
        limits = read("limit").load_vector(0, LANES)
        first_point = builder.mul(block, constant(LANES))
        own = builder.add(
            splat(builder, builder.trunc(first_point, I32)),
            ir.Constant(ir.VectorType(I32, LANES), list(range(LANES))),
        )
        n_equal = ir.Constant(ir.VectorType(MASK, LANES), [0] * LANES)
        first_entry = builder.mul(block, constant(n_entries * LANES))
        positions = write("positions")
        for t in range(n_entries):
            listed = builder.fcmp_ordered("<=", distances[t], limits)
            place = builder.select(listed, entries[t], own)
            for lane in range(LANES):
                index = builder.add(first_entry, constant(lane * n_entries + t))
                positions.store(builder.extract_element(place, ir.Constant(I32, lane)), index)
            equal = builder.fcmp_ordered("==", distances[t], distances[0])
            n_equal = builder.add(n_equal, builder.zext(equal, n_equal.type))
        write("known").store_vector(distances[1], first_point)
        write("n_nearest").store_vector(n_equal, first_point)
        return context.get_dummy_value()

    return signature, emit


@intrinsic
def limit_lists(typing, group):  # type: ignore[no-untyped-def]
    """Lower the limits of those lists whose first two entries are equal to these; return a mask."""
    signature = types.int64(group)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        read = fields_of(context, builder, signature.args[0], args[0])
        distance, limit = read("distance"), read("limit")
        first, second = (distance.load_vector(t * LANES, LANES) for t in (0, 1))
        equal = builder.fcmp_ordered("==", first, second)
        limit.store_vector(builder.select(equal, first, limit.load_vector(0, LANES)), 0)
        return builder.zext(builder.bitcast(equal, MASK), I64)

    return signature, emit


@intrinsic
def reach_of_lists(typing, group, length, steps):  # type: ignore[no-untyped-def]
    """Return how far, of eight lists, the one that reaches farthest goes.

    A list goes as far as its last entry, but no farther than the float that comes n steps after
    its limit.
    """
    last = (literal(length) - 1) * LANES
    signature = types.float64(group, length, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        read = fields_of(context, builder, signature.args[0], args[0])
        entry = read("distance").load_vector(last, LANES)
        limits = read("limit").load_vector(0, LANES)
        bits = builder.add(builder.bitcast(limits, INTEGERS), splat(builder, args[2]))
        end = builder.bitcast(bits, V64)
        nearer = builder.fcmp_ordered("<", end, entry)
        return largest_lane(builder, builder.select(nearer, end, entry))

    return signature, emit


@intrinsic
def improve_nearest(typing, blocks, point, label, group, dims, kind):  # type: ignore[no-untyped-def]
    """Make a point the first entry of each of eight lists that is nearer than the one before.

    point : int
        Counted over all blocks.
    label : int
        Only queries whose label differs from the point's take it.

    Returns the mask of queries for which it is exactly as near as the one before.
    """
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.int64(blocks, types.int64, types.int32, group, dims, kind)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        _, point, label, group = args[:4]
        points = Elements(context, builder, signature.args[0], args[0])
        read = fields_of(context, builder, signature.args[3], group)
        total = _Distances(builder, read, points, n_dims, n_kind).to(point)
        distance, place = read("distance"), read("position")
        own = read("labels").load_vector(0, LANES)
        old_distance, old_place = (each.load_vector(0, LANES) for each in (distance, place))
        other = builder.icmp_signed("!=", own, splat(builder, label))
        nearer = builder.and_(other, builder.fcmp_ordered("<", total, old_distance))
        new_place = splat(builder, builder.trunc(point, I32))
        distance.store_vector(builder.select(nearer, total, old_distance), 0)
        place.store_vector(builder.select(nearer, new_place, old_place), 0)
        equal = builder.and_(other, builder.fcmp_ordered("==", total, old_distance))
        return builder.zext(builder.bitcast(equal, MASK), I64)

    return signature, emit
