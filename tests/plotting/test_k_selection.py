from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from isthmus import TransitiveKMeans, suggest_n_clusters
from isthmus.datasets import make_multi_scale
from isthmus.plotting import plot_cluster_path, plot_suggestion
from isthmus.plotting.style import CUT_COLOUR

FIVE = SimpleNamespace(
    n_clusters=[1, 2, 3, 4, 5],
    silhouette=[np.nan, 0.5, 0.9, 0.7, 0.2],
    margin=[np.inf, 0.5, 3.0, -1.0, 0.0],
    inertia=[np.inf, 1e6, 10.0, 3.0, 0.0],
)


@pytest.fixture(scope="module")
def suggestion():
    return suggest_n_clusters(make_multi_scale(random_state=0)[0], 8)


def bars(ax):
    """The heights of the bars, by the number of clusters; not the frame of the best one."""
    return {
        round(bar.get_x() + bar.get_width() / 2): bar.get_height()
        for bar in ax.patches
        if bar.get_fill()
    }


def test_a_bar_for_each_number_up_to_the_top(ax, suggestion):
    assert plot_suggestion(suggestion, ax=ax) is ax
    top = np.nanmax(suggestion.strength)
    assert 1.5 < top / suggestion.clear_from < 4
    expected = {
        k: np.clip(strength, 0, top)
        for k, strength in zip(suggestion.numbers, suggestion.strength, strict=True)
        if not np.isnan(strength)
    }
    assert bars(ax) == pytest.approx(expected)
    assert ax.get_title() == "3 clusters: clear"
    assert not ax.texts


def test_gaps_far_beyond_chance_are_cut_off_with_an_arrow(ax):
    two = np.repeat([[0.0], [1e6]], 50, axis=0) + np.random.default_rng(0).uniform(size=(100, 1))
    suggestion = suggest_n_clusters(two, 5)
    plot_suggestion(suggestion, ax=ax)
    assert suggestion.strength[1] > 4 * suggestion.clear_from
    assert bars(ax)[2] == pytest.approx(4 * suggestion.clear_from)
    assert [text.xy[0] for text in ax.texts] == [2]


def test_the_suggested_number_is_framed_and_the_line_is_drawn(ax, suggestion):
    plot_suggestion(suggestion, ax=ax)
    (frame,) = [bar for bar in ax.patches if not bar.get_fill()]
    assert round(frame.get_x() + frame.get_width() / 2) == 3
    assert to_hex(frame.get_edgecolor()).upper() == CUT_COLOUR.upper()
    assert ax.lines[0].get_ydata()[0] == suggestion.clear_from


def test_noise_and_single_points(ax):
    plot_suggestion(suggest_n_clusters(np.random.default_rng(0).uniform(size=(300, 2))), ax=ax)
    assert ax.get_title() == "no clear structure"
    assert all(bar.get_fill() for bar in ax.patches)
    new = plot_suggestion(suggest_n_clusters([[1.0]]))
    assert new is not ax
    assert not new.patches
    new.figure.canvas.draw()


@pytest.fixture
def axes():
    return Figure().subplots(1, 3)


def marks(ax):
    return {
        drawn.get_label(): np.asarray(drawn.get_offsets()).tolist()
        for drawn in ax.collections
        if isinstance(drawn, PathCollection)
    }


def test_what_has_no_position_is_left_out(axes):
    nan = np.nan
    np.testing.assert_array_equal(
        [panel.lines[0].get_ydata() for panel in plot_cluster_path(FIVE, axes=axes)],
        [[nan, 0.5, 0.9, 0.7, 0.2], [nan, 0.5, 3.0, -1.0, 0.0], [nan, 1e6, 10.0, 3.0, nan]],
    )
    assert FIVE.inertia == [np.inf, 1e6, 10.0, 3.0, 0.0]  # what was given stays as it was


def test_three_curves_with_their_marks(axes):
    panels = plot_cluster_path(FIVE, axes=axes)
    assert list(panels) == list(axes)
    assert [ax.get_title() for ax in panels] == ["silhouette", "margin", "inertia"]
    assert {ax.get_xlabel() for ax in panels} == {"number of clusters"}
    assert [ax.get_yscale() for ax in panels] == ["linear", "linear", "log"]
    np.testing.assert_array_equal(panels[0].lines[0].get_ydata(), [np.nan, 0.5, 0.9, 0.7, 0.2])
    assert marks(panels[0])["not consistent"] == [[4, 0.7], [5, 0.2]]
    assert marks(panels[0])["consistent"][1:] == [[2, 0.5], [3, 0.9]]


def test_what_is_not_consistent_is_hollow_and_red(axes):
    panels = plot_cluster_path(FIVE, axes=axes)
    for ax in panels:
        hollow = [each for each in ax.collections if each.get_label() == "not consistent"]
        assert to_hex(hollow[0].get_facecolors()[0]) == "#ffffff"
        assert to_hex(hollow[0].get_edgecolors()[0]).upper() == CUT_COLOUR


def test_a_path_of_a_fit_on_a_new_figure():
    X, _ = make_multi_scale(random_state=0)
    path = TransitiveKMeans(3).fit(X).path(1, 6)
    panels = plot_cluster_path(path)
    assert len(panels) == 3
    np.testing.assert_array_equal(panels[0].lines[0].get_ydata()[1:], path.silhouette[1:])
    panels[0].figure.canvas.draw()


def test_nothing_to_show_draws_nothing(axes):
    """One cluster has no silhouette and no margin; its inertia may be infinite."""
    one = SimpleNamespace(n_clusters=[1], silhouette=[np.nan], margin=[np.inf], inertia=[np.inf])
    for ax in plot_cluster_path(one, axes=axes):
        assert marks(ax) == {}
        assert ax.get_legend() is None
        ax.figure.canvas.draw()


def test_errors(ax):
    with pytest.raises(ValueError, match="axes must hold 3 matplotlib Axes, got 1"):
        plot_cluster_path(FIVE, axes=ax)
    empty = SimpleNamespace(n_clusters=[], silhouette=[], margin=[], inertia=[])
    with pytest.raises(ValueError, match="no numbers of clusters"):
        plot_cluster_path(empty)
