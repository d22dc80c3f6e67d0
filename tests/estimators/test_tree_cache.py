"""memory=: a spanning tree is found once for the same content, and never for another."""

import joblib
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist
from sklearn.neighbors import kneighbors_graph

from clusterers import clusterer
from inputs import points
from isthmus import TransitiveKMeans, minimum_spanning_tree
from isthmus.estimators import fitting, tree_cache
from isthmus.spanning_tree.neighborhood import find_neighborhood_tree


@pytest.fixture
def found(monkeypatch):
    """The data of which trees were found, in order."""
    calls = []

    def counting(data, *args, **named):
        calls.append(data)
        return find_neighborhood_tree(data, *args, **named)

    monkeypatch.setattr(tree_cache, "find_neighborhood_tree", counting)
    monkeypatch.setattr(fitting, "find_neighborhood_tree", counting)
    return calls


def test_other_clusterings_of_the_same_data_share_a_tree(tmp_path, found):
    X = points("blobs", 80, 2, seed=0)
    for changed in (
        {},
        {"n_clusters": 5},
        {"method": "cut"},
        {"method": "embedding", "power": 0.5},
        {"init": "random", "random_state": 0},
        {"n_jobs": 2},
        {"verbose": lambda *_: None},
        {"memory_limit": "1GB"},
        {"metric": "l2"},
    ):
        parameters = {"n_clusters": 3, **changed}
        model = clusterer(**parameters, memory=str(tmp_path)).fit(X.copy())
        expected = clusterer(**parameters).fit(X)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        assert model.spanning_tree_ == expected.spanning_tree_
        assert model.spanning_tree_.engine == expected.spanning_tree_.engine
        assert not model.spanning_tree_.edges.flags.writeable
    assert len(found) == 1 + 9  # once for the memory, and each time without


def test_data_changed_in_place_have_another_tree(tmp_path, found):
    X = points("blobs", 60, 2, seed=0)
    model = TransitiveKMeans(3, memory=tmp_path).fit(X)
    X[7] += 100.0
    model.fit(X)
    assert len(found) == 2
    assert model.spanning_tree_ == minimum_spanning_tree(X)
    X[7] -= 100.0
    X[8, 1] = np.nextafter(X[8, 1], np.inf)
    model.fit(X)
    assert len(found) == 3
    assert model.spanning_tree_ == minimum_spanning_tree(X)


def test_what_determines_the_tree_is_in_the_key(tmp_path, found):
    X = np.abs(points("blobs", 60, 3, seed=0)) + 0.1
    weights = (np.arange(60) % 3 > 0).astype(float)
    D = cdist(X, X)
    graph = kneighbors_graph(X, 8, mode="distance")
    fits = [
        ({}, X, None),
        ({}, X.astype(np.float32), None),
        ({}, X[:, ::-1].copy(), None),
        ({}, csr_array(X), None),
        ({}, X, weights),
        ({"metric": "manhattan"}, X, None),
        ({"metric": "minkowski", "metric_params": {"p": 3}}, X, None),
        ({"metric": "minkowski", "metric_params": {"p": 4}}, X, None),
        ({"metric_params": {"w": np.array([1.0, 2.0, 3.0])}}, X, None),
        ({"metric_params": {"w": np.array([1.0, 2.0, 4.0])}}, X, None),
        ({"metric": "canberra"}, X, None),
        ({"metric": "precomputed"}, D, None),
        ({"metric": "precomputed"}, pdist(X), None),
        ({"metric": "precomputed", "disconnected": 100.0}, graph, None),
        ({"metric": "precomputed", "disconnected": 200.0}, graph, None),
    ]
    for n_found, (parameters, data, sample_weight) in enumerate(fits):
        for _ in range(2):
            assert len(found) in (n_found, n_found + 1)
            model = TransitiveKMeans(3, memory=tmp_path, **parameters)
            model.fit(data, sample_weight=sample_weight)
        assert len(found) == n_found + 1
        expected = TransitiveKMeans(3, **parameters).fit(data, sample_weight=sample_weight)
        found.pop()
        assert model.spanning_tree_ == expected.spanning_tree_
        np.testing.assert_array_equal(model.labels_, expected.labels_)


def test_another_version_finds_its_own(tmp_path, found, monkeypatch):
    X = points("blobs", 30, 2, seed=0)
    TransitiveKMeans(3, memory=tmp_path).fit(X)
    monkeypatch.setattr(tree_cache, "__version__", "another")
    TransitiveKMeans(3, memory=tmp_path).fit(X)
    assert len(found) == 2


@pytest.mark.parametrize("mmap_mode", [None, "r"])
def test_a_memory_of_joblib(tmp_path, found, mmap_mode):
    memory = joblib.Memory(tmp_path, verbose=0, mmap_mode=mmap_mode)
    X = points("blobs", 50, 2, seed=0)
    models = [TransitiveKMeans(k, memory=memory).fit(X) for k in (2, 4)]
    assert len(found) == 1
    assert models[1].tree_ == models[0].tree_
    models[1].save(tmp_path / "model")
    assert TransitiveKMeans.load(tmp_path / "model").memory is None


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": lambda a, b: float(abs(a - b).sum())},
        {"metric": "pyfunc", "metric_params": {"func": cdist}},
    ],
)
def test_functions_are_refused(tmp_path, parameters):
    model = TransitiveKMeans(2, memory=tmp_path / "cache", **parameters)
    with pytest.raises(ValueError, match="what a function computes cannot be told"):
        model.fit(points("blobs", 20, 2, seed=0))
    assert not (tmp_path / "cache").exists()


def test_without_memory_functions_are_welcome(found):
    X = points("blobs", 20, 2, seed=0)
    TransitiveKMeans(2, metric=lambda a, b: float(abs(a - b).sum())).fit(X)
    assert len(found) == 1
