"""Many numbers of clusters → silhouette, margin and inertia against them, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from isthmus._utils.parameters import as_real
from isthmus.plotting.style import CUT_COLOUR, EDGE_COLOUR, PALETTE, require_matplotlib

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes

    from isthmus._utils.typing import Array, Floats

_COLOUR = PALETTE[0]
_TITLES = ("silhouette", "margin", "inertia")


class Path(Protocol):
    """What is drawn: as :class:`isthmus.estimators.ClusterPath` has it, one number for each k."""

    @property
    def n_clusters(self) -> Any:
        """The numbers of clusters, ascending: shape (m,)."""

    @property
    def silhouette(self) -> Any:
        """The mean silhouette; NaN where there is none."""

    @property
    def margin(self) -> Any:
        """The smallest margin of a cluster."""

    @property
    def inertia(self) -> Any:
        """The inertia."""


@dataclass(frozen=True)
class Curves:
    """Three numbers for each number of clusters.

    Attributes
    ----------
    n_clusters : ndarray of shape (m,)
    values : ndarray of shape (3, m)
        Silhouette, margin and inertia; NaN where nothing is drawn: what is infinite, and an
        inertia of 0, which has no place on its logarithmic scale.
    consistent : ndarray of shape (m,)
        Whether all clusters are consistent: the margin is above 0.
    """

    n_clusters: Floats
    values: Floats
    consistent: npt.NDArray[np.bool_]


def plot_cluster_path(path: Path, *, axes: Any = None) -> Array:
    """Draw silhouette, margin and inertia against the number of clusters.

    Parameters
    ----------
    path : ClusterPath
        As of :meth:`isthmus.TransitiveClustering.path`.
    axes : sequence of three matplotlib Axes, optional
        Where to draw; without it a new figure is made.

    Returns
    -------
    ndarray of matplotlib Axes, of shape (3,)
        Each with a line and its marks: full ones where all clusters are consistent, hollow red
        ones where some are not. The inertia has a logarithmic scale. What is infinite, or not
        defined for one cluster, is left out.
    """
    drawn = curves(path)
    panels = _three_axes(axes)
    for panel, title, values in zip(panels, _TITLES, drawn.values, strict=True):
        _draw_curve(panel, drawn, values)
        panel.set(title=title, xlabel="number of clusters")
        panel.spines[["top", "right"]].set_visible(False)
    if panels[0].get_legend_handles_labels()[0]:
        panels[0].legend(frameon=False, fontsize=8)
    panels[1].axhline(0.0, color=EDGE_COLOUR, linewidth=0.8, linestyle=":", zorder=0)
    if np.isfinite(drawn.values[2]).any():
        panels[2].set_yscale("log")
    return panels


def curves(path: Path) -> Curves:
    """Return what is drawn of a path."""
    numbers = as_real(path.n_clusters, "n_clusters")
    if not len(numbers):
        raise ValueError("There are no numbers of clusters to draw.")
    values = np.stack([as_real(getattr(path, name), name) for name in _TITLES])
    consistent = values[1] > 0.0
    values[~np.isfinite(values)] = np.nan
    values[2, values[2] <= 0.0] = np.nan
    return Curves(numbers, values, consistent)


def _draw_curve(axes: Axes, drawn: Curves, values: Floats) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.plot(drawn.n_clusters, values, color=_COLOUR, linewidth=1.5, zorder=1)
    for chosen, face, edge, label in (
        (drawn.consistent, _COLOUR, _COLOUR, "consistent"),
        (~drawn.consistent, "white", CUT_COLOUR, "not consistent"),
    ):
        if (chosen & np.isfinite(values)).any():
            axes.scatter(
                drawn.n_clusters[chosen], values[chosen],
                s=34, c=face, edgecolors=edge, linewidths=1.4, zorder=2, label=label,
            )  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _three_axes(axes: Any) -> Array:
    require_matplotlib()
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.figure(figsize=(11, 3.2), layout="constrained").subplots(1, 3)
    panels = np.asarray(axes, dtype=object).ravel()
    if len(panels) != 3:
        raise ValueError(f"Three Axes are needed, got {len(panels)}.")
    return panels
