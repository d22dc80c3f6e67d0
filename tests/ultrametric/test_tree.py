"""UltrametricTree against dense matrices and SciPy."""

import pickle

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, dendrogram, fcluster, is_valid_linkage, linkage
from scipy.spatial.distance import squareform

from inputs import KINDS, many, points
from isthmus import SpanningTree, UltrametricTree, minimum_spanning_tree
from isthmus._utils.typing import index_type
from isthmus.metrics.pairwise import distance_matrix
from oracles.dense import minimax_matrix

INPUTS = many(140)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS)
def test_distances_are_cophenetic_distances_of_single_linkage(kind, n, d, seed):
    X = points(kind, n, d, seed)
    tree = UltrametricTree.from_data(X)
    expected = squareform(cophenet(linkage(X, "single"))) if n > 1 else np.zeros((1, 1))
    matrix = tree.matrix()
    np.testing.assert_allclose(matrix, expected, rtol=1e-14, atol=0)
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, size=(2, 200))
    np.testing.assert_array_equal(tree.distance(i, j), matrix[i, j])
    np.testing.assert_array_equal(tree.row(n // 2), matrix[n // 2])
    x = rng.normal(size=(n, 11))
    np.testing.assert_allclose(tree @ x, matrix @ x, rtol=1e-10, atol=1e-12 * (1 + matrix.sum()))
    if n > 1:
        assert is_valid_linkage(tree.linkage)
        np.testing.assert_allclose(tree.linkage[:, 2], linkage(X, "single")[:, 2], rtol=1e-14)
        np.testing.assert_array_equal(squareform(cophenet(tree.linkage)), matrix)


@pytest.mark.parametrize("kind", KINDS)
def test_distances_are_minimax_path_distances(kind):
    X = points(kind, 40, 2, seed=5)
    np.testing.assert_array_equal(
        UltrametricTree.from_data(X).matrix(), minimax_matrix(distance_matrix(X))
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_node_is_a_slice_of_the_leaf_order(kind):
    tree = UltrametricTree.from_data(points(kind, 60, 2, seed=2))
    n = len(tree)
    members = [{i} for i in range(n)]
    for first, second in tree.children:
        members.append(members[first] | members[second])
    for v in range(2 * n - 1):
        assert set(tree.members(v).tolist()) == members[v]
        assert tree.sizes[v] == len(members[v])
    np.testing.assert_array_equal(
        tree.gaps, tree.distance(tree.leaf_order[:-1], tree.leaf_order[1:])
    )


def test_long_numbers_where_there_are_too_many_nodes_for_short_ones(monkeypatch):
    from clusterers import TreeClusterer
    from isthmus.ultrametric import merges

    assert (index_type(2**31 - 1), index_type(2**31)) == (np.int32, np.int64)
    spanning_tree = minimum_spanning_tree(points("blobs", 800, 2, 0))
    short = UltrametricTree.from_spanning_tree(spanning_tree)
    monkeypatch.setattr(merges, "index_type", lambda _: np.int64)
    long = UltrametricTree.from_spanning_tree(spanning_tree)
    for name in ("children", "sizes", "starts", "leaf_order"):
        assert (getattr(short, name).dtype, getattr(long, name).dtype) == (np.int32, np.int64)
        np.testing.assert_array_equal(getattr(short, name), getattr(long, name))
    labels = [TreeClusterer(tree).solve(4).labels for tree in (short, long)]
    np.testing.assert_array_equal(*labels)


def test_pairs_far_apart_in_the_leaf_order():
    """Long ranges go through the table of block maxima, at every level of it."""
    rng = np.random.default_rng(0)
    n = 3000
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, rng.random(n - 1)))
    matrix = tree.matrix(n_jobs=-1)
    assert tree.shape == matrix.shape
    i, j = rng.integers(0, n, size=(2, 20_000))
    np.testing.assert_array_equal(tree.distance(i, j), matrix[i, j])


def test_indexing_follows_numpy():
    tree = UltrametricTree.from_data([[0.0], [1.0], [3.0]])
    assert tree.distance(0, 2) == 2.0
    assert isinstance(tree.distance(0, 2), float)
    assert tree.distance(-3, -1) == 2.0
    assert tree.distance([[0], [1]], [1, 2]).tolist() == [[1.0, 2.0], [0.0, 2.0]]
    assert tree.row(-1).tolist() == [2.0, 2.0, 0.0]
    assert tree.distance(np.array([], dtype=int), 0).shape == (0,)
    for wrong in (3, -4):
        with pytest.raises(IndexError, match="out of range"):
            tree.distance(0, wrong)
    with pytest.raises(IndexError, match="integers"):
        tree.distance(0.5, 1)
    with pytest.raises(IndexError, match="out of range"):
        tree.distance(np.uint64(2**64 - 1), 0)
    with pytest.raises(IndexError, match="one point"):
        tree.row([0, 1])
    with pytest.raises(IndexError, match="integers"):
        tree.members(True)
    with pytest.raises(IndexError, match="Nodes are numbered"):
        tree.members(5)


def test_products_from_both_sides():
    tree = UltrametricTree.from_data(points("blobs", 50, 2, seed=0))
    matrix = tree.matrix()
    x = np.random.default_rng(0).normal(size=50)
    np.testing.assert_allclose(tree @ x, matrix @ x)
    np.testing.assert_allclose(x @ tree, x @ matrix)
    np.testing.assert_allclose(x.reshape(1, 50) @ tree, x.reshape(1, 50) @ matrix)
    assert (tree @ list(x)).shape == (50,)
    for wrong in (np.ones(49), np.ones((50, 2, 2)), np.float64(1.0), 1j * x):
        with pytest.raises((ValueError, TypeError)):
            tree @ wrong


@pytest.mark.parametrize("method", ["single", "complete", "average", "ward"])
def test_any_monotone_linkage_becomes_a_tree(method):
    Z = linkage(points("blobs", 80, 3, seed=1), method)
    tree = UltrametricTree.from_linkage(Z)
    np.testing.assert_allclose(tree.matrix(), squareform(cophenet(Z)), rtol=1e-15)
    assert tree == UltrametricTree.from_matrix(tree.matrix())


def test_a_linkage_with_inversions_is_refused():
    Z = linkage([[0.0, 0.0], [1.0, 0.0], [0.5, 0.8]], "centroid")
    with pytest.raises(ValueError, match="no ultrametric"):
        UltrametricTree.from_linkage(Z)


def test_a_linkage_with_broken_indices_is_refused():
    Z = linkage([[0.0], [1.0], [3.0]], "single")
    Z[0, 0] += 0.5
    with pytest.raises(ValueError, match="integers"):
        UltrametricTree.from_linkage(Z)


def test_scipy_can_draw_and_cut_it():
    tree = UltrametricTree.from_data(points("blobs", 40, 2, seed=3))
    assert len(dendrogram(tree.linkage, no_plot=True)["leaves"]) == 40
    assert len(np.unique(fcluster(tree.linkage, 3, "maxclust"))) == 3


def test_equality_is_equality_of_distances():
    X = points("lattice", 60, 2, seed=4)
    tree = UltrametricTree.from_data(X)
    order = np.random.default_rng(0).permutation(60)
    # Other edges among equal ones, another shape, the same distances.
    other = UltrametricTree.from_matrix(tree.matrix())
    assert other.children.tolist() != tree.children.tolist()
    assert other == tree
    assert hash(other) == hash(tree)
    permuted = UltrametricTree.from_data(X[order])
    assert permuted != tree  # same heights, other points
    assert tree != UltrametricTree.from_data(X[:-1])
    assert tree != "a tree"


def test_pickling_and_immutability():
    tree = UltrametricTree.from_data(points("gaussian", 30, 2, seed=0))
    tree.distance(0, 1)
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert again.spanning_tree == tree.spanning_tree
    assert again.spanning_tree.engine == tree.spanning_tree.engine
    for name in ("children", "sizes", "heights", "leaf_order", "starts", "gaps"):
        for one in (tree, again):
            with pytest.raises(ValueError, match="read-only"):
                getattr(one, name)[0] = 1
    with pytest.raises(AttributeError):
        tree.children = None


def test_one_point():
    tree = UltrametricTree.from_data([[1.0, 2.0]])
    assert len(tree) == 1
    assert tree.matrix().tolist() == [[0.0]]
    assert tree.distance(0, 0) == 0.0
    assert (tree @ [3.0]).tolist() == [0.0]
    assert tree.linkage.shape == (0, 4)
    assert tree == pickle.loads(pickle.dumps(tree))
    assert repr(tree) == "UltrametricTree(n_points=1)"


def test_repr_names_size_and_heights():
    assert repr(UltrametricTree.from_data([[0.0], [1.0], [3.0]])) == (
        "UltrametricTree(n_points=3, heights=1 … 2)"
    )


def test_mapped_heights():
    tree = UltrametricTree.from_data(points("blobs", 50, 2, seed=0))
    np.testing.assert_array_equal(tree.with_heights(np.sqrt).matrix(), np.sqrt(tree.matrix()))
    with pytest.raises(ValueError, match="increasing"):
        tree.with_heights(lambda h: -h)
    with pytest.raises(ValueError, match="increasing"):
        tree.with_heights(lambda h: 1.0 / h)
    with pytest.raises(ValueError, match="heights into"):
        tree.with_heights(lambda h: h[:-1])


def test_a_cycle_is_not_a_tree():
    with pytest.raises(ValueError, match=r"edge \(0, 2\) closes a cycle"):
        UltrametricTree.from_spanning_tree(
            SpanningTree.from_edges([[0, 1], [1, 2], [0, 2]], [1.0, 2.0, 3.0])
        )
    with pytest.raises(TypeError, match="from_edges"):
        UltrametricTree.from_spanning_tree(np.zeros((2, 2)))


def test_a_matrix_that_would_not_fit_is_refused_before_it_is_allocated():
    n = 2_000_000
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, np.ones(n - 1)))
    with pytest.raises(MemoryError, match=r"29\.1 TiB.*distance\(i, j\)"):
        tree.matrix()


def test_from_data_takes_the_metric():
    X = points("gaussian", 30, 3, seed=0) + 2.0
    for metric in ("manhattan", "cosine"):
        tree = UltrametricTree.from_data(X, metric=metric, n_jobs=2)
        assert tree.spanning_tree == minimum_spanning_tree(X, metric=metric)
