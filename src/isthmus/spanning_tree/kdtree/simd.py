"""Eight distances at a time: LLVM vector instructions as functions that kernels can call.

Numba vectorises loops over arrays, but not the short searches in a tree, where eight points or
boxes are compared with one point and a few of them pass. The functions here do exactly that. In
memory, eight points form a *block*: eight first coordinates, eight second ones, and so on. A
block of boxes holds, per coordinate, eight lower and then eight upper bounds.

Masks are integers whose bit j stands for lane j. Functions that take ``dims`` and ``kind`` need
them as compile-time constants and are unrolled over the coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import RequireLiteralValue
from numba.extending import intrinsic as numba_intrinsic

from isthmus.metrics import ABSOLUTES, MAXIMUM, SQUARES

LANES = 8

intrinsic: Any = numba_intrinsic

_I32, _I64, _F64 = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_MASK = ir.IntType(LANES)
_V64 = ir.VectorType(_F64, LANES)
_BITS = ir.VectorType(ir.IntType(1), LANES)


def _literal(value: Any) -> int:
    if not isinstance(value, types.IntegerLiteral):
        raise RequireLiteralValue("needs a constant")
    return int(value.literal_value)


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, value=array).data
    return builder.gep(data, [index])


def _load_block(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Load eight neighbouring numbers, widened to float64."""
    address = _address(context, builder, array_type, array, index)
    element = address.type.pointee
    vector = ir.VectorType(element, LANES)
    loaded = builder.load(builder.bitcast(address, vector.as_pointer()), align=4)
    if element == _F64:
        loaded.align = 8
        return loaded
    return builder.fpext(loaded, _V64)


def _load_number(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    loaded = builder.load(_address(context, builder, array_type, array, index))
    return loaded if loaded.type == _F64 else builder.fpext(loaded, _F64)


def _splat(builder: Any, scalar: Any) -> Any:
    vector = ir.Constant(ir.VectorType(scalar.type, LANES), ir.Undefined)
    vector = builder.insert_element(vector, scalar, ir.Constant(_I32, 0))
    zeros = ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), zeros)


def _load_splat(context: Any, builder: Any, array_type: Any, array: Any, index: int) -> Any:
    """Load one number into all eight lanes."""
    number = _load_number(context, builder, array_type, array, ir.Constant(_I64, index))
    return _splat(builder, number)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _accumulate(builder: Any, total: Any, difference: Any, kind: int, power: Any) -> Any:
    """Add one coordinate's difference to the accumulated distance; total is None at first."""
    if kind == SQUARES:
        term = builder.fmul(difference, difference)
    else:
        term = _larger(builder, difference, builder.fneg(difference))
        if kind not in (ABSOLUTES, MAXIMUM):
            term = _raise(builder, term, power)
    if total is None:
        return term
    if kind == MAXIMUM:
        return _larger(builder, total, term)
    return builder.fadd(total, term)


def _raise(builder: Any, base: Any, power: Any) -> Any:
    """Raise a number, or each of eight, to a power."""
    function = builder.module.declare_intrinsic("llvm.pow", [_F64])
    if base.type == _F64:
        return builder.call(function, [base, power])
    for lane in range(LANES):
        place = ir.Constant(_I32, lane)
        raised = builder.call(function, [builder.extract_element(base, place), power])
        base = builder.insert_element(base, raised, place)
    return base


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
    limit = _splat(builder, bound)
    checks = range(4, dims, 4) if dims > 5 else ()
    end = builder.append_basic_block("end")
    results = []
    total = None
    for t in range(dims):
        total = _accumulate(builder, total, difference(t), kind, power)
        if t + 1 in checks:
            within = builder.bitcast(builder.fcmp_ordered("<=", total, limit), _MASK)
            none = builder.icmp_unsigned("==", within, ir.Constant(_MASK, 0))
            go_on = builder.append_basic_block("go_on")
            results.append((ir.Constant(_I64, 0), builder.block))
            builder.cbranch(none, end, go_on)
            builder.position_at_end(go_on)
    builder.store(total, out, align=8)
    mask = builder.bitcast(builder.fcmp_ordered("<=", total, limit), _MASK)
    results.append((builder.zext(mask, _I64), builder.block))
    builder.branch(end)
    builder.position_at_end(end)
    joined = builder.phi(_I64)
    for value, block in results:
        joined.add_incoming(value, block)
    return joined


