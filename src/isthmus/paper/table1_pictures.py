"""Results of Table 1 → error rates by parameter, and by start, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from isthmus.paper import table1_cells as cells
from isthmus.paper.drawing import Axes, subplots
from isthmus.paper.experiment import Picture, Result, Results
from isthmus.paper.methods import NAMES
from isthmus.plotting.style import CUT_COLOUR, FAINT_COLOUR, PALETTE


def pictures(results: Results) -> list[Picture]:
    """Return the error rates by parameter, and by start."""
    return [_sweep_picture(results), _start_picture(results)]


def _sweep_picture(results: Results) -> Picture:
    figure, grid = subplots((10, 6.4), 2, 2, sharey="row")
    for data, row in zip(cells.LOADERS, grid, strict=True):
        for method, axes in zip(cells.SYMBOLS, row, strict=True):
            _draw_sweep(axes, results, data, method)
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    return Picture(
        "table1_parameters",
        "Error rates over the paper's grids of parameters. Stars are the paper's values at the "
        "paper's parameters. In shaded ranges the eigenvectors are not determined, and labels "
        "depend on rounding.",
        figure,
    )


def _draw_sweep(axes: Axes, results: Results, data: str, method: str) -> None:
    found = results[f"{data}-{method}"]
    values, bounds = found["values"], _bounds(found["values"])
    shade: dict[str, Any] = {"color": FAINT_COLOUR, "alpha": 0.4, "lw": 0}
    for value in cells.undetermined_values(results, data, method) & set(values):
        i = values.index(value)
        axes.axvspan(bounds[i], bounds[i + 1], label="_", **shade)
    axes.axvspan(0, 0, label="depends on rounding", **shade)
    axes.plot(values, found["errors"], ".-", color=PALETTE[0], lw=1, ms=4, label="here")
    ours = cells.shown_error(results, data, "ours")
    axes.axhline(ours, color=PALETTE[3], lw=1, ls="--", label="our method")
    at, paper = cells.PAPER_PARAMETERS[data][method], cells.PAPER[data][method]
    axes.plot([at], [paper], "*", color=CUT_COLOUR, ms=13, zorder=3, ls="", label="paper")
    axes.set_title(f"{data}, {NAMES[method]}", fontsize=10)
    axes.set_xlabel(cells.SYMBOLS[method])
    axes.set_ylim(bottom=0)
    if method == "njw":
        axes.set(xscale="log", ylabel="error rate")
    axes.set_xlim(bounds[0], bounds[-1])


def _bounds(values: Sequence[float]) -> list[float]:
    """Return the middles between values, one bound before the first and one after the last."""
    middles = [(a + b) / 2 for a, b in pairwise(values)]
    first, last = 2 * values[0] - middles[0], 2 * values[-1] - middles[-1]
    return [max(first, values[0] / 2), *middles, last]


def _start_picture(results: Results) -> Picture:
    figure, grid = subplots((10, 6.4), 2, 2, sharey=True)
    for data, row in zip(cells.LOADERS, grid, strict=True):
        for method, axes in zip(("ours", "kmeans"), row, strict=True):
            _draw_solutions(axes, results[f"{data}-{method}"], cells.PAPER[data][method])
            axes.set_title(f"{data}, {NAMES[method]}", fontsize=10)
        row[0].set_ylabel("share of starts")
    for axes in grid[1]:
        axes.set_xlabel("error rate of the solution (below it: its inertia)")
    return Picture(
        "table1_luck",
        "The solutions of K-means from single random starts: the most frequent ones, ordered by "
        "error rate, with their inertia. Orange is the solution of lowest inertia, which the best "
        "of many starts finds; a star marks solutions that round to the paper's value.",
        figure,
    )


def _draw_solutions(axes: Axes, result: Result, paper: float) -> None:
    found = cells.solutions(result)
    total = sum(solution.times for solution in found)
    lowest = min(found, key=lambda solution: solution.inertia)
    shown = sorted(found[: cells.MAX_SOLUTIONS], key=lambda solution: solution.error)
    names = [f"{solution.error:.3f}\n{solution.inertia:.5g}" for solution in shown]
    heights = [solution.times / total for solution in shown]
    colours = [PALETTE[1] if solution is lowest else PALETTE[0] for solution in shown]
    stars = [round(solution.error, 2) == paper for solution in shown]
    if rest := total - sum(solution.times for solution in shown):
        names.append(f"{len(found) - len(shown)}\nothers")
        heights.append(rest / total)
        colours.append(FAINT_COLOUR)
        stars.append(False)
    axes.bar(range(len(names)), heights, color=colours, width=0.7)
    for x, (height, star) in enumerate(zip(heights, stars, strict=True)):
        text = f"{f'{height:.0%}' if height >= 0.01 else '< 1%'}{' ★' if star else ''}"
        colour = CUT_COLOUR if star else "black"
        axes.annotate(text, (x, height), ha="center", va="bottom", fontsize=9, color=colour)
    axes.set_xticks(range(len(names)), names, fontsize=8)
    axes.set_xlim(-0.7, max(len(names), 4) - 0.3)
    axes.margins(y=0.12)
