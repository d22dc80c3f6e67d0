"""Sparse graphs: Kruskal's algorithm, stored zeros, and graphs of several components."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree as scipy_tree
from sklearn.neighbors import kneighbors_graph

from inputs import points
from isthmus import SpanningTree, UltrametricTree, minimum_spanning_tree
from isthmus.spanning_tree import kruskal as graph_module


def tree_of(graph, **options):
    return minimum_spanning_tree(graph, metric="precomputed", **options)


def graph_of(edges, n, container=sp.coo_array, **options):
    """Return the graph with edges (i, j, weight), stored in the given direction."""
    rows, columns, weights = zip(*edges, strict=True) if edges else ((), (), ())
    return container((np.array(weights, **options), (rows, columns)), shape=(n, n))


def brute_force(edges, n):
    """Kruskal's algorithm word by word, on (i, j, weight); groups that are left are joined to 0."""
    group = list(range(n))
    tree = []
    for weight, i, j in sorted((w, min(i, j), max(i, j)) for i, j, w in edges):
        if group[i] != group[j]:
            old, new = max(group[i], group[j]), min(group[i], group[j])
            group = [new if g == old else g for g in group]
            tree.append((i, j, float(weight)))
    return tree + [(0, g, np.inf) for g in sorted(set(group)) if g > 0]


def as_triples(tree):
    return [(int(i), int(j), float(w)) for (i, j), w in zip(tree.edges, tree.weights, strict=True)]


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 9))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return n, [
        (*draw(st.permutations(pair)), draw(st.sampled_from([0.0, 1.0, 1.5, 2.0])))
        for pair in chosen
    ]


@given(graphs())
@settings(max_examples=200, deadline=None)
def test_small_graphs_with_zeros_and_ties(case):
    n, edges = case
    assert as_triples(tree_of(graph_of(edges, n), disconnected="join")) == brute_force(edges, n)


@pytest.mark.parametrize("seed", range(20))
def test_weights_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 400))
    graph = sp.random_array((n, n), density=min(1.0, 6 / n), rng=rng, format="csr")
    graph.data = rng.integers(1, 50, size=graph.nnz).astype(float)
    graph = sp.triu(graph, 1, format="csr") if seed % 2 else sp.tril(graph, -1, format="csc")
    tree = tree_of(graph, disconnected="join")
    finite = tree.weights[np.isfinite(tree.weights)]
    np.testing.assert_array_equal(finite, np.sort(scipy_tree(graph).data))
    n_components, _ = sp.csgraph.connected_components(graph, directed=False)
    assert np.isinf(tree.weights).sum() == n_components - 1


def test_more_edges_than_one_call_takes(monkeypatch):
    monkeypatch.setattr(graph_module, "_CHUNK", 7)
    graph = kneighbors_graph(points("gaussian", 60, 2, seed=0), 8, mode="distance")
    seen = []
    tree = tree_of(graph, progress=lambda done, total: seen.append((done, total)))
    monkeypatch.undo()
    assert tree == tree_of(graph)
    assert seen == sorted(seen)
    assert len(seen) > 5
    assert seen[-1] == (59, 59)


@pytest.mark.parametrize("n", [300, 3000])
def test_a_graph_of_neighbours(n):
    X = points("gaussian", n, 2, seed=0)
    graph = kneighbors_graph(X, 20, mode="distance")
    before = graph.copy()
    tree = tree_of(graph)
    assert tree.engine == "kruskal"
    # twenty neighbours are enough for the tree of all pairs
    np.testing.assert_allclose(tree.weights, minimum_spanning_tree(X).weights, rtol=1e-12)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(graph, name), getattr(before, name))


def test_neighbours_by_connectivity_are_at_distance_one():
    graph = kneighbors_graph(points("gaussian", 40, 2, seed=0), 8)
    assert set(tree_of(graph).weights) == {1.0}


FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


@pytest.mark.parametrize("container", [sp.coo_array, sp.coo_matrix])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, bool])
def test_every_format_and_type(container, form, dtype):
    edges = [(0, 1, 3), (1, 2, 1), (2, 0, 2), (3, 1, 4), (0, 4, 1)]
    graph = graph_of(edges, 5, container, dtype=dtype).asformat(form)
    if form == "bsr":
        graph = graph.tocsr().tobsr(blocksize=(1, 1))
    if form == "dia":  # whole diagonals, or there are zeros in them
        edges = [(i, i + 1, i + 1) for i in range(4)]
        graph = sp.dia_array((np.arange(5)[None].astype(dtype), [1]), shape=(5, 5))
    expected = [(i, j, np.float64(dtype(w))) for i, j, w in edges]
    assert as_triples(tree_of(graph)) == brute_force(expected, 5)


