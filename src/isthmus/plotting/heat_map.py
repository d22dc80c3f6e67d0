"""Matrices of transitive distances → drawings on Axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._utils.parameters import check_integer
from isthmus._utils.tables import count
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.plotting import style
from isthmus.plotting.distance_map import distance_map, sort_by_cluster
from isthmus.ultrametric import UltrametricTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

# From dark blue to yellow in even steps of lightness, which colour-blind readers see as well.
_COLOUR_MAP = "viridis"
_BOUNDARY_COLOUR = "#FFFFFF"
# Names of clusters are at least this share of the axis apart.
_NAME_DISTANCE = 0.05
_MAX_COLUMNS = 4


def plot_distance_map(
    tree: UltrametricTree, labels: Any = None, *, max_size: int = 400, ax: Axes | None = None
) -> Axes:
    """Draw the matrix of transitive distances of a tree, however many points it has.

    Parameters
    ----------
    tree : UltrametricTree
        The points appear in its leaf order, in which every node is a square on the diagonal.
    labels : array-like of shape (n_points,), optional
        The cluster of each point. Points are then sorted by cluster, and in leaf order within
        each; thin lines divide the clusters.
    max_size : int, default=400
        The most rows. More points are grouped with their neighbours in this order, and a cell
        shows the mean of the distances between two groups: see :func:`distance_map`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        With one image, and a colour bar beside it. Infinite means are grey.

    See Also
    --------
    distance_map : The numbers that are drawn.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, random_state=0)
    >>> model = TransitiveCut(2).fit(X)
    >>> ax = plotting.plot_distance_map(model.tree_, model.labels_)
    """
    drawn = distance_map(tree, check_integer(max_size, "max_size", 1), labels)
    axes = style.axes_or_new(ax)
    image = _draw_matrix(axes, drawn.means, drawn.bounds, style.largest_finite(drawn.means))
    _draw_clusters(axes, drawn.cluster_bounds, drawn.names)
    sorted_by = "in leaf order" if drawn.names is None else "by cluster"
    axes.set_xlabel(f"{count(drawn.n_points, 'point')} {sorted_by}")
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
    """Draw transitive distances of increasing order side by side, with one colour scale.

    Parameters
    ----------
    matrices : array-like of shape (n_matrices, n_points, n_points)
        The distances of each order, as of :func:`isthmus.theory.transitive_sequence`.
    labels : array-like of shape (n_points,), optional
        The cluster of each point. Rows and columns are then sorted by cluster, and thin lines
        divide the clusters.
    order : array-like of shape (n_points,), optional
        The points in the order in which to draw them, within each cluster if there are labels;
        ``UltrametricTree.leaf_order`` shows structure best. By default they stay as they are.
    orders : sequence of int, optional
        The order of each matrix, for its title, where they are not 1, 2, 3, …
    axes : sequence of matplotlib Axes, optional
        Where to draw, one for each matrix; a new figure by default.

    Returns
    -------
    ndarray of matplotlib Axes, of shape (n_matrices,)
        Each with one image; they share a colour bar. Infinite distances are grey.

    See Also
    --------
    isthmus.theory.transitive_sequence : What is drawn.

    Examples
    --------
    >>> from isthmus import plotting
    >>> from isthmus.datasets import make_two_moons
    >>> from isthmus.theory import transitive_sequence
    >>> X, y = make_two_moons(60, random_state=0)
    >>> axes = plotting.plot_orders(transitive_sequence(X, 4)[1:], y, orders=[2, 3, 4])
    """
    ordered, bounds, cluster_names = order_matrices(matrices, labels, order)
    n_matrices, n_points = ordered.shape[:2]
    if orders is None:
        orders = range(1, n_matrices + 1)
    if len(orders) != n_matrices:
        raise ValueError(f"There are {n_matrices} matrices, but {len(orders)} orders.")
    panels = style.panels_or_new(axes, n_matrices, _MAX_COLUMNS, (2.6, 2.7), margin=1.0)
    largest = style.largest_finite(ordered)
    for i, (panel, matrix, k) in enumerate(zip(panels, ordered, orders, strict=True)):
        image = _draw_matrix(panel, matrix, np.arange(n_points + 1), largest)
        _draw_clusters(panel, bounds, cluster_names)
        if i % _MAX_COLUMNS:  # only the first panel of a row has names
            panel.tick_params(labelleft=False)
        panel.set_title(f"order {k}")
    _add_colour_bar(image, list(panels), ordered, "transitive distance")
    return panels


def order_matrices(
    matrices: Any, labels: Any = None, order: Any = None
) -> tuple[Floats, Ints, Array | None]:
    """Return matrices with their rows and columns sorted by cluster, then in a given order.

    Parameters and shapes as for :func:`plot_orders`. The bounds of the clusters in the rows,
    (n_clusters + 1,), and their names are returned, too.
    """
    checked = style.check_distances(matrices, "matrices")
    if checked.ndim != 3 or checked.shape[1] != checked.shape[2] or checked.size == 0:
        raise ValueError(
            "matrices must be a stack of square matrices of shape (n_matrices, n_points, n_points),"
            f" got shape {checked.shape}."
        )
    rows, bounds, names = sort_by_cluster(_check_order(order, checked.shape[1]), labels)
    return checked[:, rows[:, None], rows], bounds, names


def named_middles(bounds: Ints, names: Array) -> tuple[list[float], list[str]]:
    """Return the middles of clusters and their names, without those that would overlap others."""
    middles: list[float] = []
    shown: list[str] = []
    for start, stop, name in zip(bounds[:-1], bounds[1:], names, strict=True):
        middle = (start + stop) / 2
        if not middles or middle - middles[-1] >= _NAME_DISTANCE * bounds[-1]:
            middles.append(float(middle))
            shown.append(str(name))
    return middles, shown


def _check_order(order: Any, n_points: int) -> Ints:
    if order is None:
        return np.arange(n_points)
    given = np.asarray(order)
    if given.shape != (n_points,) or not np.array_equal(np.sort(given), np.arange(n_points)):
        raise ValueError(f"order must hold each of the points 0 to {n_points - 1} once.")
    return given.astype(np.int64)


def _draw_matrix(axes: Axes, matrix: Floats, bounds: Ints, largest: float) -> ScalarMappable:
    """Draw a matrix whose rows and columns lie between bounds, the first row on top."""
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    image: ScalarMappable = axes.pcolorfast(
        bounds,
        bounds,
        np.ma.masked_invalid(matrix),
        norm=Normalize(0.0, largest),
        cmap=colormaps[_COLOUR_MAP].with_extremes(bad=style.FAINT_COLOUR),
    )
    axes.set_xlim(0, bounds[-1])
    axes.set_ylim(bounds[-1], 0)
    axes.set_aspect("equal")
    style.hide_ticks(axes)
    return image


def _draw_clusters(axes: Axes, bounds: Ints, names: Array | None) -> None:
    """Draw lines between clusters, and their names where these do not overlap."""
    if names is None:
        return
    n_points, inner = bounds[-1], bounds[1:-1]
    width = min(0.8, 24 / len(names))
    axes.vlines(inner, 0, n_points, colors=_BOUNDARY_COLOUR, linewidths=width)
    axes.hlines(inner, 0, n_points, colors=_BOUNDARY_COLOUR, linewidths=width)
    axes.set_yticks(*named_middles(bounds, names))
    axes.tick_params(labelleft=True)


def _add_colour_bar(image: ScalarMappable, axes: list[Axes], distances: Floats, label: str) -> None:
    if not np.isfinite(distances).all():
        label += " (infinite: grey)"
    axes[0].figure.colorbar(image, ax=axes, label=label)
