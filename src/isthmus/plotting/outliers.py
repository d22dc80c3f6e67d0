"""Points in the plane and their outlier scores → a drawing on an Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._utils.parameters import as_real
from isthmus.plotting.scatter import check_plane
from isthmus.plotting.style import plane_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From light to dark: also without colours, what stands out is an outlier.
_COLOURS = "viridis_r"
# The sizes of points of scores 0 and 1.
_SIZES = (7.0, 42.0)


def plot_outliers(X: Any, scores: Any, *, ax: Axes | None = None) -> Axes:
    """Draw points in the plane, darker and larger the higher their outlier score is.

    Parameters
    ----------
    X : array-like of shape (n_points, 2)
        The points.
    scores : array-like of shape (n_points,)
        Their scores, from 0 to 1, as of :func:`isthmus.outlier_scores`.
    ax : matplotlib Axes, optional
        Where to draw; without it a new figure is made.

    Returns
    -------
    matplotlib Axes
        With one collection of points, the highest scores last, and a bar of colours beside it.
    """
    points = check_plane(X)
    checked = as_real(scores, "scores")
    if checked.shape != (len(points),):
        raise ValueError(
            f"scores must hold one score for each of the {len(points)} points, "
            f"got shape {checked.shape}."
        )
    if not ((checked >= 0.0) & (checked <= 1.0)).all():
        raise ValueError("scores must be numbers from 0 to 1, as isthmus.outlier_scores gives.")
    axes = plane_axes(ax)
    order = np.argsort(checked, kind="stable")
    x, y = points[order].T
    sizes = np.interp(checked[order], (0.0, 1.0), _SIZES)
    drawn = axes.scatter(
        x, y, s=sizes, c=checked[order], cmap=_COLOURS, vmin=0.0, vmax=1.0, linewidths=0
    )
    axes.figure.colorbar(drawn, ax=axes, label="outlier score", shrink=0.8)
    return axes
