import itertools

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex

from inputs import points
from isthmus import UltrametricTree
from isthmus.plotting import plot_dendrogram
from isthmus.plotting.dendrogram import triangle_half_widths
from isthmus.plotting.style import EDGE_COLOUR, PALETTE

LINE = [[0.0], [1.0], [3.0], [3.5], [9.0]]  # gaps 1, 2, 0.5, 5.5
INFINITE = [[0, 1, 1.0, 2], [2, 3, 2.0, 2], [4, 5, np.inf, 4]]


@pytest.fixture
def tree():
    return UltrametricTree.from_data(LINE)


def lines(ax):
    return [drawn for drawn in ax.collections if isinstance(drawn, LineCollection)]


def links(ax):
    """The left leg, the right leg and the bar of each merge, from the lowest to the highest."""
    (drawn,) = lines(ax)
    segments = np.asarray(drawn.get_segments())
    return segments.reshape(-1, 3, 2, 2).tolist()


def link_colours(ax):
    """The colours of the left leg, the right leg and the bar of each merge."""
    (drawn,) = lines(ax)
    colours = [to_hex(colour).upper() for colour in drawn.get_colors()]
    return [colours[start : start + 3] for start in range(0, len(colours), 3)]


def triangles(ax):
    """The corners of each triangle."""
    return [
        path.vertices[:3].tolist()
        for drawn in ax.collections
        if isinstance(drawn, PolyCollection)
        for path in drawn.get_paths()
    ]


def triangle_colours(ax):
    (drawn,) = [drawn for drawn in ax.collections if isinstance(drawn, PolyCollection)]
    return [to_hex(colour).upper() for colour in drawn.get_facecolors()]


