"""Compiled kernels: Numba, loaded and run only when a kernel is first called.

Importing Numba costs more than importing the rest of the package, so the decorator below keeps
it out of ``import isthmus``. Compiled code is kept on disk; where no cache location can be
written, it is compiled anew in each process instead of failing.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import logging
import secrets
import sys
import threading
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

R = TypeVar("R")

# Those of Numba that _pipeline.py, which uses what is not public, has been tested with.
_VERSIONS_OF_QUICK_PIPELINE = ("0.63", "0.64", "0.65", "0.66", "0.67", "0.68")

# Re-entrant: resolving a kernel resolves the kernels it calls.
_RESOLVING = threading.RLock()


class Hint:
    """An intrinsic that changes no result, in a module that imports Numba and so is loaded late.

    Where kernels run as plain Python it does nothing.
    """

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __call__(self, *_: Any) -> None:
        """Do nothing."""

    def load(self) -> Any:
        """Return the intrinsic, for compiled code."""
        from numba.core import config

        if config.DISABLE_JIT:  # type: ignore[attr-defined]
            return self
        return getattr(importlib.import_module(self.module), self.name)


class Kernel(Generic[R]):
    """A function that Numba compiles on its first call.

    Parameters
    ----------
    function : callable
    from_python : bool
        Whether Python calls it, and not only other kernels.
    constants : mapping, optional
        Values for global names of the function and of the kernels it calls, fixed at compilation.
    """

    def __init__(
        self,
        function: Callable[..., R],
        *,
        from_python: bool,
        constants: Mapping[str, int] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.from_python = from_python
        self.constants = dict(constants or {})
        self._dispatcher: Callable[..., R] | None = None
        self._specialised: dict[tuple[tuple[str, int], ...], Kernel[R]] = {}

    def __call__(self, *args: Any) -> R:
        if not self.from_python:  # the compiled code has no entry from Python
            return self.function(*args)
        dispatcher = self._dispatcher or self.dispatcher()
        try:
            return dispatcher(*args)
        except OSError:  # kernels open no files: the cache on disk failed, before any work
            self._dispatcher = self._compiler(cache=False)
            return self._dispatcher(*args)

    def is_compiled(self) -> bool:
        """Whether there is compiled code for it, here or in the cache on disk.

        For other types of arguments it may still have to be compiled.
        """
        dispatcher: Any = self.dispatcher()
        if getattr(dispatcher, "overloads", True):  # a plain function where Numba is switched off
            return True
        cache = getattr(dispatcher, "_cache", None)  # where Numba keeps its index is not public
        index = getattr(getattr(cache, "_cache_file", None), "_index_path", None)
        return index is not None and Path(index).exists()

    def specialised(self, constants: Mapping[str, int]) -> Kernel[R]:
        """Return the kernel with some global names bound to constants, one for each set of them."""
        key = tuple(sorted(constants.items()))
        with _RESOLVING:
            if key not in self._specialised:
                self._specialised[key] = Kernel(
                    self.function, from_python=self.from_python, constants=constants
                )
            return self._specialised[key]

    def dispatcher(self) -> Callable[..., R]:
        """Return Numba's dispatcher, creating it and those of the kernels called from here."""
        with _RESOLVING:
            if self._dispatcher is None:
                try:
                    self._dispatcher = self._compiler(cache=self.from_python)
                except RuntimeError:  # Numba knows of no place for a cache
                    self._dispatcher = self._compiler(cache=False)
            return self._dispatcher

    def _compiler(self, *, cache: bool) -> Callable[..., R]:
        import numba

        # error_model="numpy": division by zero gives inf or nan, as in NumPy, and loops vectorise.
        compiler: Callable[..., Any] = numba.njit(  # type: ignore[call-overload]
            nogil=True,
            cache=cache,
            error_model="numpy",
            no_cfunc_wrapper=True,
            _nrt=False,  # kernels allocate nothing, so nothing needs to be counted
            no_cpython_wrapper=not self.from_python,
            **_quick_pipeline(),
        )
        dispatcher: Callable[..., R] = compiler(self._resolved())
        _keep_files_apart(dispatcher)
        return dispatcher

    def _resolved(self) -> Callable[..., R]:
        """Return a copy of the function whose globals hold dispatchers and constants."""
        function = self.function
        scope = self._scope()
        for name in function.__code__.co_names:
            value = scope.get(name)
            if isinstance(value, Kernel):
                part = value.specialised(self.constants) if self.constants else value
                scope[name] = part.dispatcher()
            elif isinstance(value, Hint):
                scope[name] = value.load()
        # Numba's cache knows a function by its file, its name and what it closes over, but not by
        # the constants and the kernels in other files that it uses: so it closes over a
        # fingerprint of them.
        # Symbols in compiled code are made of names and argument types alone, and the first of a
        # name that is loaded stands for all: so the fingerprint becomes part of the name, too.
        fingerprint = self.fingerprint()
        code = function.__code__.replace(co_freevars=("fingerprint",))
        cell = types.CellType(fingerprint)
        resolved = types.FunctionType(
            code, scope, function.__name__, function.__defaults__, (cell,)
        )
        functools.update_wrapper(resolved, function)
        resolved.__name__ = f"{function.__name__}_{fingerprint[:16]}"
        resolved.__qualname__ = f"{function.__qualname__}_{fingerprint[:16]}"
        return resolved

    def _scope(self) -> dict[str, Any]:
        """Return what the names in the function stand for when it is compiled."""
        return {**_quick_builtins(), **self.function.__globals__, **self.constants}

    def fingerprint(self) -> str:
        """Return a digest of the code, the constants and all kernels that are called from here."""
        code = self.function.__code__
        scope = self._scope()
        parts = [code.co_code.hex(), repr(code.co_consts), repr(code.co_names)]
        for name in code.co_names:
            value = scope.get(name)
            if isinstance(value, Hint):
                value = value.load()
            if isinstance(value, Kernel):
                part = value.specialised(self.constants) if self.constants else value
                parts.append(part.fingerprint())
            elif isinstance(value, int | float | str):
                parts.append(f"{name}={value!r}")
            elif (definition := getattr(value, "_defn", None)) is not None:
                # an intrinsic: whatever its module says
                parts.append(_source_of_module(definition.__module__))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _quick_pipeline() -> dict[str, Any]:
    """Return what tells numba.njit to compile in fewer steps, if its version is known to suit."""
    import numba

    version = numba.__version__.rsplit(".", maxsplit=1)[0]
    if version not in _VERSIONS_OF_QUICK_PIPELINE:
        return {}
    from isthmus._numba.pipeline import QuickCompiler

    return {"pipeline_class": QuickCompiler}


