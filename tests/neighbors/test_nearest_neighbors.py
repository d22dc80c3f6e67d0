"""Nearest neighbours against brute force: ties, copies, every metric, any number of them."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph

from inputs import KINDS, levenshtein, points
from isthmus import nearest_neighbors
from isthmus.metrics.pairwise import distance_matrix
from isthmus.neighbors import selection
from oracles.neighbors import accumulated, neighbors_of


@pytest.fixture
def no_short_cut(monkeypatch):
    """Let few points be searched as many are."""
    monkeypatch.setattr(selection, "_FEW_POINTS", 0)


def cases(n_cases):
    rng = np.random.default_rng(5)
    for number in range(n_cases):
        n = int(rng.integers(2, 220))
        d = int(rng.choice([1, 2, 3, 6, 8, 9, 30, 70]))
        size = int(rng.integers(1, n + 1)) if number % 3 == 0 else min(n, int(rng.integers(1, 25)))
        yield KINDS[number % len(KINDS)], n, d, size


@pytest.mark.parametrize(("kind", "n", "d", "size"), list(cases(30)))
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_neighbors_are_those_of_brute_force(kind, n, d, size, metric, no_short_cut):
    X = points(kind, n, d, 1)
    compared = accumulated(X, metric)
    expected = neighbors_of(compared, size)
    distances = np.take_along_axis(compared, expected, axis=1)
    for n_jobs in (1, 3):
        found = nearest_neighbors(X, size, metric=metric, n_jobs=n_jobs)
        np.testing.assert_array_equal(found.indices, expected)
        root = np.sqrt(distances) if metric == "euclidean" else distances
        np.testing.assert_array_equal(found.distances, root)
        assert (found.indices.dtype, found.distances.dtype) == (np.int32, np.float64)


@pytest.mark.parametrize("d", [2, 7, 12, 50])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int64])
def test_few_and_many_points_are_searched_alike(d, dtype, monkeypatch):
    X = (100 * points("gaussian", 600, d, 3) + 128).astype(dtype)
    by_rows = nearest_neighbors(X, 12)
    monkeypatch.setattr(selection, "_FEW_POINTS", 0)
    searched = nearest_neighbors(np.asfortranarray(X), 12, n_jobs=2)
    np.testing.assert_array_equal(by_rows.indices, searched.indices)
    np.testing.assert_array_equal(by_rows.distances, searched.distances)


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("sqeuclidean", None),
        ("minkowski", {"p": 3}),
        ("seuclidean", None),
        ("mahalanobis", None),
        ("cosine", None),
        ("angular", None),
        ("correlation", None),
        ("hellinger", None),
        ("canberra", None),
        ("braycurtis", None),
        ("jensenshannon", None),
        ("hamming", None),
    ],
)
@pytest.mark.parametrize("d", [4, 12])
def test_every_metric(metric, params, d, no_short_cut):
    X = np.abs(points("gaussian", 150, d, 2)) + 0.01
    expected = distance_matrix(X, metric, params)
    found = nearest_neighbors(X, 9, metric=metric, metric_params=params)
    reached = np.take_along_axis(expected, found.indices.astype(int), axis=1)
    np.testing.assert_allclose(found.distances, reached, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        found.distances, np.sort(expected, axis=1)[:, :9], rtol=1e-12, atol=1e-15
    )


def test_positions_on_the_globe():
    X = np.random.default_rng(0).uniform([-1.5, -3.1], [1.5, 3.1], size=(3000, 2))
    found = nearest_neighbors(X, 5, metric="haversine")
    expected = np.sort(distance_matrix(X, "haversine"), axis=1)[:, :5]
    np.testing.assert_allclose(found.distances, expected, rtol=1e-12)


@pytest.mark.parametrize("d", [2, 40])
def test_a_thousand_copies_count_one_by_one(d):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(4, d)), 1000, axis=0)[rng.permutation(4000)]
    found = nearest_neighbors(X, 20)
    assert (found.distances == 0.0).all()
    for i in (0, 17, 3999):
        copies = [j for j in np.flatnonzero((X[i] == X).all(axis=1)) if j != i]
        assert found.indices[i].tolist() == [i, *copies[:19]]


def test_some_copies_and_some_others():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 3))[rng.integers(0, 900, size=2500)]
    X[::7] = X[0]  # hundreds of them
    expected = neighbors_of(accumulated(X, "euclidean"), 15)
    np.testing.assert_array_equal(nearest_neighbors(X, 15).indices, expected)


def test_sparse_points_have_the_neighbors_of_dense_ones():
    rng = np.random.default_rng(0)
    X = rng.random((300, 60)) * (rng.random((300, 60)) < 0.2)
    X[:, 0] += 0.1
    for metric in ("euclidean", "cosine"):
        found = nearest_neighbors(csr_array(X), 8, metric=metric)
        np.testing.assert_array_equal(found.indices, nearest_neighbors(X, 8, metric=metric).indices)


def test_precomputed_distances_and_objects():
    X = points("gaussian", 80, 3, 4)
    matrix = distance_matrix(X)
    expected = neighbors_of(matrix, 6)
    condensed = matrix[np.triu_indices(80, 1)]
    for form in (matrix, condensed):
        found = nearest_neighbors(form, 6, metric="precomputed")
        np.testing.assert_array_equal(found.indices, expected)
    words = ["an", "isthmus", "joins", "two", "lands", "join", "land", "and"]
    found = nearest_neighbors(words, 3, metric=levenshtein)
    table = np.array([[levenshtein(a, b) for b in words] for a in words], dtype=float)
    np.testing.assert_array_equal(found.indices, neighbors_of(table, 3))


def test_neighbors_in_a_graph():
    X = points("gaussian", 120, 2, 4)
    graph = kneighbors_graph(X, 10, mode="distance")
    found = nearest_neighbors(graph, 8, metric="precomputed")
    np.testing.assert_array_equal(found.indices, nearest_neighbors(X, 8).indices)
    with pytest.raises(ValueError, match=r"point .* of the graph has .* edges\. Lower n_neighbors"):
        nearest_neighbors(graph, 100, metric="precomputed")


@pytest.mark.parametrize(
    ("size", "error", "words"),
    [
        (0, ValueError, "at least 1"),
        (11, ValueError, "n_samples=10 should be >= n_neighbors=11"),
        ("ten", TypeError, "integer"),
        (2.5, TypeError, "integer"),
        (True, TypeError, "integer"),
    ],
)
def test_wrong_numbers_are_refused(size, error, words):
    with pytest.raises(error, match=words):
        nearest_neighbors(np.zeros((10, 2)), size)


def test_wrong_data_are_refused():
    X = np.zeros((10, 2))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        nearest_neighbors(X, 3)
    with pytest.raises(MemoryError, match="memory_limit"):
        nearest_neighbors(np.zeros((100_000, 2)), 50, memory_limit="1MB")


def test_one_neighbor_is_the_point_itself():
    for X in ([[1.0, 2.0]], np.zeros((5, 3))):
        found = nearest_neighbors(X, 1)
        assert found.indices.ravel().tolist() == list(range(len(X)))
        assert not found.distances.any()


def test_progress_reaches_the_end():
    calls = []
    nearest_neighbors(
        np.random.default_rng(0).random((30_000, 2)), 5, progress=lambda *c: calls.append(c)
    )
    assert calls[-1] == (30_000, 30_000)
    assert all(0 <= done <= total for done, total in calls)
