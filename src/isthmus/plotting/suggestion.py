"""The evidence for each number of clusters → bars on an Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.plotting.style import (
    CUT_COLOUR,
    EDGE_COLOUR,
    FAINT_COLOUR,
    PALETTE,
    add_wide_legend,
    axes_or_new,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {"clear": PALETTE[0], "weak": PALETTE[4], "": FAINT_COLOUR}
_NAMES = {"clear": "clear", "weak": "weak, but stands out", "": "no wider than chance allows"}
# Bars end between these multiples of the strength from which gaps are clear.
_LOWEST, _HIGHEST = 1.5, 4.0


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
        Bars of gaps far beyond chance are cut off, with an arrow. The line is where gaps become
        clear; the number that is suggested is marked.
    """
    axes = axes_or_new(ax, (6.4, 3.6))
    numbers, strength = suggestion.numbers, suggestion.strength
    strongest = np.nanmax(np.append(strength, 0.0))
    top = float(np.clip(strongest, *(suggestion.clear_from * m for m in (_LOWEST, _HIGHEST))))
    for verdict, colour in _COLOURS.items():
        shown = np.array([v == verdict for v in suggestion.verdicts]) & ~np.isnan(strength)
        if shown.any():
            heights = np.clip(strength[shown], 0.0, top)
            axes.bar(numbers[shown], heights, 0.7, color=colour, label=_NAMES[verdict])
    for k in numbers[np.nan_to_num(strength) > top]:
        axes.annotate("↑", (k, top), ha="center", va="bottom", color=EDGE_COLOUR)
    axes.axhline(suggestion.clear_from, color=EDGE_COLOUR, linewidth=1.0, linestyle="--")
    axes.set_xlim(0.4, numbers[-1] + 0.6)
    axes.set_ylim(0.0, 1.25 * top)
    axes.set_xticks(numbers if len(numbers) <= 30 else numbers[:: len(numbers) // 15])
    axes.set_xlabel("number of clusters")
    axes.set_ylabel("strength of the weakest gap")
    axes.set_title(_headline(suggestion))
    best = suggestion.n_clusters
    if best > 1:
        height = min(float(strength[best - 1]), top)
        axes.bar([best], [height], 0.7, fill=False, edgecolor=CUT_COLOUR, linewidth=2.0)
    if axes.get_legend_handles_labels()[0]:
        add_wide_legend(axes, loc="upper center")
    return axes


def _headline(suggestion: Any) -> str:
    if suggestion.n_clusters == 1:
        return str(suggestion.confidence)
    return f"{suggestion.n_clusters} clusters: {suggestion.confidence}"
