"""Figure 4: three clusters of unequal scale, by our algorithm and by single linkage."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus.baselines import SingleLinkage
from isthmus.datasets import make_figure4, make_multi_scale
from isthmus.evaluation import error_rate, match_labels
from isthmus.paper.drawing import draw_dots, subplots
from isthmus.paper.experiment import Claim, Picture, Result, Results, Table, Task, Verdict
from isthmus.paper.methods import run_ours, single_starts_of_ours
from isthmus.paper.wording import listed, median_and_range
from isthmus.plotting import plot_spanning_tree
from isthmus.spanning_tree import SpanningTree, minimum_spanning_tree

TITLE = "Figure 4: clusters of several scales, and single linkage"
ABOUT = """
The paper draws one set of three clusters of several scales with its spanning tree, as cut by its
algorithm and by hierarchical clustering, which removes the two longest edges. It publishes neither
the points nor an error rate. Ours are a sparse ring round a small and a tiny disc, 200 points,
from many seeds; since the outcome depends on the density of the points, sets of other sizes are
shown beside it.

Our algorithm runs with its defaults, whose start is deterministic. The paper's K-means starts at
random; the report counts how often that succeeds, too.
"""

_SIZE = 200  # of the set of Figure 4; the others show how much depends on it
_METHODS = {"ours": "ours", "linkage": "single linkage"}
# The number of sets of each size: fewer of the large ones, which take longer.
_SEEDS = {100: 50, 150: 50, _SIZE: 50, 300: 50, 1000: 20, 3000: 20, 10_000: 10, 30_000: 10}
_QUICK_SEEDS = {100: 20, _SIZE: 20, 1000: 5}
# Up to this error rate a clustering is reasonable, and above that one unreasonable.
_REASONABLE, _UNREASONABLE = 0.02, 0.1
_MOST, _HALF = 0.9, 0.5


def tasks(quick: bool) -> list[Task]:
    """Return the drawing, error rates for sets of several sizes, and random starts."""
    by_size = [
        Task(f"errors_{n}", errors, {"n_points": n, "n_seeds": n_seeds})
        for n, n_seeds in (_QUICK_SEEDS if quick else _SEEDS).items()
    ]
    return [
        Task("drawing", drawing, {"seed": 0}),
        *by_size,
        Task("starts", starts, {"n_seeds": 5 if quick else 50, "n_starts": 20}),
    ]


def drawing(seed: int) -> Result:
    """Return a set, its spanning tree and the clusters that both methods find."""
    X, y = make_figure4(random_state=seed)
    tree = minimum_spanning_tree(X)
    return {
        "points": X,
        "edges": tree.edges,
        "weights": tree.weights,
        "ours": run_ours(X, y),
        "linkage": run_linkage(X, y),
    }


def errors(n_points: int, n_seeds: int) -> Result:
    """Return error rates for many sets, and the sizes of single linkage's smallest clusters."""
    found: dict[str, list[Any]] = {name: [] for name in (*_METHODS, "smallest_part")}
    for seed in range(n_seeds):
        X, y = make_multi_scale(n_points, random_state=seed)
        linkage = run_linkage(X, y)
        found["ours"].append(run_ours(X, y)["error"])
        found["linkage"].append(linkage["error"])
        found["smallest_part"].append(linkage["smallest_part"])
    return {"n_points": n_points, **found}


def starts(n_seeds: int, n_starts: int) -> Result:
    """Return what K-means on rows finds from single random starts, as in the paper's algorithm."""
    runs = [
        single_starts_of_ours(*make_figure4(random_state=seed), n_starts=n_starts)
        for seed in range(n_seeds)
    ]
    return {
        "errors": [run["errors"] for run in runs],
        "lowest_inertia": [run["lowest_inertia"]["error"] for run in runs],
    }


def run_linkage(X: Any, y: Any) -> dict[str, Any]:
    """Return error and labels of single linkage, and the size of its smallest cluster."""
    labels = SingleLinkage(3).fit_predict(X)
    return {
        "error": error_rate(y, labels),
        "labels": match_labels(y, labels),
        "smallest_part": np.bincount(labels).min(),
    }


def shares(found: Result) -> tuple[float, float]:
    """Return for which share of the sets ours is reasonable, and single linkage unreasonable."""
    return (
        float(np.mean(np.array(found["ours"]) <= _REASONABLE)),
        float(np.mean(np.array(found["linkage"]) > _UNREASONABLE)),
    )


