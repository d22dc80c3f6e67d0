import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

from isthmus.plotting import plot_clusters, plot_outliers, plot_spanning_tree
from isthmus.plotting.style import CUT_COLOUR, EDGE_COLOUR, FAINT_COLOUR, PALETTE, cluster_style
from isthmus.spanning_tree import SpanningTree

POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [5.0, 1.0], [5.0, 3.0]])
EDGES = np.array([[0, 1], [1, 2], [3, 4], [2, 3]])
LABELS = np.array([0, 0, 0, 1, 1])
SCORES = np.array([0.0, 0.9, 0.5, 0.1])


@pytest.fixture
def tree():
    return SpanningTree.from_edges(EDGES, [1.0, 1.0, 2.0, 4.0])


def scatters(ax):
    return [drawn for drawn in ax.collections if isinstance(drawn, PathCollection)]


def lines(ax):
    """The line collections of an Axes by colour."""
    found = [drawn for drawn in ax.collections if isinstance(drawn, LineCollection)]
    return {to_hex(drawn.get_colors()[0]).upper(): drawn for drawn in found}


def segments(collection):
    return sorted(np.asarray(segment).tolist() for segment in collection.get_segments())


def test_each_cluster_is_drawn_in_its_own_colour(ax):
    assert plot_clusters(POINTS, LABELS, ax=ax) is ax
    first, second = scatters(ax)
    assert np.array_equal(first.get_offsets(), POINTS[:3])
    assert np.array_equal(second.get_offsets(), POINTS[3:])
    assert to_hex(first.get_facecolors()[0]).upper() == PALETTE[0]
    assert to_hex(second.get_facecolors()[0]).upper() == PALETTE[1]


def test_labels_may_have_any_names(ax):
    plot_clusters(POINTS, ["b", "b", "a", "a", "c"], ax=ax)
    drawn = [np.asarray(collection.get_offsets()).tolist() for collection in scatters(ax)]
    assert drawn == [POINTS[2:4].tolist(), POINTS[:2].tolist(), POINTS[4:].tolist()]


def test_more_clusters_than_colours_differ_in_their_markers(ax):
    n_clusters = 2 * len(PALETTE) + 3
    points = np.random.default_rng(0).random((n_clusters, 2))
    plot_clusters(points, np.arange(n_clusters), ax=ax)
    looks = {
        (to_hex(drawn.get_facecolors()[0]), drawn.get_paths()[0].vertices.tobytes())
        for drawn in scatters(ax)
    }
    assert len(looks) == n_clusters


def test_the_first_64_styles_differ():
    assert len({cluster_style(cluster) for cluster in range(64)}) == 64
    assert cluster_style(64) == cluster_style(0)


def test_axes_keep_proportions_and_have_no_ticks(ax):
    plot_clusters(POINTS, LABELS, ax=ax)
    assert ax.get_aspect() == 1.0
    ax.figure.canvas.draw()
    ticks = [*ax.xaxis.get_major_ticks(), *ax.yaxis.get_major_ticks()]
    assert ticks
    assert not any(tick.tick1line.get_visible() or tick.label1.get_visible() for tick in ticks)


def test_edges_inside_and_between_clusters_look_different(ax, tree):
    assert plot_spanning_tree(POINTS, tree, labels=LABELS, ax=ax) is ax
    inside, between = lines(ax)[EDGE_COLOUR], lines(ax)[CUT_COLOUR]
    assert segments(inside) == sorted(POINTS[EDGES[:3]].tolist())
    assert segments(between) == [POINTS[[2, 3]].tolist()]
    assert inside.get_linestyle() == [(0.0, None)]
    assert between.get_linestyle()[0][1] is not None
    assert [len(drawn.get_offsets()) for drawn in scatters(ax)] == [3, 2]


def test_a_tree_without_labels_has_no_cut_edges(ax, tree):
    plot_spanning_tree(POINTS, tree, ax=ax)
    assert set(lines(ax)) == {EDGE_COLOUR}
    assert len(segments(lines(ax)[EDGE_COLOUR])) == 4
    assert [len(drawn.get_offsets()) for drawn in scatters(ax)] == [5]


def test_one_cluster_has_no_cut_edges(ax, tree):
    plot_spanning_tree(POINTS, tree, labels=np.zeros(5), ax=ax)
    assert set(lines(ax)) == {EDGE_COLOUR}


def test_one_point_has_no_edges(ax):
    plot_spanning_tree([[2.0, 3.0]], SpanningTree.from_edges(np.empty((0, 2), int), []), ax=ax)
    assert lines(ax) == {}
    assert np.array_equal(scatters(ax)[0].get_offsets(), [[2.0, 3.0]])


def test_everything_drawn_lies_inside_the_axes(ax, tree):
    plot_spanning_tree(POINTS, tree, labels=LABELS, ax=ax)
    ax.figure.canvas.draw()
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert left < 0 < 5 < right
    assert bottom < 0 < 3 < top


def test_without_axes_a_new_figure_is_made(tree):
    first = plot_clusters(POINTS, LABELS)
    second = plot_spanning_tree(POINTS, tree)
    assert first.figure is not second.figure
    assert len(scatters(first)) == 2
    assert len(scatters(second)) == 1


