"""Gaps between groups of points, against the obvious way."""

import numpy as np
import pytest

from inputs import many, points
from isthmus import SpanningTree, UltrametricTree
from isthmus.datasets import make_multi_scale, make_two_moons
from isthmus.model_selection import edge_quantiles, gaps
from isthmus.model_selection.edge_quantiles import EdgeLengths, percentiles_of_sorted
from isthmus.model_selection.gaps import find_gaps
from oracles import gaps as oracle


def same_groups(first, second):
    pairs = np.unique(np.column_stack([first, second]), axis=0)
    return len(pairs) == len(np.unique(first)) == len(np.unique(second))


def assert_as_by_hand(tree, n_removed):
    found, expected = find_gaps(tree, 2), oracle.find_gaps(tree, n_removed)
    assert len(found.strengths) == len(expected)
    for i, (strength, length, groups) in enumerate(expected):
        assert found.strengths[i] == pytest.approx(strength, abs=1e-8)
        assert found.widths[i] == length
        assert same_groups(found.labels(i + 2), groups)
    assert (found.labels(1) == 0).all()


@pytest.fixture
def small_tables(monkeypatch):
    """Let quantiles be counted out, not sorted, in trees of a few dozen points."""
    for name, value in (("_FEW", 4), ("_POSITIONS", 8), ("_RANGES", 5)):
        monkeypatch.setattr(edge_quantiles, name, value)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(112, 260))
def test_as_by_hand(kind, n, d, seed):
    assert_as_by_hand(UltrametricTree.from_data(points(kind, n, d, seed)), 60)


@pytest.mark.usefixtures("small_tables")
@pytest.mark.parametrize("n_removed", [1, 3, 60])
def test_few_removed_edges_and_small_tables(monkeypatch, n_removed):
    monkeypatch.setattr(gaps, "_LEAST_REMOVED", n_removed)
    monkeypatch.setattr(gaps, "_REMOVED_PER_CLUSTER", 0)
    for X in (make_multi_scale(300, random_state=1)[0], points("blobs", 250, 2, 5)):
        assert_as_by_hand(UltrametricTree.from_data(X), n_removed)


@pytest.mark.usefixtures("small_tables")
@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(80, 120)[56:])
def test_quantiles_below_every_node(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    edges = EdgeLengths.of_tree(tree)
    for node in range(n, 2 * n - 1):
        begin, size = tree.starts[node], tree.sizes[node]
        lengths = tree.gaps[begin : begin + size - 1]
        if (lengths > 0).any():
            expected = oracle.percentiles(lengths[lengths > 0])
            assert edges.percentiles(node) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_edges_that_hardly_vary_have_the_least_ratio():
    assert percentiles_of_sorted(np.zeros(9)) == (0.0, 0.4)
    assert percentiles_of_sorted(np.array([2.0])) == (2.0, 0.4)


def test_infinite_edges_are_gaps_far_beyond_all_others():
    X, y = make_two_moons(200, random_state=0)
    trees = [UltrametricTree.from_data(X[y == side]).spanning_tree for side in (0, 1)]
    joined = SpanningTree.from_edges(
        np.concatenate([trees[0].edges, trees[1].edges + 100, [[0, 100]]]),
        np.concatenate([trees[0].weights, trees[1].weights, [np.inf]]),
    )
    found = find_gaps(UltrametricTree.from_spanning_tree(joined), 5)
    assert found.widths[0] == np.inf
    assert found.strengths[0] > 20
    assert same_groups(found.labels(2), y)


def test_nothing_but_infinite_edges_is_no_gap():
    n = 60
    tree = SpanningTree.from_edges(
        np.column_stack([np.arange(n - 1), np.arange(1, n)]), np.full(n - 1, np.inf)
    )
    found = find_gaps(UltrametricTree.from_spanning_tree(tree), 5)
    assert (found.strengths <= 0).all()


def test_more_edges_than_there_are():
    tree = UltrametricTree.from_data(points("blobs", 250, 2, 5))
    many_groups, few_groups = find_gaps(tree, 10**6), find_gaps(tree, 2)
    np.testing.assert_array_equal(many_groups.strengths, few_groups.strengths)
    np.testing.assert_array_equal(many_groups.labels(3), few_groups.labels(3))