def _by_size(results: Results) -> list[Result]:
    found = [result for name, result in results.items() if name.startswith("errors_")]
    return sorted(found, key=lambda result: int(result["n_points"]))


def claims(results: Results) -> list[Claim]:
    """Return the claim about both methods.

    Reproduced if ours finds and single linkage misses the clusters in 90 % of the sets; partly, if
    both happen in half of them.
    """
    found = results[f"errors_{_SIZE}"]
    reasonable, unreasonable = shares(found)
    single, best = (
        float(np.mean(np.array(results["starts"][kind]) <= _REASONABLE))
        for kind in ("errors", "lowest_inertia")
    )
    least = min(reasonable, unreasonable)
    claim = Claim(
        "On a set with clusters of several scales our algorithm finds all three, and hierarchical "
        "clustering, which cuts the longest edges, gives an unreasonable result.",
        "one set, drawn",
        f"median error {np.median(found['ours']):.3f} for ours, {np.median(found['linkage']):.3f} "
        f"for single linkage ({len(found['ours'])} sets of {_SIZE} points)",
        Verdict.of(least >= _MOST, least > _HALF),
        f"Ours has an error of at most {_REASONABLE:g} in {reasonable:.0%} of the sets, single "
        f"linkage one above {_UNREASONABLE:g} in {unreasonable:.0%}: the longest edges are those "
        "of the sparse ring, so it cuts parts off the ring (in the median set one of "
        f"{np.median(found['smallest_part']):.0f} points) and leaves the discs together. From "
        f"single random starts K-means on rows finds the clusters in {single:.0%} of the runs, and "
        f"by the lowest inertia in {best:.0%} of the sets.{_about_size(results)}",
    )
    return [claim]


def _about_size(results: Results) -> str:
    """Return sentences on the sizes at which a method does as the paper says in too few sets."""
    by_size = [(f"{found['n_points']:,}", *shares(found)) for found in _by_size(results)]
    missed = [size for size, reasonable, _ in by_size if reasonable < _MOST]
    linked = [size for size, _, unreasonable in by_size if unreasonable < _MOST]
    text = ""
    if missed:
        text += f" With {listed(missed, 'or')} points ours often fails: the ring is too sparse."
    if linked:
        text += (
            f" With {listed(linked, 'or')} points single linkage often succeeds: its result on "
            "several scales depends on the density of the points."
        )
    return text


def tables(results: Results) -> list[Table]:
    """Return the errors of both methods by the number of points."""
    rows = []
    for found in _by_size(results):
        reasonable, unreasonable = shares(found)
        rows.append(
            [
                f"{found['n_points']:,}" + (" (Figure 4)" if found["n_points"] == _SIZE else ""),
                str(len(found["ours"])),
                median_and_range(found["ours"]),
                f"{reasonable:.0%}",
                median_and_range(found["linkage"]),
                f"{unreasonable:.0%}",
            ]
        )
    limits = f"at most {_REASONABLE:g}", f"above {_UNREASONABLE:g}"
    return [
        Table(
            "Error rates on a ring round two discs, k = 3: median and range over the sets.",
            ["points", "sets", "ours", limits[0], "single linkage", limits[1]],
            rows,
        )
    ]


def pictures(results: Results) -> list[Picture]:
    """Return the spanning tree as both methods cut it, and the errors of all sets."""
    drawn, found = results["drawing"], results[f"errors_{_SIZE}"]
    figure, (*panels, last) = subplots((10.5, 3.9), 1, 3)
    X = np.array(drawn["points"])
    tree = SpanningTree(np.array(drawn["edges"]), np.array(drawn["weights"]))
    for panel, (name, title) in zip(panels, _METHODS.items(), strict=True):
        plot_spanning_tree(X, tree, labels=drawn[name]["labels"], ax=panel)
        panel.set_title(f"{title}: error {drawn[name]['error']:.3f}")
    title = f"{len(found['ours'])} sets of {found['n_points']} points"
    groups = {title: found[name] for name, title in _METHODS.items()}
    draw_dots(last, groups, 8, title=title, ylabel="error rate")
    last.set_ylim(-0.02, max(0.5, *found["ours"], *found["linkage"]) + 0.02)
    return [
        Picture(
            "figure4",
            "Figure 4: the spanning tree of one set and the clusters of ours (left) and of single "
            "linkage (middle); edges between clusters are dashed and red. Right: the error rates "
            "of all sets, one dot for each.",
            figure,
        )
    ]
