"""Figure 1: two moons, a path with its transitive edge, and distances of the orders 1 to 6.

With it go the two statements that the paper makes about these distances: Proposition 1 (the
transitive distance is an ultrametric) and Theorem 2 (transitive edges lie on the spanning tree).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints
from isthmus.datasets import make_figure1, make_two_moons
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
from isthmus.paper.theorem_checks import FAMILIES, WITH_TIES, check_theorems, points_of
from isthmus.plotting import plot_orders, plot_path
from isthmus.plotting.style import EDGE_COLOUR, FAINT_COLOUR, PALETTE, cluster_style
from isthmus.ultrametric import UltrametricTree, transitive_distances, transitive_sequence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_ORDER = 6
_NOISE = 0.05  # of the set of Figure 1; the others show how much depends on it
_NOISES = (0.02, _NOISE, 0.1)
_LARGE_SHARE, _SMALL_SHARE = 0.95, 0.5


# Tasks


def drawing(seed: int) -> Result:
    """Return a set with x_p, x_q and x_s, the path, its transitive edge, and its matrices."""
    X, y = make_figure1(random_state=seed)
    tree = UltrametricTree.from_data(X)
    p, q, s = chosen_points(X, y)
    return {
        "points": X,
        "labels": y,
        "p": p,
        "q": q,
        "s": s,
        "path": tree.path(p, q),
        "edge": tree.transitive_edge(p, q),
        "other_edge": tree.transitive_edge(p, s),
        "matrices": [D.round(4) for D in matrices_by_order(X)],
        "last_order": len(transitive_sequence(X)),
    }


def closeness(n_seeds: int) -> Result:
    """Return who is closer to x_p, x_q or x_s, by both distances, for many sets."""
    sets = [compare_distances(*make_figure1(random_state=seed)) for seed in range(n_seeds)]
    return {name: [found[name] for found in sets] for name in sets[0]}


def ratios(noise: float, n_seeds: int) -> Result:
    """Return, for each seed and order, how distances between moons compare with those within.

    The orders are 1 to 6, and last the transitive distance itself.
    """
    of_means, of_extremes = [], []
    for seed in range(n_seeds):
        X, y = make_two_moons(50, noise=noise, random_state=seed)
        matrices = matrices_by_order(X)
        within, between = pairs_within_and_between(y)
        of_means.append([D[between].mean() / D[within].mean() for D in matrices])
        of_extremes.append([D[between].min() / D[within].max() for D in matrices])
    return {"of_means": of_means, "of_extremes": of_extremes}


def theorems(family: str, n_sets: int, n_points: int) -> Result:
    """Return how often Proposition 1 and Theorem 2 were wrong, over all triples and all pairs."""
    found = [
        check_theorems(points_of(family, n_points, seed))
        for seed in range(1 if family == "iris" else n_sets)
    ]
    return {"sets": len(found)} | {name: sum(one[name] for one in found) for name in found[0]}


def tasks(quick: bool) -> list[Task]:
    """Return one task for the drawing and one for each claim, noise or family of sets."""
    n_seeds, n_sets = (20, 5) if quick else (100, 25)
    return [
        Task("drawing", drawing, {"seed": 0}),
        Task("closeness", closeness, {"n_seeds": n_seeds}),
        *(
            Task(_ratios_name(noise), ratios, {"noise": noise, "n_seeds": n_seeds})
            for noise in _NOISES
        ),
        *(
            Task(_theorems_name(f), theorems, {"family": f, "n_sets": n_sets, "n_points": 50})
            for f in FAMILIES
        ),
    ]


def _ratios_name(noise: float) -> str:
    return f"ratios_noise_{noise:g}"


def _theorems_name(family: str) -> str:
    return f"theorems_{family}"


# What the tasks are made of


def matrices_by_order(X: Floats) -> list[Floats]:
    """Return the distances of the orders 1 to 6 and of order n."""
    return [*transitive_sequence(X, _MAX_ORDER), transitive_distances(X)]


def chosen_points(X: Floats, y: Ints) -> tuple[int, int, int]:
    """Return x_p and x_q, the two ends of the first moon, and x_s, of the other the nearest to x_p.

    The moons' points are sorted along them.
    """
    first = np.flatnonzero(y == 0)
    p, q = int(first[0]), int(first[-1])
    other = np.flatnonzero(y == 1)
    return p, q, int(other[np.linalg.norm(X[other] - X[p], axis=1).argmin()])


def compare_distances(X: Floats, y: Ints) -> dict[str, Any]:
    """Return both distances of the chosen points, and how all triples of their kind come out.

    A triple is p and q of one moon and s of the other, with q farther from p than s is.
    """
    d, D = transitive_distances(X, 2), transitive_distances(X)
    p, q, s = chosen_points(X, y)
    within, between = pairs_within_and_between(y)
    farther = within[:, :, None] & between[:, None, :] & (d[:, :, None] > d[:, None, :])
    reversed_ = farther & (D[:, :, None] < D[:, None, :])
    return {
        "d_pq": d[p, q],
        "d_ps": d[p, s],
        "D_pq": D[p, q],
        "D_ps": D[p, s],
        "gap": d[between].min(),
        "smallest_between": D[between].min(),
        "triples": np.count_nonzero(farther),
        "reversed": np.count_nonzero(reversed_),
    }


def pairs_within_and_between(y: Array) -> tuple[Array, Array]:
    """Return two (n, n) masks: pairs of different points of one moon, and of two moons."""
    same = y[:, None] == y
    return same & ~np.eye(len(y), dtype=bool), ~same


# Claims


def claims(results: Results) -> list[Claim]:
    """Return the four claims: closeness, ratios, Proposition 1, Theorem 2."""
    families = {f: results[_theorems_name(f)] for f in FAMILIES}
    return [
        _closeness_claim(results["closeness"]),
        _ratio_claim({noise: results[_ratios_name(noise)] for noise in _NOISES}),
        _ultrametric_claim(families),
        _edge_claim(families),
    ]


def _closeness_claim(found: Result) -> Claim:
    """Reproduced if it holds for 95 % of the sets and of all triples, partly for half of them."""
    by_points = np.less(found["D_pq"], found["D_ps"]) & np.greater(found["d_pq"], found["d_ps"])
    n_sets, share = len(by_points), float(by_points.mean())
    of_triples = sum(found["reversed"]) / max(sum(found["triples"]), 1)
    bounded = bool(np.all(np.greater_equal(found["smallest_between"], found["gap"])))
    return Claim(
        "Two far ends of one moon are farther apart than one end and the other moon by the "
        "Euclidean distance, but closer by the transitive one.",
        "d(p, q) > d(p, s), D(p, q) < D(p, s)",
        f"so in {int(by_points.sum())} of {n_sets} sets; in {of_triples:.1%} of all triples with "
        "d(p, q) > d(p, s)",
        _by_share(min(share, of_triples)),
        "Where the clusters are consistent it is so for every triple: no path to the other moon "
        f"avoids the gap between the moons (D(p, s) was {'never' if bounded else 'at times'} below "
        "it), and paths within a moon need no step as long. Sets for which it fails have a hole in "
        "a moon that is wider than this gap.",
    )


def _ratio_claim(by_noise: dict[float, Result]) -> Claim:
    """Reproduced if the ratio grows from order 1 to 6 in 95 % of the sets, whatever their noise.

    Partly, if only with the noise of Figure 1.
    """
    grown = {noise: _share_grown(found) for noise, found in by_noise.items()}
    verdict = _by_share(grown[_NOISE])
    if min(grown.values()) < _LARGE_SHARE and verdict is Verdict.REPRODUCED:
        verdict = Verdict.PARTLY
    by_order = np.array(by_noise[_NOISE]["of_means"])
    medians = np.median(by_order, axis=0)
    steps = (np.diff(by_order, axis=1) > 0).mean(axis=0)[1 : _MAX_ORDER - 1]  # 2 → 3, …, 5 → 6
    slowest = 2 + int(steps.argmin())
    shares = ", ".join(f"{share:.0%} at noise {noise:g}" for noise, share in grown.items())
    gaps = np.median(np.array(by_noise[_NOISE]["of_extremes"]), axis=0)
    return Claim(
        "The larger the order, the larger tend to be the ratios of distances between clusters to "
        "those within.",
        "seen in six maps",
        f"ratio of means {medians[0]:.2f} at order 1, {medians[_MAX_ORDER - 1]:.2f} at 6, "
        f"{medians[-1]:.2f} at n (medians of {len(by_order)} sets)",
        verdict,
        f"From order 1 to 6 the ratio grew in these shares of the sets: {shares}. The more noise, "
        "the fewer, for stepping stones shorten the ways between the moons as well. Nor does it "
        f"grow at each step: at noise {_NOISE:g}, from order {slowest} to {slowest + 1} it did so "
        f"in {steps.min():.0%}. The smallest distance between moons over the largest within one "
        f"goes from {gaps[0]:.2f} to {gaps[_MAX_ORDER - 1]:.2f}, and to {gaps[-1]:.2f} at order n: "
        "it takes many stepping stones until moons are apart.",
    )


def _share_grown(found: Result) -> float:
    """Return the share of sets whose ratio is larger at order 6 than at order 1."""
    by_order = np.array(found["of_means"])
    return float((by_order[:, _MAX_ORDER - 1] > by_order[:, 0]).mean())


def _ultrametric_claim(families: dict[str, Result]) -> Claim:
    """Reproduced if no axiom failed for any pair or triple."""
    wrong = sum(found["not_ultrametric"] for found in families.values())
    triples = sum(found["triples"] for found in families.values())
    differing = sum(found["not_as_fast"] for found in families.values())
    n_sets = sum(found["sets"] for found in families.values())
    return Claim(
        "Proposition 1: the transitive distance is an ultrametric.",
        "proof omitted",
        f"{wrong} failures in {triples:,} triples of {n_sets} sets",
        Verdict.NOT if wrong else Verdict.REPRODUCED,
        "All axioms were checked without a tolerance, on distances computed without a tree (each "
        "point in turn as a stepping stone). A maximum of given numbers is one of them, so nothing "
        f"is rounded; the tree's distances differ from these in {differing} places.",
    )


def _edge_claim(families: dict[str, Result]) -> Claim:
    """Reproduced if, in sets without equal edges, no pair's transitive edge is off the tree."""
    distinct = [found for f, found in families.items() if f not in WITH_TIES]
    tied = [found for f, found in families.items() if f in WITH_TIES]
    pairs = sum(found["pairs"] for found in distinct)
    off = sum(found["not_a_tree_edge"] + found["transitive_off_tree"] for found in distinct)
    equal = sum(found["equal_edges"] for found in distinct)
    return Claim(
        "Theorem 2: if no two edges are equally long, every transitive edge lies on the minimum "
        "spanning tree.",
        "proved",
        f"{off} edges off the tree, of {pairs:,} pairs",
        Verdict.NOT if off or equal else Verdict.REPRODUCED,
        "The transitive edge of each pair was found without the tree, by its length; the sets have "
        f"{equal} equal edges. The condition is needed: in the sets with ties "
        f"{sum(found['transitive_off_tree'] for found in tied):,} edges as long as a transitive "
        "distance are not on the tree. The distances are right there, too: "
        f"{sum(found['not_a_tree_edge'] for found in tied)} of them are no tree edge's length.",
    )


