"""TransitiveEmbedding as a scikit-learn user meets it."""

import doctest

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.base import clone
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from inputs import CityBlock, points
from isthmus import TransitiveEmbedding, UltrametricTree
from isthmus.estimators import transitive_embedding
from isthmus.ultrametric import tree as tree_module


@parametrize_with_checks(
    [
        TransitiveEmbedding(),
        TransitiveEmbedding(n_components=None),
        TransitiveEmbedding(metric=CityBlock(), power=0.5),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_leading_coordinates_of_the_tree():
    X = points("blobs", 80, 3, seed=0)
    model = TransitiveEmbedding(n_components=3)
    found = model.fit_transform(X)
    tree = UltrametricTree.from_data(X)
    np.testing.assert_array_equal(found, tree.embedding().toarray()[:, :3])
    np.testing.assert_array_equal(model.embedding_, found)
    assert model.tree_ == tree
    assert model.n_features_in_ == 3
    full = tree.embedding().toarray().var(axis=0)
    np.testing.assert_allclose(model.explained_variance_ratio_, full[:3] / full.sum())
    everything = TransitiveEmbedding(n_components=None).fit(X)
    assert everything.explained_variance_ratio_.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(squareform(pdist(everything.embedding_)), tree.matrix(), rtol=1e-12)


def test_distances_are_raised_to_the_power():
    X = points("gaussian", 40, 2, seed=0)
    model = TransitiveEmbedding(n_components=None, power=0.5).fit(X)
    expected = np.sqrt(model.tree_.matrix())
    np.testing.assert_allclose(squareform(pdist(model.embedding_)), expected, rtol=1e-12)


def test_the_first_coordinate_tells_two_groups_apart():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(70, 2)) + 30.0])
    coordinate = TransitiveEmbedding(n_components=1).fit_transform(X)[:, 0]
    assert len(np.unique(coordinate[:50])) == len(np.unique(coordinate[50:])) == 1
    assert coordinate[0] * coordinate[-1] < 0


def test_names_frames_and_pipelines():
    X = points("blobs", 60, 2, seed=0)
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(100, 160))
    model = TransitiveEmbedding().set_output(transform="pandas")
    found = model.fit_transform(frame)
    names = ["transitiveembedding0", "transitiveembedding1"]
    assert found.columns.tolist() == model.get_feature_names_out().tolist() == names
    assert found.index.tolist() == frame.index.tolist()
    assert model.feature_names_in_.tolist() == ["a", "b"]
    scaled = make_pipeline(StandardScaler(), TransitiveEmbedding()).fit_transform(X)
    expected = TransitiveEmbedding().fit_transform(StandardScaler().fit_transform(X))
    np.testing.assert_array_equal(scaled, expected)
    assert not hasattr(model, "transform")


def test_every_kind_of_input():
    X = points("gaussian", 50, 3, seed=0)
    expected = TransitiveEmbedding().fit_transform(X)
    precomputed = TransitiveEmbedding(metric="precomputed")
    for distances in (cdist(X, X), pdist(X)):
        np.testing.assert_allclose(precomputed.fit_transform(distances), expected, rtol=1e-9)
    assert precomputed.n_features_in_ == 50
    np.testing.assert_allclose(TransitiveEmbedding().fit_transform(csr_array(X)), expected)
    words = TransitiveEmbedding(metric=lambda a, b: abs(len(a) - len(b)))
    assert words.fit_transform(["a", "bb", "cccc"]).shape == (3, 2)
    two_groups = np.concatenate([X, X + 100.0])
    graph = kneighbors_graph(two_groups, 10, mode="distance")
    graph = graph.maximum(graph.T)
    with pytest.raises(ValueError, match="components"):
        precomputed.fit(graph)
    with pytest.raises(ValueError, match="infinitely far apart"):
        clone(precomputed).set_params(disconnected="join").fit(graph)
    joined = clone(precomputed).set_params(disconnected=50.0).fit(graph)
    assert joined.tree_.distance(0, 50) == 50.0


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"n_components": 0}, ValueError, "n_components must be at least 1"),
        ({"n_components": 10}, ValueError, "n_samples=10 should be > n_components=10"),
        ({"n_components": "2"}, TypeError, "n_components must be an integer"),
        ({"metric": "nope"}, ValueError, "Unknown metric"),
        ({"power": 0}, ValueError, "power must be above 0"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"disconnected": -1.0}, ValueError, "disconnected"),
    ],
)
def test_wrong_parameters_are_refused_before_any_work(parameters, error, words):
    with pytest.raises(error, match=words):
        TransitiveEmbedding(**parameters).fit(points("gaussian", 10, 2, seed=0))


def test_points_that_coincide_and_a_single_one():
    model = TransitiveEmbedding().fit(points("all equal", 5, 2, seed=0))
    assert not model.embedding_.any()
    assert model.explained_variance_ratio_.tolist() == [0.0, 0.0]
    assert TransitiveEmbedding(n_components=None).fit_transform([[1.0, 2.0]]).shape == (1, 0)


def test_the_examples():
    for module in (transitive_embedding, tree_module):
        assert doctest.testmod(module).failed == 0
