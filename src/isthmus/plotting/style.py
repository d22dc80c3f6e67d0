"""What all drawings share: colours, scales, and new Axes where none are given."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isthmus._utils.parameters import as_real
from isthmus._utils.typing import Array, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

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
DASHES = (0, (3, 1.5))


class ClusterStyle(NamedTuple):
    """How the points of one cluster look."""

    colour: str
    marker: str


# The label of noise, and how its points look.
NOISE = -1
NOISE_STYLE = ClusterStyle(FAINT_COLOUR, ".")


def has_noise(names: Array | None) -> bool:
    """Whether the first of the sorted labels is that of noise, the number -1."""
    return names is not None and names.dtype.kind == "i" and bool(names[0] == NOISE)


def cluster_style(cluster: int) -> ClusterStyle:
    """Return the style of the cluster-th cluster; the first 64 all differ."""
    turn, colour = divmod(cluster, len(PALETTE))
    return ClusterStyle(PALETTE[colour], MARKERS[turn % len(MARKERS)])


def require_matplotlib() -> None:
    """Raise ImportError with the command that installs matplotlib, where it is missing.

    See Also
    --------
    plot_clusters : One of the functions that call it.

    Examples
    --------
    >>> from isthmus.plotting import require_matplotlib
    >>> require_matplotlib()  # nothing happens where it is installed
    """
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


def panels_or_new(
    axes: Any, n_panels: int, n_columns: int, size: tuple[float, float], margin: float = 0.0
) -> Array:
    """Return the Axes that are given, or those of a new figure, row by row: shape (n_panels,).

    size : of a panel, in inches
    margin : what is added to the width of the figure, in inches
    """
    require_matplotlib()
    if axes is None:
        import matplotlib.pyplot as plt

        n_columns = min(n_panels, n_columns)
        n_rows = math.ceil(n_panels / n_columns)
        figsize = (size[0] * n_columns + margin, size[1] * n_rows)
        figure = plt.figure(figsize=figsize, layout="constrained")
        axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
        for unused in axes[n_panels:]:
            unused.remove()
        axes = axes[:n_panels]
    panels = np.asarray(axes, dtype=object).ravel()
    if len(panels) != n_panels:
        raise ValueError(f"axes must hold {n_panels} matplotlib Axes, got {len(panels)}.")
    return panels


def plane_axes(ax: Axes | None) -> Axes:
    """Return ax or a new Axes, with equal scales and no ticks: a map of the plane."""
    axes = axes_or_new(ax)
    axes.set_aspect("equal", adjustable="datalim")
    hide_ticks(axes)
    return axes


def name_axes(axes: Axes, X: Any) -> None:
    """Label both axes with the names of the two columns of a data frame; an array has none."""
    columns = getattr(X, "columns", None)
    if columns is not None and len(columns) == 2:
        axes.set_xlabel(str(columns[0]))
        axes.set_ylabel(str(columns[1]))


def hide_ticks(axes: Axes) -> None:
    """Take the ticks and their labels off both sides."""
    axes.tick_params(bottom=False, left=False, labelbottom=False, labelleft=False)


def hide_frame(axes: Axes) -> None:
    """Take the upper and the right line off the frame."""
    axes.spines[["top", "right"]].set_visible(False)


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


def largest_finite(distances: Floats) -> float:
    """Return the largest finite distance, or 1 where none is above 0: the end of a scale."""
    return float(distances.max(initial=0.0, where=np.isfinite(distances))) or 1.0


def add_infinity_tick(axis: Axis, largest: float, infinity: float) -> None:
    """Label infinity on an axis, beyond the ticks up to the largest finite value."""
    ticks = [tick for tick in axis.get_ticklocs() if 0 <= tick <= largest]
    axis.set_ticks([*ticks, infinity], labels=[*(f"{tick:g}" for tick in ticks), "∞"])


def check_distances(values: Any, name: str) -> Floats:
    """Return distances as an array: real, not negative, none missing."""
    distances = as_real(values, name)
    if np.isnan(distances).any() or (distances < 0).any():
        raise ValueError(f"{name} must hold distances: not negative, and none missing.")
    return distances
