"""The numbers of clusters of consistent labellings against brute force and set arithmetic."""

from itertools import product

import numpy as np
import pytest

from inputs import KINDS, many, points
from isthmus import SpanningTree, UltrametricTree
from isthmus._utils import memory
from isthmus.metrics.pairwise import distance_matrix
from isthmus.theory import consistency, consistent_partitions, number_sets
from isthmus.theory import partitions as module
from oracles.theory import consistent_counts, is_consistent, partitions


def check_every_count(tree, found):
    for k in found.counts.tolist():
        labels = found.labels(k)
        assert labels.shape == (tree.n_points,)
        assert labels.dtype == np.int32
        # all k numbers, in the order of their first points
        assert list(dict.fromkeys(labels.tolist())) == list(range(k))
        assert consistency(tree, labels).consistent


def tree_of_events(*events):
    """A tree of groups of equally distant points, (how many, height), joined at height 100."""
    edges, weights, first = [], [], 0
    for size, height in events:
        edges += [(first, first + i) for i in range(1, size)]
        weights += [height] * (size - 1)
        if first:
            edges.append((0, first))
            weights.append(100.0)
        first += size
    return UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 1), (4, 1), (5, 1), (6, 2)])
def test_counts_are_those_of_all_labellings(kind, n, d):
    X = points(kind, n, d, seed=n)
    base = distance_matrix(X)
    expected = {max(labels) + 1 for labels in partitions(n) if is_consistent(base, labels)}
    tree = UltrametricTree.from_data(X)
    found = consistent_partitions(tree)
    assert found.counts.tolist() == sorted(expected)
    check_every_count(tree, found)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(56, largest=60))
def test_larger_inputs(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    found = consistent_partitions(tree)
    assert found.counts.tolist() == sorted(consistent_counts(tree.matrix()))
    check_every_count(tree, found)


def test_trees_full_of_ties(monkeypatch):
    """Few weights, many events of several parts: gaps that must be computed, not bounded."""
    exact = []
    original = module._split_exactly
    monkeypatch.setattr(module, "_split_exactly", lambda *a: exact.append(a) or original(*a))
    n_uncertain = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 40))
        edges = [(int(rng.integers(i)), i) for i in range(1, n)]
        weights = rng.choice([0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 4.0, np.inf], size=n - 1)
        tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))
        found = consistent_partitions(tree)
        assert found.counts.tolist() == sorted(consistent_counts(tree.matrix()))
        check_every_count(tree, found)
        n_uncertain += bool(found._sums.known)
    assert n_uncertain > 30
    assert len(exact) > 10


def test_the_highest_is_divided_first_unless_that_leads_nowhere():
    # 100 joins three points at 5 and four at 4: two clusters, then + 2 and + 3
    tree = tree_of_events((3, 5.0), (4, 4.0))
    found = consistent_partitions(tree)
    assert found.counts.tolist() == [1, 2, 4, 5, 7]
    assert found.labels(2).tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert found.labels(4).tolist() == [0, 1, 2, 3, 3, 3, 3]
    assert found.labels(5).tolist() == [0, 0, 0, 1, 2, 3, 4]
    assert repr(found) == "ConsistentPartitions(counts=1, 2, 4, 5, 7)"


def test_cutting_at_one_height_comes_first():
    rng = np.random.default_rng(0)
    tree = UltrametricTree.from_data(rng.normal(size=(200, 2)))
    found = consistent_partitions(tree)
    assert found.counts.tolist() == list(range(1, 201))
    assert len(found) == 200
    assert repr(found) == "ConsistentPartitions(counts=1 … 200)"
    for k in (1, 2, 10, 199):
        cut = np.append(tree.heights, np.inf)[200 - k]
        joined = tree.matrix() < cut
        labels = found.labels(k)
        np.testing.assert_array_equal(labels[:, None] == labels[None], joined)


def test_many_equal_events():
    tree = tree_of_events(*[(3, 1.0)] * 1500)
    found = consistent_partitions(tree)
    np.testing.assert_array_equal(found.counts, np.append(1, np.arange(1500, 4501, 2)))
    labels = found.labels(1502)
    assert np.bincount(labels).max() == 3
    assert consistency(tree, labels).consistent


def test_a_million_points_on_a_path():
    n = 1_000_000
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, np.arange(1.0, n)))
    found = consistent_partitions(tree)
    np.testing.assert_array_equal(found.counts, np.arange(1, n + 1))
    np.testing.assert_array_equal(found.labels(3), np.repeat([0, 1, 2], [n - 2, 1, 1]))
    equal = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, np.ones(n - 1)))
    assert consistent_partitions(equal).counts.tolist() == [1, n]


def test_wrong_numbers_are_refused():
    found = consistent_partitions(tree_of_events((3, 5.0), (4, 4.0)))
    assert 4 in found
    assert 3 not in found
    assert "4" not in found
    with pytest.raises(ValueError, match=r"into 3 clusters exists; the nearest.*: 2, 4"):
        found.labels(3)
    with pytest.raises(ValueError, match=r"the nearest.*: 5, 7"):
        found.labels(10)
    with pytest.raises(TypeError, match="k must be an integer"):
        found.labels(2.0)
    with pytest.raises(ValueError, match="k must be at least 1"):
        found.labels(0)
    with pytest.raises(TypeError, match="Expected an UltrametricTree"):
        consistent_partitions([[0.0], [1.0]])


def test_one_tie_below_a_long_path():
    """Three points that are equally far apart, and one more at a time: n - 1 is out of reach."""
    n = 20_000
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    weights = np.append([1.0, 1.0], np.arange(2.0, n - 1))
    tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))
    found = consistent_partitions(tree)
    np.testing.assert_array_equal(found.counts, np.delete(np.arange(1, n + 1), n - 2))
    np.testing.assert_array_equal(found.labels(n), np.arange(n))


@pytest.mark.parametrize("seed", range(20))
def test_sets_of_numbers_add_up(seed):
    """Few numbers are added as runs, many as bits; either may be given in either form."""
    rng = np.random.default_rng(seed)
    sizes = ((40, 5), (40, 12), (300, 90), (2000, 60))
    sets = [{0, *rng.integers(0, high, size=n).tolist()} for high, n in sizes]
    for a, b in product(sets, repeat=2):
        expected = {x + y for x in a for y in b}
        bits = [sum(1 << x for x in numbers) for numbers in (a, b)]
        runs = [number_sets.runs_of(numbers) for numbers in bits]
        for first, second in product(*zip(bits, runs, strict=True)):
            found = number_sets.sums_of(first, second)
            assert members(found) == expected
            for by in (1, 5):
                raised = number_sets.zero_and_shifted(found, by)
                assert members(raised) == {0} | {by + x for x in expected}
                assert number_sets.runs_of(number_sets.as_bits(raised)) == number_sets.runs_of(
                    raised
                )
            assert number_sets.sums_of(found, number_sets.ZERO) == found


def members(numbers):
    return {x for low, high in number_sets.runs_of(numbers) for x in range(low, high + 1)}


def test_sums_that_would_not_fit_are_refused(monkeypatch):
    tree = tree_of_events(*[(3, 1.0)] * 500)
    assert len(consistent_partitions(tree)) == 502
    monkeypatch.setattr(module, "_BYTES_AT_ONCE", 10_000)
    left = iter([20_000, 10_000, 5_000])
    monkeypatch.setattr(memory, "available_memory", lambda: next(left))
    with pytest.raises(MemoryError, match=r"sums of tied merges.*Break ties"):
        consistent_partitions(tree)
