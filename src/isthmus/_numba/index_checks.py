"""Wrong indices as exceptions: with NUMBA_BOUNDSCHECK=1 kernels are compiled with checks.

A kernel that is about to leave an array reports that to Python, uses a little memory of its own
instead, and goes on. When it returns, IndexError is raised. Such code is slow, and kept apart in
the cache on disk.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from llvmlite import binding, ir
from numba.core import config

_NAME, _CHECKER = "isthmus_out_of_bounds", "isthmus_is_within_bounds"
_INTEGER = ir.IntType(64)
# What kernels have reported: the index, how many elements from there on, and how many there are.
_reported: list[tuple[int, int, int]] = []


def are_checked() -> bool:
    """Whether Numba was told, by NUMBA_BOUNDSCHECK, to check indices."""
    return bool(config.BOUNDSCHECK)


@functools.cache
def listen() -> Any:
    """Let compiled code report to Python; must come before such code is loaded."""
    kind = ctypes.CFUNCTYPE(None, *3 * [ctypes.c_int64])
    report = kind(lambda index, count, length: _reported.append((index, count, length)))
    binding.add_symbol(_NAME, ctypes.cast(report, ctypes.c_void_p).value)
    return report  # it must live on


def raise_reported() -> None:
    """Raise IndexError where a kernel, in whatever thread, has reported something."""
    if _reported:
        index, count, length = _reported[0]
        n_reports = len(_reported)
        _reported.clear()
        raise IndexError(
            f"A kernel reached for {count} elements from index {index} on, of {length} "
            f"({n_reports} such attempts)."
        )


def check(builder: Any, index: Any, count: int, length: Any) -> Any:
    """Emit a check that elements index … index + count - 1 are among length; return the answer."""
    return builder.call(_checker(builder.module), [index, _INTEGER(count), length])


def _checker(module: Any) -> Any:
    """Return the function that checks: one for a module, so that callers need no branches."""
    checker = module.globals.get(_CHECKER)
    if checker is not None:
        return checker
    arguments = 3 * [_INTEGER]
    checker = ir.Function(module, ir.FunctionType(ir.IntType(1), arguments), _CHECKER)
    checker.linkage = "internal"
    report = ir.Function(module, ir.FunctionType(ir.VoidType(), arguments), _NAME)
    builder = ir.IRBuilder(checker.append_basic_block())
    index, count, length = checker.args
    least = builder.icmp_signed(">=", index, _INTEGER(0))
    most = builder.icmp_signed("<=", builder.add(index, count), length)
    fits = builder.and_(least, most)
    with builder.if_then(builder.not_(fits), likely=False):
        builder.call(report, checker.args)
    builder.ret(fits)
    return checker
