"""Time against the number of points: the paper's O(n²) for its algorithm, O(n³) for spectral ones.

Each task measures one method at one size, with one thread, and takes the best of a few runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from isthmus._utils.typing import Floats
from isthmus.datasets import make_bars
from isthmus.evaluation import error_rate
from isthmus.paper.experiment import (
    Claim,
    Experiment,
    Picture,
    Result,
    Results,
    Table,
    Task,
    Verdict,
)
from isthmus.paper.timed_methods import CLUSTERS, CUBIC, METHODS, QUADRATIC, SEED, Clock
from isthmus.plotting.style import EDGE_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST_RUNS, _MOST_RUNS = 3, 10

_DENSE_SIZES = (500, 707, 1000, 1414, 2000, 2828, 4000)
_TREE_SIZES = (500, *(1000 * 2**i for i in range(11)))
_QUICK_SIZES = (150, 275, 500)  # below those for which kernels take long to compile

# How far a measured exponent may be from the paper's.
_ABOVE_QUADRATIC, _FAR_ABOVE_QUADRATIC, _BELOW_CUBIC = 0.3, 0.6, 0.4
_PAPERS = "paper"
_SPECTRAL = ("njw", "self_tuning")


# Tasks


def measure(method: str, n_points: int, enough: float) -> Result:
    """Return the seconds of one method at one size: of the best run, its stages, and of all.

    There are three runs at least, and more of short ones, until together they took enough seconds.
    """
    X, y = make_bars(n_points, n_bars=CLUSTERS, random_state=SEED)
    runs: list[float] = []
    stages: dict[str, float] = {}
    with threadpool_limits(1):
        while len(runs) < _LEAST_RUNS or (len(runs) < _MOST_RUNS and sum(runs) < enough):
            clock = Clock()
            labels, parts = METHODS[method].run(X)
            clock.note("all")
            runs.append(clock.seconds["all"])
            if runs[-1] == min(runs):
                stages = parts
    return {
        "method": method,
        "n_points": n_points,
        "seconds": min(runs),
        "runs": runs,
        "stages": stages,
        "error": error_rate(y, labels),
    }


def tasks(quick: bool) -> list[Task]:
    """Return a task for each method and size, the short ones first."""
    dense = _QUICK_SIZES if quick else _DENSE_SIZES
    sizes: dict[str, tuple[int, ...]] = dict.fromkeys(METHODS, dense)
    if not quick:
        sizes |= {"all_vectors": dense[:-1], "tree": _TREE_SIZES}
    enough = 0.05 if quick else 0.5
    pairs = sorted((n, method) for method in METHODS for n in sizes[method])
    return [
        Task(
            f"{method}_{n}",
            measure,
            {"method": method, "n_points": n, "enough": enough},
            alone=True,
        )
        for n, method in pairs
    ]


# From results to exponents and ratios


def times_of(results: Results, method: str) -> tuple[Floats, Floats]:
    """Return the sizes and seconds of a method, by size."""
    found = sorted(
        (result["n_points"], result["seconds"])
        for result in results.values()
        if result["method"] == method
    )
    sizes, seconds = np.array(found, dtype=np.float64).T
    return sizes, seconds


def exponent_of(results: Results, method: str) -> float:
    """Return b of the best fit of a · n^b to the times at the upper half of the sizes."""
    sizes, seconds = upper_half(*times_of(results, method))
    slope: float = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    return float(slope)


def upper_half(sizes: Floats, seconds: Floats) -> tuple[Floats, Floats]:
    """Return the larger sizes, half of them or one more, and their times."""
    kept = len(sizes) // 2
    return sizes[kept:], seconds[kept:]


def times_as_long(results: Results, method: str) -> dict[int, float]:
    """Return, by size, how many times as long as the paper's algorithm a method takes."""
    papers = dict(zip(*times_of(results, _PAPERS), strict=True))
    sizes, seconds = times_of(results, method)
    return {
        int(n): float(taken / papers[n])
        for n, taken in zip(sizes, seconds, strict=True)
        if n in papers
    }


# Claims


def claims(results: Results) -> list[Claim]:
    """Return the paper's two exponents, and that its algorithm is faster."""
    return [_quadratic_claim(results), _cubic_claim(results), _faster_claim(results)]


def _quadratic_claim(results: Results) -> Claim:
    """Reproduced if the exponent is at most 2.3, partly if at most 2.6."""
    exponent = exponent_of(results, _PAPERS)
    verdict = Verdict.NOT
    if exponent <= QUADRATIC + _FAR_ABOVE_QUADRATIC:
        near = exponent <= QUADRATIC + _ABOVE_QUADRATIC
        verdict = Verdict.REPRODUCED if near else Verdict.PARTLY
    largest = _largest(results, _PAPERS)
    stages = largest["stages"]
    longest = max(stages, key=lambda name: float(stages[name]))
    share = stages[longest] / sum(stages.values())
    sizes, _ = times_of(results, "tree")
    return Claim(
        "The algorithm takes about O(n²) time.",
        "n²",
        f"n^{exponent:.2f} ({_range_of(results, _PAPERS)} points)",
        verdict,
        f"All its stages are quadratic, if K-means needs no more iterations for more points; at "
        f"{largest['n_points']:,} points {share:.0%} of the time goes into {longest}. Matrices of "
        "n × n leave the processor's caches as n grows, which may lift the exponent. On the tree, "
        "without these matrices, the same objective takes "
        f"n^{exponent_of(results, 'tree'):.2f}, measured up to {sizes.max():,.0f} points.",
    )