@intrinsic
def point_distances(typing, blocks, base, query, bound, out, dims, kind, power):  # type: ignore[no-untyped-def]
    """Fill out[0:8] with accumulated distances of a block's points to a query; return the mask.

    blocks, base : array and int
        The block begins at blocks[base].
    query : (dims,) float64
    bound : float
        Bits are set where the distance is at most this. Where no bit is set, out may be stale.
    """
    n_dims, n_kind = _literal(dims), _literal(kind)
    signature = types.int64(blocks, types.int64, query, types.float64, out, dims, kind, power)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def difference(t: int) -> Any:
            index = builder.add(args[1], ir.Constant(_I64, t * LANES))
            block = _load_block(context, builder, signature.args[0], args[0], index)
            here = _load_splat(context, builder, signature.args[2], args[2], t)
            return builder.fsub(block, here)

        target = _address(context, builder, signature.args[4], args[4], ir.Constant(_I64, 0))
        target = builder.bitcast(target, _V64.as_pointer())
        return _distances(builder, difference, n_dims, n_kind, args[7], args[3], target)

    return signature, emit


@intrinsic
def points_from_box(typing, blocks, base, box, bound, out, dims, kind, power):  # type: ignore[no-untyped-def]
    """Fill out[0:8] with how far a block's points are from a box; return the mask.

    box : (2 * dims,) float64
        Lower bounds, then upper bounds.
    """
    n_dims, n_kind = _literal(dims), _literal(kind)
    signature = types.int64(blocks, types.int64, box, types.float64, out, dims, kind, power)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def difference(t: int) -> Any:
            index = builder.add(args[1], ir.Constant(_I64, t * LANES))
            block = _load_block(context, builder, signature.args[0], args[0], index)
            low, high = (
                _load_splat(context, builder, signature.args[2], args[2], i)
                for i in (t, n_dims + t)
            )
            outside = _larger(builder, builder.fsub(low, block), builder.fsub(block, high))
            return _larger(builder, outside, ir.Constant(_V64, [0.0] * LANES))

        target = _address(context, builder, signature.args[4], args[4], ir.Constant(_I64, 0))
        target = builder.bitcast(target, _V64.as_pointer())
        return _distances(builder, difference, n_dims, n_kind, args[7], args[3], target)

    return signature, emit


@intrinsic
def boxes_from_box(typing, boxes, base, box, bound, out, together, dims, kind, power):  # type: ignore[no-untyped-def]
    """Do the same for a block of boxes.

    together : int
        1 where the box is a point: then its upper bounds are not read.
    """
    n_dims, n_kind = _literal(dims), _literal(kind)
    signature = types.int64(
        boxes, types.int64, box, types.float64, out, together, dims, kind, power
    )
    upper = 0 if _literal(together) == 1 else n_dims

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def difference(t: int) -> Any:
            low_at = builder.add(args[1], ir.Constant(_I64, 2 * t * LANES))
            high_at = builder.add(args[1], ir.Constant(_I64, (2 * t + 1) * LANES))
            their_low = _load_block(context, builder, signature.args[0], args[0], low_at)
            their_high = _load_block(context, builder, signature.args[0], args[0], high_at)
            low, high = (
                _load_splat(context, builder, signature.args[2], args[2], i) for i in (t, upper + t)
            )
            outside = _larger(builder, builder.fsub(their_low, high), builder.fsub(low, their_high))
            return _larger(builder, outside, ir.Constant(_V64, [0.0] * LANES))

        target = _address(context, builder, signature.args[4], args[4], ir.Constant(_I64, 0))
        target = builder.bitcast(target, _V64.as_pointer())
        return _distances(builder, difference, n_dims, n_kind, args[8], args[3], target)

    return signature, emit


def _vector_at(context: Any, builder: Any, array_type: Any, array: Any, row: int) -> Any:
    address = _address(context, builder, array_type, array, ir.Constant(_I64, row * LANES))
    return builder.bitcast(address, ir.VectorType(address.type.pointee, LANES).as_pointer())


