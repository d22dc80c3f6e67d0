"""CUT against the rule applied edge by edge."""

import numpy as np
import pytest

from inputs import many, points
from isthmus import SpanningTree, UltrametricTree
from isthmus.kmeans.cut import cut_spanning_tree, root_spanning_tree
from isthmus.kmeans.objective import unit_of
from oracles.dense import cut


def partition(labels):
    return sorted(
        (frozenset(np.flatnonzero(labels == a).tolist()) for a in np.unique(labels)), key=min
    )


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(120, largest=22) if p[1] > 1])
def test_parts_are_those_of_the_rule(kind, n, d, seed):
    X = points(kind, n, d, seed)
    # distinct weights: with ties several partitions obey the rule
    X = X + np.random.default_rng(seed).normal(size=X.shape) * 0.01
    tree = UltrametricTree.from_data(X)
    rooted = root_spanning_tree(tree)
    for k in range(1, min(n, 9) + 1):
        try:
            expected = cut(n, tree.spanning_tree.edges, tree.heights, k)
        except ValueError:  # equal scores
            continue
        assert partition(cut_spanning_tree(rooted, k)) == expected


def test_infinite_edges_are_cut_first_and_then_as_any_others():
    n_compared = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, n_infinite = 20, int(rng.integers(1, 6))
        edges = [(int(rng.integers(i)), i) for i in range(1, n)]
        weights = rng.uniform(0.1, 1.0, size=n - 1)
        weights[rng.permutation(n - 1)[:n_infinite]] = np.inf
        tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))
        rooted = root_spanning_tree(tree)
        for k in range(1, 10):
            parts = partition(cut_spanning_tree(rooted, k))
            crossing = np.isinf(tree.heights) & [
                not any({i, j} <= part for part in parts) for i, j in tree.spanning_tree.edges
            ]
            assert crossing.sum() == min(k - 1, n_infinite)
            try:
                expected = cut(n, tree.spanning_tree.edges, np.minimum(tree.heights, 1e9), k)
            except ValueError:  # equal scores
                continue
            assert parts == expected
            n_compared += k > 1
    assert n_compared > 50


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(56))
def test_the_rooted_tree_is_the_spanning_tree(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    rooted = root_spanning_tree(tree)
    assert sorted(rooted.point.tolist()) == list(range(n))
    assert rooted.parent[0] == -1
    ends = np.sort(np.column_stack([rooted.point[1:], rooted.point[rooted.parent[1:]]]), axis=1)
    weights = rooted.weight[1:] * unit_of(tree.heights)
    assert SpanningTree.from_edges(ends.reshape(n - 1, 2), weights) == tree.spanning_tree
    sizes = np.ones(n, dtype=int)
    for place in range(n - 1, 0, -1):
        assert rooted.parent[place] < place
        sizes[rooted.parent[place]] += sizes[place]
    np.testing.assert_array_equal(rooted.size, sizes)


@pytest.mark.parametrize("kind", ["lattice", "duplicates", "all equal"])
def test_ties_give_exactly_k_connected_parts(kind):
    tree = UltrametricTree.from_data(points(kind, 40, 2, seed=0))
    for k in (1, 2, 13, 39, 40):
        labels = cut_spanning_tree(root_spanning_tree(tree), k)
        assert len(np.unique(labels)) == k
        crossing = labels[tree.spanning_tree.edges]
        assert np.count_nonzero(crossing[:, 0] != crossing[:, 1]) == k - 1


def test_weights_near_the_largest_float_do_not_overflow():
    edges = np.column_stack([np.arange(399), np.arange(1, 400)])
    heights = np.linspace(1e307, 1.7e308, 399)
    labels = [
        cut_spanning_tree(
            root_spanning_tree(
                UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, heights * scale))
            ),
            3,
        )
        for scale in (1.0, 2.0**-30)
    ]
    np.testing.assert_array_equal(labels[0], labels[1])


def test_parts_are_nested_in_k():
    rooted = root_spanning_tree(UltrametricTree.from_data(points("blobs", 200, 2, seed=0)))
    coarse = cut_spanning_tree(rooted, 3)
    for k in range(4, 20):
        fine = cut_spanning_tree(rooted, k)
        assert all(len(np.unique(coarse[fine == a])) == 1 for a in range(k))
        coarse = fine
