"""What the other files are made of: parts of instructions, emitted through llvmlite.

Names in capitals are LLVM types: whole numbers and floats, eight floats, a mask of eight bits.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import RequireLiteralValue
from numba.extending import intrinsic as numba_intrinsic

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, SQUARES

LANES = 8

intrinsic: Any = numba_intrinsic

I32, I64, F64 = ir.IntType(32), ir.IntType(64), ir.DoubleType()
MASK = ir.IntType(LANES)
BITS = ir.VectorType(ir.IntType(1), LANES)
V64 = ir.VectorType(F64, LANES)
WHOLE = ir.VectorType(I64, LANES)


def literal(value: Any) -> int:
    """Return a number that is known at compilation."""
    if not isinstance(value, types.IntegerLiteral):
        raise RequireLiteralValue("needs a constant")
    return int(value.literal_value)


def address_of(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Return the address of an element of a contiguous array."""
    data = context.make_array(array_type)(context, builder, value=array).data
    return builder.gep(data, [index])


def load_block(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Load eight neighbouring numbers, widened to float64."""
    address = address_of(context, builder, array_type, array, index)
    element = address.type.pointee
    vector = ir.VectorType(element, LANES)
    loaded = builder.load(builder.bitcast(address, vector.as_pointer()), align=4)
    if element == F64:
        loaded.align = 8
        return loaded
    return builder.fpext(loaded, V64)


def vector_at(context: Any, builder: Any, array_type: Any, array: Any, row: Any) -> Any:
    """Return the address of eight neighbouring elements, those of a row, as a vector."""
    if isinstance(row, int):
        row = ir.Constant(I64, row)
    index = builder.mul(row, ir.Constant(I64, LANES))
    address = address_of(context, builder, array_type, array, index)
    return builder.bitcast(address, ir.VectorType(address.type.pointee, LANES).as_pointer())


def load_number(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Load one number, widened to float64."""
    loaded = builder.load(address_of(context, builder, array_type, array, index))
    return loaded if loaded.type == F64 else builder.fpext(loaded, F64)


def splat(builder: Any, scalar: Any) -> Any:
    """Return a vector of eight times the same number."""
    vector = ir.Constant(ir.VectorType(scalar.type, LANES), ir.Undefined)
    vector = builder.insert_element(vector, scalar, ir.Constant(I32, 0))
    zeros = ir.Constant(ir.VectorType(I32, LANES), [0] * LANES)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), zeros)


def load_splat(context: Any, builder: Any, array_type: Any, array: Any, index: int) -> Any:
    """Load one number into all eight lanes."""
    number = load_number(context, builder, array_type, array, ir.Constant(I64, index))
    return splat(builder, number)


def larger(builder: Any, a: Any, b: Any) -> Any:
    """Return the larger of two numbers, or of each of eight pairs."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


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
        place = ir.Constant(I32, lane)
        raised = builder.call(function, [builder.extract_element(base, place), power])
        base = builder.insert_element(base, raised, place)
    return base
