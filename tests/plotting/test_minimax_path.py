import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex

from isthmus.plotting import plot_path
from isthmus.plotting.minimax_path import path_in_plane
from isthmus.plotting.style import CUT_COLOUR, FAINT_COLOUR, PALETTE

POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [5.0, 1.0], [5.0, 3.0], [9.0, 9.0]])
PATH = [0, 1, 2, 3]


def line(ax, label):
    """The corners of the line of a label."""
    (found,) = [drawn for drawn in ax.lines if drawn.get_label() == label]
    return found.get_xydata().tolist()


def names(ax):
    return [text.get_text() for text in ax.texts]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_path_its_stones_its_edge_and_its_ends_are_drawn(ax):
    assert plot_path(POINTS, PATH, (2, 3), ax=ax) is ax
    assert line(ax, "path") == POINTS[:4].tolist()
    assert line(ax, "stepping stone") == POINTS[1:3].tolist()
    assert line(ax, "transitive edge") == POINTS[2:4].tolist()
    ends = ax.lines[-1]
    assert ends.get_xydata().tolist() == POINTS[[0, 3]].tolist()
    assert names(ax) == ["0", "3"]
    assert [text.xy for text in ax.texts] == [tuple(POINTS[0]), tuple(POINTS[3])]
    assert legend(ax) == ["path", "stepping stone", "transitive edge"]
    (scatter,) = [drawn for drawn in ax.collections if isinstance(drawn, PathCollection)]
    assert np.array_equal(scatter.get_offsets(), POINTS)
    assert to_hex(scatter.get_facecolors()[0]).upper() == FAINT_COLOUR


def test_the_transitive_edge_has_a_colour_of_its_own(ax):
    plot_path(POINTS, PATH, (2, 3), ax=ax)
    colours = {drawn.get_label(): to_hex(drawn.get_color()).upper() for drawn in ax.lines}
    assert colours["transitive edge"] == CUT_COLOUR
    assert colours["path"] != CUT_COLOUR


def test_the_length_of_the_edge_may_be_told(ax):
    plot_path(POINTS, PATH, (2, 3, 4.0), ax=ax)
    assert line(ax, "transitive edge, 4 long") == POINTS[2:4].tolist()


def test_names_stand_off_the_path(ax):
    plot_path(POINTS, PATH, ax=ax)
    first, last = (text.get_position() for text in ax.texts)
    assert first[0] < 0 == first[1]  # the path leaves to the right
    assert last[0] > 0 == last[1]  # … and comes from the left


def test_names_lie_inside_the_axes_and_do_not_cover_the_ends(ax):
    plot_path(POINTS[:5], [0, 1, 2, 3], ax=ax)
    ax.figure.canvas.draw()
    frame = ax.get_window_extent()
    ends = ax.transData.transform(POINTS[[0, 3]])
    for text, end in zip(ax.texts, ends, strict=True):
        box = text.get_window_extent()
        assert frame.x0 < box.x0 < box.x1 < frame.x1
        assert frame.y0 < box.y0 < box.y1 < frame.y1
        assert not box.contains(*end)


def test_ends_may_have_names(ax):
    plot_path(POINTS, PATH, names=("p", "q"), ax=ax)
    assert names(ax) == ["p", "q"]


def test_points_may_be_coloured_by_cluster(ax):
    plot_path(POINTS, PATH, labels=list("aaabbb"), ax=ax)
    colours = [to_hex(drawn.get_facecolors()[0]).upper() for drawn in ax.collections]
    assert colours == [PALETTE[0], PALETTE[1]]


def test_a_path_of_two_points_has_no_stones(ax):
    plot_path(POINTS, np.array([4, 1]), [4, 1], ax=ax)
    assert legend(ax) == ["path", "transitive edge"]
    assert names(ax) == ["4", "1"]


def test_a_path_of_one_point_has_one_name(ax):
    plot_path(POINTS, [2], ax=ax)
    assert names(ax) == ["2"]
    assert ax.lines[-1].get_xydata().tolist() == [[1.0, 1.0]] * 2
    ax.figure.canvas.draw()


def test_directions_lead_away_from_the_path():
    drawn = path_in_plane(POINTS, [0, 1, 2])
    assert drawn.outward.tolist() == [[-1.0, 0.0], [0.0, 1.0]]
    assert drawn.ends == (0, 2)
    equal = path_in_plane(np.ones((3, 2)), [0, 1, 2])
    assert equal.outward.tolist() == [[0.0, 1.0], [0.0, 1.0]]


def test_without_axes_a_new_figure_is_made():
    first, second = plot_path(POINTS, PATH), plot_path(POINTS, PATH)
    assert first.figure is not second.figure
    first.figure.canvas.draw()


@pytest.mark.parametrize(
    ("path", "edge", "error", "message"),
    [
        ([], None, ValueError, "at least one point"),
        ([0, 6], None, IndexError, "path has point 6, but X has the points 0 to 5"),
        ([-1, 2], None, IndexError, "path has point -1"),
        ([0.0, 1.0], None, TypeError, "path must be a list of points"),
        ([[0, 1]], None, TypeError, "path must be a list of points"),
        ([0, 1], [0, 9], IndexError, "edge has point 9"),
        ([0, 1], [0], ValueError, "edge must be two points"),
    ],
)
def test_what_is_no_path_is_refused(ax, path, edge, error, message):
    with pytest.raises(error, match=message):
        plot_path(POINTS, path, edge, ax=ax)
    assert not ax.lines


def test_points_outside_the_plane_and_other_labels_are_refused(ax):
    with pytest.raises(ValueError, match="X must have 2 columns, got 3"):
        plot_path(np.zeros((5, 3)), PATH, ax=ax)
    with pytest.raises(ValueError, match="each of 6 points"):
        plot_path(POINTS, PATH, labels=[0], ax=ax)