def _distances_to_point(
    context: Any, builder: Any, signature: Any, args: Any, dims: int, kind: int
) -> Any:
    """Emit the distances of eight queries, args[2], to a point, args[1], of blocks, args[0]."""
    block = builder.lshr(args[1], ir.Constant(_I64, 3))
    lane = builder.and_(args[1], ir.Constant(_I64, LANES - 1))
    begin = builder.add(builder.mul(block, ir.Constant(_I64, dims * LANES)), lane)
    total = None
    for t in range(dims):
        offset = ir.Constant(_I64, t * LANES)
        here = _load_block(context, builder, signature.args[2], args[2], offset)
        index = builder.add(begin, offset)
        there = _load_number(context, builder, signature.args[0], args[0], index)
        difference = builder.fsub(here, _splat(builder, there))
        total = _accumulate(builder, total, difference, kind, args[-1])
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
    n_dims, n_kind, n_entries = _literal(dims), _literal(kind), _literal(length)
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
            _vector_at(context, builder, signature.args[4], args[4], t) for t in range(n_entries)
        ]
        last = builder.load(rows[-1], align=8)
        mask = builder.bitcast(builder.fcmp_ordered("<", total, last), _MASK)
        mask = builder.and_(mask, builder.trunc(args[3], _MASK))
        with builder.if_then(builder.icmp_unsigned("!=", mask, ir.Constant(_MASK, 0))):
            may = builder.bitcast(mask, _BITS)
            distance = builder.select(may, total, ir.Constant(_V64, [float("inf")] * LANES))
            place = _splat(builder, builder.trunc(args[1], _I32))
            for t in range(n_entries):
                place_row = _vector_at(context, builder, signature.args[5], args[5], t)
                old_distance = builder.load(rows[t], align=8)
                old_place = builder.load(place_row, align=4)
                nearer = builder.fcmp_ordered("<", distance, old_distance)
                builder.store(builder.select(nearer, distance, old_distance), rows[t], align=8)
                builder.store(builder.select(nearer, place, old_place), place_row, align=4)
                distance = builder.select(nearer, old_distance, distance)
                place = builder.select(nearer, old_place, place)
        return builder.zext(mask, _I64)

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
    n_dims, n_kind = _literal(dims), _literal(kind)
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
            _vector_at(context, builder, signature.args[i], args[i], 0) for i in (4, 5, 6)
        )
        own = builder.load(label_row, align=4)
        old_distance, old_place = builder.load(row, align=8), builder.load(place_row, align=4)
        other = builder.icmp_signed("!=", own, _splat(builder, args[3]))
        nearer = builder.and_(other, builder.fcmp_ordered("<", total, old_distance))
        new_place = _splat(builder, builder.trunc(args[1], _I32))
        builder.store(builder.select(nearer, total, old_distance), row, align=8)
        builder.store(builder.select(nearer, new_place, old_place), place_row, align=4)
        equal = builder.and_(other, builder.fcmp_ordered("==", total, old_distance))
        return builder.zext(builder.bitcast(equal, _MASK), _I64)

    return signature, emit


