"""A few dozen points, ordered along the coordinate in which they extend farthest, in registers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from isthmus._numba.addresses import constant
from isthmus._numba.arrays import Elements
from isthmus._numba.simd.emit import (
    F64,
    I32,
    INTEGERS,
    LANES,
    V64,
    larger,
    largest_lane,
    literal,
    load_block,
    splat,
)

# Points that stand side by side in columns.
BLOCK = 64

# Coordinates after the widest one count so much less: they decide where it is all but equal.
_NEXT = 2.0**-12


def _shuffled(builder: Any, eight: Any, step: int) -> Any:
    """Exchange each lane with the one whose number differs in the bit ``step``."""
    lanes = ir.Constant(ir.VectorType(I32, LANES), [lane ^ step for lane in range(LANES)])
    return builder.shuffle_vector(eight, ir.Constant(eight.type, ir.Undefined), lanes)


def _in_order(builder: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Return the smaller ones and the larger ones of eight pairs."""
    less = builder.fcmp_ordered("<", a, b)
    return builder.select(less, a, b), builder.select(less, b, a)


def _bitonic(builder: Any, keys: list[Any]) -> None:
    """Sort eight keys a vector, in place, ascending: Batcher's bitonic network."""
    n_keys = len(keys) * LANES
    run = 2
    while run <= n_keys:
        step = run // 2
        while step > 0:
            for v in range(len(keys)):
                if step >= LANES:
                    _exchange_vectors(builder, keys, v, step // LANES, run // LANES)
                else:
                    _exchange_lanes(builder, keys, v, step, run)
            step //= 2
        run *= 2


def _exchange_vectors(builder: Any, keys: list[Any], v: int, step: int, run: int) -> None:
    other = v ^ step
    if other > v:
        low, high = _in_order(builder, keys[v], keys[other])
        ascends = v & run == 0
        keys[v], keys[other] = (low, high) if ascends else (high, low)


def _exchange_lanes(builder: Any, keys: list[Any], v: int, step: int, run: int) -> None:
    other = _shuffled(builder, keys[v], step)
    low, high = _in_order(builder, keys[v], other)
    # lanes of the first vector, then those of the second one
    chosen = [
        lane if ((v * LANES + lane) & run == 0) == (lane & step == 0) else LANES + lane
        for lane in range(LANES)
    ]
    lanes = ir.Constant(ir.VectorType(I32, LANES), chosen)
    keys[v] = builder.shuffle_vector(low, high, lanes)


@intrinsic
def order_along_widest(typing, columns, base, length, dims, order):  # type: ignore[no-untyped-def]
    """Fill order[base : base + length] with points ordered along their widest coordinate.

    Points that differ in it by less than 1 / 4096 of their extent are ordered by the next two
    coordinates as well. Those nearer to each other than some 1e-13 of it may come in any order.

    columns : (>= dims * 64,) float64
        The first coordinates of 64 points, their second ones, and so on.
    base, length : int
        The points base … base + length - 1 are ordered; length is 16, 32 or 64.
    order : (64,) int64, out
        The number of the point that comes first, of the second one, and so on.
    """
    n_dims, n_vectors = literal(dims), literal(length) // LANES
    signature = types.void(columns, types.int64, length, dims, order)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        elements, order = (Elements(context, builder, signature.args[i], args[i]) for i in (0, 4))

        def load(t: Any, v: int) -> Any:
            begin = builder.add(builder.mul(t, constant(BLOCK)), args[1])
            index = builder.add(begin, constant(v * LANES))
            return load_block(builder, elements, index)

        def bounds(t: int) -> tuple[Any, Any]:
            vectors = [load(constant(t), v) for v in range(n_vectors)]
            low = high = vectors[0]
            for eight in vectors[1:]:
                high = larger(builder, high, eight)
                low = builder.select(builder.fcmp_ordered("<", low, eight), low, eight)
            return builder.fneg(largest_lane(builder, builder.fneg(low))), largest_lane(
                builder, high
            )

        boxes = [bounds(t) for t in range(n_dims)]
        keys = _keys(builder, boxes, load, n_vectors)
        index_bits = ir.Constant(INTEGERS, [BLOCK - 1] * LANES)
        for v in range(n_vectors):
            number = builder.add(args[1], constant(v * LANES))
            numbers = builder.add(splat(builder, number), ir.Constant(INTEGERS, list(range(LANES))))
            bits = builder.and_(builder.bitcast(keys[v], INTEGERS), builder.not_(index_bits))
            keys[v] = builder.bitcast(builder.or_(bits, numbers), V64)
        _bitonic(builder, keys)
        for v in range(n_vectors):
            index = builder.add(args[1], constant(v * LANES))
            order.store_vector(builder.and_(builder.bitcast(keys[v], INTEGERS), index_bits), index)
        return context.get_dummy_value()

    return signature, emit


def _keys(builder: Any, boxes: list[tuple[Any, Any]], load: Any, n_vectors: int) -> list[Any]:
    """Return a number from 1 to a little above 2 for each point: how far along it lies."""
    n_dims = len(boxes)
    widest, extent = constant(0), builder.fsub(boxes[0][1], boxes[0][0])
    for t in range(1, n_dims):
        this = builder.fsub(boxes[t][1], boxes[t][0])
        wider = builder.fcmp_ordered(">", this, extent)
        widest = builder.select(wider, constant(t), widest)
        extent = builder.select(wider, this, extent)
    one = ir.Constant(F64, 1.0)
    # 1 / 0, 1 / infinity and what they lead to end up at one of the two ends
    scale = builder.fdiv(one, extent)
    keys = [splat(builder, one)] * n_vectors
    weight = 1.0
    for following in range(min(3, n_dims)):
        t = builder.add(widest, constant(following))
        t = builder.urem(t, constant(n_dims))
        low = boxes[0][0]
        for i in range(1, n_dims):
            here = builder.icmp_unsigned("==", t, constant(i))
            low = builder.select(here, boxes[i][0], low)
        for v in range(n_vectors):
            along = builder.fmul(
                builder.fsub(load(t, v), splat(builder, low)), splat(builder, scale)
            )
            within = builder.fcmp_ordered("<=", along, splat(builder, one))
            along = builder.select(within, along, splat(builder, one))
            share = builder.fmul(along, splat(builder, ir.Constant(F64, weight)))
            keys[v] = builder.fadd(keys[v], share)
        weight *= _NEXT
    return keys
