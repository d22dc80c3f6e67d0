"""Distances that a user computed, in full: square and condensed matrices."""

import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

from inputs import KINDS, many, points
from isthmus import UltrametricTree, minimum_spanning_tree
from isthmus.metrics.precomputed import check_precomputed
from isthmus.theory import transitive_distances
from oracles.dense import kruskal


def tree_of(distances, **options):
    return minimum_spanning_tree(distances, metric="precomputed", **options)


def square(n=30, seed=0, kind="gaussian"):
    return squareform(pdist(points(kind, n, 2, seed)))


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(84, largest=60))
def test_square_condensed_and_complete_graph_give_one_tree(kind, n, d, seed):
    condensed = pdist(points(kind, n, d, seed))
    matrix = squareform(condensed)
    pairs = np.triu_indices(n, 1)
    graph = csr_array((condensed, pairs), shape=(n, n))
    edges, weights = kruskal(matrix)
    for form, engine in ((matrix, "prim"), (condensed, "prim"), (graph, "kruskal")):
        tree = tree_of(form)
        assert tree.edges.tolist() == [list(edge) for edge in edges]
        assert tree.weights.tolist() == weights
        assert tree.engine == engine
        assert tree_of(form, engine=engine) == tree


@pytest.mark.parametrize("kind", KINDS)
def test_float32_is_used_as_it_is(kind):
    matrix = square(40, 1, kind).astype(np.float32)
    expected = tree_of(matrix.astype(np.float64))
    assert tree_of(matrix) == expected
    assert tree_of(squareform(matrix)) == expected
    assert np.shares_memory(check_precomputed(matrix).matrix, matrix)


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, ">f8", ">f4"]
)
def test_other_types_of_numbers(dtype):
    matrix = np.rint(square(20) * 2).clip(0, 100).astype(dtype)
    expected = tree_of(matrix.astype(np.float64))
    assert tree_of(matrix) == expected
    assert tree_of(matrix[np.triu_indices(20, 1)]) == expected


def test_long_doubles():
    matrix = square().astype(np.longdouble)
    assert tree_of(matrix) == tree_of(square())
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        with pytest.raises(ValueError, match=r"must be finite, but entry \(0, 1\) is inf"):
            tree_of(matrix * np.longdouble(10) ** 400)


def test_numbers_in_objects():
    values = [[0, Fraction(1, 2), 2.0], [Decimal("0.5"), False, np.float32(3)], [2, 3, 0]]
    tree = tree_of(np.array(values, dtype=object))
    assert tree.weights.tolist() == [0.5, 2.0]
    assert tree_of(np.array([Fraction(1, 2), 2, 3.0], dtype=object)) == tree


@pytest.mark.parametrize("value", ["1", b"1", None, 1j, {}, 10**400])
def test_other_objects_are_refused_by_name(value):
    with pytest.raises(TypeError, match=r"real numbers, but entry \(0, 1\) is"):
        tree_of(np.array([[0, value], [1, 0]], dtype=object))
    with pytest.raises(TypeError, match=r"entry 2, the distance of points 1 and 2, is"):
        tree_of(np.array([0, 1, value], dtype=object))


@pytest.mark.parametrize("dtype", ["U3", "S3", "M8[D]", "m8[s]", "i4,i4"])
def test_what_holds_no_numbers_is_refused(dtype):
    for shape in ((2, 2), (3,)):
        with pytest.raises(TypeError, match=r"must be real numbers|Dates and durations"):
            tree_of(np.zeros(shape, dtype=dtype))


def test_frames_and_series():
    matrix = square()
    expected = tree_of(matrix)
    assert tree_of(pd.DataFrame(matrix)) == expected
    assert tree_of(pl.DataFrame(matrix)) == expected
    assert tree_of(pd.Series(squareform(matrix))) == expected
    assert tree_of(pl.Series(squareform(matrix))) == expected
    assert tree_of(matrix.tolist()) == expected
    assert tree_of(squareform(matrix).tolist()) == expected


def test_any_layout_is_read_without_a_copy():
    matrix = square(40)
    expected = tree_of(matrix)
    wide = np.zeros((80, 120))
    wide[::2, ::3] = matrix
    read_only = matrix.copy()
    read_only.flags.writeable = False
    for layout in (
        np.asfortranarray(matrix),
        wide[::2, ::3],
        read_only,
        matrix[::-1, ::-1][::-1, ::-1],
    ):
        before = layout.copy()
        assert tree_of(layout) == expected
        assert np.shares_memory(check_precomputed(layout).matrix, layout)
        np.testing.assert_array_equal(layout, before)
    assert wide.flags.writeable
    every_second = np.repeat(squareform(matrix), 2)[::2]
    assert tree_of(every_second) == expected
    assert np.shares_memory(check_precomputed(every_second).values, every_second)


