"""Outlier scores against their definition, and what one may expect of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from inputs import many, points
from isthmus import SpanningTree, TransitiveKMeans, UltrametricTree, outlier_scores, outliers
from isthmus.outliers import find_reference_groups, scores_of_new_points
from oracles.outliers import joining_heights, scores


def tree_of(X):
    return UltrametricTree.from_data(X)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(70, largest=40))
def test_scores_are_those_of_the_definition(kind, n, d, seed):
    tree = tree_of(points(kind, n, d, seed))
    rng = np.random.default_rng(seed)
    matrix = tree.matrix()
    point_weights = rng.integers(1, 5, size=n)
    for weights in (None, point_weights, point_weights * 1.7):
        for size in (None, 3, 7.5, 10 * n):
            found = outlier_scores(tree, weights, reference_size=size)
            expected = scores(matrix, weights, size)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
            assert found.min() >= 0.0
            assert found.max() <= 1.0


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=25),
    st.randoms(use_true_random=False),
    st.sampled_from([1e-9, 1.0, 3.0, 1e200]),
)
@settings(max_examples=60, deadline=None)
def test_neither_order_nor_unit_matters_and_equal_points_have_equal_scores(line, random, unit):
    X = np.array(line, dtype=float)[:, None]
    found = outlier_scores(tree_of(X))
    order = random.sample(range(len(X)), len(X))
    moved = outlier_scores(tree_of(X[order] * unit))
    np.testing.assert_allclose(moved, found[order], rtol=0, atol=1e-12)
    for value in set(line):
        assert len(set(found[np.array(line) == value])) == 1


@pytest.mark.parametrize("seed", range(10))
def test_a_weight_is_so_many_copies(seed):
    X = points("lattice", 40, 2, seed)
    point_weights = np.random.default_rng(seed).integers(1, 9, size=40)
    found = outlier_scores(tree_of(X), point_weights)
    copies = np.repeat(np.arange(40), point_weights)
    expected = outlier_scores(tree_of(X[copies]))
    np.testing.assert_allclose(found[copies], expected, rtol=0, atol=1e-12)


def test_shares_of_a_whole_rank_as_counts_do():
    X = points("blobs", 200, 2, 0)
    tree = tree_of(X)
    np.testing.assert_allclose(
        outlier_scores(tree, np.full(200, 1 / 200)), outlier_scores(tree), rtol=0, atol=1e-12
    )


def test_a_lone_point_near_one_a_dense_cluster_near_zero_a_sparse_one_as_well():
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(200, 2)) * 0.05
    sparse = rng.normal(size=(200, 2)) * 2.0 + [30.0, 0.0]
    far = np.array([[0.0, 40.0], [60.0, 40.0], [60.05, 40.0], [-40.0, 0.0], [-40.0, 0.1]])
    found = outlier_scores(tree_of(np.vstack([dense, sparse, far])))
    assert found[400:].min() > 0.9
    assert np.median(found[:200]) < 0.3
    assert np.median(found[200:400]) < 0.3


@pytest.mark.parametrize("seed", range(5))
def test_moving_an_outlier_farther_never_lowers_its_score(seed):
    cloud = np.random.default_rng(seed).normal(size=(100, 2))
    last = 0.0
    for distance in np.linspace(5.0, 1000.0, 60):
        found = outlier_scores(tree_of(np.vstack([cloud, [[distance, 0.0]]])))[-1]
        assert found >= last
        last = found
    assert last > 0.98


def test_noise_round_clusters_is_found():
    """Clusters of three scales in uniform noise."""
    rng = np.random.default_rng(0)
    scales = np.repeat([0.05, 0.3, 1.0], 200)
    centres = np.repeat([[0.0, 0.0], [4.0, 0.0], [0.0, 8.0]], 200, axis=0)
    clouds = centres + rng.normal(size=(600, 2)) * scales[:, None]
    noise = rng.uniform([-6, -6], [10, 16], size=(60, 2))
    truth = np.repeat([0, 1], [600, 60])
    assert roc_auc_score(truth, outlier_scores(tree_of(np.vstack([clouds, noise])))) > 0.97


def test_infinite_distances():
    tree = UltrametricTree.from_linkage(
        [[0, 1, 1.0, 2], [2, 6, 1.0, 3], [3, 7, 2.0, 4], [8, 4, np.inf, 5], [9, 5, np.inf, 6]]
    )
    found = outlier_scores(tree)
    np.testing.assert_allclose(found[4:], 4 / 6)
    np.testing.assert_allclose(found, scores(tree.matrix()), atol=1e-12)


def test_the_longest_heights_do_not_overflow():
    edges = np.column_stack([np.arange(99), np.arange(1, 100)])
    heights = np.linspace(1e306, 1.7e308, 99)
    large, small = (
        outlier_scores(
            UltrametricTree.from_spanning_tree(SpanningTree.from_edges(edges, heights * scale))
        )
        for scale in (1.0, 1e-300)
    )
    np.testing.assert_allclose(large, small, rtol=0, atol=1e-12)


def test_a_path_in_several_calls(monkeypatch):
    tree = tree_of(points("line", 200, 1, 0))
    expected = outlier_scores(tree)
    monkeypatch.setattr(outliers, "CHUNK", 7)
    np.testing.assert_array_equal(outlier_scores(tree), expected)


def test_one_point_and_equal_points():
    assert outlier_scores(tree_of([[1.0]])).tolist() == [0.0]
    assert outlier_scores(tree_of([[1.0]] * 9)).tolist() == [0.0] * 9


@pytest.mark.parametrize("seed", range(6))
def test_new_points_are_scored_as_points_without_weight(seed):
    """Almost without weight, on the tree, they have almost the same score."""
    X = points("blobs", 80, 2, seed)
    y = np.random.default_rng(seed).uniform(-15, 15, size=2)
    known = find_reference_groups(tree_of(X))
    with_it = tree_of(np.vstack([X, y]))
    row = with_it.matrix()[-1:, :-1]
    point_weights = np.append(np.ones(80), 1e-13)
    found = scores_of_new_points(row, known)
    matrix, heights = with_it.matrix(), known.heights
    height = joining_heights(matrix, point_weights, known.least)[-1]
    group = row[0] <= height
    expected = 1 - (np.minimum(heights[group], height) / height).mean()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_of_an_estimator():
    X = points("blobs", 120, 2, 0)
    model = TransitiveKMeans(3).fit(X)
    np.testing.assert_array_equal(model.outlier_scores_, outlier_scores(model.tree_))
    assert model.outlier_scores_ is model.outlier_scores_
    weights = np.arange(120) % 4
    model.fit(X, sample_weight=weights)
    assert model.outlier_scores_.shape == (120,)
    np.testing.assert_array_equal(
        model.outlier_scores_[weights > 0],
        outlier_scores(model.tree_, weights[weights > 0]),
    )
    inside = (model.outlier_scores_ >= 0) & (model.outlier_scores_ <= 1)
    assert inside.all()
    assert not hasattr(TransitiveKMeans(), "outlier_scores_")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"sample_weight": [1.0]}, ValueError, "one number for each of 3 rows"),
        ({"sample_weight": [1.0, 0.0, 1.0]}, ValueError, "that of point 1 is 0"),
        ({"sample_weight": [1.0, np.nan, 1.0]}, ValueError, "that of row 1 is nan"),
        ({"reference_size": 0}, ValueError, "reference_size must be above 0"),
        ({"reference_size": "few"}, TypeError, "reference_size must be a number"),
    ],
)
def test_wrong_arguments(arguments, error, words):
    with pytest.raises(error, match=words):
        outlier_scores(tree_of([[0.0], [1.0], [2.0]]), **arguments)
    with pytest.raises(TypeError, match="Expected an UltrametricTree"):
        outlier_scores([[0.0]])