def _by_share(share: float) -> Verdict:
    if share >= _LARGE_SHARE:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if share > _SMALL_SHARE else Verdict.NOT


# Tables


def tables(results: Results) -> list[Table]:
    """Return the ratios by order and noise, and what was counted for the two theorems."""
    return [_ratio_table(results), _theorem_table(results)]


def _ratio_table(results: Results) -> Table:
    rows = []
    for noise in _NOISES:
        by_order = np.array(results[_ratios_name(noise)]["of_means"])
        rising = (np.diff(by_order, axis=1) > 0).mean(axis=0)
        median = np.median(by_order, axis=0)
        name = f"{noise:g}" + (" (Figure 1)" if noise == _NOISE else "")
        rows.append([f"noise {name}: median ratio", *(f"{ratio:.2f}" for ratio in median)])
        rows.append(["… sets in which it grew", "–", *(f"{share:.0%}" for share in rising)])
    orders = [str(k) for k in range(1, _MAX_ORDER + 1)]
    n_sets = len(results[_ratios_name(_NOISE)]["of_means"])
    return Table(
        "Mean transitive distance between the moons over that within them, by order, for "
        f"{n_sets} sets of 50 points. Orders 1 and 2 are both the Euclidean distance.",
        ["", *orders, "n"],
        rows,
    )


