"""Kernels with constants: each is compiled under a name of its own."""

import logging

import numba
import numpy as np

from isthmus._compile import announce_compilation, kernel, kernel_part, prefetch

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


def test_parts_are_plain_functions_for_python():
    assert add_size(3) == 3


def test_hints_do_nothing_in_plain_python():
    assert prefetch(np.zeros(3), 0) is None
