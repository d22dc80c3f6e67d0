"""From a kernel and the form of its arguments to compiled code, new or from the cache on disk.

Each pair of them is compiled under a name of its own. So Numba keeps it in files of its own, and
processes that compile at the same time cannot mistake the code of one for that of another.

Only kernel.py imports this module, when a kernel is first called: it imports Numba.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import struct
import types
from collections.abc import Callable
from importlib import resources
from typing import Any

import llvmlite
from numba.core import config
from numba.core.compiler import CompilerBase

import numba
from isthmus._numba import index_checks, intrinsics
from isthmus._numba.addresses import types_of
from isthmus._numba.arguments import STEP, Arguments, arranged
from isthmus._numba.kernel import Hint, Kernel
from isthmus._utils.interrupts import interrupt_held_back

# error_model="numpy": division by zero gives inf or nan, as in NumPy, and loops vectorise.
_OPTIONS: dict[str, Any] = {"error_model": "numpy"}

# Code that cannot be loaded, since its file is damaged, is kept anew under the second name.
_NAMES = ("", "_again")

_IN_C = {
    numba.int32: ctypes.c_int32,
    numba.int64: ctypes.c_int64,
    numba.float32: ctypes.c_float,
    numba.float64: ctypes.c_double,
    numba.boolean: ctypes.c_bool,
}
# What a kernel returns, for Numba and for C, by its annotation.
_RESULTS = {
    "None": (numba.void, None),
    "int": (numba.int64, ctypes.c_int64),
    "float": (numba.float64, ctypes.c_double),
    "bool": (numba.uint8, ctypes.c_bool),
}


def is_switched_off() -> bool:
    """Whether Numba was told, by NUMBA_DISABLE_JIT, to compile nothing."""
    return bool(config.DISABLE_JIT)


class _Layout:
    """How memory is filled with arguments that are not numbers.

    contents : list
        What it holds in some call. In all others it holds floats and integers likewise.
    """

    def __init__(self, contents: list[Any]) -> None:
        steps = "".join("d" if isinstance(each, float) else "q" for each in contents)
        self._fill = struct.Struct("=" + steps).pack_into
        self._memory = ctypes.c_char * (STEP * len(steps))

    def filled(self, arguments: Arguments) -> tuple[Any, list[Any]]:
        """Return memory that is filled, and must live as long as the call, and what is passed."""
        memory = self._memory()
        self._fill(memory, 0, *arguments.contents)
        begin = ctypes.addressof(memory)
        values = list(arguments.values)
        for i in arguments.in_memory:
            values[i] += begin
        return memory, values


class Compiled:
    """Compiled code for arguments of one form.

    Parameters
    ----------
    code : numba's CFunc
    kinds, result : list and type
        What it takes and returns, in C.
    contents : list
        What the memory holds in some call.
    """

    def __init__(self, code: Any, kinds: list[Any], result: Any, contents: list[Any]) -> None:
        self._layout = _Layout(contents)
        run = ctypes.CFUNCTYPE(result, *kinds)(code.address)
        self._run = _raising(run) if index_checks.are_checked() else run
        self._code = code  # must live as long as its address is used

    def __call__(self, arguments: Arguments) -> Any:
        _memory, values = self._layout.filled(arguments)
        return self._run(*values)

    def bound(self, arguments: Arguments, others: Arguments) -> Callable[..., Any]:
        """Return the code with its first arguments fixed.

        others : Arguments
            The last of the arguments, of which every call has others of the same form. Where these
            are all numbers, they must be Python's.
        """
        memory, values = self._layout.filled(arguments)
        fixed = values[: len(values) - len(others.values)]

        def call(*numbers: Any, memory: Any = memory) -> Any:  # it must live on
            return self._run(*fixed, *numbers)

        if not others.in_memory:
            return call
        form, layout = others.form, _Layout(others.contents)

        def lay_out_and_call(*args: Any) -> Any:
            arguments = arranged(args)
            if arguments.form != form:
                raise TypeError("A bound kernel takes arguments of one form.")
            _memory, values = layout.filled(arguments)
            return call(*values)

        return lay_out_and_call


def _raising(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return compiled code that raises IndexError where it left an array."""

    def run_and_raise(*values: Any) -> Any:
        result = run(*values)
        index_checks.raise_reported()
        return result

    return run_and_raise


def load(kernel: Kernel[Any], arguments: Arguments) -> Compiled | None:
    """Return compiled code from the cache on disk, if there is."""
    with interrupt_held_back():
        for name in _NAMES:
            try:
                return _compiled(kernel, arguments, name, cache=True, pipeline_class=_OnlyLoading)
            except _NotInCacheError:
                break
            except Exception:
                continue
        return None


