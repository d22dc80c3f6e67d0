"""What the other files are made of: parts of instructions, emitted through llvmlite.

Names in capitals are LLVM types: integers and floats, eight of them, a mask of eight bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import RequireLiteralValue

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, SQUARES
from isthmus._numba.addresses import ArrayType, constant, field
from isthmus._numba.arrays import Elements

LANES = 8

I32, I64, F64 = ir.IntType(32), ir.IntType(64), ir.DoubleType()
MASK = ir.IntType(LANES)
BITS = ir.VectorType(ir.IntType(1), LANES)
V64 = ir.VectorType(F64, LANES)
INTEGERS = ir.VectorType(I64, LANES)


def literal(value: Any) -> int:
    """Return a number that is known at compilation."""
    if not isinstance(value, types.IntegerLiteral):
        raise RequireLiteralValue("needs a constant")
    return int(value.literal_value)


def fields_of(context: Any, builder: Any, record_type: Any, record: Any) -> Callable[[str], Any]:
    """Return what emits reading a record's field: Elements of an array, or a number."""

    def read(name: str) -> Any:
        kind, value = record_type.fields[name], field(context, builder, record_type, record, name)
        if isinstance(kind, ArrayType):
            return Elements(context, builder, kind, value)
        return value

    return read


def load_block(builder: Any, elements: Elements, index: Any) -> Any:
    """Load eight neighbouring numbers, widened to float64."""
    eight = elements.load_vector(index, LANES)
    return eight if elements.kind == F64 else builder.fpext(eight, V64)


def load_number(builder: Any, elements: Elements, index: Any) -> Any:
    """Load one number, widened to float64."""
    number = elements.load(index)
    return number if elements.kind == F64 else builder.fpext(number, F64)


def begin_of_point(builder: Any, point: Any, dims: int) -> Any:
    """Return where the first coordinate of a point stands, counted over all blocks."""
    block = builder.lshr(point, constant(3))
    lane = builder.and_(point, constant(LANES - 1))
    return builder.add(builder.mul(block, constant(dims * LANES)), lane)


def splat(builder: Any, scalar: Any) -> Any:
    """Return a vector of eight times the same number."""
    vector = ir.Constant(ir.VectorType(scalar.type, LANES), ir.Undefined)
    vector = builder.insert_element(vector, scalar, ir.Constant(I32, 0))
    zeros = ir.Constant(ir.VectorType(I32, LANES), [0] * LANES)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), zeros)


def load_splat(builder: Any, elements: Elements, index: Any) -> Any:
    """Load one number into all eight lanes."""
    return splat(builder, load_number(builder, elements, index))


def larger(builder: Any, a: Any, b: Any) -> Any:
    """Return the larger of two numbers, or of each of eight pairs."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def box_gap(builder: Any, low: Any, high: Any, their_low: Any, their_high: Any) -> Any:
    """Emit how far intervals are apart; 0 where they meet."""
    apart = larger(builder, builder.fsub(their_low, high), builder.fsub(low, their_high))
    return larger(builder, apart, ir.Constant(V64, [0.0] * LANES))


def largest_lane(builder: Any, eight: Any) -> Any:
    """Return the largest of eight numbers."""
    for step in (4, 2, 1):
        lanes = [(i + step) % LANES for i in range(LANES)]
        other = builder.shuffle_vector(
            eight,
            ir.Constant(V64, ir.Undefined),
            ir.Constant(ir.VectorType(I32, LANES), lanes),
        )
        eight = larger(builder, eight, other)
    return builder.extract_element(eight, ir.Constant(I32, 0))


def accumulate(builder: Any, total: Any, difference: Any, kind: int, power: Any) -> Any:
    """Add one coordinate's difference to the accumulated distance; total is None at first."""
    if kind == SQUARES:
        term = builder.fmul(difference, difference)
    else:
        term = larger(builder, difference, builder.fneg(difference))
        if kind not in (ABSOLUTES, MAXIMUM):
            term = _raise(builder, term, power)
    if total is None:
        return term
    if kind == MAXIMUM:
        return larger(builder, total, term)
    return builder.fadd(total, term)


def _raise(builder: Any, base: Any, power: Any) -> Any:
    """Raise a number, or each of eight, to a power."""
    function = builder.module.declare_intrinsic("llvm.pow", [F64])
    if base.type == F64:
        return builder.call(function, [base, power])
    for lane in range(LANES):
        at = ir.Constant(I32, lane)
        raised = builder.call(function, [builder.extract_element(base, at), power])
        base = builder.insert_element(base, raised, at)
    return base
