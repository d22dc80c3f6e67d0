"""How good each number of clusters is → the evidence as bars, or criteria as curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._utils.parameters import as_real
from isthmus._utils.typing import Array, Floats
from isthmus.plotting import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {"clear": style.PALETTE[0], "weak": style.PALETTE[4], "": style.FAINT_COLOUR}
_NAMES = {"clear": "clear", "weak": "weak, but stands out", "": "no wider than chance allows"}
# Bars end between these multiples of the strength from which gaps are clear.
_LOWEST, _HIGHEST = 1.5, 4.0
_CRITERIA = ("silhouette", "margin", "inertia")


def plot_suggestion(suggestion: Any, *, ax: Axes | None = None) -> Axes:
    """Draw how strong the weakest gap is for each number of clusters.

    Parameters
    ----------
    suggestion : Suggestion
        What :func:`isthmus.suggest_n_clusters` returns.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        A bar for each number of clusters that has a gap to show, in the colour of its verdict.
        Bars of gaps far beyond chance are cut off, with an arrow. The dashed line is the strength
        from which gaps are clear. The suggested number has a red frame.

    See Also
    --------
    isthmus.suggest_n_clusters : What is drawn.

    Examples
    --------
    >>> from isthmus import plotting, suggest_n_clusters
    >>> from isthmus.datasets import make_multi_scale
    >>> suggestion = suggest_n_clusters(make_multi_scale(random_state=0)[0])
    >>> ax = plotting.plot_suggestion(suggestion)
    """
    axes = style.axes_or_new(ax, (6.4, 3.6))
    numbers, strength = suggestion.numbers, suggestion.strength
    strongest = np.nanmax(np.append(strength, 0.0))
    top = float(np.clip(strongest, *(suggestion.clear_from * m for m in (_LOWEST, _HIGHEST))))
    for verdict, colour in _COLOURS.items():
        shown = np.array([v == verdict for v in suggestion.verdicts]) & ~np.isnan(strength)
        if shown.any():
            heights = np.clip(strength[shown], 0.0, top)
            axes.bar(numbers[shown], heights, 0.7, color=colour, label=_NAMES[verdict])
    for k in numbers[np.nan_to_num(strength) > top]:
        axes.annotate("↑", (k, top), ha="center", va="bottom", color=style.EDGE_COLOUR)
    axes.axhline(suggestion.clear_from, color=style.EDGE_COLOUR, linewidth=1.0, linestyle="--")
    best = suggestion.n_clusters
    if best > 1:
        height = min(float(strength[best - 1]), top)
        axes.bar([best], [height], 0.7, fill=False, edgecolor=style.CUT_COLOUR, linewidth=2.0)
    axes.set(
        xlim=(0.4, numbers[-1] + 0.6),
        ylim=(0.0, 1.25 * top),
        xticks=numbers if len(numbers) <= 30 else numbers[:: len(numbers) // 15],
        xlabel="number of clusters",
        ylabel="strength of the weakest gap",
        title=f"{best} clusters: {suggestion.confidence}" if best > 1 else suggestion.confidence,
    )
    if axes.get_legend_handles_labels()[0]:
        style.add_wide_legend(axes, loc="upper center")
    return axes


def plot_cluster_path(path: Any, *, axes: Any = None) -> Array:
    """Draw silhouette, margin and inertia against the number of clusters.

    Parameters
    ----------
    path : ClusterPath
        As returned by the method ``path`` of an estimator.
    axes : sequence of three matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of matplotlib Axes, of shape (3,)
        Each with a line and its marks: filled where all clusters are consistent, hollow and red
        where some are not. The inertia has a logarithmic scale. Values that are infinite, or not
        defined for one cluster, are left out.

    See Also
    --------
    isthmus.TransitiveCut.path : What is drawn.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, random_state=0)
    >>> model = TransitiveCut(2).fit(X)
    >>> axes = plotting.plot_cluster_path(model.path(2, 6))
    """
    n_clusters = as_real(path.n_clusters, "n_clusters")
    if not len(n_clusters):
        raise ValueError("There are no numbers of clusters to draw.")
    consistent = as_real(path.margin, "margin") > 0.0
    panels = style.panels_or_new(axes, len(_CRITERIA), len(_CRITERIA), (11 / 3, 3.2))
    for panel, name in zip(panels, _CRITERIA, strict=True):
        values = as_real(getattr(path, name), name)
        values[~np.isfinite(values)] = np.nan
        if name == "inertia":
            values[values <= 0.0] = np.nan  # has no position on a logarithmic scale
        _draw_curve(panel, n_clusters, values, consistent)
        panel.set(title=name, xlabel="number of clusters")
        style.hide_frame(panel)
    if panels[0].get_legend_handles_labels()[0]:
        panels[0].legend(frameon=False, fontsize=8)
    panels[1].axhline(0.0, color=style.EDGE_COLOUR, linewidth=0.8, linestyle=":", zorder=0)
    if np.isfinite(panels[2].lines[0].get_ydata()).any():
        panels[2].set_yscale("log")
    return panels


def _draw_curve(axes: Axes, n_clusters: Floats, values: Floats, consistent: Array) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.plot(n_clusters, values, color=style.PALETTE[0], linewidth=1.5, zorder=1)
    for chosen, face, edge, label in (
        (consistent, style.PALETTE[0], style.PALETTE[0], "consistent"),
        (~consistent, "white", style.CUT_COLOUR, "not consistent"),
    ):
        if (chosen & np.isfinite(values)).any():
            axes.scatter(
                n_clusters[chosen], values[chosen],
                s=34, c=face, edgecolors=edge, linewidths=1.4, zorder=2, label=label,
            )  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
