"""Kernels are compiled in fewer steps than Numba's own; nobody else's functions are."""

import gc
import operator
import sys

import numpy as np
import pytest
from numba.core import types
from numba.core.registry import cpu_target

import numba
from isthmus._numba.kernel import _VERSIONS_OF_QUICK_PIPELINE, Kernel

POWER = 2


def raised(x):
    return x**POWER


def sum_of_powers(numbers, weights, out):
    """Sums, items of arrays, branches that constants decide, a part that is called twice."""
    total = 0.0
    for i in range(numbers.shape[0]):
        if POWER > 1:
            total += weights[i, 0] * raised_part(numbers[i])
        else:
            total += "unreachable"
        out[i] = raised_part(i) + (1 if total > 2 else 0)
    return total


raised_part = Kernel(raised, from_python=False)


def fresh():
    """Return a kernel that has not been compiled yet."""
    return Kernel(sum_of_powers, from_python=True)


def check(kernel):
    numbers, weights, out = np.arange(5.0), np.arange(10.0).reshape(5, 2), np.zeros(5, dtype=int)
    assert kernel(numbers, weights, out) == np.sum(weights[:, 0] * numbers**2)
    assert out.tolist() == [0, 1, 5, 10, 17]


@pytest.fixture(autouse=True)
def nothing_is_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


def hits(kernel):
    """Return how often a kernel was loaded from the cache on disk."""
    return sum(kernel.dispatcher().stats.cache_hits.values())


def test_kernels_compile_and_load():
    first, second = fresh(), fresh()
    usual = numba.core.compiler.Compiler
    is_known = numba.__version__.startswith(_VERSIONS_OF_QUICK_PIPELINE)
    for kernel in (first, second):
        check(kernel)
        assert (kernel.dispatcher()._compiler.pipeline_class is not usual) == is_known
    assert (hits(first), hits(second)) == (0, 1)


def test_other_versions_compile_as_numba_does(monkeypatch):
    monkeypatch.setattr(numba, "__version__", "0.99.0")
    monkeypatch.setitem(sys.modules, "isthmus._numba.pipeline", None)  # cannot be imported
    monkeypatch.setattr(raised_part, "_dispatcher", None)
    kernel = fresh()
    check(kernel)
    assert kernel.dispatcher()._compiler.pipeline_class is numba.core.compiler.Compiler


def test_functions_of_others_are_compiled_as_ever():
    check(fresh())

    @numba.njit
    def closures_and_messages(x):
        def twice(y):
            return 2 * y

        if x < 0:
            raise ValueError("negative: " + str(x))
        return twice(np.arange(x) + 1).sum()

    assert closures_and_messages(3) == 12
    with pytest.raises(ValueError, match="negative: -1"):
        closures_and_messages(-1)
    addition = cpu_target.typing_context.resolve_value_type(operator.add)
    assert type(addition) is types.Function


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_afterwards_as_before(enabled):
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        check(fresh())
        assert gc.isenabled() == enabled
        with pytest.raises(numba.TypingError):
            fresh()("text", "text", "text")
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
