"""Spanning trees of neighbourhoods against their definitions on all pairs."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from inputs import KINDS, points
from isthmus import NeighborMean, minimum_spanning_tree, nearest_neighbors
from isthmus.metrics.pairwise import distance_matrix
from isthmus.neighbors import selection
from oracles.neighbors import kruskal, shared


def cases(n_cases):
    rng = np.random.default_rng(8)
    for number in range(n_cases):
        n = int(rng.integers(3, 130))
        d = int(rng.choice([1, 2, 3, 9, 40]))
        size = int(rng.integers(1, n + 1)) if number % 4 == 0 else min(n, int(rng.integers(2, 16)))
        yield KINDS[number % len(KINDS)], n, d, size


@pytest.mark.parametrize(("kind", "n", "d", "size"), list(cases(35)))
@pytest.mark.parametrize("few_points", [0, 2000])
def test_shared_trees_are_those_of_all_pairs(kind, n, d, size, few_points, monkeypatch):
    monkeypatch.setattr(selection, "_FEW_POINTS", few_points)
    X = points(kind, n, d, 2)
    for metric in ("euclidean", "manhattan"):
        neighbors = nearest_neighbors(X, size, metric=metric).indices
        distances = shared(distance_matrix(X, metric), neighbors)
        edges, weights = kruskal(distances)
        for engine in ("auto", "prim", "blocked" if metric == "euclidean" else "auto"):
            options = {"metric": metric, "engine": engine}
            trees = [
                minimum_spanning_tree(
                    X, n_neighbors=size, neighborhood="shared", n_jobs=n_jobs, **options
                )
                for n_jobs in (1, 2)
            ]
            assert trees[0] == trees[1]
            np.testing.assert_array_equal(trees[0].weights, weights)
            if len(np.unique(distances[np.triu_indices(n, 1)])) == n * (n - 1) // 2:
                np.testing.assert_array_equal(trees[0].edges, edges)


@pytest.mark.parametrize(("kind", "n", "d", "size"), list(cases(40)))
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_mean_trees_are_those_of_the_averaged_points(kind, n, d, size, metric):
    X = points(kind, n, d, 3)
    neighbors = nearest_neighbors(X, size, metric=metric).indices
    means = np.array([sum(X[j] for j in sorted(row)) / size for row in neighbors])
    options = {"n_neighbors": size, "metric": metric}
    tree = minimum_spanning_tree(X, **options)
    assert tree == minimum_spanning_tree(means, metric=metric)
    assert tree == minimum_spanning_tree(X, n_jobs=2, **options)
    averaged = NeighborMean(size, metric=metric).fit_transform(X)
    np.testing.assert_array_equal(averaged, means)


@pytest.mark.parametrize("metric", ["cosine", "angular"])
def test_directions_are_averaged_at_unit_length(metric):
    X = points("gaussian", 90, 5, 1) * np.random.default_rng(0).uniform(0.1, 9, size=(90, 1))
    neighbors = nearest_neighbors(X, 7, metric=metric).indices
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    means = np.array([unit[row].mean(axis=0) for row in neighbors])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    found = NeighborMean(7, metric=metric).fit_transform(X)
    np.testing.assert_allclose(found, means, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-12)
    sparse = NeighborMean(7, metric=metric).fit_transform(csr_array(X))
    np.testing.assert_allclose(sparse.toarray(), means, rtol=1e-9)


def test_positions_are_averaged_on_the_sphere():
    # round the date line, where longitudes jump
    rng = np.random.default_rng(0)
    longitude = (np.pi + rng.normal(0, 0.01, 40) + np.pi) % (2 * np.pi) - np.pi
    X = np.column_stack([rng.normal(0.5, 0.01, 40), longitude])
    means = NeighborMean(40, metric="haversine").fit_transform(X)
    assert np.abs(np.abs(means[:, 1]) - np.pi).max() < 0.01
    assert np.abs(means[:, 0] - 0.5).max() < 0.01


def test_float32_stays_float32():
    X = points("gaussian", 50, 4, 0).astype(np.float32)
    assert NeighborMean(5).fit_transform(X).dtype == np.float32


def test_one_neighbor_is_no_neighborhood():
    X = points("gaussian", 60, 3, 0)
    for kind in ("mean", "shared"):
        tree = minimum_spanning_tree(X, n_neighbors=1, neighborhood=kind)
        assert tree == minimum_spanning_tree(X)


def test_graphs_and_matrices_share_neighborhoods():
    X = points("gaussian", 100, 2, 5)
    tree = minimum_spanning_tree(X, n_neighbors=6, neighborhood="shared")
    options = {"metric": "precomputed", "n_neighbors": 6, "neighborhood": "shared"}
    assert minimum_spanning_tree(distance_matrix(X), **options) == tree
    assert minimum_spanning_tree(csr_array(distance_matrix(X)), **options) == tree


def test_components_of_a_graph_stay_infinitely_far_apart():
    blocks = np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))
    options = {"metric": "precomputed", "n_neighbors": 3, "neighborhood": "shared"}
    tree = minimum_spanning_tree(csr_array(blocks), disconnected="join", **options)
    assert np.isinf(tree.weights).sum() == 1
    with pytest.raises(ValueError, match="not connected"):
        minimum_spanning_tree(csr_array(blocks), **options)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"n_neighbors": 0}, ValueError, "at least 1"),
        ({"n_neighbors": 21}, ValueError, "n_samples=20 should be >= n_neighbors=21"),
        ({"n_neighbors": "many"}, TypeError, "integer, or None"),
        ({"n_neighbors": 5, "neighborhood": "median"}, ValueError, "'mean', 'shared'"),
        ({"n_neighbors": 5, "metric": "jaccard"}, ValueError, "averages points.*'shared'"),
        ({"n_neighbors": 5, "engine": "approximately"}, ValueError, "'approximate'"),
        ({"neighbors": [[0]]}, ValueError, "neighbors= is for engine='approximate'"),
    ],
)
def test_wrong_parameters_are_refused(parameters, error, words):
    with pytest.raises(error, match=words):
        minimum_spanning_tree(np.random.default_rng(0).random((20, 3)), **parameters)


def test_means_of_distances_and_strings_are_refused():
    with pytest.raises(ValueError, match="averages points"):
        minimum_spanning_tree(np.zeros((5, 5)), metric="precomputed", n_neighbors=3)
    with pytest.raises(ValueError, match="averages points"):
        minimum_spanning_tree(["a", "b", "c"], metric=lambda a, b: float(a != b), n_neighbors=2)
