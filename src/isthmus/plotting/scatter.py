"""Points in the plane, their labels, their spanning tree → a drawing on an Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.metrics.validation import check_points
from isthmus.plotting.style import (
    CUT_COLOUR,
    EDGE_COLOUR,
    MARKERS,
    Clusters,
    ClusterStyle,
    check_labels,
    cluster_style,
    plane_axes,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes

    from isthmus._utils.typing import Array, Floats, Ints
    from isthmus.spanning_tree import SpanningTree

POINT_SIZE, SMALL_POINT_SIZE = 14.0, 7.0


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
    points = check_plane(X)
    clusters = check_labels(labels, len(points))
    axes = plane_axes(ax)
    draw_clusters(axes, points, clusters, POINT_SIZE)
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
    points = check_plane(X)
    if spanning_tree.n_points != len(points):
        raise ValueError(
            f"The spanning tree has {spanning_tree.n_points} points, but X has {len(points)}."
        )
    edges = spanning_tree.edges
    between = np.zeros(len(edges), dtype=bool)
    clusters = None
    if labels is not None:
        clusters = check_labels(labels, len(points))
        between = edges_between_clusters(edges, clusters.codes)
    axes = plane_axes(ax)
    _draw_edges(axes, points[edges[~between]], EDGE_COLOUR, "solid", 0.8)
    _draw_edges(axes, points[edges[between]], CUT_COLOUR, (0, (3, 1.5)), 1.8)
    if clusters is None:
        draw_points(axes, points, ClusterStyle(EDGE_COLOUR, MARKERS[0]), SMALL_POINT_SIZE)
    else:
        draw_clusters(axes, points, clusters, SMALL_POINT_SIZE)
    return axes


def check_plane(X: Any) -> Array:
    """Return X as points in the plane; raise ValueError for any other number of features."""
    points = check_points(X)
    if points.shape[1] != 2:
        raise ValueError(
            f"Only points in the plane can be drawn: X must have 2 columns, got {points.shape[1]}. "
            "Choose two columns or project the points first, for example with PCA."
        )
    return points


def draw_clusters(axes: Axes, points: Array, clusters: Clusters, size: float) -> None:
    """Draw points, a collection for each cluster."""
    for cluster in range(len(clusters)):
        draw_points(axes, points[clusters.codes == cluster], cluster_style(cluster), size)


def draw_points(axes: Axes, points: Array, style: ClusterStyle, size: float) -> None:
    """Draw points of one style as one collection."""
    x, y = points.T
    axes.scatter(x, y, s=size, c=style.colour, marker=style.marker, linewidths=0, zorder=3)


def _draw_edges(axes: Axes, segments: Floats, colour: str, dashes: Any, width: float) -> None:
    from matplotlib.collections import LineCollection

    if len(segments):
        lines = LineCollection(list(segments), colors=colour, linestyles=dashes, linewidths=width)
        axes.add_collection(lines)
        axes.autoscale_view()
