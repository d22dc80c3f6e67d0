"""Results of Table 1 → error rates by parameter, and by start, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from isthmus.paper.experiment import Picture, Result, Results
from isthmus.paper.methods import NAMES
from isthmus.paper.table1_values import (
    ACCIDENTAL_GAP,
    LOADERS,
    MOST_SOLUTIONS,
    PAPER,
    PAPER_PARAMETERS,
    SYMBOLS,
    gaps_of,
    shown_error,
    solutions,
)
from isthmus.plotting.style import CUT_COLOUR, FAINT_COLOUR, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def pictures(results: Results) -> list[Picture]:
    """Return the error rates by parameter, and by start."""
    return [_sweep_picture(results), _luck_picture(results)]


def _sweep_picture(results: Results) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.4), layout="constrained")
    grid: Any = figure.subplots(2, 2, sharey="row")
    for data, row in zip(LOADERS, grid, strict=True):
        for method, axes in zip(SYMBOLS, row, strict=True):
            _draw_sweep(axes, results, data, method)
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    return Picture(
        "table1_parameters",
        "Error rates over the paper's grids of parameters. Stars are the paper's values at the "
        "paper's parameters. Where it is shaded, the eigenvectors are not determined, and labels "
        "are an accident of rounding.",
        figure,
    )


def _draw_sweep(axes: Axes, results: Results, data: str, method: str) -> None:
    found, gaps = results[f"{data}-{method}"], gaps_of(results, data, method)
    values = found["values"]
    for value, edges in zip(values, _surroundings(values), strict=True):
        if gaps.get(value, 1.0) <= ACCIDENTAL_GAP:
            axes.axvspan(*edges, color=FAINT_COLOUR, alpha=0.4, lw=0, label="_")
    axes.axvspan(0, 0, color=FAINT_COLOUR, alpha=0.4, lw=0, label="accident of rounding")
    axes.plot(values, found["errors"], ".-", color=PALETTE[0], lw=1, ms=4, label="here")
    ours = shown_error(results, data, "ours")
    axes.axhline(ours, color=PALETTE[3], lw=1, ls="--", label="our method")
    at, paper = PAPER_PARAMETERS[data][method], PAPER[data][method]
    axes.plot([at], [paper], "*", color=CUT_COLOUR, ms=13, zorder=3, ls="", label="paper")
    axes.set_title(f"{data}, {NAMES[method]}", fontsize=10)
    axes.set_xlabel(SYMBOLS[method])
    axes.set_ylim(bottom=0)
    if method == "njw":
        axes.set_xscale("log")
        axes.set_ylabel("error rate")
    low, high = _surroundings(values)[0][0], _surroundings(values)[-1][1]
    axes.set_xlim(low, high)


def _surroundings(values: Sequence[float]) -> list[tuple[float, float]]:
    """Return, for each value, how far it is from it half-way to both neighbours."""
    middles = [(a + b) / 2 for a, b in pairwise(values)]
    first, last = 2 * values[0] - middles[0], 2 * values[-1] - middles[-1]
    edges = [max(first, values[0] / 2), *middles, last]
    return list(pairwise(edges))


def _luck_picture(results: Results) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.4), layout="constrained")
    grid: Any = figure.subplots(2, 2, sharey=True)
    for data, row in zip(LOADERS, grid, strict=True):
        for method, axes in zip(("ours", "kmeans"), row, strict=True):
            _draw_solutions(axes, results[f"{data}-{method}"], PAPER[data][method])
            axes.set_title(f"{data}, {NAMES[method]}", fontsize=10)
        row[0].set_ylabel("share of starts")
    for axes in grid[1]:
        axes.set_xlabel("error rate of the solution (below it: its inertia)")
    return Picture(
        "table1_luck",
        "Where single random starts of K-means end: the most frequent solutions, ordered by their "
        "error rate, with their inertia. Orange is the solution of lowest inertia, which keeping "
        "the best of many starts leads to; a star marks solutions that round to the paper's "
        "value.",
        figure,
    )


def _draw_solutions(axes: Axes, result: Result, paper: float) -> None:
    found = solutions(result)
    total = sum(solution.times for solution in found)
    lowest = min(found, key=lambda solution: solution.inertia)
    shown = sorted(found[:MOST_SOLUTIONS], key=lambda solution: solution.error)
    names = [f"{solution.error:.3f}\n{solution.inertia:.5g}" for solution in shown]
    heights = [solution.times / total for solution in shown]
    colours = [PALETTE[1] if solution is lowest else PALETTE[0] for solution in shown]
    if rest := total - sum(solution.times for solution in shown):
        names.append(f"{len(found) - len(shown)}\nothers")
        heights.append(rest / total)
        colours.append(FAINT_COLOUR)
    places = range(len(names))
    axes.bar(places, heights, color=colours, width=0.7)
    for place, height in zip(places, heights, strict=True):
        starred = place < len(shown) and round(shown[place].error, 2) == paper
        axes.annotate(
            f"{f'{height:.0%}' if height >= 0.01 else '< 1%'}{' ★' if starred else ''}",
            (place, height),
            ha="center",
            va="bottom",
            fontsize=9,
            color=CUT_COLOUR if starred else "black",
        )
    axes.set_xticks(list(places), names, fontsize=8)
    axes.set_xlim(-0.7, max(len(names), 4) - 0.3)
    axes.margins(y=0.12)
