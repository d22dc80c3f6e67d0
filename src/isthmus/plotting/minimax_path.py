"""Points in the plane and the minimax path between two of them → a drawing on an Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isthmus._utils.parameters import coded_labels
from isthmus._utils.typing import Array, Floats
from isthmus.plotting.scatter import SMALL_POINT_SIZE, check_plane, draw_points
from isthmus.plotting.style import CUT_COLOUR, FAINT_COLOUR, add_wide_legend, plane_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PATH_COLOUR = "#000000"
# From a point to its name, in points of the drawing.
_NAME_DISTANCE = 7.0
# The margin for names round the points, as a share of their extent.
_MARGIN = 0.06


class PathInPlane(NamedTuple):
    """A path and what is marked on it, as coordinates."""

    vertices: Floats  # (n_vertices, 2), both ends included
    ends: tuple[int, ...]  # two points, or the one point of a path that has no other
    outward: Floats  # (n_ends, 2), unit vectors that point away from the path
    edge: Floats | None  # (2, 2), the ends of the transitive edge
    length: float | None  # of that edge, where it is known


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
        The indices of the points of the path, from one end to the other.
    edge : (int, int) or (int, int, float), optional
        The two points of the transitive edge, the longest step of the path, to be drawn in another
        colour; and its length, for the legend.
    labels : array-like of shape (n_points,), optional
        The cluster of each point, to colour them by; the number -1 is noise.
    names : tuple of two str, optional
        The names of the two ends; their indices by default.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        With the points as for :func:`plot_clusters`, then as lines: the path, its intermediate
        points if there are any, the transitive edge if there is one, and the ends.

    See Also
    --------
    isthmus.UltrametricTree.path : The points on the path.
    isthmus.UltrametricTree.transitive_edge : The edge that decides.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, random_state=0)
    >>> model = TransitiveCut(2).fit(X)
    >>> ax = plotting.plot_path(X, model.tree_.path(0, 9), model.tree_.transitive_edge(0, 9))
    """
    points = check_plane(X)
    drawn = path_in_plane(points, path, edge)
    clusters, codes = (None, None) if labels is None else coded_labels(labels, len(points))
    if names is None:
        names = (str(drawn.ends[0]), str(drawn.ends[-1]))
    axes = plane_axes(ax)
    draw_points(axes, points, codes, size=SMALL_POINT_SIZE, colour=FAINT_COLOUR, names=clusters)
    _draw_path(axes, drawn)
    # a path of one point has one end
    for name, point, away in zip(names, drawn.vertices[[0, -1]], drawn.outward, strict=False):
        name_point(axes, name, point, away)
    margin = _MARGIN * np.ptp(points, axis=0).max()
    axes.update_datalim([points.min(axis=0) - margin, points.max(axis=0) + margin])
    axes.autoscale_view()
    # Below the points, where there are no ticks: finding a free spot among many would be slow.
    add_wide_legend(axes, loc="upper center", bbox_to_anchor=(0.5, 0.0))
    return axes


def path_in_plane(points: Array, path: Any, edge: Any = None) -> PathInPlane:
    """Return the coordinates of a path; raise for points that are not there."""
    steps = _check_indices(path, "path", len(points))
    if not len(steps):
        raise ValueError("path must have at least one point.")
    ends = steps[[0, -1]] if len(steps) > 1 else steps
    between, length = None, None
    if edge is not None:
        if len(edge) not in (2, 3):
            raise ValueError(f"edge must be two points, and perhaps its length; got {edge!r}.")
        between = points[_check_indices(edge[:2], "edge", len(points))].astype(np.float64)
        length = float(edge[2]) if len(edge) == 3 else None
    vertices = points[steps].astype(np.float64)
    outward = _outward(vertices)[: len(ends)]
    return PathInPlane(vertices, tuple(ends.tolist()), outward, between, length)


def name_point(axes: Axes, name: str, point: Floats, direction: Floats) -> None:
    """Write the name of a point beside it, in the direction of a unit vector."""
    from matplotlib.patheffects import withStroke

    axes.annotate(
        name,
        (point[0], point[1]),
        (_NAME_DISTANCE * direction[0], _NAME_DISTANCE * direction[1]),
        textcoords="offset points",
        ha=_alignment(direction[0], "right", "left"),
        va=_alignment(direction[1], "top", "bottom"),
        fontsize=12,
        fontweight="bold",
        path_effects=[withStroke(linewidth=3, foreground="#FFFFFF")],
        zorder=8,
    )


def _check_indices(values: Any, what: str, n_points: int) -> Array:
    indices = np.asarray(values)
    if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iu"):
        raise TypeError(f"{what} must be a list of points by their indices, got {values!r}.")
    wrong = indices[(indices < 0) | (indices >= n_points)]
    if len(wrong):
        raise IndexError(f"{what} has point {wrong[0]}, but X has the points 0 to {n_points - 1}.")
    return indices


def _outward(vertices: Floats) -> Floats:
    """Return unit vectors away from the path at its first and last vertex; up where it has none."""
    directions = np.array([vertices[0] - vertices[:2][-1], vertices[-1] - vertices[-2:][0]])
    lengths = np.hypot(*directions.T)
    directions[lengths == 0] = (0.0, 1.0)
    lengths[lengths == 0] = 1.0
    outward: Floats = directions / lengths[:, None]
    return outward


def _draw_path(axes: Axes, drawn: PathInPlane) -> None:
    """Draw the path, its intermediate points, its transitive edge, and its ends."""
    axes.plot(*drawn.vertices.T, color=_PATH_COLOUR, linewidth=1.4, zorder=4, label="path")
    points: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": _PATH_COLOUR}
    if len(drawn.vertices) > 2:
        hollow = {**points, "markersize": 4.5, "markerfacecolor": "#FFFFFF", "zorder": 6}
        axes.plot(*drawn.vertices[1:-1].T, **hollow, label="stepping stone")
    if drawn.edge is not None:
        length = "" if drawn.length is None else f", {drawn.length:.3g} long"
        thick: dict[str, Any] = {"color": CUT_COLOUR, "linewidth": 3.5, "zorder": 5}
        axes.plot(*drawn.edge.T, **thick, solid_capstyle="butt", label=f"transitive edge{length}")
    axes.plot(*drawn.vertices[[0, -1]].T, **points, markersize=8.0, zorder=7)


def _alignment(direction: float, back: str, forth: str) -> str:
    """Return on which side of its point a name stands, so that it leads away from the path."""
    if abs(direction) < 0.4:
        return "center"
    return forth if direction > 0 else back
