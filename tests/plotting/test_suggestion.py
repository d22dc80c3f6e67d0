import numpy as np
import pytest

from isthmus import suggest_n_clusters
from isthmus.datasets import make_multi_scale
from isthmus.plotting import plot_suggestion
from isthmus.plotting.style import CUT_COLOUR


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
    from matplotlib.colors import to_hex

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