def _cubic_claim(results: Results) -> Claim:
    """Reproduced if both spectral methods have at least 2.6, and do so however they are computed.

    Partly, if with a solver for dense matrices only; not, if not even so.
    """
    found = {method: exponent_of(results, method) for method in METHODS}
    least = CUBIC - _BELOW_CUBIC
    dense = min(found[method] for method in _SPECTRAL) >= least
    verdict = Verdict.NOT
    if dense:
        verdict = Verdict.REPRODUCED if found["lanczos"] >= least else Verdict.PARTLY
    small = (
        "" if dense else " At small sizes their quadratic parts still weigh: affinities, K-means."
    )
    lanczos = (
        " But the methods need only three eigenvectors, and Lanczos' iteration finds the same from "
        "products with the matrix, n² each: what is cubic is the solver, not spectral clustering."
        if found["lanczos"] < least
        else ""
    )
    return Claim(
        "The spectral algorithms take O(n³) time, since they solve an eigenproblem.",
        "n³",
        f"NJW n^{found['njw']:.2f}, self-tuning n^{found['self_tuning']:.2f}; by Lanczos "
        f"n^{found['lanczos']:.2f} ({_range_of(results, 'njw')} points)",
        verdict,
        "A dense solver reduces the matrix to three diagonals first, 4/3 n³ operations, whether "
        "three eigenvectors are wanted (as timed for both methods) or all n (2 n³ more; "
        f"n^{found['all_vectors']:.2f}).{small}{lanczos}",
    )