def test_points_outside_the_plane_are_refused(ax, tree):
    with pytest.raises(ValueError, match="X must have 2 columns, got 3"):
        plot_clusters(np.zeros((5, 3)), LABELS, ax=ax)
    with pytest.raises(ValueError, match="X must have 2 columns, got 1"):
        plot_spanning_tree(np.zeros((5, 1)), tree, ax=ax)
    assert not ax.collections


def test_another_number_of_labels_is_refused(ax, tree):
    with pytest.raises(ValueError, match=r"each of 5 points.* got shape \(4,\)"):
        plot_clusters(POINTS, LABELS[:4], ax=ax)
    with pytest.raises(ValueError, match=r"each of 5 points.* got shape \(4,\)"):
        plot_spanning_tree(POINTS, tree, labels=LABELS[:4], ax=ax)


def test_a_tree_of_other_points_is_refused(ax, tree):
    with pytest.raises(ValueError, match="tree has 5 points, but X has 4"):
        plot_spanning_tree(POINTS[:4], tree, ax=ax)


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch, tree):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    wanted = r"^Drawing needs matplotlib, .*: pip install 'isthmus\[plot\]'$"
    with pytest.raises(ImportError, match=wanted):
        plot_clusters(POINTS, LABELS)
    with pytest.raises(ImportError, match=wanted):
        plot_spanning_tree(POINTS, tree)


def test_importing_the_package_does_not_import_matplotlib():
    program = "import sys, isthmus.plotting; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_high_scores_are_drawn_last_and_large(ax):
    assert plot_outliers(POINTS[:4], SCORES, ax=ax) is ax
    (drawn,) = ax.collections
    np.testing.assert_array_equal(drawn.get_offsets(), POINTS[:4][[0, 3, 2, 1]])
    np.testing.assert_array_equal(drawn.get_array(), np.sort(SCORES))
    assert (np.diff(drawn.get_sizes()) > 0).all()
    assert drawn.get_clim() == (0.0, 1.0)
    assert len(ax.figure.axes) == 2
    assert ax.figure.axes[1].get_ylabel() == "outlier score"


def test_scores_on_a_new_figure():
    assert plot_outliers(POINTS[:4], SCORES.tolist()).figure is not None


@pytest.mark.parametrize(
    ("X", "scores", "words"),
    [
        (POINTS[:4], SCORES[:3], "one score for each of the 4 points"),
        (POINTS[:4], SCORES * 2, "from 0 to 1"),
        (POINTS[:4], [0.0, np.nan, 0.0, 0.0], "from 0 to 1"),
        (POINTS[:4][:, :1], SCORES, "2 columns"),
    ],
)
def test_wrong_scores_are_refused(ax, X, scores, words):
    with pytest.raises(ValueError, match=words):
        plot_outliers(X, scores, ax=ax)


def test_noise_is_grey_and_has_no_colour_of_a_cluster(ax):
    plot_clusters(POINTS, [0, -1, 0, 1, -1], ax=ax)
    noise, first, second = scatters(ax)
    assert np.array_equal(noise.get_offsets(), POINTS[[1, 4]])
    assert to_hex(noise.get_facecolors()[0]).upper() == FAINT_COLOUR
    assert to_hex(first.get_facecolors()[0]).upper() == PALETTE[0]
    assert to_hex(second.get_facecolors()[0]).upper() == PALETTE[1]


def test_noise_on_a_tree(ax, tree):
    plot_spanning_tree(POINTS, tree, labels=[0, -1, 0, 1, -1], ax=ax)
    assert to_hex(scatters(ax)[0].get_facecolors()[0]).upper() == FAINT_COLOUR
    assert to_hex(scatters(ax)[1].get_facecolors()[0]).upper() == PALETTE[0]


def test_only_the_number_is_noise(ax):
    plot_clusters(POINTS, ["-1", "-1", "0", "0", "0"], ax=ax)
    assert to_hex(scatters(ax)[0].get_facecolors()[0]).upper() == PALETTE[0]


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_legend_lists_clusters_and_sizes(ax):
    plot_clusters(POINTS, [0, -1, 0, 1, -1], ax=ax, legend=True)
    assert legend_of(ax) == ["noise (2)", "0 (2)", "1 (1)"]
    colours = [
        to_hex(handle.get_facecolor()[0]).upper() for handle in ax.get_legend().legend_handles
    ]
    assert colours == [FAINT_COLOUR, PALETTE[0], PALETTE[1]]


def test_a_legend_by_default_in_a_new_figure_only(ax):
    assert plot_clusters(POINTS, LABELS, ax=ax).get_legend() is None
    assert legend_of(plot_clusters(POINTS, LABELS)) == ["0 (3)", "1 (2)"]
    assert plot_clusters(POINTS, LABELS, legend=False).get_legend() is None


def test_a_long_legend_ends(ax):
    points = np.random.default_rng(0).normal(size=(30, 2))
    plot_clusters(points, np.arange(30), ax=ax, legend=True)
    assert len(legend_of(ax)) == 20
    assert ax.get_legend().get_title().get_text() == "cluster (points), the first 20 of 30"


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_axes_have_the_names_of_columns(frame, tree):
    X = frame({"length": POINTS[:, 0], "width": POINTS[:, 1]})
    for ax in (
        plot_clusters(X, LABELS),
        plot_spanning_tree(X, tree),
        plot_outliers(X, [0.1, 0.2, 0.3, 0.4, 0.5]),
    ):
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")
    ax = plot_clusters(POINTS, LABELS)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("", "")
