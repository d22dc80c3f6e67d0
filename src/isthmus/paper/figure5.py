"""Figure 5: eight sets of complex shapes, several scales and noise, and who finds the clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from isthmus.baselines import NEIGHBOR_GRID, SIGMA_GRID
from isthmus.datasets import FIGURE5_PANELS
from isthmus.paper.experiment import Claim, Experiment, Picture, Results, Table, Task, Verdict
from isthmus.paper.figure5_sets import (
    FAILED,
    PAPER_FAILS,
    SOLVED,
    as_in_paper,
    errors_of,
    failed,
    methods_on,
    solved,
)
from isthmus.paper.methods import METHODS, NAMES
from isthmus.plotting import plot_clusters

# Not the seeds that were looked at when the sets were designed.
FIRST_SEED, _SEEDS = 1000, 10
_QUICK_GRIDS: dict[str, Any] = {"sigmas": [0.02, 0.3], "neighbors": [2, 7]}
# What holds for nine of ten seeds holds.
_MOST, _HALF = 0.9, 0.5
_POINT_SIZE = 4.0

# The paper's panels: the set, and the methods whose result it shows; the first one is drawn.
_SHOWN: dict[str, tuple[str, tuple[str, ...]]] = {
    "a": ("a", ("ours", "njw", "self_tuning")),
    "b": ("b", ("ours", "njw", "self_tuning")),
    "c": ("c", ("ours", "njw", "self_tuning")),
    "d": ("d", ("ours", "njw")),
    "e": ("e", ("ours", "njw")),
    "f": ("f", ("ours", "njw")),
    "g": ("d", ("self_tuning",)),
    "h": ("e", ("self_tuning",)),
    "i": ("f", ("self_tuning",)),
    "j": ("k", ("njw",)),
    "k": ("k", ("ours", "self_tuning")),
    "l": ("l", ("ours",)),
    "m": ("l", ("njw",)),
    "n": ("l", ("self_tuning",)),
}
# … and their places: results on the same set are below or beside each other.
_LAYOUT = ("abcjk", "deflm", "ghin.")


# Tasks


def tasks(quick: bool) -> list[Task]:
    """Return a task for each set and seed; the labels of the first seed are kept."""
    grids = {"sigmas": list(SIGMA_GRID), "neighbors": list(NEIGHBOR_GRID)}
    return [
        Task(
            f"{which}_{seed}",
            methods_on,
            {
                "which": which,
                "seed": seed,
                **(_QUICK_GRIDS if quick else grids),
                "labels": seed == FIRST_SEED,
            },
        )
        for which in FIGURE5_PANELS
        for seed in range(FIRST_SEED, FIRST_SEED + (1 if quick else _SEEDS))
    ]


# Claims


def _verdict(shares: Iterable[float]) -> Verdict:
    """Reproduced if all shares are at least nine tenths; partly, if all are at least a half."""
    least = min(shares)
    if least < _HALF:
        return Verdict.NOT
    return Verdict.REPRODUCED if least >= _MOST else Verdict.PARTLY


def claims(results: Results) -> list[Claim]:
    """Return the claims of the paper's section on synthetic sets, one for each sentence."""
    return [
        _ours(results),
        _kmeans(results),
        _all_agree(results),
        _self_tuning_fails(results),
        _several_scales(results),
        _in_noise(results),
        _similar_or_better(results),
        _no_parameters(results),
    ]


def _ours(results: Results) -> Claim:
    shares = {which: solved(results, which, "ours") for which in FIGURE5_PANELS}
    return Claim(
        "Our algorithm finds the clusters of all eight sets, of complex shapes, several scales "
        "and in noise.",
        "eight drawings",
        f"solved: {_by_set(shares)}",
        _verdict(shares.values()),
        f"Solved means at most {SOLVED:.0%} of the points wrong, with all defaults. A set counts "
        "if that is so from nine of ten seeds. Number of seeds in this run: "
        f"{_n_seeds(results)}.",
    )


