"""Kernels with constants: each is compiled under a name of its own."""

from isthmus._compile import kernel, kernel_part

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
