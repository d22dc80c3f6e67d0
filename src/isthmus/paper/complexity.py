"""Time against the number of points: the paper's O(n²) for its algorithm, O(n³) for spectral ones.

Each task measures one method at one size, with one thread, and takes the best of a few runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from isthmus._utils.typing import Floats
from isthmus.datasets import make_bars
from isthmus.evaluation import error_rate
from isthmus.paper.drawing import Axes, subplots
from isthmus.paper.experiment import Claim, Picture, Result, Results, Table, Task, Verdict
from isthmus.paper.timed_methods import CLUSTERS, CUBIC, QUADRATIC, SEED, TIMED_METHODS, Clock
from isthmus.plotting.style import EDGE_COLOUR, hide_frame

TITLE = "Complexity: O(n²) against O(n³)"
ABOUT = """
The paper derives O(n²) for its algorithm and O(n³) for the spectral ones, and gives no times. Here
both are timed against the number of points, on three long bars in the plane that all methods find,
with one thread: the best of at least three runs, in processor seconds. Seconds depend on the
machine; exponents and the ratios at equal sizes do so much less.

The paper's algorithm runs as written: a distance matrix, its spanning tree by Prim's algorithm,
the matrix of transitive distances, and scikit-learn's K-means on its rows from ten random starts.
NJW and self-tuning run at one parameter each, where the paper's protocol tries many. They use
LAPACK's solver for dense matrices and ask it for the leading eigenvectors only. The classical
approach, which computes all of them, is timed beside it, and so is the Lanczos iteration, which
never reduces the matrix. isthmus itself builds none of these matrices, and starts K-means once,
from parts of the tree: its times go up to a million points. For small inputs it computes the tree
by Prim's algorithm, which is quadratic but fast, and beyond by a kd-tree; its exponent is that of
the latter.

A run with few and small sizes, such as a quick one, says little about exponents.
"""

_MIN_RUNS, _MAX_RUNS = 3, 10
_DENSE_SIZES = (500, 707, 1000, 1414, 2000, 2828, 4000)
_TREE_SIZES = (500, *(1000 * 2**i for i in range(11)))
_QUICK_SIZES = (150, 275, 500)  # below those for which kernels take long to compile

# How far a measured exponent may be from the paper's.
_ABOVE_QUADRATIC, _FAR_ABOVE_QUADRATIC, _BELOW_CUBIC = 0.3, 0.6, 0.4
_PAPERS = "paper"
_SPECTRAL = ("njw", "self_tuning")


def tasks(quick: bool) -> list[Task]:
    """Return a task for each method and size, the short ones first."""
    dense = _QUICK_SIZES if quick else _DENSE_SIZES
    sizes: dict[str, tuple[int, ...]] = dict.fromkeys(TIMED_METHODS, dense)
    if not quick:
        sizes |= {"all_vectors": dense[:-1], "tree": _TREE_SIZES}
    enough = 0.05 if quick else 0.5
    return [
        Task(
            f"{method}_{n}",
            measure,
            {"method": method, "n_points": n, "enough": enough},
            alone=True,
        )
        for n, method in sorted((n, method) for method in TIMED_METHODS for n in sizes[method])
    ]


def measure(method: str, n_points: int, enough: float) -> Result:
    """Return the seconds of one method at one size: of the best run, its stages, and of all.

    There are at least three runs, and more of short ones, until together they took enough seconds.
    """
    X, y = make_bars(n_points, n_bars=CLUSTERS, random_state=SEED)
    runs: list[float] = []
    stages: dict[str, float] = {}
    with threadpool_limits(1):
        while len(runs) < _MIN_RUNS or (len(runs) < _MAX_RUNS and sum(runs) < enough):
            clock = Clock()
            labels, parts = TIMED_METHODS[method].run(X)
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


def _of_method(results: Results, method: str) -> list[Result]:
    """Return the results of a method, by size."""
    own = [result for result in results.values() if result["method"] == method]
    return sorted(own, key=lambda result: int(result["n_points"]))


def times_of(results: Results, method: str) -> tuple[Floats, Floats]:
    """Return the sizes and seconds of a method, by size."""
    found = [(result["n_points"], result["seconds"]) for result in _of_method(results, method)]
    sizes, seconds = np.array(found, dtype=np.float64).T
    return sizes, seconds


def upper_half(sizes: Floats, seconds: Floats) -> tuple[Floats, Floats]:
    """Return the larger sizes, half of them or one more, and their times."""
    first = len(sizes) // 2
    return sizes[first:], seconds[first:]


def exponent_of(results: Results, method: str) -> float:
    """Return b of the best fit of a · n^b to the times at the upper half of the sizes."""
    sizes, seconds = upper_half(*times_of(results, method))
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _fitted_range(results: Results, method: str) -> str:
    """Return the sizes that an exponent was fitted to, in words."""
    sizes, _ = upper_half(*times_of(results, method))
    return f"{sizes.min():,.0f} to {sizes.max():,.0f}"


def times_as_long(results: Results, method: str) -> dict[int, float]:
    """Return, by size, how many times as long as the paper's algorithm a method takes."""
    papers = dict(zip(*times_of(results, _PAPERS), strict=True))
    times = zip(*times_of(results, method), strict=True)
    return {int(n): float(taken / papers[n]) for n, taken in times if n in papers}