def _kmeans(results: Results) -> Claim:
    shares = {which: failed(results, which, "kmeans") for which in FIGURE5_PANELS}
    lowest = min(errors_of(results, which, "kmeans").min() for which in FIGURE5_PANELS)
    return Claim(
        "K-means obviously cannot deal with these sets.",
        "not shown",
        f"fails on {_by_set(shares)}",
        _verdict(shares.values()),
        f"Its smallest error on any set is {lowest:.3f}. K-means keeps the best of ten starts.",
    )


def _all_agree(results: Results) -> Claim:
    spectral_and_ours = ("njw", "self_tuning", "ours")
    shares = {
        which: min(solved(results, which, method) for method in spectral_and_ours)
        for which in "abc"
    }
    return Claim(
        "On the sets of panels (a) to (c) all three algorithms obtain the same results.",
        "the same",
        f"all solve {_by_set(shares)}",
        _verdict(shares.values()),
        "The two spectral methods at their best parameters, which needs the true classes.",
    )


def _self_tuning_fails(results: Results) -> Claim:
    shares = {which: failed(results, which, "self_tuning") for which in "def"}
    others = [solved(results, which, method) for which in "def" for method in ("njw", "ours")]
    medians = [np.median(errors_of(results, which, "self_tuning")) for which in "def"]
    return Claim(
        "On the sets of panels (d) to (f) self-tuning fails whatever its parameter; NJW and our "
        "algorithm do not.",
        "self-tuning fails on all three",
        f"self-tuning fails on {_by_set(shares)}; NJW and ours solve each "
        f"from {_share(min(others))}",
        _verdict([*shares.values(), *others]),
        f"Self-tuning's median errors at its best N are {_listed(medians)}. Its unit of length is "
        "the distance to the N-th neighbour, which along blurred curves changes at random: with a "
        "small N curves fall apart, with a large one neighbouring curves become one.",
    )


def _several_scales(results: Results) -> Claim:
    fails = failed(results, "k", "njw")
    others = [solved(results, "k", method) for method in ("self_tuning", "ours")]
    return Claim(
        "On the set of several scales, panels (j) and (k), self-tuning and our algorithm find "
        "the clusters, and NJW does not.",
        "NJW fails",
        f"NJW fails from {fails:.0%} of the seeds (median error "
        f"{np.median(errors_of(results, 'k', 'njw')):.3f}), self-tuning solves it from "
        f"{others[0]:.0%}, ours from {others[1]:.0%}",
        _verdict([fails, *others]),
        "NJW has one scale for all points; none both keeps the sparse ring in one piece and the "
        "two dense discs apart.",
    )


def _in_noise(results: Results) -> Claim:
    ours = errors_of(results, "l", "ours")
    others = np.minimum(*(errors_of(results, "l", method) for method in ("njw", "self_tuning")))
    better = float(np.mean(ours < others))
    medians = [np.median(errors_of(results, "l", m)) for m in ("ours", "njw", "self_tuning")]
    return Claim(
        "With two clusters in uniform noise, the third cluster, panels (l) to (n), our algorithm's "
        "result is more reasonable than those of the other two.",
        "three drawings",
        f"median errors of {medians[0]:.3f} for ours, {medians[1]:.3f} for NJW, {medians[2]:.3f} "
        f"for self-tuning; ours is the lowest from {better:.0%} of the seeds",
        _verdict([better]),
        "More reasonable is read as fewer points wrong. To spectral methods noise is no cluster, "
        "because it does not hang together; in rows of transitive distances noise points have in "
        "common that they are far from everything.",
    )


def _similar_or_better(results: Results) -> Claim:
    found = [
        float(np.mean(errors_of(results, which, "ours") <= errors_of(results, which, other) + 0.01))
        for which in FIGURE5_PANELS
        for other in ("njw", "self_tuning")
    ]
    return Claim(
        "On these sets our algorithm performs similarly to or better than both spectral methods.",
        "similar or better",
        f"from {np.mean(found):.1%} of the seeds, over all sets and both methods (at least "
        f"{min(found):.0%} on each)",
        _verdict(found),
        "Similar means an error at most 0.01 higher, with the spectral methods at their best "
        "parameters. The sets are ours, made so that the paper's account can hold; they are no "
        "fair sample of all sets.",
    )


