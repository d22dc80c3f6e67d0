import numpy as np
import pytest

from inputs import many, points
from isthmus import UltrametricTree
from isthmus.plotting import tree_top
from isthmus.plotting.tree_top import SEVERAL, clusters_of_nodes

LINE = [[0.0], [1.0], [3.0], [3.5], [9.0]]  # gaps 1, 2, 0.5, 5.5


def components(tree, height):
    """The sets of points that are joined by distances up to a height."""
    matrix = tree.matrix()
    return {frozenset(np.flatnonzero(row <= height).tolist()) for row in matrix}


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(60, largest=60))
@pytest.mark.parametrize("max_groups", [1, 2, 5, 20])
def test_groups_are_the_components_below_some_height(kind, n, d, seed, max_groups):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    top = tree_top(tree, max_groups)
    groups = [frozenset(tree.members(int(node)).tolist()) for node in top.groups]
    assert len(groups) <= max_groups
    # As many as there may be: of all heights at which the tree can be cut, the lowest.
    cuts = [components(tree, height) for height in [0.0, *np.unique(tree.heights)]]
    assert set(groups) == max((cut for cut in cuts if len(cut) <= max_groups), key=len)
    assert top.sizes.tolist() == [len(group) for group in groups]
    assert top.sizes.sum() == n


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(40, largest=40))
def test_legs_stand_on_what_they_join(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    top = tree_top(tree, 12)
    standing = {float(position): height for position, height in enumerate(top.heights)}
    for height, legs, feet in zip(top.link_heights, top.link_positions, top.link_feet, strict=True):
        assert legs[0] < legs[1]
        assert [standing.pop(leg) for leg in legs.tolist()] == feet.tolist()
        standing[legs.mean()] = height
    assert list(standing.values()) == [tree.heights.max(initial=0)]
    # Neighbours are as far apart as their gap says.
    ends = [tree.starts[node] + size - 1 for node, size in zip(top.groups, top.sizes, strict=True)]
    assert sorted(tree.gaps[ends[:-1]]) == top.link_heights.tolist()


def test_a_small_tree_in_numbers():
    top = tree_top(UltrametricTree.from_data(LINE), 3, ["a", "a", "b", "c", "c"])
    assert top.groups.tolist() == [4, 5, 6]
    assert top.sizes.tolist() == [1, 2, 2]
    assert top.heights.tolist() == [0.0, 0.5, 1.0]
    assert top.names.tolist() == ["a", "b", "c"]
    assert top.clusters.tolist() == [2, -1, 0]
    assert top.link_heights.tolist() == [2.0, 5.5]
    assert top.link_positions.tolist() == [[1.0, 2.0], [0.0, 1.5]]
    assert top.link_feet.tolist() == [[0.5, 1.0], [0.0, 2.0]]
    assert top.link_clusters.tolist() == [-1, -1]
    assert top.leg_clusters.tolist() == [[-1, 0], [2, -1]]
    assert top.points is None


def test_a_tree_of_few_points_has_them_as_groups():
    top = tree_top(UltrametricTree.from_data(LINE))
    assert sorted(top.points.tolist()) == [0, 1, 2, 3, 4]
    assert top.clusters.tolist() == [-1] * 5
    assert len(top.names) == 0


def test_equal_points_are_one_group():
    top = tree_top(UltrametricTree.from_data([[1.0], [1.0], [1.0], [4.0]]))
    assert sorted(top.sizes.tolist()) == [1, 3]
    assert top.heights.tolist() == [0.0, 0.0]
    assert top.points is None
    all_equal = tree_top(UltrametricTree.from_data([[1.0]] * 9))
    assert all_equal.sizes.tolist() == [9]
    assert len(all_equal.link_heights) == 0


def test_merges_of_one_height_are_divided_together_or_not_at_all():
    lattice = UltrametricTree.from_data([[float(i)] for i in range(10)] + [[20.0]])
    assert tree_top(lattice, 5).sizes.tolist() == [1, 10]
    assert tree_top(lattice, 11).sizes.tolist() == [1] * 11


def test_the_top_of_a_tree_does_not_depend_on_the_order_of_ties():
    X = points("lattice", 60, 3, 0)
    sizes = [
        sorted(tree_top(UltrametricTree.from_data(X[order]), 15).sizes.tolist())
        for order in (np.arange(60), np.random.default_rng(1).permutation(60))
    ]
    assert sizes[0] == sizes[1]


def test_infinite_heights_are_divided_first():
    tree = UltrametricTree.from_linkage(
        [[0, 1, 1.0, 2], [2, 3, 2.0, 2], [4, 5, np.inf, 3], [6, 7, np.inf, 5]]
    )
    top = tree_top(tree, 3)
    assert sorted(top.sizes.tolist()) == [1, 2, 2]
    assert np.isinf(top.link_heights).all()
    assert tree_top(tree, 2).heights.tolist() == [np.inf]


@pytest.mark.parametrize(("kind", "n", "d", "seed"), many(40, largest=40))
def test_a_node_has_a_cluster_if_all_its_points_have_it(kind, n, d, seed):
    tree = UltrametricTree.from_data(points(kind, n, d, seed))
    codes = np.random.default_rng(seed).integers(0, 2, size=n)
    below = [set(codes[tree.members(node)].tolist()) for node in range(2 * n - 1)]
    expected = [found.pop() if len(found) == 1 else -1 for found in below]
    assert clusters_of_nodes(tree, codes).tolist() == expected


def test_one_point():
    top = tree_top(UltrametricTree.from_data([[3.0]]), labels=["only"])
    assert top.groups.tolist() == top.points.tolist() == [0]
    assert top.clusters.tolist() == [0]
    assert top.link_positions.shape == (0, 2)


@pytest.mark.parametrize(("number", "error"), [(0, ValueError), (3.0, TypeError)])
def test_other_numbers_of_groups_are_refused(number, error):
    with pytest.raises(error, match="max_groups must be"):
        tree_top(UltrametricTree.from_data(LINE), number)


def test_noise_is_in_no_cluster():
    X = np.array([[0.0], [0.1], [0.3], [5.0], [5.1], [9.0]])
    tree = UltrametricTree.from_data(X)
    top = tree_top(tree, 6, [0, 0, 0, 1, 1, -1])
    assert top.names.tolist() == [0, 1]
    assert sorted(top.clusters.tolist()) == [SEVERAL, 0, 0, 0, 1, 1]
    assert top.clusters[top.groups == 5].tolist() == [SEVERAL]
