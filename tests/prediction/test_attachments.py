"""Points that are not on the tree, against brute force."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from clusterers import TreeClusterer, label_new_points
from inputs import many, points
from isthmus import UltrametricTree
from isthmus.prediction.attachments import attach_by_distances, transitive_rows
from oracles.dense import distances_of_new_point, label_of_new_point

INPUTS = many(154, largest=60)
SAFE = 1e-9


def split(kind, n, d, seed, n_new=7):
    """Return a tree of n points, the distances of others to them, and weights."""
    X = points(kind, n + n_new, d, seed)
    new = np.vstack([X[n:], X[0] + 1e6])
    point_weights = np.random.default_rng(seed).uniform(0.2, 4.0, size=n)
    return UltrametricTree.from_data(X[:n]), cdist(new, X[:n]), point_weights


def attached(tree, distances):
    blocks = [(np.array([i]), distances[i : i + 1]) for i in reversed(range(len(distances)))]
    return attach_by_distances(tree, len(distances), blocks)


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS)
def test_distances_are_those_of_the_definition(kind, n, d, seed):
    tree, distances, _ = split(kind, n, d, seed)
    attachments = attached(tree, distances)
    matrix = tree.matrix()
    expected = np.array([distances_of_new_point(row, matrix) for row in distances])
    np.testing.assert_array_equal(transitive_rows(tree, attachments, 0, len(attachments)), expected)
    np.testing.assert_array_equal(transitive_rows(tree, attachments, 3, 5), expected[3:5])
    np.testing.assert_array_equal(
        attachments.point[attachments.begin[:-1]], distances.argmin(axis=1)
    )


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS[::5])
def test_every_edge_is_needed(kind, n, d, seed):
    tree, distances, _ = split(kind, n, d, seed)
    attachments = attached(tree, distances)
    matrix = tree.matrix()
    for i, row in enumerate(distances):
        own = attachments.point[attachments.begin[i] : attachments.begin[i + 1]]
        np.testing.assert_array_equal(
            attachments.length[attachments.begin[i] : attachments.begin[i + 1]], row[own]
        )
        expected = distances_of_new_point(row, matrix)
        for dropped in own:
            without = row.copy()
            without[np.setdiff1d(np.arange(n), own)] = np.inf
            without[dropped] = np.inf
            assert (distances_of_new_point(without, matrix) != expected).any()


@pytest.mark.parametrize(("kind", "n", "d", "seed"), INPUTS)
@pytest.mark.parametrize("objective", ["rows", "embedding", "cut"])
def test_labels_are_those_of_the_nearest_mean(kind, n, d, seed, objective):
    tree, distances, point_weights = split(kind, n, d, seed)
    power = (1.0, 0.5, 2.0)[seed % 3]
    clusterer = TreeClusterer(
        tree, method=objective, power=power, point_weights=point_weights if seed % 2 else None
    )
    labels = clusterer.solve(min(n, 1 + seed % 11)).labels
    found = label_new_points(clusterer, tree, labels, attached(tree, distances))
    assert found.dtype == labels.dtype
    if objective == "cut":
        np.testing.assert_array_equal(found, labels[distances.argmin(axis=1)])
        return
    matrix = tree.matrix()
    point_weights = point_weights if seed % 2 else np.ones(n)
    for label, base in zip(found, distances, strict=True):
        row = distances_of_new_point(base, matrix).astype(np.longdouble) ** power
        powers = matrix.astype(np.longdouble) ** power
        expected, margin = label_of_new_point(row, powers, labels, point_weights, objective)
        if margin > SAFE:
            assert label == expected


@pytest.mark.parametrize("objective", ["rows", "embedding"])
@pytest.mark.parametrize("kind", ["gaussian", "blobs", "duplicates"])
def test_a_new_point_upon_an_old_one_gets_its_label(kind, objective):
    X = points(kind, 300, 2, seed=4)
    tree = UltrametricTree.from_data(X)
    clusterer = TreeClusterer(tree, method=objective)
    for k in (2, 5, 20):
        labels = clusterer.solve(k).labels
        np.testing.assert_array_equal(
            label_new_points(clusterer, tree, labels, attached(tree, cdist(X, X))), labels
        )


@pytest.mark.parametrize("objective", ["rows", "embedding", "cut"])
@pytest.mark.parametrize("power", [1.0, 8.0])
def test_infinitely_far_points_are_a_tie(objective, power):
    tree = UltrametricTree.from_data(points("blobs", 60, 2, seed=1))
    clusterer = TreeClusterer(tree, method=objective, power=power)
    labels = clusterer.solve(4).labels
    far = np.full((2, 60), 1e300)
    far[:, labels == 0] /= 2
    assert label_new_points(clusterer, tree, labels, attached(tree, far)).tolist() == [0, 0]


def test_many_new_points_at_once_are_as_single_ones():
    X = points("gaussian", 2500, 2, seed=3)
    tree = UltrametricTree.from_data(X[:1200])
    distances = cdist(X[1200:], X[:1200])
    clusterer = TreeClusterer(tree)
    labels = clusterer.solve(12).labels
    together = label_new_points(clusterer, tree, labels, attached(tree, distances))
    for i in range(0, 1300, 137):
        alone = label_new_points(clusterer, tree, labels, attached(tree, distances[i : i + 1]))
        assert alone[0] == together[i]