def claims(results: Results) -> list[Claim]:
    """Return the paper's two exponents, and that its algorithm is faster."""
    return [_quadratic_claim(results), _cubic_claim(results), _faster_claim(results)]


def _quadratic_claim(results: Results) -> Claim:
    """Reproduced if the exponent is at most 2.3, partly if at most 2.6."""
    exponent = exponent_of(results, _PAPERS)
    above = exponent - QUADRATIC
    largest = _of_method(results, _PAPERS)[-1]
    stages = largest["stages"]
    longest = max(stages, key=lambda name: float(stages[name]))
    share = stages[longest] / sum(stages.values())
    sizes, _ = times_of(results, "tree")
    return Claim(
        "The algorithm takes about O(n²) time.",
        "n²",
        f"n^{exponent:.2f} ({_fitted_range(results, _PAPERS)} points)",
        Verdict.of(above <= _ABOVE_QUADRATIC, above <= _FAR_ABOVE_QUADRATIC),
        "All its stages are quadratic, provided that K-means needs no more iterations for more "
        f"points; at {largest['n_points']:,} points {share:.0%} of the time goes into {longest}. "
        "As n grows, n × n matrices no longer fit into the processor's caches, which may raise the "
        "exponent. On the tree, without these matrices, the same objective takes "
        f"n^{exponent_of(results, 'tree'):.2f}, measured up to {sizes.max():,.0f} points.",
    )


def _cubic_claim(results: Results) -> Claim:
    """Reproduced if both spectral methods have at least 2.6, and do so however they are computed.

    Partly, if with a solver for dense matrices only; not, if not even so.
    """
    found = {method: exponent_of(results, method) for method in TIMED_METHODS}
    least = CUBIC - _BELOW_CUBIC
    dense = min(found[method] for method in _SPECTRAL) >= least
    always = found["lanczos"] >= least
    small = " At small sizes their quadratic parts still dominate: affinities, K-means."
    lanczos = (
        " But the methods need only three eigenvectors, and the Lanczos iteration finds these from "
        "matrix-vector products of n² operations each: the solver is cubic, not spectral "
        "clustering."
    )
    return Claim(
        "The spectral algorithms take O(n³) time, since they solve an eigenproblem.",
        "n³",
        f"NJW n^{found['njw']:.2f}, self-tuning n^{found['self_tuning']:.2f}; by Lanczos "
        f"n^{found['lanczos']:.2f} ({_fitted_range(results, 'njw')} points)",
        Verdict.of(dense and always, dense),
        "A dense solver first reduces the matrix to three diagonals in 4/3 n³ operations, whether "
        "three eigenvectors are wanted (as timed for both methods) or all n (2 n³ more; "
        f"n^{found['all_vectors']:.2f}).{'' if dense else small}{'' if always else lanczos}",
    )


