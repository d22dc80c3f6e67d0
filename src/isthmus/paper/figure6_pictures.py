"""Results of Figure 6 → the paper's figure, all pairs of digits, and all sets, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus.paper.experiment import Picture, Result, Results
from isthmus.paper.figure6_values import (
    HIGH_ERROR,
    LONG_NAMES,
    SEED,
    TEN,
    error_of,
    error_table,
    name_of,
    ten_sets,
)
from isthmus.paper.methods import METHODS
from isthmus.plotting.style import FAINT_COLOUR, MARKERS, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = dict(zip((*METHODS, "cut"), PALETTE, strict=False))
SIGNS = dict(zip((*METHODS, "cut"), ("o", "^", "s", "D", MARKERS[6]), strict=True))


def pictures(results: Results) -> list[Picture]:
    """Return the paper's figure, all pairs, and all sets."""
    return [_ten_picture(results), _pair_picture(results), _pool_picture(results)]


def _ten_picture(results: Results) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.4), layout="constrained")
    panels: Any = figure.subplots(1, 2, width_ratios=(4, 1), sharey=True)
    axes, means = panels
    sets = ten_sets(results)
    methods = (*METHODS, "cut")
    errors = error_table(sets, methods)
    for method, column in zip(methods, errors.T, strict=True):
        style = {"ls": ":", "alpha": 0.6} if method == "cut" else {"ls": "-"}
        axes.plot(
            range(len(sets)),
            column,
            marker=SIGNS[method],
            color=COLOURS[method],
            label=LONG_NAMES[method],
            lw=1,
            **style,
        )
    axes.set_xticks(range(len(sets)), [name_of(s) for s in sets], fontsize=9)
    axes.set_xlabel("digits of the set")
    axes.set_ylabel("error rate")
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=FAINT_COLOUR, lw=0.5)
    colours = [COLOURS[m] for m in methods]
    bars = means.bar(range(len(methods)), errors.mean(axis=0), color=colours)
    bars[-1].set_alpha(0.5)
    means.bar_label(bars, fmt="%.3f", fontsize=8)
    means.set_xticks([])
    means.set_xlabel("mean of the ten")
    figure.legend(loc="outside upper center", ncols=5, frameon=False, fontsize=9)
    return Picture(
        "figure6",
        "Error rates of the four methods on ten sets of digits, as in the paper's figure; dotted, "
        'for information, our method with objective "cut".',
        figure,
    )


def _pair_picture(results: Results) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.6), layout="constrained")
    grid: Any = figure.subplots(1, 3)
    pairs = [s for s in results.values() if len(s["digits"]) == 2]
    image: Any = None
    for axes, (a, b) in zip(
        grid, (("ours", "kmeans"), ("ours", "njw"), ("cut", "njw")), strict=True
    ):
        image = _draw_pairs(axes, pairs, a, b)
    figure.colorbar(
        image,
        ax=list(grid),
        location="bottom",
        shrink=0.5,
        aspect=35,
        label="difference of error rates (in the cells: in hundredths)",
    )
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
        values[high, low] = error_of(s, a, coarse=True) - error_of(s, b, coarse=True)
    image = axes.imshow(values, cmap="RdBu_r", vmin=-0.5, vmax=0.5)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            text = _hundredths(value)
            colour = "white" if abs(value) > 0.3 else "black"
            axes.text(column, row, text, ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(10))
    axes.set_yticks(range(10))
    axes.set_title(f"{LONG_NAMES[a]} – {LONG_NAMES[b]}", fontsize=10)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return image


def _hundredths(value: float) -> str:
    """Return a difference in hundredths, with a sign unless it rounds to 0."""
    rounded = round(100 * value)
    return f"{rounded:+d}".replace("-", "−") if rounded else "0"


def _pool_picture(results: Results) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    by_size, why = figure.subplots(1, 2, width_ratios=(3, 2))
    _draw_errors(by_size, results)
    _draw_reason(why, results)
    return Picture(
        "figure6_all",
        "Left: error rates on all sets that were clustered, by the number of digits; a bar is the "
        "mean. Right: what explains how far images are from their nearest neighbours, our "
        "clusters or the digits; each sign is a set.",
        figure,
    )


def _draw_errors(axes: Axes, results: Results) -> None:
    methods = (*METHODS, "cut")
    for group, n_digits in enumerate(TEN):
        sets = [s for s in results.values() if len(s["digits"]) == n_digits]
        errors = error_table(sets, methods, coarse=True)
        spread = np.random.default_rng(SEED).uniform(-0.05, 0.05, len(sets))
        for i, method in enumerate(methods):
            x = group + 0.16 * (i - 2)
            name = LONG_NAMES[method] if group == 0 else None
            colour = COLOURS[method]
            axes.plot(
                x + spread, errors[:, i], SIGNS[method], color=colour, ms=3, alpha=0.6, label=name
            )
            axes.hlines(errors[:, i].mean(), x - 0.07, x + 0.07, color=colour, lw=3)
    axes.set_xticks(range(len(TEN)), [f"{n} digits" for n in TEN])
    axes.set_ylabel("error rate")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8, loc="upper left", frameon=False, ncols=3, handletextpad=0.3)
    axes.set_ylim(top=0.95)
    axes.grid(axis="y", color=FAINT_COLOUR, lw=0.5)


def _draw_reason(axes: Axes, results: Results) -> None:
    for high, colour, name in ((False, PALETTE[2], "up to"), (True, PALETTE[5], "above")):
        sets = [s["sparseness"] for s in results.values() if (s["ours"] > HIGH_ERROR) == high]
        axes.plot(
            [s["digits"] for s in sets],
            [s["clusters"] for s in sets],
            "D",
            color=colour,
            ms=4,
            alpha=0.7,
            label=f"our error {name} {HIGH_ERROR}",
        )
    axes.plot([0, 1], [0, 1], color=FAINT_COLOUR, lw=1, zorder=0)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("share of variance that the digits explain")
    axes.set_ylabel("share that our clusters explain")
    axes.set_title("Distances to nearest neighbours", fontsize=10)
    axes.legend(fontsize=8, loc="lower right", frameon=False)
