"""CUT from below against the rule applied edge by edge."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

from inputs import KINDS, many, points
from isthmus import SpanningTree, TransitiveCut, UltrametricTree
from isthmus.cut import cut_hierarchy
from isthmus.cut import merge_order as merge_order_module
from isthmus.cut.merge_order import merge_order
from oracles.dense import joins


def partition(labels):
    return {frozenset(np.flatnonzero(np.asarray(labels) == a).tolist()) for a in set(labels)}


def random_tree(rng, n, weights, hubs=False):
    """A tree of edges in any shape; with hubs, most points are adjacent to a few."""
    edges = [(int(rng.integers(min(i, 3) if hubs else i)), i) for i in range(1, n)]
    tree = SpanningTree.from_edges(np.array(edges).reshape(-1, 2), weights)
    return UltrametricTree.from_spanning_tree(tree)


def assert_obeys_the_rule(tree, point_weights=None):
    n = tree.n_points
    order, scores, parts = joins(n, tree.spanning_tree.edges, tree.heights, point_weights)
    weight = np.ones(n) if point_weights is None else point_weights
    found, found_scores = merge_order(tree.spanning_tree.edges, tree.heights, weight)
    assert found.tolist() == order
    np.testing.assert_allclose(found_scores, scores, rtol=1e-14)
    hierarchy = cut_hierarchy(tree, sample_weight=point_weights)
    Z = hierarchy.linkage
    np.testing.assert_allclose(Z[:, 2], scores, rtol=1e-14)
    for k in {1, 2, 3, n // 2, n - 1, n} & set(range(1, n + 1)):
        expected = parts[n - k - 1] if k < n else list(range(n))
        assert partition(hierarchy.labels_for(k)) == partition(expected)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), [p for p in many(49, largest=40) if p[1] > 1])
def test_points_of_every_kind(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    assert_obeys_the_rule(tree)
    rng = np.random.default_rng(seed)
    assert_obeys_the_rule(tree, rng.integers(1, 4, size=n).astype(float))
    assert_obeys_the_rule(tree, rng.uniform(0.1, 3.0, size=n))


@pytest.mark.parametrize("listed", [0, 2, 16])
@pytest.mark.parametrize("seed", range(6))
def test_hubs_and_ties(monkeypatch, seed, listed):
    """Many edges of few lengths into few parts: groups meet, die and are refilled.

    As plain Python, which sees how many groups are listed.
    """
    monkeypatch.setattr(merge_order_module, "_LISTED", listed)
    in_python = merge_order_module.merge_parts.function
    monkeypatch.setattr(merge_order_module, "merge_parts", in_python)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 50))
    few = [np.array([1.0]), np.array([0.0, 1.0, 2.0]), np.linspace(1, 2, 40)][seed % 3]
    tree = random_tree(rng, n, rng.choice(few, size=n - 1), hubs=seed % 2 == 0)
    assert_obeys_the_rule(tree)
    assert_obeys_the_rule(tree, rng.integers(1, 3, size=n).astype(float))


@pytest.mark.parametrize("shape", ["star", "path", "comb"])
@pytest.mark.parametrize("equal", [True, False])
def test_shapes(shape, equal):
    n = 60
    child = np.arange(1, n)
    parent = {"star": child * 0, "path": child - 1, "comb": np.maximum(child - 2, 0) // 2 * 2}
    weights = np.ones(n - 1) if equal else np.random.default_rng(0).uniform(1, 2, size=n - 1)
    edges = np.column_stack([parent[shape], child])
    tree = UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, weights))
    assert_obeys_the_rule(tree)


@pytest.mark.parametrize("kind", KINDS)
def test_the_linkage_is_scipys_and_nested(kind):
    n = 200
    tree = UltrametricTree.from_data(points(kind, n, 2, 0))
    hierarchy = cut_hierarchy(tree)
    Z = hierarchy.linkage
    assert is_valid_linkage(Z, throw=True)
    assert (np.diff(Z[:, 2]) >= 0).all()
    coarse = np.zeros(n, dtype=int)
    for k in range(1, n + 1):
        fine = hierarchy.labels_for(k)
        sizes = np.bincount(fine)
        assert len(sizes) == k
        assert (np.diff(sizes) <= 0).all()
        # one cluster of the coarser labelling was divided in two, and no other
        assert len(set(zip(coarse.tolist(), fine.tolist(), strict=True))) == k
        if k == 1 or Z[n - k, 2] > Z[n - k - 1, 2]:
            assert partition(fcluster(Z, k, "maxclust")) == partition(fine)
        coarse = fine


def test_infinite_edges_join_last_and_small_parts_first():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, n_infinite = 20, int(rng.integers(1, 6))
        weights = rng.uniform(0.1, 1.0, size=n - 1)
        weights[rng.permutation(n - 1)[:n_infinite]] = np.inf
        tree = random_tree(np.random.default_rng(seed), n, weights)
        Z = cut_hierarchy(tree).linkage
        assert np.isinf(Z[:, 2]).tolist() == [False] * (n - 1 - n_infinite) + [True] * n_infinite
        large = tree.with_heights(lambda h: np.minimum(h, 1e9))
        np.testing.assert_array_equal(Z[:, :2], cut_hierarchy(large).linkage[:, :2])


@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1e300])
def test_scale_changes_heights_alone(scale):
    tree = UltrametricTree.from_data(points("blobs", 60, 2, 0))
    weights = np.random.default_rng(0).uniform(1.0, 2.0, size=60)
    Z = cut_hierarchy(tree, sample_weight=weights).linkage
    scaled_tree = tree.with_heights(lambda h: h * scale)
    scaled = cut_hierarchy(scaled_tree, sample_weight=weights).linkage
    np.testing.assert_array_equal(scaled[:, [0, 1, 3]], Z[:, [0, 1, 3]])
    np.testing.assert_allclose(scaled[:, 2], Z[:, 2] * scale, rtol=1e-12)
    heavy = cut_hierarchy(tree, sample_weight=weights * 1e100).linkage
    np.testing.assert_array_equal(heavy[:, [0, 1, 3]], Z[:, [0, 1, 3]])
    np.testing.assert_allclose(heavy[:, 2], Z[:, 2] * 1e100, rtol=1e-12)


def test_copies_join_as_weights_do():
    X = points("gaussian", 30, 2, 0)
    weights = np.random.default_rng(0).integers(1, 4, size=30)
    copies = np.repeat(np.arange(30), weights)
    weighted = cut_hierarchy(UltrametricTree.from_data(X), sample_weight=weights)
    repeated = cut_hierarchy(UltrametricTree.from_data(X[copies]))
    for k in range(1, 31):
        labels = weighted.labels_for(k)
        assert partition(labels[copies]) == partition(repeated.labels_for(k))


def test_of_a_fit():
    X = np.random.default_rng(0).normal(size=(90, 2))
    weights = np.arange(90) % 3.0  # every third row is not fitted
    fitted = weights > 0
    model = TransitiveCut(3).fit(X, sample_weight=weights)
    found = cut_hierarchy(model.tree_, sample_weight=weights[fitted])
    expected = cut_hierarchy(UltrametricTree.from_data(X[fitted]), sample_weight=weights[fitted])
    np.testing.assert_array_equal(found.linkage, expected.linkage)


def test_few_points():
    one = cut_hierarchy(UltrametricTree.from_data([[1.0]]))
    assert one.linkage.shape == (0, 4)
    assert one.labels_for(1).tolist() == [0]
    two = cut_hierarchy(UltrametricTree.from_data([[1.0], [3.0]])).linkage
    assert two.tolist() == [[0.0, 1.0, 1.0, 2.0]]


def test_many_joins_take_several_calls(monkeypatch):
    tree = UltrametricTree.from_data(points("blobs", 300, 2, 0))
    expected = cut_hierarchy(tree).linkage
    monkeypatch.setattr(merge_order_module, "_STEPS", 7)
    np.testing.assert_array_equal(cut_hierarchy(tree).linkage, expected)


def test_errors():
    tree = UltrametricTree.from_data([[0.0], [1.0], [5.0]])
    with pytest.raises(TypeError, match=r"UltrametricTree\.from_data"):
        cut_hierarchy([[0.0], [1.0]])
    with pytest.raises(ValueError, match="that of point 1 is 0"):
        cut_hierarchy(tree, sample_weight=[1, 0, 1])
    with pytest.raises(ValueError, match="n_clusters=4"):
        cut_hierarchy(tree).labels_for(4)