def _theorem_table(results: Results) -> Table:
    columns = {
        "sets": "sets",
        "triples": "triples",
        "not_ultrametric": "axioms broken",
        "pairs": "pairs",
        "equal_edges": "equal edges",
        "not_a_tree_edge": "distances that no tree edge has",
        "transitive_off_tree": "transitive edges off the tree",
    }
    rows = [
        [name, *(f"{results[_theorems_name(family)][key]:,}" for key in columns)]
        for family, name in FAMILIES.items()
    ]
    return Table(
        "Proposition 1 and Theorem 2, counted over all triples and pairs.",
        ["points", *columns.values()],
        rows,
    )


# Pictures


def pictures(results: Results) -> list[Picture]:
    """Return the path, the maps by order, and how the ratio changes with the order."""
    return [_path_picture(results["drawing"]), _order_picture(results), _ratio_picture(results)]


def _path_picture(drawn: Result) -> Picture:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.8), layout="constrained")
    axes = figure.add_subplot()
    X = np.array(drawn["points"])
    p, q, s = drawn["p"], drawn["q"], drawn["s"]
    for end in (q, s):
        axes.plot(*X[[p, end]].T, color=FAINT_COLOUR, linestyle=":", linewidth=1.5, zorder=2)
    names = ("$x_p$", "$x_q$")
    plot_path(X, drawn["path"], drawn["edge"], labels=drawn["labels"], names=names, ax=axes)
    centre = X[drawn["path"]].mean(axis=0)
    u, v, length = drawn["edge"]
    for name, point in (("$x_u$", u), ("$x_v$", v)):
        _name_point(axes, name, X[point], centre - X[point])
    axes.scatter(X[s, 0], X[s, 1], s=45, color=cluster_style(1).colour, zorder=7)
    _name_point(axes, "$x_s$", X[s], X[s] - X[p])
    d_pq, d_ps = (np.linalg.norm(X[end] - X[p]) for end in (q, s))
    return Picture(
        "figure1_path",
        f"Figure 1a: the path from x_p to x_q and its transitive edge x_u x_v. By the Euclidean "
        f"distance (dotted) x_q is {d_pq:.2f} from x_p and x_s only {d_ps:.2f}; by the transitive "
        f"distance x_q is {length:.2f} away and x_s {drawn['other_edge'][2]:.2f}.",
        figure,
    )


