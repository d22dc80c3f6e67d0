import numpy as np
import pytest

from inputs import points
from isthmus import UltrametricTree
from isthmus.plotting import distance_map
from isthmus.plotting.distance_map import group_bounds
from oracles.group_means import block_means


def small_matrix(tree, drawn):
    """The means that a map shows, from the dense matrix."""
    matrix = tree.matrix()[drawn.order[:, None], drawn.order]
    sizes = np.diff(drawn.bounds)
    return block_means(matrix, np.repeat(np.arange(len(sizes)), sizes), len(sizes))


@pytest.mark.parametrize("kind", ["gaussian", "lattice", "duplicates", "line", "all equal"])
@pytest.mark.parametrize("size", [2, 7, 40, 60])
@pytest.mark.parametrize("n_clusters", [None, 1, 2])
def test_cells_are_means_of_the_dense_matrix(kind, size, n_clusters):
    tree = UltrametricTree.from_data(points(kind, 41, 2, 0))
    labels = None if n_clusters is None else np.arange(41) % n_clusters
    drawn = distance_map(tree, size, labels)
    assert min(size, 41) - (n_clusters or 1) < len(drawn.means) <= min(size, 41)
    np.testing.assert_allclose(drawn.means, small_matrix(tree, drawn), rtol=1e-12, atol=0)


def test_one_cell_is_the_mean_of_all():
    tree = UltrametricTree.from_data(points("gaussian", 41, 2, 0))
    assert distance_map(tree, 1).means == pytest.approx(tree.matrix().mean(), rel=1e-12)


def test_without_labels_points_are_in_leaf_order():
    tree = UltrametricTree.from_data(points("blobs", 30, 2, 0))
    drawn = distance_map(tree, 10)
    np.testing.assert_array_equal(drawn.order, tree.leaf_order)
    np.testing.assert_array_equal(drawn.bounds, np.arange(0, 31, 3))
    assert drawn.cluster_bounds.tolist() == [0, 30]
    assert drawn.names is None
    assert drawn.n_points == 30


def test_with_labels_points_are_sorted_by_cluster_then_in_leaf_order():
    tree = UltrametricTree.from_data(points("gaussian", 30, 2, 0))
    labels = np.array(["b", "a", "c"])[np.arange(30) % 3]
    drawn = distance_map(tree, 400, labels)
    expected = [
        *(point for point in tree.leaf_order if labels[point] == "a"),
        *(point for point in tree.leaf_order if labels[point] == "b"),
        *(point for point in tree.leaf_order if labels[point] == "c"),
    ]
    assert drawn.order.tolist() == expected
    assert drawn.cluster_bounds.tolist() == [0, 10, 20, 30]
    assert drawn.names.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(drawn.means, tree.matrix()[np.ix_(expected, expected)])


def test_no_group_has_points_of_two_clusters():
    rng = np.random.default_rng(0)
    for _ in range(200):
        sizes = rng.geometric(0.05, size=rng.integers(1, 20))
        cluster_bounds = np.concatenate([[0], np.cumsum(sizes)])
        size = int(rng.integers(len(sizes), 60))
        bounds = group_bounds(cluster_bounds, size)
        assert set(cluster_bounds) <= set(bounds)
        assert (np.diff(bounds) > 0).all()
        at_least = min(size - len(sizes) + 1, sizes.sum())
        assert at_least <= len(bounds) - 1 <= size


def test_groups_of_a_cluster_have_like_sizes():
    assert group_bounds(np.array([0, 10]), 4).tolist() == [0, 2, 5, 7, 10]
    assert group_bounds(np.array([0, 1, 1001]), 5).tolist() == [0, 1, 334, 667, 1001]


def test_more_clusters_than_cells_are_refused():
    tree = UltrametricTree.from_data(points("gaussian", 30, 2, 0))
    with pytest.raises(ValueError, match="4 × 4 cells cannot show 5 clusters"):
        distance_map(tree, 4, np.arange(30) % 5)


@pytest.mark.parametrize(("size", "error"), [(0, ValueError), (2.5, TypeError), (True, TypeError)])
def test_other_sizes_are_refused(size, error):
    with pytest.raises(error, match="size must be"):
        distance_map(UltrametricTree.from_data([[0.0], [1.0]]), size)


def test_another_number_of_labels_is_refused():
    with pytest.raises(ValueError, match="each of 2 points"):
        distance_map(UltrametricTree.from_data([[0.0], [1.0]]), 2, [0, 1, 1])


def test_one_point():
    drawn = distance_map(UltrametricTree.from_data([[5.0]]))
    assert drawn.means.tolist() == [[0.0]]
    assert drawn.bounds.tolist() == [0, 1]


def test_many_points_need_no_matrix():
    tree = UltrametricTree.from_data(points("blobs", 100_000, 1, 0))
    drawn = distance_map(tree, 50)
    assert drawn.means.shape == (50, 50)
    rng = np.random.default_rng(0)
    first, second = (drawn.order[drawn.bounds[g] : drawn.bounds[g + 1]] for g in (3, 30))
    pairs = rng.choice(first, 20_000), rng.choice(second, 20_000)
    assert drawn.means[3, 30] == pytest.approx(tree.distance(*pairs).mean(), rel=0.02)
