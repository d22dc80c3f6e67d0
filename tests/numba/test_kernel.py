"""Kernels: compiled for what they are called with, in the words of Python and NumPy."""

import itertools
import logging
import os
import signal
import sys
import time
from typing import NamedTuple

import numpy as np
import pytest

import numba
from isthmus._numba import compilation
from isthmus._numba.kernel import Kernel, announced_kernel, kernel, kernel_part, prefetch

SIZE = 0


@kernel_part
def add_size(x):
    return x + SIZE


@kernel
def add_size_twice(x) -> int:
    return add_size(add_size(x))


def test_constants_reach_the_parts_of_a_kernel():
    results = [add_size_twice.specialised({"SIZE": size})(1) for size in (0, 2, 5)]
    assert results == [1, 5, 11]


def test_parts_are_plain_functions_for_python():
    assert add_size(3) == 3


def test_hints_do_nothing_in_plain_python():
    assert prefetch(np.zeros(3), 0) is None


@kernel
def larger(a, b) -> float:
    return max(a, b)


@kernel
def smaller(a, b) -> float:
    return min(a, b)


@kernel
def larger_integer(a, b) -> int:
    return max(a, b)


@kernel
def without_fraction(x) -> int:
    return int(x)


def test_max_and_min_are_those_of_python():
    numbers = [np.int32(-3), np.int64(2), 5, 2.0, -0.0, 0.0, 7.5, np.inf, np.float32(0.1)]
    for a, b in itertools.product(numbers, numbers):
        for compiled, plain in ((larger, max), (smaller, min)):
            found, expected = compiled(a, b), float(plain(a, b))
            assert (found, np.signbit(found)) == (expected, np.signbit(expected))
    assert larger_integer(2**60 + 1, 2**60) == 2**60 + 1


@pytest.mark.parametrize("x", [np.int32(-3), np.int64(2**60), -2.75, 2.75, True, np.float32(1e6)])
def test_int_is_that_of_python(x):
    assert without_fraction(x) == int(x)


class Inner(NamedTuple):
    scale: float
    values: np.ndarray
    is_on: bool


class Outer(NamedTuple):
    count: int
    matrix: np.ndarray
    inner: Inner
    ratio: np.float32


@kernel
def read_all(record: Outer, factor: int) -> float:
    total = 0.0
    for i in range(record.matrix.shape[0]):
        for j in range(record.matrix.shape[1]):
            total += record.matrix[i, j] * record.inner.values[j]
    if record.inner.is_on:
        total += record.count + record.inner.scale + record.ratio
    return total * factor


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("is_on", [True, False])
def test_records_are_read_field_by_field(dtype, is_on):
    record = Outer(
        5, np.arange(6, dtype=dtype).reshape(2, 3), Inner(0.5, np.arange(3.0), is_on), np.float32(2)
    )
    expected = float((record.matrix * record.inner.values).sum()) + (7.5 if is_on else 0.0)
    assert read_all(record, 3) == 3 * expected
    assert [read_all.bound(record)(factor) for factor in (3, 4)] == [3 * expected, 4 * expected]
    assert read_all.function(record, 3) == 3 * expected


@kernel
def weighted(record, weights, factor) -> float:
    total = 0.0
    for j in range(weights.shape[0]):
        total += weights[j] * record.values[j]
    return total * factor


def test_arguments_that_are_not_bound_are_laid_out_at_each_call():
    bound = weighted.bound(Inner(0.5, np.array([1.0, 10.0, 100.0]), True))
    assert [bound(np.arange(n, n + 3.0), n) for n in (1, 2)] == [321.0, 864.0]
    with pytest.raises(TypeError, match="one form"):
        bound(np.arange(3), 1)


@kernel
def total_of(matrix) -> float:
    total = 0.0
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            total = 3.0 * total + matrix[i, j]
    return total


def test_arrays_of_every_layout_are_read():
    matrix = np.arange(60.0).reshape(6, 10)
    read_only = matrix.copy()
    read_only.flags.writeable = False
    layouts = [matrix, read_only, np.asfortranarray(matrix), matrix.T, matrix[::2, 1:-1:3]]
    layouts += [matrix[::-1, ::-1], matrix[:0], matrix[:, :0], matrix.astype(">f8").astype(float)]
    for layout in layouts:
        assert total_of(layout) == total_of.function(layout)


