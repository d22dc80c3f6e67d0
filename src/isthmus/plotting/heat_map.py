"""Matrices of transitive distances → drawings on Axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._utils.parameters import as_real, check_whole_number
from isthmus.plotting.distance_map import distance_map, sort_by_cluster
from isthmus.plotting.style import axes_or_new, check_labels, hide_ticks, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

    from isthmus._utils.typing import Array, Floats, Ints
    from isthmus.ultrametric import UltrametricTree

# From dark blue to yellow in even steps of lightness, which colour-blind readers see as well.
_COLOUR_MAP = "viridis"
_INFINITE_COLOUR = "#BBBBBB"
_BOUNDARY_COLOUR = "#FFFFFF"
# A cluster is named if the last name stands at least this share of the axis before it.
_ROOM_FOR_NAME = 0.05
_MAX_COLUMNS = 4


@dataclass(frozen=True)
class OrderedMatrices:
    """Matrices of one set of points, their rows and columns sorted alike.

    Attributes
    ----------
    matrices : ndarray of shape (n_matrices, n_points, n_points)
    cluster_bounds : ndarray of shape (n_clusters + 1,)
        Where in the rows each cluster begins and ends.
    names : ndarray of shape (n_clusters,), or None
        The labels of the clusters.
    largest : float
        The largest finite distance of all: the end of the common colour scale.
    """

    matrices: Floats
    cluster_bounds: Ints
    names: Array | None
    largest: float


def plot_distance_map(
    tree: UltrametricTree, labels: Any = None, *, max_size: int = 400, ax: Axes | None = None
) -> Axes:
    """Draw the matrix of transitive distances of a tree, however many points it has.

    Parameters
    ----------
    tree : UltrametricTree
        The points appear in its leaf order, in which every group of near points is a square on
        the diagonal.
    labels : array-like of shape (n_points,), optional
        The cluster of each point. Points are then sorted by cluster, and in leaf order within
        each; thin lines divide the clusters.
    max_size : int, default=400
        At most so many rows. More points than that are put into groups of neighbours, and a cell
        shows the mean of the distances between two groups: see :func:`distance_map`.
    ax : matplotlib Axes, optional
        Where to draw; without it a new figure is made.

    Returns
    -------
    matplotlib Axes
        With one image, and a colour bar beside it. Means that are infinite are grey.
    """
    drawn = distance_map(tree, check_whole_number(max_size, "max_size", 1), labels)
    axes = axes_or_new(ax)
    image = _draw_matrix(axes, drawn.means, drawn.bounds, _largest(drawn.means))
    _draw_clusters(axes, drawn.cluster_bounds, drawn.names)
    axes.set_xlabel(_describe_rows(drawn.n_points, drawn.names is not None))
    mean = "" if len(drawn.means) == drawn.n_points else "mean "
    _add_colour_bar(image, [axes], drawn.means, f"{mean}transitive distance")
    return axes


def plot_orders(
    matrices: Any,
    labels: Any = None,
    *,
    order: Any = None,
    orders: Sequence[int] | None = None,
    axes: Any = None,
) -> Array:
    """Draw transitive distances of increasing order side by side, with one scale of colours.

    Parameters
    ----------
    matrices : array-like of shape (n_matrices, n_points, n_points)
        The distances of each order, as of :func:`isthmus.transitive_sequence`.
    labels : array-like of shape (n_points,), optional
        The cluster of each point. Rows and columns are then sorted by cluster, and thin lines
        divide the clusters.
    order : array-like of shape (n_points,), optional
        The points in the order in which to draw them, within each cluster if there are labels;
        ``UltrametricTree.leaf_order`` shows most. Without it they stay as they are.
    orders : sequence of int, optional
        The order of each matrix, for its title, where they are not 1, 2, 3, …
    axes : sequence of matplotlib Axes, optional
        Where to draw, one for each matrix; without it a new figure is made.

    Returns
    -------
    ndarray of matplotlib Axes, of shape (n_matrices,)
        Each with one image; they share a colour bar. Infinite distances are grey.
    """
    drawn = order_matrices(matrices, labels, order)
    n_matrices, n_points = drawn.matrices.shape[:2]
    if orders is None:
        orders = range(1, n_matrices + 1)
    if len(orders) != n_matrices:
        raise ValueError(f"There are {n_matrices} matrices, but {len(orders)} orders.")
    panels = _panels(axes, n_matrices)
    for place, (panel, matrix, k) in enumerate(zip(panels, drawn.matrices, orders, strict=True)):
        image = _draw_matrix(panel, matrix, np.arange(n_points + 1), drawn.largest)
        _draw_clusters(panel, drawn.cluster_bounds, drawn.names)
        if place % _MAX_COLUMNS:  # those to the right of others need no names again
            panel.tick_params(labelleft=False)
        panel.set_title(f"order {k}")
    _add_colour_bar(image, list(panels), drawn.matrices, "transitive distance")
    return panels


def order_matrices(matrices: Any, labels: Any = None, order: Any = None) -> OrderedMatrices:
    """Return matrices with their rows and columns in an order, by cluster first.

    Parameters and shapes as for :func:`plot_orders`.
    """
    checked = as_real(matrices, "matrices")
    if checked.ndim != 3 or checked.shape[1] != checked.shape[2] or checked.size == 0:
        raise ValueError(
            "matrices must be a stack of square matrices of shape (n_matrices, n_points, n_points),"
            f" got shape {checked.shape}."
        )
    if np.isnan(checked).any() or (checked < 0).any():
        raise ValueError("matrices must hold distances: not negative, and none missing.")
    n_points = checked.shape[1]
    places = _check_order(order, n_points)
    bounds, names = np.array([0, n_points]), None
    if labels is not None:
        clusters = check_labels(labels, n_points)
        places, bounds = sort_by_cluster(clusters, places)
        names = clusters.names
    sorted_matrices = checked[:, places[:, None], places]
    return OrderedMatrices(sorted_matrices, bounds, names, _largest(checked))


def named_places(bounds: Ints, names: Array) -> tuple[list[float], list[str]]:
    """Return the middles of clusters and their names, without those that would overlap others."""
    places: list[float] = []
    shown: list[str] = []
    for start, stop, name in zip(bounds[:-1], bounds[1:], names, strict=True):
        middle = (start + stop) / 2
        if not places or middle - places[-1] >= _ROOM_FOR_NAME * bounds[-1]:
            places.append(float(middle))
            shown.append(str(name))
    return places, shown


def _check_order(order: Any, n_points: int) -> Ints:
    if order is None:
        return np.arange(n_points)
    places = np.asarray(order)
    if places.shape != (n_points,) or not np.array_equal(np.sort(places), np.arange(n_points)):
        raise ValueError(f"order must hold each of the points 0 to {n_points - 1} once.")
    return places.astype(np.int64)


def _largest(distances: Floats) -> float:
    """Return the largest finite distance, or 1 where there is none above 0: a scale's end."""
    largest = float(distances.max(initial=0.0, where=np.isfinite(distances)))
    return largest or 1.0