@intrinsic
def neighbouring_float(typing, number, steps):  # type: ignore[no-untyped-def]
    """Return the float that comes so many steps after a positive one.

    One step back from zero leads to a number that compares with nothing.
    """
    signature = types.float64(types.float64, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = builder.bitcast(args[0], _I64)
        return builder.bitcast(builder.add(bits, args[1]), _F64)

    return signature, emit


@intrinsic
def largest_of_eight(typing, numbers, base):  # type: ignore[no-untyped-def]
    """Return the largest of numbers[base:base + 8]."""
    signature = types.float64(numbers, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        eight = _load_block(context, builder, signature.args[0], args[0], args[1])
        for step in (4, 2, 1):
            lanes = [(i + step) % LANES for i in range(LANES)]
            other = builder.shuffle_vector(
                eight,
                ir.Constant(_V64, ir.Undefined),
                ir.Constant(ir.VectorType(_I32, LANES), lanes),
            )
            eight = _larger(builder, eight, other)
        return builder.extract_element(eight, ir.Constant(_I32, 0))

    return signature, emit


@intrinsic
def pair_distance(typing, blocks, i, j, dims, kind, power):  # type: ignore[no-untyped-def]
    """Return the accumulated distance of points i and j, counted over all blocks."""
    n_dims, n_kind = _literal(dims), _literal(kind)
    signature = types.float64(blocks, types.int64, types.int64, dims, kind, power)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        def coordinate(point: Any, t: int) -> Any:
            block = builder.lshr(point, ir.Constant(_I64, 3))
            lane = builder.and_(point, ir.Constant(_I64, LANES - 1))
            index = builder.add(
                builder.mul(block, ir.Constant(_I64, n_dims * LANES)),
                builder.add(lane, ir.Constant(_I64, t * LANES)),
            )
            return _load_number(context, builder, signature.args[0], args[0], index)

        total = None
        for t in range(n_dims):
            difference = builder.fsub(coordinate(args[1], t), coordinate(args[2], t))
            total = _accumulate(builder, total, difference, n_kind, args[5])
        return total

    return signature, emit


@intrinsic
def lanes_other_than(typing, labels, base, label):  # type: ignore[no-untyped-def]
    """Return the mask of the eight int32 labels from labels[base] on that differ from label."""
    signature = types.int64(labels, types.int64, types.int32)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        address = _address(context, builder, signature.args[0], args[0], args[1])
        vector = ir.VectorType(_I32, LANES)
        eight = builder.load(builder.bitcast(address, vector.as_pointer()), align=4)
        differ = builder.icmp_signed("!=", eight, _splat(builder, args[2]))
        return builder.zext(builder.bitcast(differ, _MASK), _I64)

    return signature, emit


@intrinsic
def lowest_lane(typing, mask):  # type: ignore[no-untyped-def]
    """Return the number of the lowest bit that is set; the mask must not be 0."""
    signature = types.int64(types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return signature, emit


@intrinsic
def peek(typing, array, index):  # type: ignore[no-untyped-def]
    """Return array[index] of a contiguous array, without a negative index's detour."""
    signature = array.dtype(array, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.load(_address(context, builder, signature.args[0], args[0], args[1]))

    return signature, emit


@intrinsic
def poke(typing, array, index, value):  # type: ignore[no-untyped-def]
    """Set array[index] = value, likewise."""
    signature = types.void(array, types.int64, array.dtype)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        address = _address(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], address)
        return context.get_dummy_value()

    return signature, emit


def _row(context: Any, builder: Any, array_type: Any, array: Any, row: Any, dims: int) -> Any:
    index = builder.mul(row, ir.Constant(_I64, dims))
    address = _address(context, builder, array_type, array, index)
    vector = ir.VectorType(address.type.pointee, dims)
    return builder.bitcast(address, vector.as_pointer())


@intrinsic
def swap_rows(typing, rows, a, b, dims):  # type: ignore[no-untyped-def]
    """Exchange rows a and b of a flat array of rows of ``dims`` numbers."""
    n_dims = _literal(dims)
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
def widest_dimension(typing, rows, start, stop, dims):  # type: ignore[no-untyped-def]
    """Return the coordinate in which rows start … stop - 1 extend farthest; -1 if all are equal."""
    n_dims = _literal(dims)
    signature = types.int64(rows, types.int64, types.int64, dims)

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
        i, low, high = builder.phi(_I64), builder.phi(initial.type), builder.phi(initial.type)
        row = load(i)
        next_low = builder.select(builder.fcmp_ordered("<", row, low), row, low)
        next_high = builder.select(builder.fcmp_ordered(">", row, high), row, high)
        next_i = builder.add(i, ir.Constant(_I64, 1))
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
        best, widest = ir.Constant(_I64, -1), ir.Constant(extent.type.element, 0.0)
        for t in range(n_dims):
            this = builder.extract_element(extent, ir.Constant(_I32, t))
            wider = builder.fcmp_ordered(">", this, widest)
            best = builder.select(wider, ir.Constant(_I64, t), best)
            widest = builder.select(wider, this, widest)
        return best

    return signature, emit
