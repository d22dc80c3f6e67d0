import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from inputs import points
from isthmus import UltrametricTree
from isthmus.plotting import distance_map, plot_distance_map, plot_orders
from isthmus.plotting.heat_map import named_middles, order_matrices
from isthmus.theory import transitive_distances

LABELS = np.array([2, 0, 1])[np.arange(20) % 3]


@pytest.fixture
def tree():
    return UltrametricTree.from_data(points("blobs", 20, 2, 0))


@pytest.fixture
def matrices():
    X = points("gaussian", 12, 2, 0)
    return np.array([transitive_distances(X, order) for order in (1, 2, 3)])


def boundaries(ax):
    """The lines between clusters, vertical ones first, as (start, stop) pairs."""
    found = [drawn for drawn in ax.collections if isinstance(drawn, LineCollection)]
    return [np.asarray(drawn.get_segments()).tolist() for drawn in found]


def names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def colour_bars(figure, *panels):
    return [axes for axes in figure.axes if axes not in panels]


def test_the_map_of_few_points_is_the_matrix(ax, tree):
    assert plot_distance_map(tree, ax=ax) is ax
    (image,) = ax.images
    order = tree.leaf_order
    np.testing.assert_array_equal(image.get_array(), tree.matrix()[order[:, None], order])
    assert image.norm.vmin == 0
    assert image.norm.vmax == tree.heights[-1]
    assert ax.get_xlim() == (0, 20)
    assert ax.get_ylim() == (20, 0)  # the first row on top
    assert ax.get_aspect() == 1
    assert ax.get_xlabel() == "20 points in leaf order"
    assert boundaries(ax) == []
    (bar,) = colour_bars(ax.figure, ax)
    assert bar.get_ylabel() == "transitive distance"


def test_a_smaller_map_shows_means(ax, tree):
    plot_distance_map(tree, max_size=7, ax=ax)
    (image,) = ax.images
    np.testing.assert_array_equal(image.get_array(), distance_map(tree, 7).means)
    (bar,) = colour_bars(ax.figure, ax)
    assert bar.get_ylabel() == "mean transitive distance"
    assert ax.get_xlim() == (0, 20)  # of points, not of cells


def test_clusters_are_named_and_divided_by_lines(ax, tree):
    plot_distance_map(tree, LABELS, ax=ax)
    order = distance_map(tree, labels=LABELS).order
    (image,) = ax.images
    np.testing.assert_array_equal(image.get_array(), tree.matrix()[order[:, None], order])
    vertical, horizontal = boundaries(ax)
    assert vertical == [[[7, 0], [7, 20]], [[13, 0], [13, 20]]]
    assert horizontal == [[[0, 7], [20, 7]], [[0, 13], [20, 13]]]
    assert ax.get_yticks().tolist() == [3.5, 10, 16.5]
    assert names(ax) == ["0", "1", "2"]
    assert ax.get_xlabel() == "20 points by cluster"


def test_names_that_would_overlap_are_left_out():
    middles, shown = named_middles(np.array([0, 50, 51, 52, 100]), np.array(["a", "b", "c", "d"]))
    assert shown == ["a", "b", "d"]
    assert middles == [25, 50.5, 76]


def test_many_clusters_have_thinner_lines(ax):
    tree = UltrametricTree.from_data(points("gaussian", 200, 2, 0))
    plot_distance_map(tree, np.arange(200), ax=ax)
    vertical, horizontal = ax.collections
    assert len(vertical.get_segments()) == len(horizontal.get_segments()) == 199
    assert vertical.get_linewidths()[0] < 0.2
    assert len(names(ax)) == 20


def test_infinite_distances_are_grey_and_said_to_be(ax):
    tree = UltrametricTree.from_linkage([[0, 1, 1.0, 2], [2, 3, 2.0, 2], [4, 5, np.inf, 4]])
    plot_distance_map(tree, ax=ax)
    (image,) = ax.images
    assert image.get_array().mask.sum() == 8
    assert image.norm.vmax == 2
    assert to_hex(image.cmap.get_bad()).upper() == "#BBBBBB"
    (bar,) = colour_bars(ax.figure, ax)
    assert bar.get_ylabel() == "transitive distance (infinite: grey)"


@pytest.mark.parametrize("X", [[[1.0]], [[1.0], [3.0]], [[2.0]] * 9])
def test_the_smallest_maps_can_be_drawn(ax, X):
    tree = UltrametricTree.from_data(X)
    plot_distance_map(tree, ax=ax)
    ax.figure.canvas.draw()
    assert ax.images[0].get_array().shape == (len(X), len(X))
    assert ax.images[0].norm.vmax == (tree.heights.max(initial=0) or 1)
    assert ax.get_xlabel().startswith("1 point in" if len(X) == 1 else f"{len(X)} points in")


