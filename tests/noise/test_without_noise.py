"""The tree without noise: the same distances, and CUT that counts noise for nothing."""

import numpy as np
import pytest

from inputs import KINDS, points
from isthmus import UltrametricTree
from isthmus.cut.divisive import cut_spanning_tree
from isthmus.noise.without_noise import without_noise
from isthmus.prediction.attachments import attach_by_distances, transitive_rows
from oracles.noise import cut_without_noise


def some_noise(n_points, seed):
    rng = np.random.default_rng(seed)
    is_noise = rng.random(n_points) < rng.uniform(0.05, 0.9)
    is_noise[rng.integers(n_points)] = False
    return is_noise


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_distances_are_those_of_the_whole_tree(kind, seed):
    tree = UltrametricTree.from_data(points(kind, 40, 2, seed))
    is_noise = some_noise(40, seed)
    found = without_noise(tree, is_noise)
    matrix = tree.matrix()
    np.testing.assert_array_equal(found.kept, np.flatnonzero(~is_noise))
    np.testing.assert_array_equal(found.tree.matrix(), matrix[np.ix_(~is_noise, ~is_noise)])
    owners = found.kept[found.owner]
    np.testing.assert_array_equal(owners[~is_noise], found.kept)
    np.testing.assert_array_equal(found.absorbed_at, matrix[np.arange(40), owners])
    np.testing.assert_array_equal(found.absorbed_at, matrix[:, ~is_noise].min(axis=1))


def test_extremes():
    tree = UltrametricTree.from_data(points("gaussian", 30, 2, 0))
    nothing = without_noise(tree, np.zeros(30, dtype=bool))
    assert nothing.tree.spanning_tree == tree.spanning_tree
    all_but_one = np.ones(30, dtype=bool)
    all_but_one[7] = False
    found = without_noise(tree, all_but_one)
    assert found.tree.n_points == 1
    assert found.kept.tolist() == [7]
    assert set(found.owner) == {0}


@pytest.mark.parametrize("seed", range(6))
def test_cut_counts_noise_for_nothing(seed):
    tree = UltrametricTree.from_data(points("gaussian", 24, 2, seed))
    is_noise = some_noise(24, seed + 50)
    found = without_noise(tree, is_noise)
    edges, weights = tree.spanning_tree.edges.tolist(), tree.spanning_tree.weights
    for k in range(1, min(5, len(found.kept)) + 1):
        labels = cut_spanning_tree(found.tree, k).labels(k)
        parts = {frozenset(found.kept[labels == c].tolist()) for c in range(k)}
        assert parts == cut_without_noise(edges, weights, is_noise, k)


@pytest.mark.parametrize("seed", range(4))
def test_new_points_are_as_far(seed):
    X = points("blobs", 40, 2, seed)
    tree, is_noise = UltrametricTree.from_data(X), some_noise(40, seed)
    new = np.random.default_rng(seed).normal(size=(15, 2)) * 5
    distances = np.linalg.norm(new[:, None] - X[None], axis=2)
    attachments = attach_by_distances(tree, 15, [(np.arange(15), distances)])
    found = without_noise(tree, is_noise)
    moved = found.moved(attachments)
    expected = transitive_rows(tree, attachments, 0, 15)[:, ~is_noise]
    np.testing.assert_array_equal(transitive_rows(found.tree, moved, 0, 15), expected)
    for i in range(15):
        assert (np.diff(moved.part(i, i + 1).length) >= 0).all()
