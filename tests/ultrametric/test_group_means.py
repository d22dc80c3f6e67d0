import numpy as np
import pytest

from inputs import many, points
from isthmus import UltrametricTree
from isthmus.ultrametric import group_means
from isthmus.ultrametric.group_means import mean_distances_of_groups
from oracles.group_means import block_means


def random_groups(n, seed):
    """Groups of which none is empty, over points in no order."""
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(1, n + 1))
    groups = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, size=n - n_groups)])
    return rng.permutation(groups), n_groups


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(70, largest=80))
def test_means_are_those_of_the_blocks_of_the_matrix(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    groups, n_groups = random_groups(n, seed)
    means = mean_distances_of_groups(tree, groups, n_groups)
    expected = block_means(tree.matrix(), groups, n_groups)
    np.testing.assert_allclose(means, expected, rtol=1e-12, atol=0)
    np.testing.assert_array_equal(means, means.T)


def test_groups_of_single_points_give_the_matrix_itself():
    tree = UltrametricTree.from_data(points("blobs", 60, 2, 0))
    groups = np.random.default_rng(0).permutation(60)
    means = mean_distances_of_groups(tree, groups, 60)
    np.testing.assert_array_equal(means[groups[:, None], groups], tree.matrix())


def test_a_long_path_in_several_calls(monkeypatch):
    monkeypatch.setattr(group_means, "CHUNK", 7)
    tree = UltrametricTree.from_data(points("line", 100, 1, 0))
    groups = np.arange(100) % 9
    np.testing.assert_allclose(
        mean_distances_of_groups(tree, groups, 9), block_means(tree.matrix(), groups, 9), rtol=1e-12
    )


def test_infinite_distances_make_infinite_means():
    tree = UltrametricTree.from_linkage([[0, 1, 1.0, 2], [2, 3, 2.0, 2], [4, 5, np.inf, 4]])
    means = mean_distances_of_groups(tree, np.array([0, 0, 1, 2]), 3)
    inf = np.inf
    np.testing.assert_array_equal(means, [[0.5, inf, inf], [inf, 0, 2], [inf, 2, 0]])
