import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from isthmus.plotting import plot_consistency
from isthmus.plotting.margins import dumbbells
from isthmus.plotting.style import CUT_COLOUR, EDGE_COLOUR


def record(inside, outside, clusters=None):
    clusters = np.arange(len(inside)) if clusters is None else clusters
    return SimpleNamespace(clusters=clusters, inside=inside, outside=outside)


THREE = record([1.0, 3.0, 0.5], [2.0, 2.5, 4.0], ["a", "b", "c"])


def lines(ax):
    """The segments of each colour."""
    return {
        to_hex(drawn.get_colors()[0]).upper(): np.asarray(drawn.get_segments()).tolist()
        for drawn in ax.collections
        if isinstance(drawn, LineCollection) and len(drawn.get_segments())
    }


def marks(ax):
    """The places of the marks, by what they mean."""
    return {
        drawn.get_label(): np.asarray(drawn.get_offsets()).tolist()
        for drawn in ax.collections
        if isinstance(drawn, PathCollection)
    }


def tick_labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_each_cluster_is_a_line_between_two_marks(ax):
    assert plot_consistency(THREE, ax=ax) is ax
    assert tick_labels(ax) == ["c", "a", "b"]
    assert lines(ax) == {
        EDGE_COLOUR: [[[0.5, 0], [4.0, 0]], [[1.0, 1], [2.0, 1]]],
        CUT_COLOUR: [[[3.0, 2], [2.5, 2]]],
    }
    assert marks(ax) == {
        "widest gap inside": [[0.5, 0], [1.0, 1], [3.0, 2]],
        "distance to the outside": [[4.0, 0], [2.0, 1], [2.5, 2]],
    }
    bottom, top = ax.get_ylim()
    assert top < 0 < 2 < bottom  # the largest margin on top
    assert ax.get_xlabel() == "distance"
    assert ax.get_ylabel() == "cluster"


def test_clusters_that_are_not_consistent_are_marked(ax):
    plot_consistency(THREE, ax=ax)
    marked = [text.get_text() for text in ax.get_yticklabels() if text.get_color() == CUT_COLOUR]
    assert marked == ["b"]
    assert "not consistent" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_two_distances_differ_in_colour_and_shape(ax):
    plot_consistency(THREE, ax=ax)
    first, second = [drawn for drawn in ax.collections if isinstance(drawn, PathCollection)]
    assert to_hex(first.get_facecolors()[0]) != to_hex(second.get_facecolors()[0])
    assert not np.array_equal(first.get_paths()[0].vertices, second.get_paths()[0].vertices)


def test_consistent_clusters_leave_nothing_red(ax):
    plot_consistency(record([1.0, 1.0], [1.5, 2.0]), ax=ax)
    assert set(lines(ax)) == {EDGE_COLOUR}
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["widest gap inside", "distance to the outside"]


def test_as_wide_as_the_distance_to_the_outside_is_not_consistent():
    assert dumbbells(record([1.0, 1.0], [1.0, 2.0])).failing.tolist() == [False, True]


def test_equal_margins_keep_their_order():
    drawn = dumbbells(record([1, 1, 1, 1], [2, 3, 2, 3], ["d", "c", "b", "a"]))
    assert drawn.names == ["c", "a", "d", "b"]


def test_a_single_cluster_has_nothing_outside(ax):
    plot_consistency(record([2.0], [np.inf]), ax=ax)
    ((_, (infinity, _)),) = lines(ax)[EDGE_COLOUR]
    assert 2 < infinity < ax.get_xlim()[1]
    assert ax.get_xticks()[-1] == infinity
    ticks = [text.get_text() for text in ax.get_xticklabels()]
    assert ticks[-1] == "∞"
    assert ticks[0] == "0"
    ax.figure.canvas.draw()


def test_infinite_inside_and_outside_is_consistent_only_alone():
    drawn = dumbbells(record([np.inf, 1.0], [np.inf, np.inf]))
    assert drawn.names == ["1", "0"]
    assert drawn.failing.tolist() == [False, True]
    assert dumbbells(record([np.inf], [np.inf])).failing.tolist() == [False]


def test_all_distances_may_be_zero(ax):
    plot_consistency(record([0.0, 0.0], [0.0, 0.0]), ax=ax)
    ax.figure.canvas.draw()
    left, right = ax.get_xlim()
    assert left < 0 < right


def test_many_clusters_have_smaller_names_and_at_last_none(ax):
    plot_consistency(record(np.ones(60), np.arange(60)), ax=ax)
    assert len(tick_labels(ax)) == 60
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.get_yticklabels()]
    assert all(below.y1 <= above.y0 + 1 for above, below in itertools.pairwise(boxes))
    ax.clear()
    plot_consistency(record(np.ones(200), np.arange(200)), ax=ax)
    ax.figure.canvas.draw()
    assert not any(tick.label1.get_visible() for tick in ax.yaxis.get_major_ticks())
    assert len(marks(ax)["widest gap inside"]) == 200


@pytest.mark.parametrize("width", [3.0, 6.4])
def test_the_legend_fits_the_axes_and_covers_nothing(width):
    ax = Figure(figsize=(width, 3.0)).add_subplot()
    plot_consistency(record(np.ones(5), np.arange(5)), ax=ax)
    ax.figure.canvas.draw()
    legend, frame = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.width < 1.2 * frame.width
    for places in marks(ax).values():
        assert not any(legend.contains(*xy) for xy in ax.transData.transform(places))


def test_a_new_figure_is_as_high_as_it_must_be():
    few, many = plot_consistency(THREE), plot_consistency(record(np.ones(20), np.ones(20)))
    assert few.figure.get_figheight() < many.figure.get_figheight()


def test_what_does_not_fit_together_is_refused(ax):
    with pytest.raises(ValueError, match=r"outside must hold one number for each of the 2"):
        plot_consistency(record([1, 2], [1]), ax=ax)
    with pytest.raises(ValueError, match="inside must hold distances"):
        plot_consistency(record([np.nan], [1.0]), ax=ax)
    with pytest.raises(ValueError, match="outside must hold distances"):
        plot_consistency(record([1.0], [-1.0]), ax=ax)
    with pytest.raises(ValueError, match="no clusters"):
        plot_consistency(record([], []), ax=ax)
    assert not ax.collections
