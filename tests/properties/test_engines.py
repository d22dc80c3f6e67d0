"""Every engine is as good as Prim bit for bit, however and wherever points are stored."""

from contextlib import ExitStack
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from inputs import assert_as_good
from isthmus import minimum_spanning_tree
from isthmus.spanning_tree.by_blocks import engine, searching

STORAGES = ("as it is", "fortran", "strided", "reversed", "read-only", "big-endian")


@st.composite
def clouds(draw, dims=(1, 2, 7), dtypes=(np.float64, np.float32)):
    """Return points: on a coarse grid (ties, repeats) or anywhere; moved, scaled, repeated.

    Kernels are compiled for each number of features and each type.
    """
    dims = draw(st.sampled_from(dims))
    n_points = draw(st.integers(2, 90))
    fineness = draw(st.sampled_from([1, 4, 1 << 12]))
    whole = st.integers(-4 * fineness, 4 * fineness)
    X = draw(arrays.arrays(np.float64, (n_points, dims), elements=whole)) / fineness
    if draw(st.booleans()):
        X = X[draw(st.lists(st.integers(0, n_points - 1), min_size=2, max_size=120))]
    dtype = draw(st.sampled_from(dtypes))
    offset = draw(st.sampled_from([0.0, 1e3, 1e6, 1e8] if dtype is np.float64 else [0.0, 1e3]))
    exponent = draw(st.sampled_from([0, -450, 450] if dtype is np.float64 else [0, -60, 60]))
    return np.ldexp(X + offset, exponent).astype(dtype)


def stored(X, storage):
    if storage == "fortran":
        return np.asfortranarray(X)
    if storage == "strided":
        return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    if storage == "reversed":
        return np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    if storage == "big-endian":
        return X.astype(X.dtype.newbyteorder(">"))
    X = X.copy()
    X.flags.writeable = storage != "read-only"
    return X


@settings(deadline=None, max_examples=200)
@given(clouds(), st.sampled_from(STORAGES), st.sampled_from([1, 2, 4]))
def test_as_good_as_prim(X, storage, n_jobs):
    given_points = stored(X, storage)
    before = given_points.copy()
    found = minimum_spanning_tree(given_points, engine="kd-tree", n_jobs=n_jobs)
    np.testing.assert_array_equal(given_points, before)
    assert_as_good(found, minimum_spanning_tree(X, engine="prim"))
    assert found == minimum_spanning_tree(X, engine="kd-tree")


@settings(deadline=None, max_examples=150)
@given(clouds(dims=(1, 3, 20)), st.sampled_from(STORAGES), st.sampled_from([1, 2, 4]))
def test_blocks_are_as_good_as_prim(X, storage, n_jobs):
    given_points = stored(X, storage)
    before = given_points.copy()
    with ExitStack() as patches:  # few points fill several blocks
        patches.enter_context(mock.patch.object(engine, "_BLOCK_SIZES", (32,)))
        patches.enter_context(mock.patch.object(searching, "GROUP", 8))
        found = minimum_spanning_tree(given_points, engine="blocked", n_jobs=n_jobs)
        assert found == minimum_spanning_tree(X, engine="blocked")
    np.testing.assert_array_equal(given_points, before)
    assert_as_good(found, minimum_spanning_tree(X, engine="prim"))


@settings(deadline=None, max_examples=60)
@given(clouds(dims=(3,), dtypes=(np.float64,)), st.sampled_from(["manhattan", "chebyshev"]))
def test_other_bounds(X, metric):
    trees = (minimum_spanning_tree(X, metric=metric, engine=e) for e in ("kd-tree", "prim"))
    assert_as_good(*trees)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
@pytest.mark.parametrize("exponent", [-500, 0, 498])
def test_far_away_and_of_any_size(offset, exponent):
    # coordinates that are exact at every offset: the tree must be the same everywhere
    rng = np.random.default_rng(0)
    X = rng.integers(0, 1 << 16, size=(30_000, 2)) / 1024.0
    here = minimum_spanning_tree(X, engine="kd-tree")
    there = minimum_spanning_tree(np.ldexp(X + offset, exponent), engine="kd-tree")
    assert np.array_equal(there.edges, here.edges)
    np.testing.assert_allclose(there.weights, np.ldexp(here.weights, exponent), rtol=1e-15)