def _draw_matrix(axes: Axes, matrix: Floats, bounds: Ints, largest: float) -> ScalarMappable:
    """Draw a matrix whose rows and columns lie between bounds, the first row on top."""
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    image: ScalarMappable = axes.pcolorfast(
        bounds,
        bounds,
        np.ma.masked_invalid(matrix),
        norm=Normalize(0.0, largest),
        cmap=colormaps[_COLOUR_MAP].with_extremes(bad=_INFINITE_COLOUR),
    )
    axes.set_xlim(0, bounds[-1])
    axes.set_ylim(bounds[-1], 0)
    axes.set_aspect("equal")
    hide_ticks(axes)
    return image


def _draw_clusters(axes: Axes, bounds: Ints, names: Array | None) -> None:
    """Draw lines between clusters, and their names where there is room."""
    if names is None:
        return
    n_points, inner = bounds[-1], bounds[1:-1]
    width = min(0.8, 24 / len(names))
    axes.vlines(inner, 0, n_points, colors=_BOUNDARY_COLOUR, linewidths=width)
    axes.hlines(inner, 0, n_points, colors=_BOUNDARY_COLOUR, linewidths=width)
    axes.set_yticks(*named_places(bounds, names))
    axes.tick_params(labelleft=True)


def _describe_rows(n_points: int, by_cluster: bool) -> str:
    points = "1 point" if n_points == 1 else f"{n_points:,} points"
    return f"{points} by cluster" if by_cluster else f"{points} in leaf order"


def _add_colour_bar(image: ScalarMappable, axes: list[Axes], distances: Floats, label: str) -> None:
    if not np.isfinite(distances).all():
        label += " (infinite: grey)"
    axes[0].figure.colorbar(image, ax=axes, label=label)


def _panels(axes: Any, n_matrices: int) -> Array:
    """Return one Axes for each matrix, in rows of a new figure where none are given."""
    require_matplotlib()
    if axes is not None:
        panels = np.asarray(axes, dtype=object).ravel()
        if len(panels) != n_matrices:
            raise ValueError(f"There are {n_matrices} matrices, but {len(panels)} axes.")
        return panels
    import matplotlib.pyplot as plt

    n_columns = min(n_matrices, _MAX_COLUMNS)
    n_rows = math.ceil(n_matrices / n_columns)
    figure = plt.figure(figsize=(2.6 * n_columns + 1, 2.7 * n_rows), layout="constrained")
    grid = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for unused in grid[n_matrices:]:
        unused.remove()
    return np.asarray(grid[:n_matrices])
