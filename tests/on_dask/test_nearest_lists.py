"""Many features: lists of near rows from tasks give the tree of one machine."""

import dask.array as da
import numpy as np
import pytest

import isthmus
from hard_points import HARD, hard
from inputs import assert_as_good
from isthmus.dask import line_lists, many_features, minimum_spanning_tree
from isthmus.dask.nearest_lists import merge_lists
from isthmus.spanning_tree.by_blocks import searching
from isthmus.spanning_tree.by_blocks.joining import CertifiedLists
from isthmus.spanning_tree.by_blocks.searching import Answer


@pytest.fixture
def small_blocks(monkeypatch):
    """Make blocks and groups small, so that few rows fill many of them."""
    monkeypatch.setattr(line_lists, "_BLOCK_SIZE", 32)
    monkeypatch.setattr(searching, "GROUP", 8)


@pytest.fixture
def only_lists(monkeypatch):
    """Forbid the way of any metric."""

    def refuse(*_):
        raise AssertionError("lists should serve")

    monkeypatch.setattr(many_features, "tree_of_blocks", refuse)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_bundles", [1, 3, 7])
@pytest.mark.parametrize("kind", HARD)
def test_the_tree_is_as_good_as_that_of_one_machine(kind, n_bundles):
    X = hard(kind, 400, 17, 0)
    blocks = da.from_array(X, chunks=((90, 0, 1, 79, 130, 20, 40, 40), -1))
    found = minimum_spanning_tree(blocks, n_cells=n_bundles).gather()
    assert_as_good(found, isthmus.minimum_spanning_tree(X, engine="prim"))


@pytest.mark.usefixtures("small_blocks", "only_lists")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [2, 3, 9, 700])
def test_lists_serve_by_themselves(n_rows, dtype):
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(4, 30))[rng.integers(0, 4, n_rows)] * 5
    X = (X + rng.normal(size=X.shape)).astype(dtype)
    blocks = da.from_array(X, chunks=(-(-n_rows // 7), -1))
    found = minimum_spanning_tree(blocks, n_cells=7).gather()
    expected = isthmus.minimum_spanning_tree(X, engine="prim")
    np.testing.assert_array_equal(found.weights, expected.weights)
    np.testing.assert_array_equal(found.edges, expected.edges)


def test_merged_lists_hold_the_nearest_and_reach_as_far_as_they_know():
    rng = np.random.default_rng(0)
    for _ in range(50):
        lists = CertifiedLists(
            np.full((1, 4), -1, dtype=np.int32), np.full((1, 4), np.inf), np.full(1, np.inf)
        )
        distances = rng.integers(0, 9, 12).astype(float)
        names = rng.permutation(12).astype(np.int32)
        for rows in np.split(np.arange(12), np.sort(rng.integers(0, 13, 2))):
            part = rows[np.argsort(distances[rows], kind="stable")]
            kept, left = part[:4], part[4:]
            part_reach = distances[left].min(initial=np.inf)
            of_task = np.full((1, 4), -1, dtype=np.int32), np.full((1, 4), np.inf)
            of_task[0][0, : len(kept)], of_task[1][0, : len(kept)] = names[kept], distances[kept]
            merge_lists(
                np.zeros(1, dtype=np.int64), Answer(*of_task, np.array([part_reach]), 0), lists
            )
        np.testing.assert_array_equal(lists.distances[0], np.sort(distances)[:4])
        listed = lists.positions[0]
        assert [distances[names == name][0] for name in listed] == lists.distances[0].tolist()
        assert lists.reach[0] == min(distances[~np.isin(names, listed)])


def test_where_lists_do_not_serve_trees_of_tasks_do():
    # These differ by less than float32 sees, relative to their distances: bounds are of no use.
    X = hard("simplex", 1300, 1300, 0)
    stages = []
    blocks = da.from_array(X, chunks=(300, -1))
    found = minimum_spanning_tree(blocks, verbose=lambda stage, *_: stages.append(stage)).gather()
    assert "trees of blocks" in stages
    assert_as_good(found, isthmus.minimum_spanning_tree(X, engine="prim"))
