"""Instructions that Numba lacks, and some of Python's functions in forms that compile quickly."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from isthmus._numba.arrays import Elements


def _extreme(comparison: str) -> Any:
    """Return max, for ">", or min, for "<": of two equal numbers, the first, as in Python."""

    @intrinsic
    def extreme(typing, a, b):  # type: ignore[no-untyped-def]
        number = typing.unify_types(types.unliteral(a), types.unliteral(b))
        signature = number(number, number)

        def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
            compare = builder.icmp_unsigned
            if isinstance(number, types.Float):
                compare = builder.fcmp_ordered
            elif number.signed:
                compare = builder.icmp_signed
            return builder.select(compare(comparison, args[1], args[0]), args[1], args[0])

        return signature, emit

    return extreme


@intrinsic
def _integer(typing, number):  # type: ignore[no-untyped-def]
    signature = types.int64(types.unliteral(number))

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return context.cast(builder, args[0], signature.args[0], types.int64)

    return signature, emit


# Numba's own are as fast once they run, but for each pair of types they become a function that
# takes as long to compile as a small kernel.
BUILTINS = {"max": _extreme(">"), "min": _extreme("<"), "int": _integer}


@intrinsic
def prefetch(typing, array, index):  # type: ignore[no-untyped-def]
    """Begin to load an element of an array, counted over all rows; harmless outside it.

    Loops over the edges of a tree jump about in memory, but where they will jump to is known some
    steps ahead.
    """
    signature = types.void(array, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        elements = Elements(context, builder, signature.args[0], args[0])
        address = builder.bitcast(elements.address(args[1]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], function_type)
        # to be read, often, from the data cache
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return signature, emit
