"""What all drawings share: colours, labels as numbers, and a new Axes where none is given."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from isthmus._utils.typing import Array, Ints

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
FAINT_COLOUR = "#BBBBBB"


@dataclass(frozen=True)
class ClusterStyle:
    """How the points of one cluster look."""

    colour: str
    marker: str


@dataclass(frozen=True)
class Clusters:
    """Labels of any type, as numbers.

    Attributes
    ----------
    names : ndarray of shape (n_clusters,)
        The different labels, sorted.
    codes : ndarray of shape (n_points,)
        Which of them each point has.
    """

    names: Array
    codes: Ints

    def __len__(self) -> int:
        return len(self.names)


def cluster_style(cluster: int) -> ClusterStyle:
    """Return the style of the cluster-th cluster; the first 64 all differ."""
    turn, colour = divmod(cluster, len(PALETTE))
    return ClusterStyle(PALETTE[colour], MARKERS[turn % len(MARKERS)])


def check_labels(labels: Any, n_points: int) -> Clusters:
    """Return labels, one for each point, as numbers from 0 in the order of the sorted labels."""
    array = np.asarray(labels)
    if array.shape != (n_points,):
        raise ValueError(
            f"labels must hold one label for each of the {n_points} points, "
            f"got shape {array.shape}."
        )
    names, codes = np.unique(array, return_inverse=True)
    return Clusters(names, codes)


def require_matplotlib() -> None:
    """Raise ImportError with the command that installs matplotlib, where it is missing."""
    try:
        import_module("matplotlib")
    except ImportError as error:
        raise ImportError(
            "Drawing needs matplotlib, which is not installed: pip install 'isthmus[plot]'"
        ) from error


def axes_or_new(ax: Axes | None, figsize: tuple[float, float] | None = None) -> Axes:
    """Return ax, or the Axes of a new figure of a size in inches."""
    require_matplotlib()
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.figure(figsize=figsize, layout="constrained").add_subplot()


def plane_axes(ax: Axes | None) -> Axes:
    """Return ax or a new Axes, made ready for a map of the plane."""
    axes = axes_or_new(ax)
    axes.set_aspect("equal", adjustable="datalim")
    hide_ticks(axes)
    return axes


def hide_ticks(axes: Axes) -> None:
    """Take the ticks and their labels off both sides."""
    axes.tick_params(bottom=False, left=False, labelbottom=False, labelleft=False)


def size_in_points(axes: Axes) -> tuple[float, float]:
    """Return the width and height of an Axes in points, 1/72 inch, before any layout."""
    box, scale = axes.get_window_extent(), 72 / axes.figure.dpi
    return box.width * scale, box.height * scale


def add_wide_legend(axes: Axes, **where: Any) -> None:
    """Add a legend of up to three entries side by side, in a font that fits the axes."""
    size = float(np.clip(size_in_points(axes)[0] / 40, 5.0, 9.0))
    axes.legend(
        ncols=3, frameon=False, fontsize=size, columnspacing=1.2, handletextpad=0.4, **where
    )