def test_arrays_that_no_kernel_can_read_are_refused():
    raw = np.zeros(81, dtype=np.uint8)
    with pytest.raises(TypeError, match="aligned"):
        total_of(raw[1:].view(np.float64).reshape(2, 5))
    pairs = np.zeros((2, 5), dtype=[("value", np.float64), ("flag", np.float32)])
    with pytest.raises(TypeError, match=r"whole elements|aligned"):
        total_of(pairs["value"])
    with pytest.raises(Exception, match="f8"):
        total_of(np.zeros((2, 5), dtype=">f8" if np.little_endian else "<f8"))


@kernel
def use_views(matrix, out) -> int:
    row, column, part = matrix[1], matrix[:, 2], matrix[2, 1:3]
    block, tail = matrix[1:, 1:3], matrix[2:]
    out[0], out[1], out[2] = row[3], column[2], part[1]
    out[3], out[4] = block[1, 1], tail[0, 3]
    out[5] = block[1][0]
    row[0] = -1.0
    column[0] = -2.0
    beyond = row[2:99]
    return row.shape[0] + 10 * column.shape[0] + 100 * part.shape[0] + 1000 * beyond.shape[0]


def test_views_are_those_of_numpy():
    matrix, out = np.arange(12.0).reshape(3, 4), np.zeros(6)
    expected, plain = matrix.copy(), out.copy()
    assert use_views(matrix, out) == use_views.function(expected, plain) == 2234
    np.testing.assert_array_equal(matrix, expected)
    np.testing.assert_array_equal(out, plain)


@kernel
def fill(values, value) -> None:
    for i in range(values.shape[0]):
        values[i] = value


def test_values_are_converted_to_the_type_of_the_array():
    for dtype in (np.int8, np.int32, np.float32, np.bool_):
        values = np.zeros(3, dtype=dtype)
        assert fill(values, True) is None
        assert fill(values[1:2], 0.0) is None
        np.testing.assert_array_equal(values, [1, 0, 1])


@kernel
def is_positive(x) -> bool:
    return x > 0


@kernel
def half(x) -> float:
    return x / 2


def test_results_are_those_of_the_annotation():
    assert is_positive(2.0) is True
    assert is_positive(-2) is False
    assert half(3) == 1.5
    assert type(add_size_twice(np.int64(3))) is int


def test_a_result_that_python_cannot_take_is_refused():
    @kernel
    def pair(x) -> "tuple[int, int]":
        return x, x

    with pytest.raises(TypeError, match=r"pair returns tuple\[int, int\]; Python takes None, int"):
        pair(1)


def test_errors_of_the_work_are_not_those_of_the_cache():
    @kernel
    def wrong(x) -> int:
        return x.no_such_field

    with pytest.raises(numba.TypingError, match="no_such_field"):
        wrong(np.zeros(3))


@announced_kernel("additions of {SIZE}")
def announced(x) -> int:
    return add_size(x)


def test_users_are_told_what_they_wait_for(caplog, tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    fresh = announced.specialised({"SIZE": 77})
    with caplog.at_level(logging.WARNING, logger="isthmus"):
        fresh(1)
        assert "isthmus is compiling additions of 77" in caplog.text
        caplog.clear()
        fresh(2)
        loaded = Kernel(
            announced.function, from_python=True, constants={"SIZE": 77}, announced_as="additions"
        )
        assert loaded(1) == 78
        assert caplog.text == ""


def test_kernels_run_as_plain_python_where_numba_is_switched_off(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    fresh = Kernel(add_size_twice.function, from_python=True, constants={"SIZE": 99})
    assert fresh("text" * 0 or 1) == 1  # constants are fixed by compilation alone
    assert fresh.is_compiled(1)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT within a process")
def test_ctrl_c_is_not_lost_while_a_kernel_is_compiled(monkeypatch):
    """LLVM calls Python back, and what is raised there would only be printed."""
    steps = []

    def compiles(*_, **__):
        steps.append("begun")
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        steps.append("done")

    monkeypatch.setattr(compilation, "_compiled", compiles)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            compilation.compile_anew(add_size_twice, None)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)
    assert steps == ["begun", "done"]
