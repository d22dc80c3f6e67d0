"""Points in the plane → drawn by cluster, by outlier score, or with their spanning tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._utils.parameters import as_real, coded_labels
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics.validation import check_points
from isthmus.plotting import style
from isthmus.spanning_tree import SpanningTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINT_SIZE, SMALL_POINT_SIZE = 14.0, 7.0
# The most clusters in a legend.
LISTED = 20
# Outlier scores from light to dark, so that outliers stand out without colours, too.
_SCORE_COLOURS = "viridis_r"
# The sizes of points of scores 0 and 1.
_SCORE_SIZES = (7.0, 42.0)


def plot_clusters(
    X: Any, labels: Any, *, ax: Axes | None = None, legend: bool | None = None
) -> Axes:
    """Draw points in the plane, one colour per cluster, noise in grey.

    Parameters
    ----------
    X : array-like of shape (n_points, 2)
        The points. The axes have the names of the columns of a data frame.
    labels : array-like of shape (n_points,)
        The cluster of each point; the number -1 is noise.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    legend : bool, optional
        Whether to list the clusters and their sizes; by default in a new figure. Of more than 20
        the first 20 are listed.

    Returns
    -------
    matplotlib Axes
        With one collection of points per cluster, in the order of the sorted labels; noise first.

    See Also
    --------
    plot_spanning_tree : With the tree.
    plot_outliers : With outlier scores.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, random_state=0)
    >>> model = TransitiveCut(2).fit(X)
    >>> ax = plotting.plot_clusters(X, model.labels_)
    """
    points = check_plane(X)
    names, codes = coded_labels(labels, len(points))
    axes = style.plane_axes(ax)
    draw_points(axes, points, codes, size=POINT_SIZE, names=names)
    style.name_axes(axes, X)
    if legend or (legend is None and ax is None):
        _add_legend(axes, names, np.bincount(codes))
    return axes


def plot_spanning_tree(
    X: Any, spanning_tree: SpanningTree, *, labels: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw points in the plane and the edges of their spanning tree.

    Parameters
    ----------
    X : array-like of shape (n_points, 2)
        The points that the tree spans. The axes have the names of the columns of a data frame.
    spanning_tree : SpanningTree
        The tree.
    labels : array-like of shape (n_points,), optional
        The cluster of each point; the number -1 is noise. Points are then coloured by cluster, and
        edges between two clusters are dashed and red.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        With one collection of the edges inside clusters, one of those between clusters (each if
        there are any), then one collection of points per cluster.

    See Also
    --------
    isthmus.minimum_spanning_tree : What is drawn.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, random_state=0)
    >>> model = TransitiveCut(2).fit(X)
    >>> ax = plotting.plot_spanning_tree(X, model.spanning_tree_, labels=model.labels_)
    """
    points = check_plane(X)
    if spanning_tree.n_points != len(points):
        raise ValueError(
            f"The spanning tree has {spanning_tree.n_points} points, but X has {len(points)}."
        )
    names, codes = (None, None) if labels is None else coded_labels(labels, len(points))
    edges = spanning_tree.edges
    ends = np.zeros_like(edges) if codes is None else codes[edges]
    between = ends[:, 0] != ends[:, 1]
    axes = style.plane_axes(ax)
    _draw_edges(axes, points[edges[~between]], style.EDGE_COLOUR, "solid", 0.8)
    _draw_edges(axes, points[edges[between]], style.CUT_COLOUR, style.DASHES, 1.8)
    draw_points(axes, points, codes, size=SMALL_POINT_SIZE, names=names)
    style.name_axes(axes, X)
    return axes


def plot_outliers(X: Any, scores: Any, *, ax: Axes | None = None) -> Axes:
    """Draw points in the plane, darker and larger the higher their outlier score is.

    Parameters
    ----------
    X : array-like of shape (n_points, 2)
        The points.
    scores : array-like of shape (n_points,)
        Their scores, from 0 to 1, as of :func:`isthmus.outlier_scores`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        With one collection of points, the highest scores last, and a colour bar beside it.

    See Also
    --------
    isthmus.outlier_scores : What is drawn.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, random_state=0)
    >>> model = TransitiveCut(2).fit(X)
    >>> ax = plotting.plot_outliers(X, model.outlier_scores_)
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
    axes = style.plane_axes(ax)
    order = np.argsort(checked, kind="stable")
    x, y = points[order].T
    sizes = np.interp(checked[order], (0.0, 1.0), _SCORE_SIZES)
    drawn = axes.scatter(
        x, y, s=sizes, c=checked[order], cmap=_SCORE_COLOURS, vmin=0.0, vmax=1.0, linewidths=0
    )
    axes.figure.colorbar(drawn, ax=axes, label="outlier score", shrink=0.8)
    style.name_axes(axes, X)
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


def draw_points(
    axes: Axes,
    points: Array,
    codes: Ints | None,
    *,
    size: float,
    colour: str = style.EDGE_COLOUR,
    names: Array | None = None,
) -> None:
    """Draw points, a collection for each cluster; in one colour where there are no clusters.

    names : array, optional
        The label of each code; the first one, if it is the number -1, is noise.
    """
    groups = [(style.ClusterStyle(colour, style.MARKERS[0]), points)]
    if codes is not None:
        n_noise = int(style.has_noise(names))
        looks = [style.NOISE_STYLE] * n_noise
        looks += [style.cluster_style(c) for c in range(int(codes.max()) + 1 - n_noise)]
        groups = [(look, points[codes == c]) for c, look in enumerate(looks)]
    for look, group in groups:
        x, y = group.T
        axes.scatter(x, y, s=size, c=look.colour, marker=look.marker, linewidths=0, zorder=3)


def _add_legend(axes: Axes, names: Array, sizes: Ints) -> None:
    """List the clusters beside the points."""
    n_noise = int(style.has_noise(names))
    texts = ["noise"] * n_noise + [str(name) for name in names[n_noise:].tolist()]
    entries = [f"{text} ({size:,})" for text, size in zip(texts, sizes.tolist(), strict=True)]
    drawn = axes.collections[-len(entries) :]
    more = "" if len(entries) <= LISTED else f", the first {LISTED} of {len(entries)}"
    axes.legend(
        drawn[:LISTED],
        entries[:LISTED],
        title=f"cluster (points){more}",
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
        markerscale=1.5,
    )


def _draw_edges(axes: Axes, segments: Floats, colour: str, dashes: Any, width: float) -> None:
    from matplotlib.collections import LineCollection

    if len(segments):
        lines = LineCollection(list(segments), colors=colour, linestyles=dashes, linewidths=width)
        axes.add_collection(lines)
        axes.autoscale_view()
