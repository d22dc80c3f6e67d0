"""Results of Figure 6 → the paper's figure, all pairs of digits, and all sets, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus.paper import figure6_errors as rates
from isthmus.paper.drawing import Axes, subplots
from isthmus.paper.experiment import Picture, Result, Results
from isthmus.plotting.style import FAINT_COLOUR, MARKERS, PALETTE, hide_frame

_COLOURS = dict(zip(rates.ALL_METHODS, PALETTE, strict=False))
_MARKERS = dict(zip(rates.ALL_METHODS, ("o", "^", "s", "D", *MARKERS[4:7]), strict=True))
_PAIRS = (("ours", "kmeans"), ("ours", "njw"), ("cut", "njw"))


def pictures(results: Results) -> list[Picture]:
    """Return the paper's figure, all pairs, and all sets."""
    return [_ten_picture(results), _pair_picture(results), _pool_picture(results)]


def _ten_picture(results: Results) -> Picture:
    figure, (axes, means) = subplots((11, 4.4), 1, 2, width_ratios=(3, 1), sharey=True)
    sets = rates.ten_sets(results)
    errors = rates.error_table(sets, rates.ALL_METHODS)
    for method, column in zip(rates.ALL_METHODS, errors.T, strict=True):
        style: dict[str, Any] = {"ls": ":", "alpha": 0.6} if method in rates.CUTS else {"ls": "-"}
        style |= {"color": _COLOURS[method], "marker": _MARKERS[method], "lw": 1}
        axes.plot(range(len(sets)), column, label=rates.LONG_NAMES[method], **style)
    axes.set_xticks(range(len(sets)), [rates.name_of(s) for s in sets], fontsize=9)
    axes.set(xlabel="digits of the set", ylabel="error rate")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=FAINT_COLOUR, lw=0.5)
    bars = means.bar(
        range(len(rates.ALL_METHODS)), errors.mean(axis=0), color=list(_COLOURS.values())
    )
    for bar in bars[-len(rates.CUTS) :]:
        bar.set_alpha(0.5)
    means.bar_label(bars, fmt="%.3f", fontsize=8)
    means.set(xticks=[], xlabel="mean of the ten")
    figure.legend(loc="outside upper center", ncols=7, frameon=False, fontsize=9)
    return Picture(
        "figure6",
        f"Error rates of the four methods on ten sets of digits ({rates.data_of(sets)}), as in the "
        "paper's figure; dotted, for information, TransitiveCut without and with neighbourhoods.",
        figure,
    )


def _pair_picture(results: Results) -> Picture:
    figure, grid = subplots((10, 4.6), 1, 3)
    pairs = rates.sets_of(results, 2)
    for axes, (a, b) in zip(grid, _PAIRS, strict=True):
        image = _draw_pairs(axes, pairs, a, b)
    label = "difference of error rates (in the cells: in hundredths)"
    figure.colorbar(image, ax=list(grid), location="bottom", shrink=0.5, aspect=35, label=label)
    return Picture(
        "figure6_pairs",
        "All pairs of digits that were clustered: the first method's error rate minus the "
        "second's. Blue: the first is better.",
        figure,
    )


def _draw_pairs(axes: Axes, pairs: Sequence[Result], a: str, b: str) -> Any:
    values = np.full((10, 10), np.nan)
    for s in pairs:
        low, high = sorted(s["digits"])
        values[high, low] = rates.error_of(s, a, coarse=True) - rates.error_of(s, b, coarse=True)
    image = axes.imshow(values, cmap="RdBu_r", vmin=-0.5, vmax=0.5)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            text, colour = _hundredths(value), "white" if abs(value) > 0.3 else "black"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
    axes.set(xticks=range(10), yticks=range(10))
    axes.set_title(f"{rates.LONG_NAMES[a]} – {rates.LONG_NAMES[b]}", fontsize=10)
    hide_frame(axes)
    return image


def _hundredths(value: float) -> str:
    """Return a difference in hundredths, with a sign unless it rounds to 0."""
    rounded = round(100 * value)
    return f"{rounded:+d}".replace("-", "−") if rounded else "0"


def _pool_picture(results: Results) -> Picture:
    figure, (by_size, why) = subplots((10, 4.2), 1, 2, width_ratios=(3, 2))
    _draw_errors(by_size, results)
    _draw_reason(why, results)
    return Picture(
        "figure6_all",
        "Left: error rates on all sets that were clustered, by the number of digits; a bar is the "
        "mean. Right: how much our clusters and the digits explain of the distances of images to "
        "their nearest neighbours; each mark is a set.",
        figure,
    )


def _draw_errors(axes: Axes, results: Results) -> None:
    for group, n_digits in enumerate(rates.TEN):
        errors = rates.error_table(rates.sets_of(results, n_digits), rates.ALL_METHODS, coarse=True)
        jitter = np.random.default_rng(rates.SEED).uniform(-0.035, 0.035, len(errors))
        for i, method in enumerate(rates.ALL_METHODS):
            x, colour = group + 0.12 * (i - 3), _COLOURS[method]
            name = rates.LONG_NAMES[method] if group == 0 else None
            style: dict[str, Any] = {"color": colour, "ms": 3, "alpha": 0.6, "label": name}
            axes.plot(x + jitter, errors[:, i], _MARKERS[method], **style)
            axes.hlines(errors[:, i].mean(), x - 0.05, x + 0.05, color=colour, lw=3)
    axes.set_xticks(range(len(rates.TEN)), [f"{n} digits" for n in rates.TEN])
    axes.set(ylabel="error rate", ylim=(0, 0.95))
    axes.legend(fontsize=8, loc="upper left", frameon=False, ncols=3, handletextpad=0.3)
    axes.grid(axis="y", color=FAINT_COLOUR, lw=0.5)


def _draw_reason(axes: Axes, results: Results) -> None:
    for high, colour, name in ((False, PALETTE[2], "up to"), (True, PALETTE[5], "above")):
        sets = [s["sparseness"] for s in results.values() if (s["ours"] > rates.HIGH_ERROR) == high]
        x, y = ([s[groups] for s in sets] for groups in ("digits", "clusters"))
        label = f"our error {name} {rates.HIGH_ERROR}"
        axes.plot(x, y, "D", color=colour, ms=4, alpha=0.7, label=label)
    axes.plot([0, 1], [0, 1], color=FAINT_COLOUR, lw=1, zorder=0)
    axes.set(
        xlim=(0, 1),
        ylim=(0, 1),
        xlabel="share of variance that the digits explain",
        ylabel="share that our clusters explain",
    )
    axes.set_title("Distances to nearest neighbours", fontsize=10)
    axes.legend(fontsize=8, loc="lower right", frameon=False)
