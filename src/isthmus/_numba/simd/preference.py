"""Eight boxes, and which of two points their points are nearer to."""

from __future__ import annotations

import functools
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from isthmus._numba.accumulators import MAXIMUM
from isthmus._numba.addresses import constant
from isthmus._numba.arrays import Elements
from isthmus._numba.simd.emit import (
    BITS,
    F64,
    I64,
    LANES,
    MASK,
    V64,
    accumulate,
    box_gap,
    fields_of,
    larger,
    literal,
    load_block,
    load_splat,
    splat,
)

# By which share a sum of up to eight powers may be wrong, and more.
_ROUNDING = 1e-14
# A corner is far if it is this many times as far away as the box, as distances are accumulated.
_FAR = 64.0


class _Comparison:
    """Emits the comparison of two points, from eight boxes.

    A corner of a box decides. If it is far away, rounding of its distances hides what decides for
    nearer points of the box. Then v must be nearer to it by more than they can be wrong.

    Attributes
    ----------
    x, v : list of vectors
        The coordinates of the two points, each in all lanes.
    low, high : list of vectors
        The bounds of the boxes.
    far : vector
        From which distance to x on a corner is far.
    """

    def __init__(
        self, builder: Any, points: tuple[list[Any], list[Any]], bounds: list[Any], gaps: Any
    ) -> None:
        self.builder = builder
        self.x, self.v = points
        self.low, self.high = bounds[::2], bounds[1::2]
        self.far = builder.fmul(ir.Constant(V64, [_FAR] * LANES), gaps)

    def _certain(self, to_x: Any) -> Any:
        """Emit how far a corner is from x, at least, whatever rounding hides of it."""
        less = self.builder.fmul(ir.Constant(V64, [1.0 - _ROUNDING] * LANES), to_x)
        is_far = self.builder.fcmp_ordered(">", to_x, self.far)
        return self.builder.select(is_far, less, to_x)

    def of_sums(self, kind: int, power: Any, slack: Any) -> Any:
        """Emit the comparison where coordinates are summed: one corner decides."""
        builder = self.builder
        to_x = to_v = None
        for x, v, low, high in zip(self.x, self.v, self.low, self.high, strict=True):
            beyond = builder.fcmp_ordered(">", v, x)  # then the lower bound prefers v the least
            corner = builder.select(beyond, low, high)
            to_x = accumulate(builder, to_x, builder.fsub(corner, x), kind, power)
            to_v = accumulate(builder, to_v, builder.fsub(corner, v), kind, power)
        certain = self._certain(to_x)
        before = builder.block
        has_slack = builder.fcmp_ordered(">", slack, ir.Constant(F64, 0.0))
        with builder.if_then(has_slack):
            farthest = None
            for x, low, high in zip(self.x, self.low, self.high, strict=True):
                far = larger(builder, builder.fsub(x, low), builder.fsub(high, x))
                farthest = accumulate(builder, farthest, far, kind, power)
            less = builder.fmul(splat(builder, slack), farthest)
            within = builder.block
        less_or_zero = builder.phi(V64)
        less_or_zero.add_incoming(ir.Constant(V64, [0.0] * LANES), before)
        less_or_zero.add_incoming(less, within)
        return builder.fcmp_ordered("<=", to_v, builder.fsub(certain, less_or_zero))

    def of_maxima(self, slack: Any) -> Any:
        """Emit the comparison where the largest difference counts.

        In each coordinate a point of a box must not be farther from v than it is from x: in this
        one, or in another one, in which it is at least as far from x as the box is. By how much it
        is farther grows away from v on both sides, so the bounds decide.
        """
        builder = self.builder
        shrink = splat(builder, builder.fsub(ir.Constant(F64, 1.0), slack))
        gaps = [
            box_gap(builder, *each)
            for each in zip(self.x, self.x, self.low, self.high, strict=True)
        ]
        all_are = ir.Constant(BITS, [1] * LANES)
        for t, (x, v, *bounds) in enumerate(zip(self.x, self.v, self.low, self.high, strict=True)):
            others = functools.reduce(
                functools.partial(larger, builder),
                gaps[:t] + gaps[t + 1 :],
                ir.Constant(V64, [0.0] * LANES),
            )
            for y in bounds:
                to_x = self._certain(larger(builder, others, self._difference(y, x)))
                nearer = builder.fcmp_ordered(
                    "<=", self._difference(y, v), builder.fmul(shrink, to_x)
                )
                all_are = builder.and_(all_are, nearer)
        return all_are

    def _difference(self, a: Any, b: Any) -> Any:
        difference = self.builder.fsub(a, b)
        return larger(self.builder, difference, self.builder.fneg(difference))


@intrinsic
def boxes_nearer_to(typing, boxes, base, query, i, slack, dims, kind):  # type: ignore[no-untyped-def]
    """Return the mask of boxes all points of which are at least as near to another point.

    Bits may be 0 where that is unsure.

    boxes, base : array and int
        The block begins at boxes[base].
    query : record
        box : (dims,) float64
            A point.
        coordinates : (m, dims) float64
            The other point is in row i.
        power : float64
    slack : float
        By which share of the distances they must be nearer to the other point, at least.
    """
    n_dims, n_kind = literal(dims), literal(kind)
    signature = types.int64(boxes, types.int64, query, types.int64, types.float64, dims, kind)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bounds = Elements(context, builder, signature.args[0], args[0])
        read = fields_of(context, builder, signature.args[2], args[2])
        point, others = read("box"), read("coordinates")
        row = builder.mul(args[3], constant(n_dims))
        points = (
            [load_splat(builder, point, t) for t in range(n_dims)],
            [load_splat(builder, others, builder.add(row, constant(t))) for t in range(n_dims)],
        )
        boxes = [
            load_block(builder, bounds, builder.add(args[1], constant(t * LANES)))
            for t in range(2 * n_dims)
        ]
        gaps = load_block(builder, read("gaps"), constant(0))
        comparison = _Comparison(builder, points, boxes, gaps)
        if n_kind == MAXIMUM:
            nearer = comparison.of_maxima(args[4])
        else:
            nearer = comparison.of_sums(n_kind, read("power"), args[4])
        return builder.zext(builder.bitcast(nearer, MASK), I64)

    return signature, emit
