"""How Numba compiles kernels: as always, but for the steps that no kernel of ours needs.

A fit of many points compiles some eighty functions, and a user waits for them once. Numba prepares
each for whatever Python may hold, asks anew what the sum of two whole numbers is whenever it meets
one, and lets LLVM optimise each function several times over and turn it into machine code, also
where nothing but another kernel will ever call it. Without all that it takes six tenths of the
time, and the code that comes out is as fast.

Much of what is used here is not public, so _compile.py loads this module only with versions of
Numba that it has been tested with.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba._dynfunc import make_function
from numba.core import compiler, compiler_machinery, types
from numba.core.codegen import JITCodeLibrary
from numba.core.typed_passes import NativeLowering
from numba.core.typing.context import Context
from numba.extending import models, register_model

# What these passes look for is not in kernels: with statements, closures, messages put together
# for errors, functions to be inlined, loops over tuples of several types, sums of whole arrays,
# loops for several threads.
_LEFT_OUT = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteDynamicRaises",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralUnroll",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "NoPythonSupportedFeatureValidation",
    "DumpParforDiagnostics",
}
# Branches that constants decide are found once, before anything else is known of a function.
_ONCE = {"DeadBranchPrune"}


class QuickCompiler(compiler.CompilerBase):
    """Numba's compiler without what kernels do not need."""

    def __init__(self, typing_context: Any, *args: Any) -> None:
        remembering = _remembering(typing_context)
        super().__init__(remembering, *args)
        self.state.targetctx = self.state.targetctx.subtarget(typing_context=remembering)

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        with _without_collecting_garbage():
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        """Return the steps from a function to machine code."""
        state = self.state
        is_part = state.flags.no_cpython_wrapper
        library = _PartLibrary if is_part else _KernelLibrary
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        usual = compiler.DefaultPassBuilder.define_nopython_pipeline(state)
        ours: Any = compiler_machinery.PassManager("isthmus")
        names = set()
        for each, description in usual.passes:
            name = each.__name__
            if name in _LEFT_OUT or (name in _ONCE and name in names):
                continue
            names.add(name)
            ours.add_pass(_LowerPart if is_part and each is NativeLowering else each, description)
        ours.finalize()
        return [ours]


@contextmanager
def _without_collecting_garbage() -> Iterator[None]:
    """Compile without the collector, which goes through all of Numba's types again and again."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class _RememberingFunction(types.Function):
    """The type of a function of Python or NumPy, with what it returned for which arguments."""

    def __init__(self, template: Any) -> None:
        super().__init__(template)
        self._answers: dict[Any, Any] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the signature of the function for arguments of some types."""
        question = tuple(args), tuple(kws.items())
        if question not in self._answers:
            self._answers[question] = super().get_call_type(context, args, kws)
        return self._answers[question]


register_model(_RememberingFunction)(models.OpaqueModel)


class _RememberingContext(Context):
    """Numba's knowledge of types, shared, in which functions remember their signatures."""

    def resolve_value_type(self, val: Any) -> Any:
        """Return the type of a global value."""
        return _with_memory(super().resolve_value_type(val))

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a function, or of its type, for arguments of some types."""
        known = None if isinstance(func, types.Type) else self._lookup_global(func)
        return super().resolve_function_type(_with_memory(known or func), args, kws)


@functools.cache
def _remembering(context: Any) -> Any:
    """Return a context of the same contents that remembers."""
    remembering = object.__new__(_RememberingContext)
    remembering.__dict__ = context.__dict__
    return remembering


def _with_memory(kind: Any) -> Any:
    """Return the type of a function of Python or NumPy as one that remembers; others as they are.

    Functions to which Numba has added something since have other templates, and so another memory.
    """
    return _function_of(kind.templates) if type(kind) is types.Function else kind


@functools.cache
def _function_of(templates: Any) -> Any:
    return _RememberingFunction(templates)


class _Library(JITCodeLibrary):
    """The code of a function, not optimised before it is linked with what it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class _PartLibrary(_Library):
    """The code of a function that only kernels call: for them to take over, and no more."""

    def _optimize_final_module(self) -> None:
        """Leave that to the kernels."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


@compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    """From a function that only kernels call to its code, without an address to call it at.

    Nor has it an environment, where Numba would keep objects of Python: there are none in kernels.
    """

    _name = "isthmus_lower_part"

    def run_pass(self, state: Any) -> bool:
        """Lower the function, and tell Numba how it is called from others."""
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        about, library = lowered.fndesc, state.library
        # What stands for the function has no code of its own.
        name = about.qualname.rsplit(".", maxsplit=1)[-1]
        module = about.lookup_module()
        standing_for = make_function(module, name, "", 0, lowered.env, (library,))
        state.targetctx.insert_user_function(standing_for, about, [library])
        state.reload_init.extend(library._reload_init)
        state["cr"] = lowered._replace(cfunc=standing_for)
        return True


class _KernelLibrary(_Library):
    """The code of a kernel: optimised once, together with all of its parts."""

    def _optimize_final_module(self) -> None:
        manager, builder = self._codegen._module_pass_manager()
        manager.run(self._final_module, builder)
