"""Compiled code on disk: found again, never mixed up, never stale, damaged without harm."""

import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import numba
from isthmus._numba import compilation
from isthmus._numba.kernel import Kernel, kernel_part

SIZE = 3


@kernel_part
def add_size(x):
    return x + SIZE


def add_size_twice(x) -> float:
    return add_size(add_size(x))


def in_a_new_process(function=add_size_twice, **constants):
    """Return a kernel that knows nothing of what has been compiled before."""
    return Kernel(function, from_python=True, constants=constants)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch):
    """The forms of arguments that have been compiled for."""
    forms = []

    def compile_anew(kernel, arguments, original=compilation.compile_anew):
        forms.append(arguments.form)
        return original(kernel, arguments)

    monkeypatch.setattr(compilation, "compile_anew", compile_anew)
    return forms


def test_code_is_compiled_once_for_each_form(compilations):
    for _ in range(2):
        kernel = in_a_new_process()
        assert [kernel(1), kernel(2), kernel(0.5), kernel(np.float32(0.5))] == [7, 8, 6.5, 6.5]
    assert compilations == [(int,), (float,), (np.float32,)]


def test_a_kernel_knows_whether_there_is_code_for_it(compilations):
    kernel = in_a_new_process()
    assert not kernel.is_compiled(1)
    kernel(1)
    for each in (kernel, in_a_new_process()):
        assert each.is_compiled(5)
        assert not each.is_compiled(5.0)
        assert not each.is_compiled(np.zeros(3))
    assert not in_a_new_process(SIZE=4).is_compiled(5)
    assert len(compilations) == 1  # to be asked is not to be compiled


def copy_cache(source, target, pattern):
    for file in source.rglob(pattern):
        there = target / file.relative_to(source)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, there)


def test_processes_that_compile_at_once_do_not_mix_up_their_code(
    folder, tmp_path, monkeypatch, compilations
):
    """Each begins with an empty cache; the index of one and the code of the other are left."""
    for name, x in (("whole", 1), ("real", 0.5)):
        monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / name))
        in_a_new_process()(x)
    for name, pattern in (("whole", "*.nbi"), ("real", "*.nb*"), ("whole", "*.nbc")):
        copy_cache(tmp_path / name, folder, pattern)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))
    later = in_a_new_process()
    assert [later(1), later(0.5)] == [7, 6.5]
    assert compilations == [(int,), (float,)]  # nothing was lost


def test_real_processes_that_compile_at_once(folder):
    def start(statement):
        script = f"from test_cache import *; kernel = in_a_new_process(SIZE=5); {statement}"
        path = [*sys.path, str(Path(__file__).parent)]
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": ":".join(path)}
        return subprocess.Popen([sys.executable, "-c", script], env=environment)

    at_once = [start(f"assert kernel({x}) == {x} + 10") for x in (1, 0.5, 1, 0.5)]
    assert [process.wait() for process in at_once] == [0, 0, 0, 0]
    later = "assert [kernel(1), kernel(0.5)] == [11, 10.5]"
    assert start(f"assert kernel.is_compiled(1) and kernel.is_compiled(0.5); {later}").wait() == 0


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("contents", [b"", b"\x80\x04nonsense", None])
def test_damaged_files_are_replaced(pattern, contents, folder, compilations):
    in_a_new_process()(1)
    for file in folder.rglob(pattern):
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2] if contents is None else contents)
    compilations.clear()
    damaged = in_a_new_process()
    assert not damaged.is_compiled(1)
    assert damaged(1) == 7
    assert in_a_new_process()(1) == 7
    assert compilations == [(int,)]  # once, and then it is in the cache again


def test_a_cache_that_cannot_be_written_is_no_obstacle(folder):
    folder.write_text("not a folder")
    assert in_a_new_process()(1) == 7


def difference_of(record) -> float:
    return record.first[0] - record.second[0]


def test_another_order_of_fields_is_another_kernel(compilations):
    values = {"first": np.array([5.0]), "second": np.array([3.0])}
    for fields in (("first", "second"), ("second", "first")):
        record = namedtuple("Record", fields)(**values)
        assert in_a_new_process(difference_of)(record) == 2.0
    assert len(compilations) == 2


made = namedtuple("Made", ["first", "second"])


def made_in_compiled_code(x) -> float:
    return made(x, 1.0).first


def test_another_order_of_fields_of_a_record_that_a_kernel_makes(monkeypatch):
    for fields, expected in ((("first", "second"), 5.0), (("second", "first"), 1.0)):
        made = namedtuple("Made", fields)
        monkeypatch.setitem(globals(), "made", made)
        assert in_a_new_process(made_in_compiled_code)(5.0) == expected


def test_what_a_kernel_calls_is_part_of_its_fingerprint(monkeypatch):
    assert in_a_new_process()(1) == 7

    @kernel_part
    def subtract_size(x):
        return x - SIZE

    monkeypatch.setitem(globals(), "add_size", subtract_size)
    assert in_a_new_process()(1) == -5
    assert in_a_new_process(SIZE=1)(1) == -1


@pytest.mark.parametrize("name", ["numba", "llvmlite"])
def test_what_compiles_is_part_of_the_fingerprint(name, monkeypatch):
    before = compilation.fingerprint(in_a_new_process())
    compilation.toolchain.cache_clear()
    assert compilation.fingerprint(in_a_new_process()) == before
    monkeypatch.setattr(getattr(compilation, name), "__version__", "0.0")
    compilation.toolchain.cache_clear()
    assert compilation.fingerprint(in_a_new_process()) != before
    compilation.toolchain.cache_clear()


def test_names_of_different_code_differ():
    # equal symbols of different code would stand for one another once both are loaded
    kernels = [in_a_new_process(SIZE=size) for size in (0, 2, 5)]
    kernels += [add_size.specialised({"SIZE": size}) for size in (0, 2, 5)]
    assert len({compilation.fingerprint(each) for each in kernels}) == 6