def tick_labels(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


def legend(ax):
    """What the legend says, by colour."""
    shown = ax.get_legend()
    names = [text.get_text() for text in shown.get_texts()]
    colours = [to_hex(patch.get_facecolor()).upper() for patch in shown.get_patches()]
    return dict(zip(names, colours, strict=True))


def test_every_merge_is_two_legs_and_a_bar(ax, tree):
    assert plot_dendrogram(tree, ax=ax) is ax
    assert links(ax) == [
        [[[1, 0], [1, 0.5]], [[2, 0], [2, 0.5]], [[1, 0.5], [2, 0.5]]],
        [[[3, 0], [3, 1]], [[4, 0], [4, 1]], [[3, 1], [4, 1]]],
        [[[1.5, 0.5], [1.5, 2]], [[3.5, 1], [3.5, 2]], [[1.5, 2], [3.5, 2]]],
        [[[0, 0], [0, 5.5]], [[2.5, 2], [2.5, 5.5]], [[0, 5.5], [2.5, 5.5]]],
    ]
    assert triangles(ax) == []
    assert tick_labels(ax) == ["4", "2", "3", "0", "1"]
    assert ax.get_xlabel() == "point"
    assert ax.get_ylabel() == "transitive distance"
    assert ax.get_legend() is None


def test_groups_are_triangles_as_high_as_their_last_merge(ax, tree):
    plot_dendrogram(tree, max_leaves=3, ax=ax)
    assert len(links(ax)) == 2
    half = float(triangle_half_widths(np.array([2]), 5)[0])
    assert triangles(ax) == [
        [[1 - half, 0], [1, 0.5], [1 + half, 0]],
        [[2 - half, 0], [2, 1], [2 + half, 0]],
    ]
    assert tick_labels(ax) == ["1", "2", "2"]
    assert ax.get_xlabel() == "number of points in each of 3 groups"


def test_larger_groups_are_wider_and_never_overlap():
    widths = triangle_half_widths(np.array([2, 30, 30_000, 100_000]), 100_000)
    assert (np.diff(widths) > 0).all()
    assert 0.05 < widths.min() < widths.max() < 0.5


def test_what_is_of_one_cluster_has_its_colour(ax, tree):
    plot_dendrogram(tree, ["b", "b", "a", "a", "a"], max_leaves=3, ax=ax)
    assert triangle_colours(ax) == [PALETTE[0], PALETTE[1]]
    assert link_colours(ax) == [
        [PALETTE[0], PALETTE[1], EDGE_COLOUR],
        [PALETTE[0], EDGE_COLOUR, EDGE_COLOUR],
    ]
    assert legend(ax) == {"a": PALETTE[0], "b": PALETTE[1], "several": EDGE_COLOUR}


def test_merges_within_a_cluster_have_its_colour_too(ax, tree):
    plot_dendrogram(tree, [1, 1, 0, 0, 1], ax=ax)
    bars = [colours[2] for colours in link_colours(ax)]
    assert bars == [PALETTE[0], PALETTE[1], EDGE_COLOUR, EDGE_COLOUR]


def test_one_cluster_has_no_grey(ax, tree):
    plot_dendrogram(tree, np.zeros(5, dtype=int), ax=ax)
    assert legend(ax) == {"0": PALETTE[0]}


def test_more_clusters_than_colours_have_no_legend(ax):
    tree = UltrametricTree.from_data(points("gaussian", 40, 2, 0))
    plot_dendrogram(tree, np.arange(40) % 9, ax=ax)
    assert ax.get_legend() is None


def test_a_group_of_equal_points_lies_on_the_axis(ax):
    plot_dendrogram(UltrametricTree.from_data([[0.0], [0.0], [2.0]]), ax=ax)
    (flat,) = triangles(ax)
    assert [corner[1] for corner in flat] == [0, 0, 0]
    assert tick_labels(ax) == ["1", "2"]


@pytest.mark.parametrize(
    ("X", "labels", "xlabel"),
    [
        ([[1.0]], ["0"], "point"),
        ([[1.0]] * 1200, ["1,200"], "number of points"),
        ([[1.0], [3.0]], ["0", "1"], "point"),
    ],
)
def test_the_smallest_trees_can_be_drawn(ax, X, labels, xlabel):
    plot_dendrogram(UltrametricTree.from_data(X), ax=ax)
    ax.figure.canvas.draw()
    assert tick_labels(ax) == labels
    assert ax.get_xlabel() == xlabel
    assert ax.get_ylim()[1] >= 1
    assert len(lines(ax)) == len(labels) - 1


def test_points_that_all_join_at_one_height_are_one_group_that_says_so(ax):
    plot_dendrogram(UltrametricTree.from_data(np.arange(60.0)[:, None]), ax=ax)
    assert tick_labels(ax) == ["60"]
    assert ax.get_xlabel() == "number of points: more than 50 groups join at this height"


def test_too_many_leaves_have_no_labels(ax):
    tree = UltrametricTree.from_data(points("gaussian", 300, 2, 0))
    plot_dendrogram(tree, max_leaves=300, ax=ax)
    assert len(links(ax)) == 299
    assert tick_labels(ax) == []
    assert ax.get_xlabel() == "300 points"


def test_the_legend_covers_nothing(ax):
    for X in (LINE, [[0.0], [1.0], [3.0], [4.0]]):  # the right corner is free; it is not
        ax.clear()
        plot_dendrogram(UltrametricTree.from_data(X), range(len(X)), ax=ax)
        ax.figure.canvas.draw()
        legend_box = ax.get_legend().get_window_extent()
        corners = ax.transData.transform(np.reshape(links(ax), (-1, 2)))
        assert not any(legend_box.contains(*corner) for corner in corners)


def test_infinite_heights_are_dashed_and_have_a_tick(ax):
    plot_dendrogram(UltrametricTree.from_linkage(INFINITE), ax=ax)
    finite, infinite = lines(ax)
    assert len(finite.get_segments()) == 2 * 3
    assert finite.get_linestyle()[0][1] is None
    assert infinite.get_linestyle()[0][1] is not None
    left, right, bar = (segment.tolist() for segment in infinite.get_segments())
    level = bar[0][1]
    assert 2 < level < ax.get_ylim()[1]
    assert left == [[0.5, 1], [0.5, level]]
    assert right == [[2.5, 2], [2.5, level]]
    assert bar == [[0.5, level], [2.5, level]]
    ticks = [text.get_text() for text in ax.get_yticklabels()]
    assert ticks[-1] == "∞"
    assert "∞" not in ticks[:-1]
    assert ax.get_yticks()[-1] == level
    assert ax.get_yticks()[:-1].max() <= 2


def test_points_that_are_all_infinitely_far_apart(ax):
    Z = [[0, 1, np.inf, 2], [2, 3, np.inf, 3], [4, 5, np.inf, 4]]
    tree = UltrametricTree.from_linkage([[0, 1, np.inf, 2], [2, 3, np.inf, 3]])
    plot_dendrogram(tree, ax=ax)
    (infinite,) = lines(ax)
    assert len(infinite.get_segments()) == 2 * 3
    ax.clear()
    plot_dendrogram(UltrametricTree.from_linkage(Z), max_leaves=3, ax=ax)
    (collapsed,) = triangles(ax)
    assert collapsed[1][1] == ax.get_yticks()[-1]
    assert tick_labels(ax) == ["4"]


def test_everything_drawn_lies_inside_the_axes(ax):
    plot_dendrogram(UltrametricTree.from_data(points("blobs", 300, 2, 0)), max_leaves=20, ax=ax)
    corners = np.concatenate([np.reshape(links(ax), (-1, 2)), *triangles(ax)])
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert left < corners[:, 0].min()
    assert corners[:, 0].max() < right
    assert bottom == corners[:, 1].min() == 0
    assert corners[:, 1].max() < top


def test_labels_of_leaves_do_not_overlap():
    ax = plot_dendrogram(UltrametricTree.from_data(points("gaussian", 5_000, 2, 0)))
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.get_xticklabels()]
    assert len(boxes) == 50
    assert all(a.x1 <= b.x0 for a, b in itertools.pairwise(boxes))


def test_many_points_make_few_artists(ax):
    tree = UltrametricTree.from_data(points("blobs", 100_000, 1, 0))
    plot_dendrogram(tree, np.arange(100_000) % 2, max_leaves=30, ax=ax)
    assert len(links(ax)) == 29
    assert sum(int(label.replace(",", "")) for label in tick_labels(ax)) == 100_000


def test_without_axes_a_new_figure_is_made(tree):
    assert plot_dendrogram(tree).figure is not plot_dendrogram(tree).figure


def test_what_cannot_be_drawn_is_refused(ax, tree):
    with pytest.raises(ValueError, match="max_leaves must be at least 1"):
        plot_dendrogram(tree, max_leaves=0, ax=ax)
    with pytest.raises(ValueError, match="each of 5 points"):
        plot_dendrogram(tree, [0, 1], ax=ax)
    assert not ax.collections