def test_of_entries_that_differ_by_rounding_either_may_count():
    matrix = square(40)
    above = np.triu(matrix) + np.tril(matrix) * (1 + 1e-12)
    for layout in (above, np.asfortranarray(above)):
        np.testing.assert_allclose(tree_of(layout).weights, tree_of(matrix).weights, rtol=1e-11)
    halves = (matrix * 0.3).astype(np.float16)
    halves[3, 7] = np.nextafter(halves[3, 7], np.float16(9))
    assert tree_of(halves).n_points == 40


@pytest.mark.parametrize("form", ["square", "condensed"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_matrix_in_a_file_stays_there(tmp_path, form, dtype):
    matrix = square(1500).astype(dtype)
    stored = matrix if form == "square" else squareform(matrix)
    np.save(tmp_path / "distances.npy", stored)
    raw = np.memmap(tmp_path / "raw", dtype=dtype, mode="w+", shape=stored.shape)
    raw[:] = stored
    raw.flush()
    expected = tree_of(stored)
    for mapped in (
        np.load(tmp_path / "distances.npy", mmap_mode="r"),
        np.memmap(tmp_path / "raw", dtype=dtype, mode="r", shape=stored.shape),
    ):
        tracemalloc.start()
        tree = tree_of(mapped)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < stored.nbytes / 4
        assert tree == expected


def test_a_copy_that_would_not_fit_is_refused(monkeypatch):
    matrix = np.rint(square()).astype(np.int64)
    monkeypatch.setattr("isthmus._utils.memory.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="Store them as float64"):
        tree_of(matrix)
    assert tree_of(matrix.astype(np.float64)).n_points == 30


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e-320])
def test_any_scale(scale):
    matrix = np.rint(square(25) * 1000) * scale
    expected = tree_of(np.rint(square(25) * 1000))
    for form in (matrix, squareform(matrix), csr_array(matrix)):
        tree = tree_of(form)
        np.testing.assert_array_equal(tree.edges, expected.edges)
        np.testing.assert_array_equal(tree.weights, expected.weights * scale)


def test_sums_that_are_too_large_are_infinite():
    tree = tree_of(np.full((5, 5), 1e308) - np.diag(np.full(5, 1e308)))
    assert tree.total_weight == np.inf
    assert "total_weight=inf" in repr(tree)
    assert UltrametricTree.from_spanning_tree(tree).distance(0, 4) == 1e308


def test_few_points():
    for nothing in ([[0.0]], np.zeros((1, 1), dtype=np.float32), [], np.empty(0)):
        tree = tree_of(nothing)
        assert (tree.n_points, tree.engine) == (1, "prim")
    for pair in ([[0, 3], [3, 0]], [3.0]):
        tree = tree_of(pair)
        assert (tree.edges.tolist(), tree.weights.tolist()) == ([[0, 1]], [3.0])


def test_negative_zeros_are_zeros():
    tree = tree_of(np.full((3, 3), -0.0))
    assert not np.signbit(tree.weights).any()
    assert tree.edges.tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize(
    ("i", "j", "value", "words"),
    [
        (2, "far", np.nan, r"must be finite, but entry \(2, {far}\) is NaN\..*sparse graph"),
        ("far", 2, np.nan, r"must be finite, but entry \({far}, 2\) is NaN"),
        ("far", "far", np.nan, r"must be finite, but entry \({far}, {far}\) is NaN"),
        (2, "far", np.inf, r"must be finite, but entry \(2, {far}\) is inf"),
        ("far", 2, -np.inf, r"must be finite, but entry \({far}, 2\) is -inf"),
        (2, "far", -1.5, r"must not be negative, but entry \(2, {far}\) is -1.5\. .*similarities"),
        ("far", 2, -1.5, r"must not be negative, but entry \({far}, 2\) is -1.5"),
        ("far", "far", -1.5, r"must not be negative, but entry \({far}, {far}\) is -1.5"),
        ("far", "far", 0.5, r"zero diagonal, but entry \({far}, {far}\) is 0.5"),
        (2, "far", 9.0, r"symmetric, but entry \(2, {far}\) is 9 and entry \({far}, 2\) is 1"),
        ("far", 2, 9.0, r"symmetric, but entry \(2, {far}\) is 1 and entry \({far}, 2\) is 9"),
    ],
)
@pytest.mark.parametrize("far", [5, 605])  # in the first tile, and in another one
@pytest.mark.parametrize("order", ["C", "F"])
def test_wrong_entries_are_named_before_any_work(i, j, value, words, far, order, monkeypatch):
    def no_work(*args):
        raise AssertionError("work was done")

    monkeypatch.setattr("isthmus.spanning_tree.prim.prim_of_matrix", no_work)
    matrix = np.ones((610, 610), order=order)
    np.fill_diagonal(matrix, 0.0)
    matrix[far if i == "far" else i, far if j == "far" else j] = value
    with pytest.raises(ValueError, match=words.format(far=far)):
        tree_of(matrix)


@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "finite.*NaN"), (np.inf, "finite.*inf"), (-2, "negative.*-2")]
)
def test_wrong_entries_of_a_condensed_matrix_are_named(value, words):
    n = 9
    for entry, (i, j) in enumerate(zip(*np.triu_indices(n, 1), strict=True)):
        condensed = np.ones(n * (n - 1) // 2)
        condensed[entry] = value
        rule, shown = words.split(".*")
        pattern = rf"{rule}, but entry {entry}, the distance of points {i} and {j}, is {shown}"
        with pytest.raises(ValueError, match=pattern):
            tree_of(condensed)


@pytest.mark.parametrize(
    ("distances", "error", "words"),
    [
        (np.zeros((3, 4)), ValueError, r"must be square, got shape \(3, 4\)"),
        (np.zeros((3, 1)), ValueError, "condensed matrix has one dimension"),
        (np.zeros((0, 0)), ValueError, "0 sample"),
        (np.zeros((2, 2, 2)), ValueError, "dim 3"),
        (3.0, ValueError, "scalar"),
        ([[0.0], [1.0, 0.0]], ValueError, "inhomogeneous"),
        (np.zeros((2, 2), dtype=complex), ValueError, "Complex data not supported"),
        (np.zeros(3, dtype=complex), ValueError, "Complex data not supported"),
        (np.ma.masked_array(np.zeros((2, 2))), TypeError, "Masked arrays"),
        (np.zeros(11), ValueError, r"got 11\. The nearest .* 10 \(n = 5\) and 15 \(n = 6\)"),
        (np.zeros(14), ValueError, r"got 14\. The nearest .* 10 \(n = 5\) and 15 \(n = 6\)"),
        (np.zeros(2), ValueError, r"got 2\. The nearest .* 1 \(n = 2\) and 3 \(n = 3\)"),
    ],
)
def test_what_is_no_matrix_of_distances_is_refused(distances, error, words):
    with pytest.raises(error, match=words):
        tree_of(distances)


@pytest.mark.parametrize(
    ("engine", "form", "words"),
    [
        ("sort", "square", "takes .*points.*engine='prim'"),
        ("kd-tree", "condensed", "takes .*points.*engine='prim'"),
        ("kruskal", "square", "takes sparse graphs.*engine='prim'"),
        ("prim", "graph", "takes .*full matrices.*engine='kruskal'"),
        ("kd-tree", "graph", "takes .*points.*engine='kruskal'"),
    ],
)
def test_engines_that_do_not_read_a_form_are_refused(engine, form, words):
    matrix = square()
    forms = {"square": matrix, "condensed": squareform(matrix), "graph": csr_array(matrix)}
    with pytest.raises(ValueError, match=words):
        tree_of(forms[form], engine=engine)
    with pytest.raises(ValueError, match="engine='kruskal' takes sparse graphs"):
        minimum_spanning_tree(matrix, engine="kruskal")


@pytest.mark.parametrize("order", [None, 2, 3])
def test_transitive_distances_of_a_condensed_matrix(order):
    matrix = square(12)
    np.testing.assert_array_equal(
        transitive_distances(squareform(matrix), order, metric="precomputed"),
        transitive_distances(matrix, order, metric="precomputed"),
    )
    with pytest.raises(TypeError, match=r"sparse graph leaves out pairs.*UltrametricTree"):
        transitive_distances(csr_array(matrix), order, metric="precomputed")