def _faster_claim(results: Results) -> Claim:
    """Reproduced if both spectral methods take longer at all of the upper half of the sizes.

    Partly, if at the largest size only.
    """
    ratios = {method: times_as_long(results, method) for method in (*_SPECTRAL, "lanczos", "tree")}
    common = sorted(set.intersection(*(set(ratios[method]) for method in _SPECTRAL)))
    upper, n = common[len(common) // 2 :], common[-1]
    verdict = Verdict.NOT
    if all(ratios[method][n] > 1 for method in _SPECTRAL):
        always = all(ratios[method][size] > 1 for method in _SPECTRAL for size in upper)
        verdict = Verdict.REPRODUCED if always else Verdict.PARTLY
    return Claim(
        "The algorithm is faster than the two spectral ones.",
        "no times given",
        f"at {n:,} points NJW takes {ratios['njw'][n]:.1f} and self-tuning "
        f"{ratios['self_tuning'][n]:.1f} times as long as the paper's algorithm",
        verdict,
        f"At {upper[0]:,} points the factors are {ratios['njw'][upper[0]]:.1f} and "
        f"{ratios['self_tuning'][upper[0]]:.1f}; they grow with n where exponents differ. By "
        f"Lanczos NJW takes {ratios['lanczos'][n]:.2f} times as long at {n:,} points, and isthmus "
        f"{ratios['tree'][n]:.3f} times. Each spectral fit is at one parameter: the paper tries "
        "130 for NJW and 29 for self-tuning, and none for its own.",
    )


def _largest(results: Results, method: str) -> Result:
    """Return the result of a method at its largest size."""
    own = [result for result in results.values() if result["method"] == method]
    return max(own, key=lambda result: int(result["n_points"]))


def _range_of(results: Results, method: str) -> str:
    """Return the sizes that an exponent was fitted to, in words."""
    sizes, _ = upper_half(*times_of(results, method))
    return f"{sizes.min():,.0f} to {sizes.max():,.0f}"


# Tables


def tables(results: Results) -> list[Table]:
    """Return exponents, ratios at equal sizes, and the stages of the paper's algorithm."""
    return [_exponent_table(results), _ratio_table(results), _stage_table(results)]


def _exponent_table(results: Results) -> Table:
    rows = []
    for key, method in METHODS.items():
        paper = method.papers_exponent
        largest = _largest(results, key)
        rows.append(
            [
                method.name,
                "–" if paper is None else f"{paper:g}",
                f"{exponent_of(results, key):.2f}",
                _range_of(results, key),
                f"{largest['seconds']:.3g} s at {largest['n_points']:,}",
                f"{largest['error']:.3f}",
            ]
        )
    return Table(
        "Exponents b of a · n^b, fitted to the upper half of the sizes, on one thread. Seconds are "
        "those of the machine that the report was made on.",
        ["method", "paper", "exponent", "fitted to points", "longest", "error there"],
        rows,
    )


def _ratio_table(results: Results) -> Table:
    sizes = [int(n) for n in times_of(results, _PAPERS)[0]]
    rows = []
    for key, method in METHODS.items():
        ratios = times_as_long(results, key)
        rows.append([method.name, *(f"{ratios[n]:.3g}" if n in ratios else "–" for n in sizes)])
    return Table(
        "How many times as long as the paper's algorithm each method takes, by number of points.",
        ["method", *(f"{n:,}" for n in sizes)],
        rows,
    )


def _stage_table(results: Results) -> Table:
    keys = [key for key in METHODS if _largest(results, key)["stages"]]
    rows = []
    for key in keys:
        largest = _largest(results, key)
        stages = [f"{name} {1000 * taken:,.0f} ms" for name, taken in largest["stages"].items()]
        rows.append([METHODS[key].name, f"{largest['n_points']:,}", ", ".join(stages)])
    return Table("Where the time goes at the largest size.", ["method", "points", "stages"], rows)


# Pictures


def pictures(results: Results) -> list[Picture]:
    """Return times against sizes, and times relative to the paper's algorithm."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_times(left, results)
    _draw_ratios(right, results)
    handles, names = left.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return [
        Picture(
            "complexity",
            "Left: seconds against the number of points, one thread, both scales logarithmic; the "
            "exponents in brackets are fitted to the upper half of each curve, and the dashed "
            "lines have the slopes 1, 2 and 3. Right: the same, divided by the time of the paper's "
            "algorithm.",
            figure,
        )
    ]


def _draw_times(axes: Axes, results: Results) -> None:
    for key, method in METHODS.items():
        label = f"{method.name} (n$^{{{exponent_of(results, key):.2f}}}$)"
        axes.plot(
            *times_of(results, key),
            color=method.colour,
            marker=method.marker,
            markersize=5,
            linewidth=1.5,
            label=label,
        )
    axes.set(xscale="log", yscale="log", xlabel="points", ylabel="seconds")
    _draw_slopes(axes, results)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_slopes(axes: Axes, results: Results) -> None:
    """Draw lines of slopes 1, 2 and 3 through one corner, from where all curves begin."""
    every = [times_of(results, key) for key in METHODS]
    first = min(sizes.min() for sizes, _ in every)
    last = max(sizes.max() for sizes, _ in every)
    low = 0.5 * min(seconds.min() for _, seconds in every)
    high = 2.0 * max(seconds.max() for _, seconds in every)
    for slope in (1, 2, 3):
        end = min(last, first * (high / low) ** (1 / slope))
        tip = low * (end / first) ** slope
        axes.plot([first, end], [low, tip], color=EDGE_COLOUR, linestyle="--", linewidth=0.8)
        axes.annotate(
            f"n$^{slope}$" if slope > 1 else "n",
            (end, tip),
            (2, 0),
            textcoords="offset points",
            fontsize=9,
            color=EDGE_COLOUR,
        )


def _draw_ratios(axes: Axes, results: Results) -> None:
    for key, method in METHODS.items():
        ratios = times_as_long(results, key)
        axes.plot(
            list(ratios),
            list(ratios.values()),
            color=method.colour,
            marker=method.marker,
            markersize=5,
            linewidth=1.5,
        )
    axes.set(
        xscale="log", yscale="log", xlabel="points", ylabel="times as long as the paper's algorithm"
    )
    shown = list(times_as_long(results, _PAPERS))[::2]
    axes.set_xticks(shown, [f"{n:,}" for n in shown])
    axes.minorticks_off()
    axes.spines[["top", "right"]].set_visible(False)


EXPERIMENT = Experiment(
    name="complexity",
    title="Complexity: O(n²) against O(n³)",
    about=(
        "The paper derives O(n²) for its algorithm and O(n³) for the spectral ones, and gives no "
        "times. Here both are timed against the number of points, on three long bars in the plane "
        "that all methods find, with one thread: the best of three runs or more, in seconds of the "
        "processor. Seconds depend on the machine; exponents and the ratios at equal sizes do so "
        "much less.\n\n"
        "The paper's algorithm is run as it is written: a matrix of distances, its spanning tree "
        "by Prim's algorithm, the matrix of transitive distances, and scikit-learn's K-means on "
        "its rows from ten random starts. NJW and self-tuning run at one parameter each, where the "
        "paper's protocol tries many. They use LAPACK's solver for dense matrices and ask it for "
        "the leading eigenvectors only; the classical way, all of them, is timed beside it, and so "
        "is Lanczos' iteration, which never reduces the matrix. isthmus itself builds none of "
        "these matrices, and starts K-means once, from parts of the tree: its times go up to a "
        "million points. Up to some ten thousand points it "
        "takes the tree from Prim's algorithm, quadratic but short, and beyond from a kd-tree; its "
        "exponent is that of the latter.\n\n"
        "A run with few and small sizes, as a quick one, says little about exponents."
    ),
    tasks=tasks,
    claims=claims,
    tables=tables,
    pictures=pictures,
)
