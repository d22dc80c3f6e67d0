"""How well each cluster is separated → a dumbbell for each on an Axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from isthmus._utils.parameters import as_real
from isthmus.plotting.style import (
    CUT_COLOUR,
    EDGE_COLOUR,
    PALETTE,
    add_wide_legend,
    axes_or_new,
    size_in_points,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes

    from isthmus._utils.typing import Floats

_INSIDE_COLOUR, _OUTSIDE_COLOUR = PALETTE[0], PALETTE[1]
# How far beyond the largest finite distance infinity is drawn, as a share of it.
_BEYOND_FINITE = 0.12
# The line above the clusters that the legend takes, in points of the drawing.
_LEGEND_HEIGHT = 26.0
# More clusters than this are drawn without their names.
_MOST_NAMES = 80


class Separation(Protocol):
    """What is drawn: of each cluster how far its points are from each other and from others."""

    @property
    def clusters(self) -> Any:
        """The labels of the clusters: shape (n_clusters,)."""

    @property
    def inside(self) -> Any:
        """The widest gap inside each cluster: shape (n_clusters,)."""

    @property
    def outside(self) -> Any:
        """The distance of each cluster to the nearest point outside it: shape (n_clusters,).

        Infinite where there is none.
        """


@dataclass(frozen=True)
class Dumbbells:
    """Two distances for each cluster, sorted by their difference, the margin, largest first.

    Attributes
    ----------
    names : list of str
        The labels of the clusters.
    inside, outside : ndarray of shape (n_clusters,)
        As of :class:`Separation`.
    failing : ndarray of shape (n_clusters,)
        Whether the cluster is not narrower than its distance to the outside. Equal is not enough,
        as in the paper's Definition 2; where there is only one cluster, it never fails.
    """

    names: list[str]
    inside: Floats
    outside: Floats
    failing: npt.NDArray[np.bool_]


def plot_consistency(record: Separation, *, ax: Axes | None = None) -> Axes:
    """Draw, for each cluster, its widest gap and its distance to the outside on one line.

    Parameters
    ----------
    record : object
        With the arrays ``clusters`` (labels), ``inside`` and ``outside`` (distances), one entry for
        each cluster.
    ax : matplotlib Axes, optional
        Where to draw; without it a new figure is made.

    Returns
    -------
    matplotlib Axes
        With one line for each cluster, the largest margin on top, and one collection of marks
        for each of the two distances. A cluster that is not narrower than its distance to the
        outside has a dashed red line and a red name. Infinite distances are drawn at the right, at
        a tick of their own.
    """
    drawn = dumbbells(record)
    n_clusters = len(drawn.names)
    axes = axes_or_new(ax, (6.4, float(np.clip(1.3 + 0.3 * n_clusters, 2.2, 12.0))))
    distances = np.concatenate([drawn.inside, drawn.outside])
    largest = float(distances.max(initial=0.0, where=np.isfinite(distances))) or 1.0
    infinity = (1 + _BEYOND_FINITE) * largest
    _draw_dumbbells(axes, drawn, infinity)
    _name_clusters(axes, drawn)
    infinite = bool(np.isinf(distances).any())
    axes.set_xlim(-0.03 * largest, 1.04 * (infinity if infinite else largest))
    if infinite:
        ticks = [tick for tick in axes.get_xticks() if 0 <= tick <= largest]
        axes.set_xticks([*ticks, infinity], [*(f"{tick:g}" for tick in ticks), "∞"])
    axes.set_xlabel("distance")
    axes.spines[["top", "right"]].set_visible(False)
    add_wide_legend(axes, loc="upper center")
    return axes


def dumbbells(record: Separation) -> Dumbbells:
    """Return what is drawn of a record, sorted; equal margins in the order of the record."""
    labels = np.asarray(record.clusters)
    if not len(labels):
        raise ValueError("There are no clusters to draw.")
    inside = _check_distances(record.inside, "inside", len(labels))
    outside = _check_distances(record.outside, "outside", len(labels))
    margins = np.zeros(len(labels))  # also where both distances are infinite
    np.subtract(outside, inside, out=margins, where=outside != inside)
    order = np.argsort(-margins, kind="stable")
    return Dumbbells(
        names=[str(label) for label in labels[order]],
        inside=inside[order],
        outside=outside[order],
        failing=(margins[order] <= 0) & (len(labels) > 1),
    )


def _check_distances(values: Any, name: str, n_clusters: int) -> Floats:
    distances = as_real(values, name)
    if distances.shape != (n_clusters,):
        raise ValueError(
            f"{name} must hold one number for each of the {n_clusters} clusters, "
            f"got shape {distances.shape}."
        )
    if np.isnan(distances).any() or (distances < 0).any():
        raise ValueError(f"{name} must hold distances: not negative, and none missing.")
    return distances


def _draw_dumbbells(axes: Axes, drawn: Dumbbells, infinity: float) -> None:
    """Draw the lines, then the marks over them."""
    inside, outside = np.minimum(drawn.inside, infinity), np.minimum(drawn.outside, infinity)
    rows = np.arange(len(drawn.names))
    good, failing = ~drawn.failing, drawn.failing
    axes.hlines(rows[good], inside[good], outside[good], colors=EDGE_COLOUR, linewidths=2.0)
    if failing.any():
        axes.hlines(
            rows[failing], inside[failing], outside[failing],
            colors=CUT_COLOUR, linestyles=(0, (3, 1.5)), linewidths=2.0,
            label="not consistent",
        )  # fmt: skip
    for x, colour, marker, label in (
        (inside, _INSIDE_COLOUR, "o", "widest gap inside"),
        (outside, _OUTSIDE_COLOUR, "D", "distance to the outside"),
    ):
        axes.scatter(x, rows, s=42, c=colour, marker=marker, zorder=3, label=label)


def _name_clusters(axes: Axes, drawn: Dumbbells) -> None:
    n_clusters = len(drawn.names)
    height = size_in_points(axes)[1]
    legend = n_clusters * _LEGEND_HEIGHT / max(height - _LEGEND_HEIGHT, _LEGEND_HEIGHT)
    axes.set_ylim(n_clusters - 0.4, -0.6 - legend)
    axes.set_ylabel("cluster")
    if n_clusters > _MOST_NAMES:
        axes.tick_params(left=False, labelleft=False)
        return
    size = float(np.clip(0.8 * height / n_clusters, 4.0, 10.0))
    axes.set_yticks(np.arange(n_clusters), drawn.names, fontsize=size)
    for text, failing in zip(axes.get_yticklabels(), drawn.failing, strict=True):
        if failing:
            text.set_color(CUT_COLOUR)
            text.set_fontweight("bold")