@pytest.mark.parametrize("graph", [np.eye(4, k=1) + np.eye(4, k=2) * [0, 0, 1, 0]])
def test_padding_is_not_taken_for_edges(graph):
    expected = tree_of(sp.csr_array(graph))
    for padded in (sp.csr_array(graph).tobsr(blocksize=(2, 2)), sp.dia_array(graph)):
        with pytest.raises(ValueError, match="they may be padding"):
            tree_of(padded)
        without = padded.tocsr()
        without.eliminate_zeros()
        assert tree_of(without) == expected


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_indices_of_both_sizes(index):
    graph = kneighbors_graph(points("gaussian", 50, 2, seed=0), 8, mode="distance")
    expected = tree_of(graph)
    graph.indices, graph.indptr = graph.indices.astype(index), graph.indptr.astype(index)
    assert tree_of(graph) == expected


def test_a_stored_zero_is_an_edge():
    graph = graph_of([(0, 1, 0.0), (1, 2, 5.0), (0, 2, 0.0)], 3)
    for form in ("coo", "csr", "csc"):
        tree = tree_of(graph.asformat(form))
        assert as_triples(tree) == [(0, 1, 0.0), (0, 2, 0.0)]
    graph = kneighbors_graph(points("duplicates", 80, 2, seed=0), 12, mode="distance")
    assert (graph.data == 0).any()
    np.testing.assert_array_equal(tree_of(graph).weights[:40], 0.0)


def test_one_direction_or_both():
    upper = [(0, 1, 2.0), (0, 2, 1.0), (1, 2, 3.0)]
    lower = [(j, i, w) for i, j, w in upper]
    expected = brute_force(upper, 3)
    for edges in (upper, lower, upper + lower, upper[:2] + lower[1:]):
        assert as_triples(tree_of(graph_of(edges, 3))) == expected


def test_of_two_directions_that_differ_by_rounding_the_shorter_counts():
    for a, b in ((1.0, 1.0 + 1e-12), (1.0 + 1e-12, 1.0)):
        assert tree_of(graph_of([(0, 1, a), (1, 0, b)], 2)).weights.tolist() == [1.0]
    graph = graph_of([(0, 1, 1.0), (1, 0, 1 + 3e-7)], 2, dtype=np.float32)
    assert tree_of(graph).weights.tolist() == [1.0]


def test_zeros_on_the_diagonal_are_ignored():
    graph = graph_of([(0, 0, 0.0), (0, 1, 2.0), (1, 1, 0.0), (1, 1, -0.0)], 2)
    assert as_triples(tree_of(graph)) == [(0, 1, 2.0)]


def test_one_point():
    for disconnected in ("error", "join", 3.0):
        tree = tree_of(sp.csr_array((1, 1)), disconnected=disconnected)
        assert (tree.n_points, tree.engine) == (1, "kruskal")


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([(0, 1, 1.0), (1, 0, 2.0)], r"both.*entry \(0, 1\) is 1 and entry \(1, 0\) is 2"),
        ([(0, 1, 0.0), (1, 0, 2.0)], r"both.*entry \(0, 1\) is 0 and entry \(1, 0\) is 2"),
        ([(0, 1, 1.0), (2, 1, -2.0)], r"must not be negative, but entry \(2, 1\) is -2"),
        ([(0, 1, 1.0), (2, 1, np.nan)], r"must be finite, but entry \(2, 1\) is NaN"),
        ([(0, 1, 1.0), (2, 1, np.inf)], r"must be finite, but entry \(2, 1\) is inf"),
        ([(0, 1, 1.0), (2, 2, 1.0)], r"zero diagonal, but entry \(2, 2\) is 1"),
        ([(2, 1, 1.0), (0, 1, 1.0), (2, 1, 1.0)], r"entry \(2, 1\) more than once.*sum_dup"),
        ([(1, 2, 1.0), (2, 1, 1.0), (1, 2, 1.0)], r"entry \(1, 2\) more than once"),
        ([(0, 1, 1.0 + 1j)], "Complex data not supported"),
    ],
)
@pytest.mark.parametrize("form", ["coo", "csr"])
def test_wrong_entries_are_named_before_any_work(edges, words, form, monkeypatch):
    monkeypatch.setattr(graph_module, "sort_edges", lambda *_: pytest.fail("work was done"))
    graph = graph_of(edges, 3)
    if form == "csr":  # without adding up what is stored twice
        order = np.argsort(graph.row, kind="stable")
        indptr = np.searchsorted(graph.row[order], np.arange(4))
        graph = sp.csr_array((graph.data[order], graph.col[order], indptr), shape=(3, 3))
    with pytest.raises(ValueError, match=words):
        tree_of(graph)


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match=r"must be square, got shape \(2, 3\)"):
        tree_of(sp.csr_array((2, 3)))
    with pytest.raises(ValueError, match="0 sample"):
        tree_of(sp.csr_array((0, 0)))
    with pytest.raises(ValueError, match=r"must be square, got shape \(3,\)"):
        tree_of(sp.coo_array(np.ones(3)))


