"""Estimators on distances that a user computed: square, condensed, and sparse graphs."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.estimator_checks import parametrize_with_checks

from clusterers import clusterer
from inputs import points
from isthmus import KMeansDuality, TransitiveCut, TransitiveKMeans
from isthmus.evaluation import error_rate
from isthmus.metrics import precomputed

NEEDS_SQUARE = "gives a table of points to an estimator of distances"


@parametrize_with_checks(
    [
        TransitiveKMeans(metric="precomputed"),
        KMeansDuality(metric="precomputed", random_state=0),
    ],
    expected_failed_checks=lambda _: {
        "check_estimators_nan_inf": NEEDS_SQUARE,
        "check_clustering": NEEDS_SQUARE,
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def clouds():
    """Three clouds far apart, which of them each point is from, and a neighbour graph."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), (60, 30, 10))
    X = rng.normal(size=(100, 2)) + 1000.0 * labels[:, None]
    order = rng.permutation(len(X))
    graph = kneighbors_graph(X[order], 4, mode="distance")
    return X[order], labels[order], graph


def test_every_form_gives_the_same_clusters():
    X = points("blobs", 80, 3, seed=0)
    expected = TransitiveKMeans(4).fit(X)
    condensed = pdist(X)
    square = squareform(condensed)
    for form in (square, condensed, csr_array(square), csr_array(np.triu(square)), list(condensed)):
        found = TransitiveKMeans(4, metric="precomputed").fit(form)
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        np.testing.assert_array_equal(found.spanning_tree_.edges, expected.spanning_tree_.edges)
        assert found.n_features_in_ == 80


def test_names_of_columns_are_those_of_the_last_fit():
    square = squareform(pdist(points("blobs", 12, 2, seed=0)))
    names = [f"p{i}" for i in range(12)]
    model = TransitiveKMeans(2, metric="precomputed").fit(pd.DataFrame(square, columns=names))
    assert model.feature_names_in_.tolist() == names
    model.fit(squareform(square))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 12


def test_distances_are_checked_once(monkeypatch):
    calls = []
    original = precomputed._check_square
    monkeypatch.setattr(precomputed, "_check_square", lambda a: calls.append(a) or original(a))
    square = squareform(pdist(points("blobs", 12, 2, seed=0)))
    for estimator in (TransitiveKMeans(2), KMeansDuality(2, random_state=0)):
        calls.clear()
        estimator.set_params(metric="precomputed").fit(square)
        assert len(calls) == 1


def test_a_matrix_in_a_file_stays_there(tmp_path):
    square = squareform(pdist(points("blobs", 1000, 2, seed=0))).astype(np.float32)
    expected = TransitiveKMeans(4, metric="precomputed").fit(square)
    np.save(tmp_path / "distances.npy", square)
    model = TransitiveKMeans(4, metric="precomputed")
    model.fit(square[:9, :9])  # loads and compiles
    mapped = np.load(tmp_path / "distances.npy", mmap_mode="r")
    tracemalloc.start()
    model.fit(mapped)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < square.nbytes / 3
    np.testing.assert_array_equal(model.labels_, expected.labels_)


def test_kmeans_duality_takes_square_and_condensed_but_no_graph():
    condensed = pdist(points("blobs", 40, 2, seed=0))
    model = KMeansDuality(3, metric="precomputed", random_state=0)
    expected = model.fit_predict(squareform(condensed))
    np.testing.assert_array_equal(model.fit_predict(condensed), expected)
    assert model.n_features_in_ == 40
    with pytest.raises(TypeError, match=r"sparse graph leaves out pairs.*TransitiveCut"):
        model.fit(csr_array(squareform(condensed)))


def test_a_graph_of_several_components_is_refused(clouds):
    _, _, graph = clouds
    with pytest.raises(ValueError, match=r"3 components, the largest with 60 of 100 points"):
        TransitiveKMeans(3, metric="precomputed").fit(graph)


@pytest.mark.parametrize("power", [1.0, 0.5, 3.0])
def test_cut_finds_the_components_first(clouds, power):
    _, labels, graph = clouds
    model = TransitiveCut(3, metric="precomputed", disconnected="join").fit(graph)
    assert error_rate(labels, model.labels_) == 0.0
    assert model.tree_.heights[-1] == np.inf
    again = pickle.loads(pickle.dumps(model))
    for k in range(1, 9):
        fine = again.labels_for(k)
        assert len(np.unique(fine)) == k
        parts = {(a, b) for a, b in zip(fine, labels, strict=True)}
        # clusters are unions of components, or parts of them
        assert len(parts) == max(k, 3)


def test_fewer_clusters_than_components_divide_most_evenly(clouds):
    _, labels, graph = clouds
    model = TransitiveCut(2, metric="precomputed", disconnected="join")
    found = model.fit_predict(graph)
    # all components hang on that of point 0, the largest; of the others the larger is cut off
    np.testing.assert_array_equal(found == 1, labels == 1)
    assert model.inertia_ == np.inf
    np.testing.assert_array_equal(model.fit_predict(graph), found)


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_a_graph_without_edges(power):
    model = TransitiveCut(4, metric="precomputed", disconnected="join").fit(csr_array((4, 4)))
    assert sorted(model.labels_) == [0, 1, 2, 3]
    assert model.inertia_ == 0.0
    assert sorted(model.labels_for(2)) == [0, 0, 0, 1]


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_inertia_is_the_limit_of_that_of_ever_farther_components(clouds, power):
    _, _, graph = clouds
    model = TransitiveCut(5, metric="precomputed")
    infinite = model.set_params(disconnected="join").fit(graph)
    inertia, labels = infinite.inertia_, infinite.labels_
    finite = model.set_params(disconnected=1e6).fit(graph)
    np.testing.assert_array_equal(finite.labels_, labels)
    assert 0.0 < inertia == pytest.approx(finite.inertia_, rel=1e-9)


@pytest.mark.parametrize("objective", ["rows", "embedding"])
def test_objectives_of_kmeans_need_a_number(clouds, objective):
    _, labels, graph = clouds
    model = clusterer(objective, 3, metric="precomputed", disconnected="join")
    with pytest.raises(ValueError, match=r"3 components.*disconnected=<number>.*TransitiveCut"):
        model.fit(graph)
    found = model.set_params(disconnected=50.0).fit_predict(graph)
    assert error_rate(labels, found) == 0.0


def test_a_connected_graph_does_not_ask_how_to_join(clouds):
    X, _, _ = clouds
    square = csr_array(squareform(pdist(X)))
    expected = TransitiveKMeans(3, metric="precomputed").fit_predict(square)
    for disconnected in ("join", 0.0):
        model = TransitiveKMeans(3, metric="precomputed", disconnected=disconnected)
        np.testing.assert_array_equal(model.fit_predict(square), expected)


@pytest.mark.parametrize(
    ("disconnected", "error", "words"),
    [
        ("ignore", TypeError, "'error', 'join' or a number, got 'ignore'"),
        (None, TypeError, "or a number, got None"),
        (True, TypeError, "or a number, got True"),
        (-1.0, ValueError, "not negative"),
        (np.inf, ValueError, "'join' puts components infinitely far apart"),
        (np.nan, ValueError, "must be finite"),
    ],
)
def test_wrong_ways_to_join_are_refused(disconnected, error, words):
    with pytest.raises(error, match=words):
        TransitiveKMeans(2, disconnected=disconnected).fit([[0.0], [1.0]])
