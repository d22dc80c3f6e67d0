"""Kernels with constants: each is compiled under a name of its own."""

import itertools
import logging

import numpy as np
import pytest

import numba
from isthmus._numba.kernel import Kernel, announce_compilation, kernel, kernel_part, prefetch

SIZE = 0


@kernel_part
def add_size(x):
    return x + SIZE


@kernel
def add_size_twice(x):
    return add_size(add_size(x))


def test_constants_reach_the_parts_of_a_kernel():
    results = [add_size_twice.specialised({"SIZE": size})(1) for size in (0, 2, 5)]
    assert results == [1, 5, 11]


def test_compiled_names_differ():
    # equal symbols of different code would stand for one another once both are loaded
    names = {
        part.specialised({"SIZE": size}).dispatcher().__qualname__
        for part in (add_size, add_size_twice)
        for size in (0, 2, 5)
    }
    assert len(names) == 6


def test_a_word_before_compiling(caplog, tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    fresh = add_size_twice.specialised({"SIZE": 77})
    with caplog.at_level(logging.WARNING, logger="isthmus"):
        announce_compilation("additions", fresh)
        assert "compiling additions" in caplog.text
        fresh(1)
        caplog.clear()
        announce_compilation("additions", fresh)
        assert caplog.text == ""


@kernel
def extremes(a, b):
    return max(a, b), min(a, b)


@kernel
def without_fraction(x):
    return int(x)


def test_max_and_min_are_those_of_python():
    numbers = [np.int32(-3), np.int64(2), np.int64(5), 2.0, -0.0, 0.0, 7.5, np.inf, np.float32(0.1)]
    for a, b in itertools.product(numbers, numbers):
        larger, smaller = extremes(a, b)
        assert (larger, smaller) == (max(a, b), min(a, b))
        assert np.signbit(larger) == np.signbit(max(a, b))
        assert np.signbit(smaller) == np.signbit(min(a, b))
    assert extremes(np.uint64(2**63), np.uint64(1)) == (2**63, 1)


@pytest.mark.parametrize("x", [np.int8(-3), np.int64(2**60), -2.75, 2.75, True, np.float32(1e6)])
def test_int_is_that_of_python(x):
    assert without_fraction(x) == int(x)


def test_parts_are_plain_functions_for_python():
    assert add_size(3) == 3


def test_hints_do_nothing_in_plain_python():
    assert prefetch(np.zeros(3), 0) is None


def compiled_in_a_process_of_its_own(constants):
    """Return a kernel that knows nothing of what others in this process have compiled."""
    return Kernel(add_size_twice.function, from_python=True, constants=constants)


def test_processes_that_compile_at_once_do_not_mix_up_their_code(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    whole, real = (compiled_in_a_process_of_its_own({"SIZE": 3}) for _ in range(2))
    files = real.dispatcher()._cache._cache_file
    # The second process has read the index before the first one wrote to it …
    monkeypatch.setattr(files, "_load_index", dict)
    assert whole(1) == 7
    assert real(0.5) == 6.5
    # … so the index now holds nothing of the first; but what it does hold is true.
    monkeypatch.undo()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert len(list(tmp_path.rglob("*.nbc"))) == 2  # neither has overwritten the other
    later = compiled_in_a_process_of_its_own({"SIZE": 3})
    assert [later(1), later(0.5)] == [7, 6.5]
