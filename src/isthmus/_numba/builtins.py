"""max and min of two numbers, and int, for kernels: an instruction or two, and quick to compile.

Numba's own are as fast once they run, but for each pair of types they become a function that takes
as long to compile as a small kernel.
"""

from __future__ import annotations

from typing import Any

from numba.core import types as numba_types
from numba.extending import intrinsic as numba_intrinsic

intrinsic: Any = numba_intrinsic
types: Any = numba_types


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
def _whole(typing, number):  # type: ignore[no-untyped-def]
    signature = types.int64(types.unliteral(number))

    def emit(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return context.cast(builder, args[0], signature.args[0], types.int64)

    return signature, emit


BUILTINS = {"max": _extreme(">"), "min": _extreme("<"), "int": _whole}
