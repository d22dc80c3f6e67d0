"""Consistency against Definition 2 by brute force, and against the dense matrix."""

import numpy as np
import pytest
from scipy.sparse import coo_array

from inputs import KINDS, many, points
from isthmus import SpanningTree, TransitiveKMeans, UltrametricTree
from isthmus.metrics.pairwise import distance_matrix
from isthmus.theory import consistency
from oracles.dense import minimax_matrix
from oracles.theory import consistent_clusters, is_consistent, partitions


def labellings(tree, seed):
    """Labels of many kinds: cuts of the tree, random ones, one cluster, one for each point."""
    rng = np.random.default_rng(seed)
    n = tree.n_points
    yield np.zeros(n, dtype=int)
    yield np.arange(n)
    for k in (2, 3, 7):
        yield rng.integers(0, k, size=n)
    for merge in rng.integers(0, 2 * n - 1, size=4):
        inside = np.zeros(n, dtype=int)
        inside[tree.members(int(merge))] = 1
        yield inside
    for height in rng.choice(np.append(0.0, tree.heights), size=4):
        yield (tree.matrix() <= height).argmax(axis=1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 1), (3, 2), (5, 1), (6, 2)])
def test_every_labelling_is_judged_as_definition_2_does(kind, n, d):
    X = points(kind, n, d, seed=n)
    tree = UltrametricTree.from_data(X)
    base = distance_matrix(X)
    for labels in partitions(n):
        found = consistency(tree, labels).consistent
        assert found == is_consistent(base, labels) == is_consistent(minimax_matrix(base), labels)


@pytest.mark.parametrize("seed", range(3))
def test_eight_points_with_ties(seed):
    X = np.random.default_rng(seed).integers(0, 9, size=(8, 1)).astype(float)
    tree, base = UltrametricTree.from_data(X), distance_matrix(X)
    verdicts = []
    for labels in partitions(8):
        verdicts.append(consistency(tree, labels).consistent)
        assert verdicts[-1] == is_consistent(base, labels)
    assert 0 < sum(verdicts) < len(verdicts)


@pytest.mark.parametrize("seed", range(2))
def test_ten_points_with_ties(seed):
    """Every consistent labelling of the 115,975, and every fiftieth of the others."""
    X = np.random.default_rng(seed).integers(0, 12, size=(10, 1)).astype(float)
    tree = UltrametricTree.from_data(X)
    clusters = consistent_clusters(distance_matrix(X))
    n_consistent = 0
    for number, labels in enumerate(partitions(10)):
        sets = [[i for i in range(10) if labels[i] == c] for c in set(labels)]
        expected = clusters.issuperset(map(frozenset, sets))
        if expected or number % 50 == 0:
            assert consistency(tree, labels).consistent == expected
            n_consistent += expected
    assert n_consistent > 1


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(56))
def test_gaps_and_witnesses_are_those_of_the_matrix(kind, n, d, seed):
    X = points(kind, n, d, seed)
    tree = UltrametricTree.from_data(X)
    D, base = tree.matrix(), distance_matrix(X)
    for labels in labellings(tree, seed):
        found = consistency(tree, labels)
        np.testing.assert_array_equal(found.clusters, np.unique(labels))
        for c, label in enumerate(found.clusters):
            own = labels == label
            assert found.sizes[c] == own.sum()
            assert found.inside[c] == D[np.ix_(own, own)].max()
            i, j = found.inside_pairs[c]
            assert labels[i] == labels[j] == label
            assert D[i, j] == found.inside[c]
            if own.all():
                assert found.outside[c] == found.margins[c] == np.inf
                assert found.outside_pairs[c].tolist() == [-1, -1]
                continue
            across = D[np.ix_(own, ~own)].min()
            assert found.outside[c] == across == base[np.ix_(own, ~own)].min()
            i, j = found.outside_pairs[c]
            assert labels[i] == label != labels[j]
            assert D[i, j] == base[i, j] == across
            assert found.margins[c] == across - found.inside[c]
            assert (label in found.failing) == (found.inside[c] >= across)
        assert found.consistent == (len(found.failing) == 0)


@pytest.mark.parametrize(
    "names",
    [
        np.array(["near", "far", "apart"]),
        np.array([-7, 12, 3]),
        np.array([5, 200, 7], dtype=np.uint8),
        np.array([2**63 + 5, 2**64 - 1, 2**63 + 7], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1, 0]),
        np.array(["one", "two", "three"], dtype=object),
        np.array([0.5, 2.5, 1.0]),
    ],
    ids=["strings", "integers", "bytes", "uint64", "far apart", "objects", "floats"],
)
def test_labels_of_any_type(names):
    tree = UltrametricTree.from_data(points("blobs", 60, 2, seed=2))
    codes = np.random.default_rng(0).integers(0, 3, size=60)
    codes[:3] = 0, 1, 2
    expected, found = consistency(tree, codes), consistency(tree, names[codes])
    order = np.argsort(names)
    assert found.clusters.tolist() == names[order].tolist()
    for name in ("sizes", "inside", "outside", "margins", "inside_pairs", "outside_pairs"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name)[order])
    assert consistency(tree, names[codes].tolist()).sizes.tolist() == found.sizes.tolist()


