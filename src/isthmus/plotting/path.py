"""Points in the plane and a path between two of them → a drawing on an Axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.plotting.scatter import SMALL_POINT_SIZE, check_plane, draw_clusters, draw_points
from isthmus.plotting.style import (
    CUT_COLOUR,
    FAINT_COLOUR,
    MARKERS,
    ClusterStyle,
    add_wide_legend,
    check_labels,
    plane_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from isthmus._utils.typing import Array, Floats

_PATH_COLOUR = "#000000"
_STONE_SIZE, _END_SIZE = 4.5, 8.0
# From an end to its name, in points of the drawing.
_NAME_DISTANCE = 7.0
# Room for names round the points, as a share of their extent.
_MARGIN = 0.06


@dataclass(frozen=True)
class PathInPlane:
    """A path and what is marked on it, as coordinates.

    Attributes
    ----------
    vertices : ndarray of shape (n_vertices, 2)
        The points of the path, both ends included.
    ends : tuple of int
        The points at its two ends, or the one point of a path that has no other.
    outward : ndarray of shape (n_ends, 2)
        Directions of length 1 that lead away from the path, one for each end.
    edge : ndarray of shape (2, 2), or None
        The ends of the transitive edge.
    length : float or None
        Its length, where it is known.
    """

    vertices: Floats
    ends: tuple[int, ...]
    outward: Floats
    edge: Floats | None
    length: float | None

    @property
    def stones(self) -> Floats:
        """The stepping stones: the points between both ends, (n_vertices - 2, 2) or empty."""
        return self.vertices[1:-1]


def plot_path(
    X: Any,
    path: Any,
    edge: Any = None,
    *,
    labels: Any = None,
    names: tuple[str, str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw points in the plane and the path between two of them.

    Parameters
    ----------
    X : array-like of shape (n_points, 2)
        The points.
    path : array-like of shape (n_vertices,)
        The points of the path by their numbers, from one end to the other.
    edge : (int, int) or (int, int, float), optional
        The two points of the transitive edge, the longest step of the path, to be drawn in another
        colour; and its length, for the legend.
    labels : array-like of shape (n_points,), optional
        The cluster of each point, to colour them by.
    names : tuple of two str, optional
        What to call the two ends; without it they have their numbers.
    ax : matplotlib Axes, optional
        Where to draw; without it a new figure is made.

    Returns
    -------
    matplotlib Axes
        With the points as for :func:`plot_clusters`, then as lines: the path, its stepping
        stones if there are any, the transitive edge if there is one, and the ends.
    """
    points = check_plane(X)
    drawn = path_in_plane(points, path, edge)
    clusters = None if labels is None else check_labels(labels, len(points))
    if names is None:
        names = (str(drawn.ends[0]), str(drawn.ends[-1]))
    axes = plane_axes(ax)
    if clusters is None:
        draw_points(axes, points, ClusterStyle(FAINT_COLOUR, MARKERS[0]), SMALL_POINT_SIZE)
    else:
        draw_clusters(axes, points, clusters, SMALL_POINT_SIZE)
    _draw_path(axes, drawn)
    _name_ends(axes, drawn, names)
    margin = _MARGIN * np.ptp(points, axis=0).max()
    axes.update_datalim([points.min(axis=0) - margin, points.max(axis=0) + margin])
    axes.autoscale_view()
    # Below the points, where there are no ticks: finding room among many points would be slow.
    add_wide_legend(axes, loc="upper center", bbox_to_anchor=(0.5, 0.0))
    return axes


def path_in_plane(points: Array, path: Any, edge: Any = None) -> PathInPlane:
    """Return where a path runs; raise where it leads to points that are not there."""
    steps = _check_numbers(path, "path", len(points))
    if not len(steps):
        raise ValueError("path must have at least one point.")
    ends = steps[[0, -1]] if len(steps) > 1 else steps
    between, length = None, None
    if edge is not None:
        if len(edge) not in (2, 3):
            raise ValueError(f"edge must be two points, and perhaps its length; got {edge!r}.")
        between = points[_check_numbers(edge[:2], "edge", len(points))].astype(np.float64)
        length = float(edge[2]) if len(edge) == 3 else None
    vertices = points[steps].astype(np.float64)
    return PathInPlane(
        vertices=vertices,
        ends=tuple(ends.tolist()),
        outward=_outward(vertices)[: len(ends)],
        edge=between,
        length=length,
    )


def _check_numbers(values: Any, what: str, n_points: int) -> Array:
    numbers = np.asarray(values)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise TypeError(f"{what} must be a list of points by their numbers, got {values!r}.")
    wrong = numbers[(numbers < 0) | (numbers >= n_points)]
    if len(wrong):
        raise IndexError(f"{what} has point {wrong[0]}, but X has the points 0 to {n_points - 1}.")
    return numbers


def _outward(vertices: Floats) -> Floats:
    """Return directions away from the path at its first and last vertex; up where there is none."""
    directions = np.array([vertices[0] - vertices[:2][-1], vertices[-1] - vertices[-2:][0]])
    lengths = np.hypot(*directions.T)
    directions[lengths == 0] = (0.0, 1.0)
    lengths[lengths == 0] = 1.0
    outward: Floats = directions / lengths[:, None]
    return outward


def _draw_path(axes: Axes, drawn: PathInPlane) -> None:
    axes.plot(*drawn.vertices.T, color=_PATH_COLOUR, linewidth=1.4, zorder=4, label="path")
    if len(drawn.stones):
        axes.plot(
            *drawn.stones.T,
            linestyle="none",
            marker="o",
            markersize=_STONE_SIZE,
            markerfacecolor="#FFFFFF",
            markeredgecolor=_PATH_COLOUR,
            zorder=6,
            label="stepping stone",
        )
    if drawn.edge is not None:
        length = "" if drawn.length is None else f", {drawn.length:.3g} long"
        axes.plot(
            *drawn.edge.T,
            color=CUT_COLOUR,
            linewidth=3.5,
            solid_capstyle="butt",
            zorder=5,
            label=f"transitive edge{length}",
        )
    axes.plot(
        *drawn.vertices[[0, -1]].T,
        linestyle="none",
        marker="o",
        markersize=_END_SIZE,
        color=_PATH_COLOUR,
        zorder=7,
    )


def _name_ends(axes: Axes, drawn: PathInPlane, names: tuple[str, str]) -> None:
    from matplotlib.patheffects import withStroke

    # the path of one point has one end
    for name, place, outward in zip(names, drawn.vertices[[0, -1]], drawn.outward, strict=False):
        axes.annotate(
            name,
            place,
            _NAME_DISTANCE * outward,
            textcoords="offset points",
            ha=_alignment(outward[0], "right", "left"),
            va=_alignment(outward[1], "top", "bottom"),
            fontsize=12,
            fontweight="bold",
            path_effects=[withStroke(linewidth=3, foreground="#FFFFFF")],
            zorder=8,
        )


def _alignment(direction: float, back: str, forth: str) -> str:
    """Return on which side of its place a name is to lie, so that it leads away from the path."""
    if abs(direction) < 0.4:
        return "center"
    return forth if direction > 0 else back