def compile_anew(kernel: Kernel[Any], arguments: Arguments) -> Compiled:
    """Compile, and keep the code in the cache on disk, if that is possible."""
    with interrupt_held_back():
        for name in _NAMES:
            try:
                return _compiled(kernel, arguments, name, cache=True)
            except Exception:
                continue
        return _compiled(kernel, arguments, cache=False)


class _NotInCacheError(Exception):
    """There is no code to be loaded."""


class _OnlyLoading(CompilerBase):
    """Takes the place of Numba's compiler, which Numba calls if the cache has nothing."""

    def define_pipelines(self) -> list[Any]:
        raise _NotInCacheError


def _compiled(
    kernel: Kernel[Any], arguments: Arguments, name: str = "", **options: Any
) -> Compiled:
    if index_checks.are_checked():
        index_checks.listen()
    kinds = types_of(arguments.form)
    result, result_in_c = _result_of(kernel)
    function = _resolved(kernel, _digest(str(kinds)) + name)
    code = numba.cfunc(result(*kinds), nopython=True, **_OPTIONS, **options)(function)
    in_c = [_IN_C.get(kind, ctypes.c_void_p) for kind in kinds]
    return Compiled(code, in_c, result_in_c, arguments.contents)


def _result_of(kernel: Kernel[Any]) -> tuple[Any, Any]:
    """Return the type of what a kernel returns, for Numba and for C."""
    annotation = kernel.function.__annotations__.get("return", "nothing that it is annotated with")
    name = getattr(annotation, "__name__", str(annotation))
    if name not in _RESULTS:
        message = f"{kernel.function.__name__} returns {name}; Python takes {', '.join(_RESULTS)}."
        raise TypeError(message)
    return _RESULTS[name]


@functools.cache
def _part(kernel: Kernel[Any]) -> Any:
    """Return what other kernels call: it goes into their code, and Python cannot call it."""
    compiler = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, nogil=True, **_OPTIONS)
    return compiler(_resolved(kernel, "part"))


def _resolved(kernel: Kernel[Any], name: str) -> Any:
    """Return a copy of a kernel's function whose globals are constants and compiled functions.

    Numba's cache, and symbols in compiled code, know it by its name: so that tells what it depends
    on.
    """
    function = kernel.function
    scope = {
        key: _part(value) if isinstance(value, Kernel) else value
        for key, value in _globals_of(kernel).items()
    }
    resolved = types.FunctionType(function.__code__, scope)
    functools.update_wrapper(resolved, function)
    resolved.__name__ = f"{function.__name__}_{fingerprint(kernel)}_{name}"
    resolved.__qualname__ = resolved.__name__
    return resolved


def _globals_of(kernel: Kernel[Any]) -> dict[str, Any]:
    """Return what the global names in a kernel's function stand for."""
    scope = {**intrinsics.BUILTINS, **kernel.function.__globals__, **kernel.constants}
    found = {}
    for name in kernel.function.__code__.co_names:
        if name not in scope:  # an attribute, or a builtin
            continue
        value = scope[name]
        if isinstance(value, Hint):
            value = getattr(intrinsics, value.name)
        elif isinstance(value, Kernel) and kernel.constants:
            value = value.specialised(kernel.constants)
        found[name] = value
    return found


@functools.cache
def fingerprint(kernel: Kernel[Any]) -> str:
    """Return a digest of a kernel's code and constants, and of all that is called from there."""
    code = kernel.function.__code__
    parts = [
        toolchain(),
        f"checked={index_checks.are_checked()}",
        code.co_code.hex(),
        repr(code.co_consts),
        repr(code.co_names),
    ]
    for name, value in _globals_of(kernel).items():
        if isinstance(value, Kernel):
            parts.append(fingerprint(value))
        elif isinstance(value, int | float | str | tuple):
            parts.append(f"{name}={value!r}")
        elif hasattr(value, "_fields"):  # a record that is made in compiled code
            parts.append(f"{name}={value._fields}")
    return _digest("\n".join(parts))


@functools.cache
def toolchain() -> str:
    """Return a digest of what compiles: Numba, LLVM, and this package, intrinsics and all."""
    sources = [f"{numba.__version__} {llvmlite.__version__}"]
    folders = [resources.files("isthmus._numba")]
    for folder in folders:
        for each in sorted(folder.iterdir(), key=lambda each: each.name):
            if each.name.endswith(".py"):
                sources.append(each.read_text(encoding="utf-8"))
            elif each.is_dir():
                folders.append(each)
    return _digest("\n".join(sources))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