APART = [(4, 1, 2.0), (1, 6, 3.0), (0, 5, 1.0), (2, 5, 7.0), (0, 2, 9.0)]  # and point 3


def test_several_components_are_refused():
    with pytest.raises(ValueError, match=r"3 components, the largest with 3 of 7 points.*n_neigh"):
        tree_of(graph_of(APART, 7))
    with pytest.raises(ValueError, match="2 components, the largest with 1 of 2 points"):
        tree_of(sp.csr_array((2, 2)))


def test_components_are_joined_at_their_first_points():
    within = [(0, 5, 1.0), (1, 4, 2.0), (1, 6, 3.0), (2, 5, 7.0)]
    tree = tree_of(graph_of(APART, 7), disconnected="join")
    assert as_triples(tree) == [*within, (0, 1, np.inf), (0, 3, np.inf)]
    # not below 7, the longest edge of a spanning tree: the one of 9 is in none
    for height in (8, 7.5, np.float32(100)):
        tree = tree_of(graph_of(APART, 7), disconnected=height)
        assert as_triples(tree) == [*within, (0, 1, height), (0, 3, height)]
    tree = tree_of(graph_of(APART, 7), disconnected=7.0)
    assert as_triples(tree) == [*within[:3], (0, 1, 7.0), (0, 3, 7.0), (2, 5, 7.0)]
    with pytest.raises(ValueError, match=r"disconnected=6.9 is shorter than .* 7: the 3 comp"):
        tree_of(graph_of(APART, 7), disconnected=6.9)
    assert tree_of(sp.csr_array((3, 3)), disconnected=0.0).weights.tolist() == [0.0, 0.0]


def test_the_longest_hop_between_components_is_the_number_given():
    tree = UltrametricTree.from_data(graph_of(APART, 7), metric="precomputed", disconnected=7.0)
    groups = [(0, 2, 5), (1, 4, 6), (3,)]
    for a in groups:
        for b in groups:
            if a != b:
                assert (tree.distance(np.array(a)[:, None], np.array(b)) == 7.0).all()


class TestInfiniteHeights:
    @pytest.fixture
    def tree(self):
        return UltrametricTree.from_data(
            graph_of(APART, 7), metric="precomputed", disconnected="join"
        )

    def test_distances(self, tree):
        expected = np.full((7, 7), np.inf)
        expected[np.ix_((0, 2, 5), (0, 2, 5))] = [[0, 7, 1], [7, 0, 7], [1, 7, 0]]
        expected[np.ix_((1, 4, 6), (1, 4, 6))] = [[0, 2, 3], [2, 0, 3], [3, 3, 0]]
        expected[3, 3] = 0
        np.testing.assert_array_equal(tree.matrix(), expected)
        np.testing.assert_array_equal(tree.row(4), expected[4])
        indices = np.arange(7)
        np.testing.assert_array_equal(tree.distance(indices[:, None], indices), expected)

    def test_copies_are_equal(self, tree):
        for again in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
            assert again == tree
            assert hash(again) == hash(tree)
            assert again.spanning_tree == tree.spanning_tree
        finite = tree.with_heights(lambda heights: np.minimum(heights, 50.0))
        assert finite != tree
        assert finite.distance(0, 1) == 50.0

    def test_words(self, tree):
        assert "total_weight=inf" in repr(tree.spanning_tree)
        assert repr(tree) == "UltrametricTree(n_points=7, heights=1 … inf)"

    def test_linkage_there_and_back(self, tree):
        assert UltrametricTree.from_linkage(tree.linkage) == tree

    def test_functions_of_heights(self, tree):
        roots = tree.with_heights(np.sqrt)
        assert roots.distance(2, 0) == np.sqrt(7.0)
        assert roots.distance(0, 1) == np.inf
        for wrong in (lambda h: h * np.inf, lambda h: h - 2, lambda h: np.where(h > 9, np.nan, h)):
            with pytest.raises(ValueError, match="increasing"):
                tree.with_heights(wrong)

    def test_products_are_refused(self, tree):
        with pytest.raises(ValueError, match=r"finite distances.*disconnected=<number>"):
            tree @ np.ones(7)

    def test_many_edges_are_sorted(self):
        n = 6000  # beyond what NumPy sorts
        edges = np.column_stack([np.zeros(n, dtype=int), np.arange(1, n + 1)])
        weights = np.where(np.arange(n) % 3, np.arange(n, 0, -1.0), np.inf)
        tree = SpanningTree.from_edges(edges, weights)
        order = np.lexsort((edges[:, 1], weights))
        np.testing.assert_array_equal(tree.weights, weights[order])
        np.testing.assert_array_equal(tree.edges, edges[order])