def _faster_claim(results: Results) -> Claim:
    """Reproduced if both spectral methods take longer at all of the upper half of the sizes.

    Partly, if at the largest size only.
    """
    ratios = {method: times_as_long(results, method) for method in TIMED_METHODS}
    common = sorted(set.intersection(*(set(ratios[method]) for method in _SPECTRAL)))
    upper = common[len(common) // 2 :]
    slower = [all(ratios[method][n] > 1 for method in _SPECTRAL) for n in upper]
    at_first, at_last = (
        {m: r.get(n, np.nan) for m, r in ratios.items()} for n in (upper[0], upper[-1])
    )
    return Claim(
        "The algorithm is faster than the two spectral ones.",
        "no times given",
        f"at {upper[-1]:,} points NJW takes {at_last['njw']:.1f} and self-tuning "
        f"{at_last['self_tuning']:.1f} times as long as the paper's algorithm",
        Verdict.of(all(slower), slower[-1]),
        f"At {upper[0]:,} points the factors are {at_first['njw']:.1f} and "
        f"{at_first['self_tuning']:.1f}; they grow with n where exponents differ. By Lanczos NJW "
        f"takes {at_last['lanczos']:.2f} times as long at {upper[-1]:,} points, and isthmus "
        f"{at_last['tree']:.3f} times. Each spectral fit has one parameter: the paper tries 130 "
        "for NJW and 29 for self-tuning, and none for its own.",
    )


def tables(results: Results) -> list[Table]:
    """Return exponents, ratios at equal sizes, and the stages of the paper's algorithm."""
    return [_exponent_table(results), _ratio_table(results), _stage_table(results)]


def _exponent_table(results: Results) -> Table:
    rows = []
    for key, method in TIMED_METHODS.items():
        largest = _of_method(results, key)[-1]
        rows.append(
            [
                method.name,
                "–" if method.papers_exponent is None else f"{method.papers_exponent:g}",
                f"{exponent_of(results, key):.2f}",
                _fitted_range(results, key),
                f"{largest['seconds']:.3g} s at {largest['n_points']:,}",
                f"{largest['error']:.3f}",
            ]
        )
    return Table(
        "Exponents b of a · n^b, fitted to the upper half of the sizes, on one thread. Seconds are "
        "those of the machine on which the report was made.",
        ["method", "paper", "exponent", "fitted to points", "longest", "error there"],
        rows,
    )


def _ratio_table(results: Results) -> Table:
    sizes = list(times_as_long(results, _PAPERS))
    rows = []
    for key, method in TIMED_METHODS.items():
        ratios = times_as_long(results, key)
        rows.append([method.name, *(f"{ratios[n]:.3g}" if n in ratios else "–" for n in sizes)])
    return Table(
        "How many times as long as the paper's algorithm each method takes, by number of points.",
        ["method", *(f"{n:,}" for n in sizes)],
        rows,
    )


def _stage_table(results: Results) -> Table:
    rows = []
    for key, method in TIMED_METHODS.items():
        largest = _of_method(results, key)[-1]
        stages = [f"{name} {1000 * taken:,.0f} ms" for name, taken in largest["stages"].items()]
        if stages:
            rows.append([method.name, f"{largest['n_points']:,}", ", ".join(stages)])
    return Table("Time of each stage at the largest size.", ["method", "points", "stages"], rows)


def pictures(results: Results) -> list[Picture]:
    """Return times against sizes, and times relative to the paper's algorithm."""
    figure, (left, right) = subplots((10.5, 4.8), 1, 2)
    for key, method in TIMED_METHODS.items():
        ratios = times_as_long(results, key)
        name = f"{method.name} (n$^{{{exponent_of(results, key):.2f}}}$)"
        for axes, x, y in ((left, *times_of(results, key)), (right, list(ratios), ratios.values())):
            axes.plot(
                x, list(y), color=method.colour, marker=method.marker, ms=5, lw=1.5, label=name
            )
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="points")
        hide_frame(axes)
    _draw_slopes(left, results)
    left.set_ylabel("seconds")
    right.set_ylabel("times as long as the paper's algorithm")
    shown = list(times_as_long(results, _PAPERS))[::2]
    right.set_xticks(shown, [f"{n:,}" for n in shown])
    right.minorticks_off()
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


def _draw_slopes(axes: Axes, results: Results) -> None:
    """Draw lines of slopes 1, 2 and 3 from one corner, below where all curves begin."""
    sizes, seconds = (
        np.concatenate(x) for x in zip(*(times_of(results, m) for m in TIMED_METHODS), strict=True)
    )
    first, low, high = sizes.min(), 0.5 * seconds.min(), 2.0 * seconds.max()
    for slope in (1, 2, 3):
        end = min(sizes.max(), first * (high / low) ** (1 / slope))
        tip = low * (end / first) ** slope
        axes.plot([first, end], [low, tip], color=EDGE_COLOUR, linestyle="--", linewidth=0.8)
        name = f"n$^{slope}$" if slope > 1 else "n"
        style: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9, "color": EDGE_COLOUR}
        axes.annotate(name, (end, tip), (2, 0), **style)