def _no_parameters(results: Results) -> Claim:
    """Reproduced if without classes either spectral method solves fewer sets than ours."""
    first = next(iter(results.values()))
    defaults = [_n_solved(results, method, "default_error") for method in ("njw", "self_tuning")]
    tuned = [_n_solved(results, method) for method in ("njw", "self_tuning")]
    ours = _n_solved(results, "ours")
    verdict = Verdict.NOT
    if min(defaults) < ours:
        verdict = Verdict.REPRODUCED if max(defaults) < ours else Verdict.PARTLY
    return Claim(
        "For each set the scale of NJW and the number of neighbours of self-tuning must be set by "
        "hand; our algorithm has nothing to set.",
        "the best over many values is shown",
        f"of eight sets NJW solves {defaults[0]} with σ = {first['njw']['default']:g} and "
        f"{tuned[0]} with the best σ, self-tuning {defaults[1]} with N = "
        f"{first['self_tuning']['default']} and {tuned[1]} with the best N, ours {ours}",
        verdict,
        "A set counts as solved if it is from nine of ten seeds. The values without tuning are "
        "self-tuning's own default and, since NJW has none, the side of the square for σ; the "
        "best ones were chosen with the true classes.",
    )


def _n_solved(results: Results, method: str, key: str = "error") -> int:
    return sum(solved(results, which, method, key) >= _MOST for which in FIGURE5_PANELS)


def _n_seeds(results: Results) -> int:
    return len(errors_of(results, "a", "ours"))


def _by_set(shares: dict[str, float]) -> str:
    """Return sets with their shares; those of all seeds together."""
    always = [which for which, share in shares.items() if share == 1]
    parts = [f"{', '.join(always)} from all seeds"] if always else []
    parts += [f"{which} from {share:.0%}" for which, share in shares.items() if share < 1]
    return "; ".join(parts)


def _share(share: float) -> str:
    return "all seeds" if share == 1 else f"at least {share:.0%} of the seeds"


def _listed(numbers: Sequence[float]) -> str:
    *most, last = (f"{number:.2f}" for number in numbers)
    return f"{', '.join(most)} and {last}"


# Tables


def tables(results: Results) -> list[Table]:
    """Return the errors, who does what the paper says, and how much hangs on the parameter."""
    return [_error_table(results), _agreement_table(results), _grid_table(results)]


def _error_table(results: Results) -> Table:
    columns = [(method, "error") for method in METHODS]
    columns += [("njw", "default_error"), ("self_tuning", "default_error")]
    rows = [
        [
            which,
            *(
                f"{np.median(errors_of(results, which, method, key)):.3f} "
                f"({solved(results, which, method, key):.0%})"
                for method, key in columns
            ),
        ]
        for which in FIGURE5_PANELS
    ]
    return Table(
        f"Error rates: the median over the seeds ({_n_seeds(results)}), and from how many of them "
        "the set is solved. NJW and self-tuning at their best parameters, and at the end at their "
        "defaults, without the true classes.",
        [
            "set",
            *(NAMES[method] for method in METHODS),
            f"{NAMES['njw']}, default",
            f"{NAMES['self_tuning']}, default",
        ],
        rows,
    )


def _agreement_table(results: Results) -> Table:
    rows = []
    for which in FIGURE5_PANELS:
        fails = ("kmeans", *PAPER_FAILS.get(which, ()))
        rows.append(
            [
                which,
                ", ".join(NAMES[method] for method in fails),
                *(f"{as_in_paper(results, which, method):.0%}" for method in METHODS),
            ]
        )
    return Table(
        "Who fails in the paper, and from how many seeds each method does what the paper says: "
        f"solve the set (an error of at most {SOLVED:g}), or fail (above {FAILED:g}).",
        ["set", "fail in the paper", *(NAMES[method] for method in METHODS)],
        rows,
    )