def test_equal_points_in_two_clusters_are_not_consistent():
    tree = UltrametricTree.from_data([[0.0], [0.0], [4.0]])
    found = consistency(tree, [0, 1, 2])
    assert not found.consistent
    assert found.failing.tolist() == [0, 1]
    assert found.margins.tolist() == [0.0, 0.0, 4.0]
    assert consistency(tree, [0, 0, 2]).consistent


def test_equal_is_not_smaller():
    tree = UltrametricTree.from_data([[0.0], [1.0], [2.0]])
    found = consistency(tree, [0, 0, 1])
    assert found.failing.tolist() == [0]
    assert found.margins.tolist() == [0.0, 1.0]


def test_components_that_nothing_connects():
    graph = coo_array(([1.0, 2.0], ([0, 2], [1, 3])), shape=(4, 4))
    tree = UltrametricTree.from_data(graph, metric="precomputed", disconnected="join")
    apart = consistency(tree, [0, 0, 1, 1])
    assert apart.consistent
    assert apart.margins.tolist() == [np.inf, np.inf]
    assert apart.outside_pairs[:, 0].tolist() in ([0, 2], [0, 3], [1, 2], [1, 3])
    assert consistency(tree, [0, 0, 0, 0]).consistent
    across = consistency(tree, [0, 1, 1, 1])
    assert across.failing.tolist() == [1]
    assert across.margins.tolist() == [1.0, -np.inf]
    graph = coo_array(([1.0], ([0], [1])), shape=(4, 4))
    tree = UltrametricTree.from_data(graph, metric="precomputed", disconnected="join")
    both = consistency(tree, [0, 0, 1, 1])
    assert both.failing.tolist() == [1]
    assert both.margins.tolist() == [np.inf, 0.0]


def test_a_million_points():
    n = 1_000_000
    weights = 1.0 + np.arange(n - 1) % 7
    weights[[99_999, 499_999]] = 10.0, 20.0
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))
    labels = np.repeat([3, 1, 2], [100_000, 400_000, 500_000])
    found = consistency(tree, labels)
    assert found.consistent
    assert found.outside.tolist() == [10.0, 20.0, 10.0]
    assert found.margins.tolist() == [3.0, 13.0, 3.0]
    labels[5] = 1
    assert consistency(tree, labels).failing.tolist() == [1, 3]


def test_a_clustering_can_be_judged_by_its_tree():
    X = points("blobs", 200, 2, seed=0)
    model = TransitiveKMeans(4).fit(X)
    found = consistency(model.tree_, model.labels_)
    assert found.sizes.tolist() == np.bincount(model.labels_).tolist()


def test_the_table_and_the_line():
    tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [7.0], [9.0]])
    found = consistency(tree, ["a", "a", "b", "b", "c"])
    assert repr(found) == (
        "Consistency(consistent=False, n_clusters=3, failing=1, smallest_margin=0)"
    )
    assert str(found).splitlines() == [
        "3 clusters, 1 of them not consistent",
        "cluster  points  inside  outside  margin",
        "      a       2       1        4       3",
        "      b       2       2        2       0 !",
        "      c       1       0        2       2",
    ]
    assert str(consistency(tree, [0] * 5)).startswith("1 cluster, consistent\n")
    lines = str(consistency(UltrametricTree.from_data(np.eye(30)), range(30))).splitlines()
    assert len(lines) == 23
    assert lines[-1] == "… and 10 clusters with larger margins"


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        ([0, 1], ValueError, "one label for each of 3 points.*got shape \\(2,\\)"),
        ([[0], [1], [2]], ValueError, "got shape \\(3, 1\\)"),
        (0, ValueError, "got shape \\(\\)"),
        ([0.0, np.nan, 1.0], ValueError, "NaN or infinity, but point 1"),
        (np.array([1, "a", None], dtype=object), TypeError, "comparable"),
    ],
)
def test_what_is_no_labelling_is_refused(labels, error, words):
    with pytest.raises(error, match=words):
        consistency(UltrametricTree.from_data([[0.0], [1.0], [3.0]]), labels)


def test_what_is_no_tree_is_refused():
    with pytest.raises(TypeError, match=r"Expected an UltrametricTree.*from_data"):
        consistency([[0.0], [1.0]], [0, 1])
