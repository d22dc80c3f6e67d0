"""Transitive edges and paths against the dense matrix and a walk along the edges (Theorem 2)."""

import pickle

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage

from inputs import many, points
from isthmus import SpanningTree, UltrametricTree
from isthmus.metrics.pairwise import distance_matrix
from oracles.dense import minimax_matrix
from oracles.theory import path_along


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(84, largest=24))
def test_every_pair_has_its_path_and_its_edge(kind, n, d, seed):
    X = points(kind, n, d, seed)
    base = distance_matrix(X)
    expected = minimax_matrix(base)
    tree = UltrametricTree.from_data(X)
    edges = {tuple(edge) for edge in tree.spanning_tree.edges.tolist()}
    for i in range(n):
        for j in range(n):
            path = tree.path(i, j).tolist()
            assert path == path_along(tree.spanning_tree.edges, i, j)
            if i == j:
                continue
            a, b, length = tree.transitive_edge(i, j)
            assert (min(a, b), max(a, b)) in edges
            assert path[path.index(a) + 1] == b
            assert length == base[a, b] == expected[i, j]
            assert tree.transitive_edge(j, i) == (b, a, length)


@pytest.mark.parametrize("seed", range(12))
def test_theorem_2(seed):
    """With distinct weights the transitive edge of the complete graph is one of the tree."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    base = np.zeros((n, n))
    upper = np.triu_indices(n, 1)
    base[upper] = rng.permutation(len(upper[0])) + 1.0
    base += base.T
    transitive = minimax_matrix(base)
    tree = UltrametricTree.from_matrix(base)
    edges = tree.spanning_tree.edges.tolist()
    for i, j in zip(*upper, strict=True):
        (u, v), _ = np.argwhere(base == transitive[i, j])
        assert [u, v] in edges
        a, b, _ = tree.transitive_edge(i, j)
        assert {a, b} == {u, v}


def test_arrays_of_points_broadcast():
    tree = UltrametricTree.from_data(points("lattice", 30, 2, seed=1))
    i, j = np.arange(10)[:, None], np.arange(10, 30)
    edge = tree.transitive_edge(i, j)
    assert edge.a.shape == edge.b.shape == edge.length.shape == (10, 20)
    np.testing.assert_array_equal(edge.length, tree.distance(i, j))
    for r, c in ((0, 0), (3, 17), (9, 19)):
        single = tree.transitive_edge(r, 10 + c)
        assert single == (edge.a[r, c], edge.b[r, c], edge.length[r, c])
        assert [type(value) for value in single] == [int, int, float]
    assert tree.transitive_edge(np.array([], dtype=int), 0).a.shape == (0,)


def test_a_path_of_a_million_points():
    n = 1_000_000
    rng = np.random.default_rng(0)
    way = rng.permutation(n)
    weights = rng.random(n - 1)
    tree = UltrametricTree.from_spanning_tree(
        SpanningTree.from_edges(np.column_stack([way[:-1], way[1:]]), weights)
    )
    np.testing.assert_array_equal(tree.path(way[0], way[-1]), way)
    np.testing.assert_array_equal(tree.path(way[777], way[333]), way[777:332:-1])
    longest = int(weights.argmax())
    assert tree.transitive_edge(way[-1], way[0]) == (
        way[longest + 1],
        way[longest],
        weights[longest],
    )
    low = rng.integers(0, n - 1, size=50)
    high = rng.integers(low + 1, n)
    edge = tree.transitive_edge(way[low], way[high])
    for q in range(50):
        longest = low[q] + int(weights[low[q] : high[q]].argmax())
        assert (edge.a[q], edge.b[q]) == (way[longest], way[longest + 1])


def test_a_linkage_knows_no_edges():
    X = points("blobs", 20, 2, seed=0)
    tree = UltrametricTree.from_linkage(linkage(X, "average"))
    for one in (tree, pickle.loads(pickle.dumps(tree)), tree.with_heights(np.sqrt)):
        with pytest.raises(ValueError, match=r"built from a linkage.*from_data\(X\)"):
            one.path(0, 1)
        with pytest.raises(ValueError, match=r"built from a linkage.*from_data\(X\)"):
            one.transitive_edge(0, 1)
    assert UltrametricTree.from_data(X).with_heights(np.sqrt).path(0, 1)[-1] == 1


def test_pickles_stay_small_and_trees_stay_equal():
    tree = UltrametricTree.from_data(points("gaussian", 500, 2, seed=0))
    before, other = (
        pickle.dumps(tree),
        UltrametricTree.from_data(points("gaussian", 500, 2, seed=0)),
    )
    path, edge = tree.path(0, 499), tree.transitive_edge(0, 499)
    assert pickle.dumps(tree) == before
    assert tree == other
    again = pickle.loads(before)
    np.testing.assert_array_equal(again.path(0, 499), path)
    assert again.transitive_edge(0, 499) == edge


def test_wrong_points_are_refused():
    tree = UltrametricTree.from_data([[0.0], [1.0], [3.0]])
    assert tree.path(-1, 0).tolist() == [2, 1, 0]
    assert tree.path(1, 1).tolist() == [1]
    assert tree.transitive_edge(-1, 0) == (2, 1, 2.0)
    with pytest.raises(ValueError, match="between point 2 and itself"):
        tree.transitive_edge([0, 2], -1)
    for wrong in (3, -4):
        with pytest.raises(IndexError, match="out of range"):
            tree.path(0, wrong)
        with pytest.raises(IndexError, match="out of range"):
            tree.transitive_edge(wrong, 0)
    with pytest.raises(IndexError, match=r"path\(\) takes one point"):
        tree.path([0, 1], 2)
    with pytest.raises(IndexError, match="integers"):
        tree.path(0, 1.5)


def test_one_point_is_its_own_path():
    tree = UltrametricTree.from_data([[1.0, 2.0]])
    assert tree.path(0, 0).tolist() == [0]
    with pytest.raises(ValueError, match="itself"):
        tree.transitive_edge(0, 0)
