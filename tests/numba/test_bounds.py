"""NUMBA_BOUNDSCHECK=1: a kernel that leaves its arrays raises, and does no harm."""

import numpy as np
import pytest

import numba
from isthmus._numba import compilation
from isthmus._numba.kernel import Kernel, kernel_part
from isthmus._numba.simd import LANES, largest_of_eight


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def checked(monkeypatch):
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)


def fresh(function):
    return Kernel(function, from_python=True)


def read(values, i) -> float:
    return values[i]


def write(values, i) -> None:
    values[i] = 7.0


def read_row(matrix, i, j) -> float:
    row = matrix[i]
    return row[j]


def read_column(matrix, i, j) -> float:
    column = matrix[:, j]
    return column[i]


def read_part(matrix, i, j) -> float:
    return matrix[i, j]


def read_eight(values, i) -> float:
    return largest_of_eight(values, i)


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize("i", [-1, 5, 2**40, -(2**40)])
def test_reading_and_writing_outside(i):
    values = np.arange(5.0)
    with pytest.raises(IndexError, match=f"from index {i} on, of 5"):
        fresh(read)(values, i)
    with pytest.raises(IndexError, match="of 5"):
        fresh(write)(values, i)
    assert values.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    with pytest.raises(IndexError, match="of 0"):
        fresh(read)(np.empty(0), 0)


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize("function", [read_row, read_column, read_part])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_views_and_axes(function, layout):
    matrix = layout(np.arange(12.0).reshape(3, 4))
    kernel = fresh(function)
    assert kernel(matrix, 2, 3) == 11.0
    for i, j in ((3, 0), (0, 4), (-1, 0), (0, -1), (2**40, 2**40)):
        with pytest.raises(IndexError, match=r"of [0-4] \("):
            kernel(matrix, i, j)
        assert kernel(matrix, 1, 1) == 5.0  # nothing is left of it


@pytest.mark.usefixtures("checked")
def test_vectors():
    values = np.arange(20.0)
    kernel = fresh(read_eight)
    assert kernel(values, 12) == 19.0
    for i in (13, -1, 2**40):
        with pytest.raises(IndexError, match=f"{LANES} elements from index {i} on, of 20"):
            kernel(values, i)


@kernel_part
def last_of(row):
    return row[row.shape[0]]


def through_a_part(matrix) -> float:
    return last_of(matrix[0])


@pytest.mark.usefixtures("checked")
def test_in_parts_bound_kernels_and_code_from_the_cache():
    matrix = np.ones((2, 3))
    for _ in range(2):
        with pytest.raises(IndexError, match="from index 3 on, of 3"):
            fresh(through_a_part)(matrix)
        with pytest.raises(IndexError, match="from index 9 on, of 5"):
            fresh(read).bound(np.arange(5.0))(9)


def test_code_with_checks_is_other_code(monkeypatch):
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", None)
    plain = compilation.fingerprint(fresh(read))
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    assert compilation.fingerprint(fresh(read)) != plain