def _name_point(axes: Axes, name: str, place: Floats, away: Floats) -> None:
    """Write a name beside a point, in a direction."""
    from matplotlib.patheffects import withStroke

    axes.annotate(
        name,
        (place[0], place[1]),
        tuple(16 * away / np.linalg.norm(away)),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=12,
        path_effects=[withStroke(linewidth=3, foreground="#FFFFFF")],
        zorder=9,
    )


def _order_picture(results: Results) -> Picture:
    from matplotlib.figure import Figure

    drawn = results["drawing"]
    labels, matrices = np.array(drawn["labels"]), np.array(drawn["matrices"])
    within, _ = pairs_within_and_between(labels)
    relative = [D / D[within].mean() for D in matrices]
    figure = Figure(figsize=(9.5, 5.0), layout="constrained")
    *panels, unused = figure.subplots(2, 4).ravel()
    unused.remove()
    orders = [*range(1, _MAX_ORDER + 1), len(labels)]
    plot_orders(relative, labels, orders=orders, axes=panels)
    for panel in panels:
        panel.set_yticks([12.5, 37.5], ["one moon", "the other"], rotation=90, va="center")
    figure.axes[-1].set_ylabel("distance / mean within the moons")
    return Picture(
        "figure1_orders",
        "Figure 1b: the distances of the orders 1 to 6 and of order n, each divided by the mean "
        "distance within the moons; points stand as along the moons. Order 1 is drawn as order 2, "
        "the Euclidean distance, since a path between two points has two vertices at least. In "
        f"this set distances change up to order {drawn['last_order']}.",
        figure,
    )


