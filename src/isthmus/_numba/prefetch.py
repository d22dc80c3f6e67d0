"""An instruction that Numba lacks: bring memory near before it is read.

Loops over the edges of a tree jump about in memory, but where they will jump to is known some
steps ahead.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic as numba_intrinsic

intrinsic: Any = numba_intrinsic


@intrinsic
def prefetch(typing, array, index):  # type: ignore[no-untyped-def]
    """Begin to load what stands at an index of a contiguous array's memory; harmless outside it."""
    signature = types.void(array, types.int64)

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        data = context.make_array(signature.args[0])(context, builder, value=args[0]).data
        address = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], function_type)
        # to be read, often, from the data cache
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return signature, emit
