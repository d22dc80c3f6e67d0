"""Compiled kernels: functions that Numba compiles when they are first called.

Importing Numba costs more than importing the rest of the package, so that the decorators below
keep it out of ``import isthmus``. A kernel is compiled for each form of arguments (arguments.py)
that it is called with, and the code kept on disk (compilation.py). It runs without the GIL.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

from isthmus._numba.arguments import Arguments, Form, arranged
from isthmus._utils.interrupts import interrupt_held_back
from isthmus._utils.progress import work_apart

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

# Re-entrant: a kernel is compiled together with those that it calls.
_COMPILING = threading.RLock()


class Code(Protocol[R_co]):
    """Compiled code for arguments of one form."""

    def __call__(self, arguments: Arguments) -> R_co:
        """Run it."""

    def bound(self, arguments: Arguments, others: Arguments) -> Callable[..., R_co]:
        """Return it with its first arguments fixed; the others have the same form in every call."""


class Kernel(Generic[R]):
    """A function that is compiled when it is first called.

    Parameters
    ----------
    function : callable
        Takes numbers, C-contiguous arrays, and records (NamedTuples) of these. If Python calls it,
        it returns an int, a float, a bool or None, and is annotated so.
    from_python : bool
        Whether Python calls it, and not only other kernels.
    constants : mapping, optional
        Values for global names of the function and of the kernels it calls, fixed at compilation.
    announced_as : str
        What to tell users that they must wait for; it may name constants, as in "{DIMS}".
    """

    def __init__(
        self,
        function: Callable[..., R],
        *,
        from_python: bool,
        constants: Mapping[str, int] | None = None,
        announced_as: str = "",
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.from_python = from_python
        self.constants = dict(constants or {})
        self.announced_as = announced_as
        self._compiled: dict[Form, Code[R]] = {}
        self._specialised: dict[tuple[tuple[str, int], ...], Kernel[R]] = {}

    def __call__(self, *args: Any) -> R:
        if not self.from_python:
            return self.function(*args)
        arguments = arranged(args)
        compiled = self._compiled.get(arguments.form)
        if compiled is None:
            compilation = _compilation()
            if compilation.is_switched_off():
                return self.function(*args)
            compiled = self._prepare(arguments)
        return compiled(arguments)

    def bound(self, *args: Any) -> Callable[..., R]:
        """Return the kernel with its first arguments fixed.

        The others must have the same form in every call; if all are numbers, Python's. To lay out
        a large record takes 50 µs, too long before each of a thousand short calls.
        """
        compilation = _compilation()
        if compilation.is_switched_off():
            return functools.partial(self.function, *args)
        code: list[Callable[..., R]] = []

        def call(*others: Any) -> R:
            if not code:
                arguments = arranged((*args, *others))
                code.append(self._prepare(arguments).bound(arguments, arranged(others)))
            return code[0](*others)

        functools.update_wrapper(call, self.function)
        call.arguments = args  # type: ignore[attr-defined]  # arrays live as long as it does
        return call

    def is_compiled(self, *args: Any) -> bool:
        """Whether there is compiled code for arguments like these, in use or in the cache on disk.

        What counts is their form: the types of numbers, dtypes and dimensions of arrays, records.
        """
        compilation = _compilation()
        return compilation.is_switched_off() or self._load(arranged(args)) is not None

    def specialised(self, constants: Mapping[str, int]) -> Kernel[R]:
        """Return the kernel with some global names bound to constants, one for each set of them."""
        key = tuple(sorted(constants.items()))
        with _COMPILING:
            if key not in self._specialised:
                self._specialised[key] = Kernel(
                    self.function,
                    from_python=self.from_python,
                    constants=constants,
                    announced_as=self.announced_as,
                )
            return self._specialised[key]

    def _load(self, arguments: Arguments) -> Code[R] | None:
        """Return compiled code that is in use or in the cache on disk."""
        compilation = _compilation()
        with _COMPILING:
            if arguments.form not in self._compiled:
                loaded = compilation.load(self, arguments)
                if loaded is None:
                    return None
                self._compiled[arguments.form] = loaded
            return self._compiled[arguments.form]

    def _prepare(self, arguments: Arguments) -> Code[R]:
        """Return compiled code, new if there is none."""
        compilation = _compilation()
        with _COMPILING:
            compiled = self._load(arguments)
            if compiled is None:
                with work_apart():
                    if self.announced_as:
                        logging.getLogger("isthmus").warning(
                            "isthmus is compiling %s: some seconds, once on this machine.",
                            self.announced_as.format(**self.constants),
                        )
                    compiled = compilation.compile_anew(self, arguments)
                self._compiled[arguments.form] = compiled
            return compiled


@functools.cache
def _compilation() -> ModuleType:
    """Return compilation.py, which imports Numba when it is first asked for."""
    with interrupt_held_back():
        from isthmus._numba import compilation
    return compilation


class Hint:
    """An intrinsic that changes no result, by its name in intrinsics.py, which imports Numba.

    Where kernels run as plain Python it does nothing.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *_: Any) -> None:
        """Do nothing."""


def kernel(function: Callable[..., R]) -> Kernel[R]:
    """Mark a compiled function that Python calls."""
    return Kernel(function, from_python=True)


def announced_kernel(what: str) -> Callable[[Callable[..., R]], Kernel[R]]:
    """Mark one that takes so long to compile that users are told what they wait for."""
    return lambda function: Kernel(function, from_python=True, announced_as=what)


def kernel_part(function: Callable[..., R]) -> Kernel[R]:
    """Mark a compiled function that only kernels call: it becomes part of their code."""
    return Kernel(function, from_python=False)


# Memory is asked for this many steps before it is read.
AHEAD = 16

prefetch = Hint("prefetch")