def _ratio_picture(results: Results) -> Picture:
    from matplotlib.figure import Figure

    found = results[_ratios_name(_NOISE)]
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    panels = figure.subplots(1, 2)
    titles = {
        "of_means": "mean between / mean within",
        "of_extremes": "smallest between / largest within",
    }
    for panel, (name, title) in zip(panels, titles.items(), strict=True):
        _draw_distribution(panel, np.array(found[name]))
        panel.set_title(title)
    panels[1].axhline(1.0, color=EDGE_COLOUR, linestyle="--", linewidth=1.0)
    return Picture(
        "figure1_ratios",
        "Distances between the moons over those within them, by order: medians, the middle half "
        f"and the range of {len(found['of_means'])} sets. Right: above the dashed line every "
        "distance between the moons is longer than every one within.",
        figure,
    )


def _draw_distribution(axes: Axes, by_order: Floats) -> None:
    """Draw median, quartiles and range of each column; the last one stands apart."""
    places = np.append(np.arange(1, by_order.shape[1]), by_order.shape[1] + 0.5)
    low, first, median, third, high = np.quantile(by_order, [0, 0.25, 0.5, 0.75, 1], axis=0)
    axes.vlines(places, low, high, colors=PALETTE[0], linewidths=1.2)
    axes.vlines(places, first, third, colors=PALETTE[0], linewidths=7.0, alpha=0.5)
    axes.plot(places, median, "o", color=PALETTE[0], markersize=5)
    names: Sequence[str] = [*map(str, range(1, by_order.shape[1])), "n"]
    axes.set_xticks(places, names)
    axes.set_xlabel("order")
    axes.set_ylabel("ratio")
    axes.spines[["top", "right"]].set_visible(False)


EXPERIMENT = Experiment(
    name="figure1",
    title="Figure 1: transitive distances on two moons",
    about=(
        "The paper draws 50 points in two moons, a path between two of them with its transitive "
        "edge, and the distance matrices of the orders 1 to 6. It does not publish the points: "
        "ours are two half circles with normal noise of 0.05, from many seeds, and the ratios are "
        "computed for two other noises as well. x_p and x_q are the ends of one moon, x_s is the "
        "point of the other moon nearest to x_p.\n\n"
        "Order k allows k vertices on a path. A path between two points has two at least, so "
        "order 1 has no paths; here it is, like order 2, the Euclidean distance, and the first two "
        "maps are the same. Should the paper have counted steps instead of vertices, its six maps "
        "are our orders 2 to 7.\n\n"
        "The paper speaks of the ratios of distances between clusters to those within without "
        "saying how they are averaged; ours is the ratio of the two means."
    ),
    tasks=tasks,
    claims=claims,
    tables=tables,
    pictures=pictures,
)
