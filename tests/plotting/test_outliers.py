import numpy as np
import pytest

from isthmus.plotting import plot_outliers

POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [5.0, 1.0]])
SCORES = np.array([0.0, 0.9, 0.5, 0.1])


def test_high_scores_are_drawn_last_and_large(ax):
    assert plot_outliers(POINTS, SCORES, ax=ax) is ax
    (drawn,) = ax.collections
    np.testing.assert_array_equal(drawn.get_offsets(), POINTS[[0, 3, 2, 1]])
    np.testing.assert_array_equal(drawn.get_array(), np.sort(SCORES))
    assert (np.diff(drawn.get_sizes()) > 0).all()
    assert drawn.get_clim() == (0.0, 1.0)
    assert len(ax.figure.axes) == 2
    assert ax.figure.axes[1].get_ylabel() == "outlier score"


def test_a_new_figure():
    assert plot_outliers(POINTS, SCORES.tolist()).figure is not None


@pytest.mark.parametrize(
    ("X", "scores", "words"),
    [
        (POINTS, SCORES[:3], "one score for each of the 4 points"),
        (POINTS, SCORES * 2, "from 0 to 1"),
        (POINTS, [0.0, np.nan, 0.0, 0.0], "from 0 to 1"),
        (POINTS[:, :1], SCORES, "2 columns"),
    ],
)
def test_wrong_arguments(ax, X, scores, words):
    with pytest.raises(ValueError, match=words):
        plot_outliers(X, scores, ax=ax)
