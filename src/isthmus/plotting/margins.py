"""How well each cluster is separated → its widest gap and its distance to the outside, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isthmus._utils.typing import Array, Floats
from isthmus.plotting import style
from isthmus.ultrametric.separation import margins_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How far beyond the largest finite distance infinity is drawn, as a share of it.
_BEYOND_FINITE = 0.12
# The height above the clusters that the legend takes, in points of the drawing.
_LEGEND_HEIGHT = 26.0
# More clusters than this are drawn without their names.
_MAX_NAMES = 80


class Dumbbells(NamedTuple):
    """Two distances for each cluster, sorted by their difference, the margin, largest first.

    A cluster fails unless it is narrower than its distance to the outside: equality is not enough,
    as in the paper's Definition 2. A single cluster never fails.
    """

    names: list[str]
    inside: Floats
    outside: Floats
    failing: Array


def plot_consistency(record: Any, *, ax: Axes | None = None) -> Axes:
    """Draw, for each cluster, its widest gap and its distance to the outside on one line.

    Parameters
    ----------
    record : Consistency
        As of :func:`isthmus.theory.consistency`, or any object with the arrays ``clusters``
        (labels), ``inside`` and ``outside`` (distances), one entry for each cluster.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        With one line for each cluster, the largest margin on top, and one collection of marks
        for each of the two distances. A cluster that is not narrower than its distance to the
        outside has a dashed red line and a red name. Infinite distances are drawn on the right, at
        a tick of their own.

    See Also
    --------
    isthmus.theory.consistency : What is drawn.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import load_iris
    >>> from isthmus.theory import consistency
    >>> model = TransitiveCut(3).fit(load_iris().data)
    >>> ax = plotting.plot_consistency(consistency(model.tree_, model.labels_))
    """
    drawn = dumbbells(record)
    n_clusters = len(drawn.names)
    axes = style.axes_or_new(ax, (6.4, float(np.clip(1.3 + 0.3 * n_clusters, 2.2, 12.0))))
    distances = np.concatenate([drawn.inside, drawn.outside])
    largest = style.largest_finite(distances)
    infinity = (1 + _BEYOND_FINITE) * largest
    _draw_dumbbells(axes, drawn, infinity)
    _name_clusters(axes, drawn)
    infinite = bool(np.isinf(distances).any())
    axes.set_xlim(-0.03 * largest, 1.04 * (infinity if infinite else largest))
    if infinite:
        style.add_infinity_tick(axes.xaxis, largest, infinity)
    axes.set_xlabel("distance")
    style.hide_frame(axes)
    style.add_wide_legend(axes, loc="upper center")
    return axes


def dumbbells(record: Any) -> Dumbbells:
    """Return what is drawn of a record, sorted; equal margins in the order of the record."""
    labels = np.asarray(record.clusters)
    if not len(labels):
        raise ValueError("There are no clusters to draw.")
    inside = style.check_distances(record.inside, "inside")
    outside = style.check_distances(record.outside, "outside")
    for name, distances in (("inside", inside), ("outside", outside)):
        if distances.shape != labels.shape:
            raise ValueError(
                f"{name} must hold one number for each of the {len(labels)} clusters, "
                f"got shape {distances.shape}."
            )
    margins = margins_of(inside, outside)
    order = np.argsort(-margins, kind="stable")
    names = [str(label) for label in labels[order]]
    return Dumbbells(names, inside[order], outside[order], margins[order] <= 0)


def _draw_dumbbells(axes: Axes, drawn: Dumbbells, infinity: float) -> None:
    """Draw the lines, then the marks over them."""
    inside, outside = np.minimum(drawn.inside, infinity), np.minimum(drawn.outside, infinity)
    rows = np.arange(len(drawn.names))
    good, failing = ~drawn.failing, drawn.failing
    axes.hlines(rows[good], inside[good], outside[good], colors=style.EDGE_COLOUR, linewidths=2.0)
    if failing.any():
        axes.hlines(
            rows[failing], inside[failing], outside[failing], label="not consistent",
            colors=style.CUT_COLOUR, linestyles=style.DASHES, linewidths=2.0,
        )  # fmt: skip
    for x, colour, marker, label in (
        (inside, style.PALETTE[0], "o", "widest gap inside"),
        (outside, style.PALETTE[1], "D", "distance to the outside"),
    ):
        axes.scatter(x, rows, s=42, c=colour, marker=marker, zorder=3, label=label)


def _name_clusters(axes: Axes, drawn: Dumbbells) -> None:
    n_clusters = len(drawn.names)
    height = style.size_in_points(axes)[1]
    legend = n_clusters * _LEGEND_HEIGHT / max(height - _LEGEND_HEIGHT, _LEGEND_HEIGHT)
    axes.set_ylim(n_clusters - 0.4, -0.6 - legend)
    axes.set_ylabel("cluster")
    if n_clusters > _MAX_NAMES:
        axes.tick_params(left=False, labelleft=False)
        return
    size = float(np.clip(0.8 * height / n_clusters, 4.0, 10.0))
    axes.set_yticks(np.arange(n_clusters), drawn.names, fontsize=size)
    for text, failing in zip(axes.get_yticklabels(), drawn.failing, strict=True):
        if failing:
            text.set_color(style.CUT_COLOUR)
            text.set_fontweight("bold")