def _grid_table(results: Results) -> Table:
    rows = []
    for which in FIGURE5_PANELS:
        row = [which]
        for method in ("njw", "self_tuning"):
            errors = errors_of(results, which, method, "errors")
            counts = (errors <= SOLVED).sum(axis=1)
            best = np.median(errors_of(results, which, method, "parameter"))
            row += [f"{np.median(counts):g} of {errors.shape[1]}", f"{best:.3g}"]
        rows.append(row)
    return Table(
        "How many values of its parameter solve the set, and the best one (the first of several): "
        "medians over the seeds.",
        ["set", "values of σ", "best σ", "values of N", "best N"],
        rows,
    )


# Pictures


def pictures(results: Results) -> list[Picture]:
    """Return the paper's fourteen panels, for the first seed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 7.4), layout="constrained")
    rows = figure.subplots(len(_LAYOUT), len(_LAYOUT[0]))
    for axes, panel in zip(rows.flat, "".join(_LAYOUT), strict=True):
        if panel == ".":
            axes.axis("off")
            continue
        which, methods = _SHOWN[panel]
        found = results[f"{which}_{FIRST_SEED}"]
        plot_clusters(found["points"], found["labels"][methods[0]], ax=axes)
        for points in axes.collections:
            points.set_sizes([_POINT_SIZE])
        axes.set(aspect="equal", adjustable="box", xlim=(0, 1), ylim=(0, 1))
        errors = ", ".join(f"{found[method]['error']:.3f}" for method in methods)
        axes.set_title(f"({panel}) {_who(methods)}\n{errors}", fontsize=9)
    return [
        Picture(
            "figure5",
            "Figure 5: what the methods find, with the letters of the paper's panels and the "
            "share of points that are wrong, in the order of the names. Where a panel stands for "
            "several methods, ours is drawn. All panels are of the first seed, whatever it shows: "
            "the tables count all of them.",
            figure,
        )
    ]


def _who(methods: Sequence[str]) -> str:
    return ", ".join(
        NAMES[method].lower() if method == "ours" else NAMES[method] for method in methods
    )


EXPERIMENT = Experiment(
    name="figure5",
    title="Figure 5: synthetic sets",
    about=(
        "The paper shows what its algorithm and two spectral methods find on eight sets in the "
        "square (0, 1)², with complex shapes, several scales and noise. It publishes neither the "
        "points nor an error rate, and says of most sets only which method fails. So the "
        "sets here are ours, made to have the properties that the paper names: rings, moons, "
        "bars, rings close to each other, blurred spirals and half circles, a sparse ring round "
        "two dense discs, and two discs in noise. Each is drawn from ten seeds, so that nothing "
        "hangs on one of them. Blur, gaps and densities were chosen, the amount of noise in the "
        "last set among some fifteen, so that the paper's account of who fails can hold: "
        "agreement shows that there are such sets, not that it is so on any. The seeds shown are "
        "others than those that were looked at meanwhile.\n\n"
        "All methods are told the number of clusters. As in the paper, NJW and self-tuning are "
        "shown at their best over the values of its footnote: σ from 0.01 to 0.1 in steps of 0.001 "
        "and on to 4 in steps of 0.1, N from 2 to 30. Choosing them needs the true classes; the "
        "errors at their defaults stand beside. Ours runs with all defaults.\n\n"
        f"A set is solved if at most {SOLVED:.0%} of its points are wrong: a point or two where "
        f"clusters touch. A method fails if more than {FAILED:.0%} are: then pieces of clusters "
        "are missing. What holds from nine of ten seeds counts as reproduced, what holds from half "
        "of them as partly so."
    ),
    tasks=tasks,
    claims=claims,
    tables=tables,
    pictures=pictures,
)
