"""Points in the plane, their labels, their spanning tree → a drawing on an Axes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.validation import check_points

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes

    from isthmus._typing import Array, Floats, Ints
    from isthmus.spanning_tree import SpanningTree

# The palette of Okabe and Ito, which colour-blind readers can tell apart. Yellow and black, the
# faintest and the one most like the edges, come last.
PALETTE = (
    "#0072B2",  # blue
    "#E69F00",  # orange
    "#009E73",  # bluish green
    "#CC79A7",  # reddish purple
    "#56B4E9",  # sky blue
    "#D55E00",  # vermilion
    "#F0E442",  # yellow
    "#000000",  # black
)
# Clusters beyond the eighth have the same colours again, with another marker.
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
EDGE_COLOUR = "#555555"
CUT_COLOUR = "#B2182B"
_POINT_SIZE, _SMALL_POINT_SIZE = 14.0, 7.0


@dataclass(frozen=True)
class ClusterStyle:
    """How the points of one cluster look."""

    colour: str
    marker: str


def cluster_style(cluster: int) -> ClusterStyle:
    """Return the style of the cluster-th cluster; the first 64 all differ."""
    turn, colour = divmod(cluster, len(PALETTE))
    return ClusterStyle(PALETTE[colour], MARKERS[turn % len(MARKERS)])


def edges_between_clusters(edges: Ints, labels: Array) -> npt.NDArray[np.bool_]:
    """Return for each edge whether its two points have different labels."""
    ends = labels[edges]
    differ: npt.NDArray[np.bool_] = ends[:, 0] != ends[:, 1]
    return differ


def plot_clusters(X: Any, labels: Any, *, ax: Axes | None = None) -> Axes:
    """Draw points in the plane, one colour per cluster.

    Parameters
    ----------
    X : array-like of shape (n_points, 2)
        The points.
    labels : array-like of shape (n_points,)
        The cluster of each point.
    ax : matplotlib Axes, optional
        Where to draw; without it a new figure is made.

    Returns
    -------
    matplotlib Axes
        With one collection of points per cluster, in the order of the sorted labels.
    """
    points = _check_plane(X)
    clusters = _check_labels(labels, len(points))
    axes = _axes(ax)
    _scatter(axes, points, clusters, _POINT_SIZE)
    return axes


def plot_spanning_tree(
    X: Any, spanning_tree: SpanningTree, *, labels: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw points in the plane and the edges of their spanning tree.

    Parameters
    ----------
    X : array-like of shape (n_points, 2)
        The points that the tree spans.
    spanning_tree : SpanningTree
        The tree.
    labels : array-like of shape (n_points,), optional
        The cluster of each point. Points are then coloured by cluster, and edges between two
        clusters are dashed and red.
    ax : matplotlib Axes, optional
        Where to draw; without it a new figure is made.

    Returns
    -------
    matplotlib Axes
        With one collection of the edges inside clusters, one of those between clusters (each if
        there are any), then one collection of points per cluster.
    """
    points = _check_plane(X)
    if spanning_tree.n_points != len(points):
        raise ValueError(
            f"The spanning tree has {spanning_tree.n_points} points, but X has {len(points)}."
        )
    edges = spanning_tree.edges
    between = np.zeros(len(edges), dtype=bool)
    clusters = None
    if labels is not None:
        clusters = _check_labels(labels, len(points))
        between = edges_between_clusters(edges, clusters)
    axes = _axes(ax)
    _draw_edges(axes, points[edges[~between]], EDGE_COLOUR, "solid", 0.8)
    _draw_edges(axes, points[edges[between]], CUT_COLOUR, (0, (3, 1.5)), 1.8)
    if clusters is None:
        _draw_points(axes, points, ClusterStyle(EDGE_COLOUR, MARKERS[0]), _SMALL_POINT_SIZE)
    else:
        _scatter(axes, points, clusters, _SMALL_POINT_SIZE)
    return axes


def require_matplotlib() -> None:
    """Raise ImportError with the command that installs matplotlib, where it is missing."""
    try:
        import_module("matplotlib")
    except ImportError as error:
        raise ImportError(
            "Drawing needs matplotlib, which is not installed: pip install 'isthmus[plot]'"
        ) from error


def _check_plane(X: Any) -> Array:
    points = check_points(X)
    if points.shape[1] != 2:
        raise ValueError(
            f"Only points in the plane can be drawn: X must have 2 columns, got {points.shape[1]}. "
            "Choose two columns or project the points first, for example with PCA."
        )
    return points


def _check_labels(labels: Any, n_points: int) -> Ints:
    """Return labels as numbers from 0, in the order of the sorted labels."""
    array = np.asarray(labels)
    if array.shape != (n_points,):
        raise ValueError(
            f"labels must hold one label for each of the {n_points} points, "
            f"got shape {array.shape}."
        )
    codes: Ints = np.unique(array, return_inverse=True)[1]
    return codes


def _axes(ax: Axes | None) -> Axes:
    """Return ax or a new Axes, made ready for a map of the plane."""
    require_matplotlib()
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure(layout="constrained").add_subplot()
    ax.set_aspect("equal", adjustable="datalim")
    ax.tick_params(bottom=False, left=False, labelbottom=False, labelleft=False)
    return ax


def _scatter(axes: Axes, points: Array, clusters: Ints, size: float) -> None:
    for cluster in range(int(clusters.max()) + 1):
        _draw_points(axes, points[clusters == cluster], cluster_style(cluster), size)


def _draw_points(axes: Axes, points: Array, style: ClusterStyle, size: float) -> None:
    x, y = points.T
    axes.scatter(x, y, s=size, c=style.colour, marker=style.marker, linewidths=0, zorder=3)


def _draw_edges(axes: Axes, segments: Floats, colour: str, dashes: Any, width: float) -> None:
    from matplotlib.collections import LineCollection

    if len(segments):
        lines = LineCollection(list(segments), colors=colour, linestyles=dashes, linewidths=width)
        axes.add_collection(lines)
        axes.autoscale_view()