def _quick_builtins() -> dict[str, Any]:
    """Return functions that stand for Python's where kernels are compiled."""
    from numba.core import config

    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return {}
    from isthmus._numba.builtins import BUILTINS

    return BUILTINS


def _keep_files_apart(dispatcher: Any) -> None:
    """Let no other process write to the files that a dispatcher's compiled code is kept in.

    Numba numbers the files of one kernel by what its index holds. Two processes that compile for
    different types at the same time would take the same number, and the index of one would then
    lead to the code of the other. With a name of its own, each can at worst forget the other's.
    """
    files: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    pattern = getattr(files, "_data_name_pattern", None)  # not public, like the index above
    if pattern is not None:
        files._data_name_pattern = pattern.replace(".{number", f".{secrets.token_hex(4)}.{{number")


@functools.cache
def _source_of_module(name: str) -> str:
    """Return the source of a module and of those in this package that its functions come from.

    However the package is installed; empty where there is no source.
    """
    module: Any = sys.modules[name]
    loader = module.__loader__
    source = loader.get_source(name) or "" if hasattr(loader, "get_source") else ""
    used = {getattr(value, "__module__", None) or "" for value in vars(module).values()}
    inside = sorted(each for each in used - {name} if each.startswith("isthmus."))
    return "\n".join([source, *map(_source_of_module, inside)])


def announce_compilation(what: str, needed: Kernel[Any]) -> None:
    """Say, through the logger "isthmus", that a user must wait for a kernel to be compiled."""
    if not needed.is_compiled():
        logging.getLogger("isthmus").warning(
            "isthmus is compiling %s: some seconds, once on this machine.", what
        )


def kernel(function: Callable[..., R]) -> Kernel[R]:
    """Mark a compiled function that Python calls: without the GIL, cached on disk."""
    return Kernel(function, from_python=True)


def kernel_part(function: Callable[..., R]) -> Kernel[R]:
    """Mark a compiled function that only kernels call.

    It goes into its callers' compiled code, and so needs no cache and no Python entry of its own,
    which take longer to compile than most such functions.
    """
    return Kernel(function, from_python=False)


# Memory is asked for so many steps before it is read.
AHEAD = 16

prefetch = Hint("isthmus._numba.prefetch", "prefetch")