def test_without_axes_a_new_figure_is_made(tree, matrices):
    ax = plot_distance_map(tree, LABELS)
    panels = plot_orders(matrices)
    assert ax.figure is not panels[0].figure
    ax.figure.canvas.draw()
    panels[0].figure.canvas.draw()


@pytest.mark.parametrize(("size", "error"), [(0, ValueError), ("all", TypeError)])
def test_other_sizes_are_refused(ax, tree, size, error):
    with pytest.raises(error, match="max_size must be"):
        plot_distance_map(tree, max_size=size, ax=ax)
    assert not ax.images


def test_orders_are_drawn_side_by_side_with_one_scale(matrices):
    panels = plot_orders(matrices)
    assert panels.shape == (3,)
    for panel, matrix in zip(panels, matrices, strict=True):
        (image,) = panel.images
        np.testing.assert_array_equal(image.get_array(), matrix)
        assert (image.norm.vmin, image.norm.vmax) == (0, matrices.max())
    assert [panel.get_title() for panel in panels] == ["order 1", "order 2", "order 3"]
    figure = panels[0].figure
    figure.canvas.draw()
    heights = {panel.get_window_extent().y0 for panel in panels}
    assert len(heights) == 1  # in one row
    (bar,) = colour_bars(figure, *panels)
    assert bar.get_ylabel() == "transitive distance"


def test_many_orders_fill_several_rows():
    panels = plot_orders(np.ones((6, 3, 3)))
    figure = panels[0].figure
    figure.canvas.draw()
    assert len({round(panel.get_window_extent().y0) for panel in panels}) == 2
    assert len(colour_bars(figure, *panels)) == 1


def test_rows_are_sorted_by_cluster_then_in_the_given_order(matrices):
    labels = np.array(["right", "left"])[np.arange(12) % 2]
    order = np.arange(12)[::-1]
    panels = plot_orders(matrices, labels, order=order)
    expected = [11, 9, 7, 5, 3, 1, 10, 8, 6, 4, 2, 0]
    np.testing.assert_array_equal(
        panels[1].images[0].get_array(), matrices[1][np.ix_(expected, expected)]
    )
    assert boundaries(panels[0]) == [[[[6, 0], [6, 12]]], [[[0, 6], [12, 6]]]]
    assert names(panels[0]) == ["left", "right"]
    panels[0].figure.canvas.draw()
    shown = [[tick.label1.get_visible() for tick in p.yaxis.get_major_ticks()] for p in panels]
    assert shown == [[True, True], [False, False], [False, False]]


def test_an_order_alone(matrices):
    order = np.random.default_rng(0).permutation(12)
    ordered, bounds, cluster_names = order_matrices(matrices, order=order)
    np.testing.assert_array_equal(ordered[0], matrices[0][np.ix_(order, order)])
    assert bounds.tolist() == [0, 12]
    assert cluster_names is None


def test_orders_and_axes_may_be_given(matrices):
    given = Figure().subplots(1, 3)
    panels = plot_orders(matrices, orders=[1, 4, 16], axes=given)
    assert list(panels) == list(given)
    assert [panel.get_title() for panel in given] == ["order 1", "order 4", "order 16"]


def test_one_matrix_on_one_axes(ax):
    panels = plot_orders(np.zeros((1, 1, 1)), axes=ax)
    assert list(panels) == [ax]
    assert ax.images[0].norm.vmax == 1


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 4), (0, 3, 3), (2, 0, 0)])
def test_what_is_no_stack_of_matrices_is_refused(shape):
    with pytest.raises(ValueError, match=r"shape \(n_matrices, n_points, n_points\), got shape"):
        plot_orders(np.zeros(shape))


@pytest.mark.parametrize("wrong", [-1.0, np.nan])
def test_what_is_no_distance_is_refused(wrong):
    with pytest.raises(ValueError, match="must hold distances"):
        plot_orders(np.full((1, 2, 2), wrong))


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [1, 2, 3], [[0, 1, 2]]])
def test_what_is_no_order_of_the_points_is_refused(order):
    with pytest.raises(ValueError, match="each of the points 0 to 2 once"):
        plot_orders(np.zeros((2, 3, 3)), order=order)


def test_other_numbers_of_axes_orders_and_labels_are_refused(ax, matrices):
    with pytest.raises(ValueError, match="axes must hold 3 matplotlib Axes, got 1"):
        plot_orders(matrices, axes=[ax])
    with pytest.raises(ValueError, match="3 matrices, but 2 orders"):
        plot_orders(matrices, orders=[1, 2])
    with pytest.raises(ValueError, match="each of 12 points"):
        plot_orders(matrices, [0, 1])
