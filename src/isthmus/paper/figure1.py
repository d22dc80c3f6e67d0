"""Figure 1: two moons, a path with its transitive edge, and distances of the orders 1 to 6."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints
from isthmus.datasets import make_figure1, make_two_moons
from isthmus.paper import figure1_theorems as theorems
from isthmus.paper.drawing import Axes, subplots
from isthmus.paper.experiment import Claim, Picture, Result, Results, Table, Task, Verdict
from isthmus.plotting import plot_orders, plot_path
from isthmus.plotting.minimax_path import name_point
from isthmus.plotting.style import EDGE_COLOUR, FAINT_COLOUR, PALETTE, cluster_style, hide_frame
from isthmus.ultrametric import UltrametricTree, transitive_distances, transitive_sequence

TITLE = "Figure 1: transitive distances on two moons"
ABOUT = """
The paper draws 50 points in two moons, a path between two of them with its transitive edge, and
the distance matrices of the orders 1 to 6. It does not publish the points. Ours are two half
circles with normal noise of 0.05, from many seeds; the ratios are also computed for two other
levels of noise. x_p and x_q are the ends of one moon, x_s is the point of the other moon nearest
to x_p.

Order k allows k vertices on a path. A path between two points has at least two, so order 1 has no
paths; here it is the Euclidean distance, as order 2 is, and the first two maps are the same. If
the paper counts steps instead of vertices, its six maps are our orders 2 to 7.

The paper speaks of the ratios of distances between clusters to those within without saying how
they are averaged; ours is the ratio of the two means.
"""

_MAX_ORDER = 6
_NOISE = 0.05  # of the set of Figure 1; the others show how much depends on it
_NOISES = (0.02, _NOISE, 0.1)
_LARGE_SHARE, _SMALL_SHARE = 0.95, 0.5


def tasks(quick: bool) -> list[Task]:
    """Return one task for the drawing and one for each claim, noise or family of sets."""
    n_seeds, n_sets = (20, 5) if quick else (100, 25)
    by_noise = [
        Task(_name(noise), ratios, {"noise": noise, "n_seeds": n_seeds}) for noise in _NOISES
    ]
    return [
        Task("drawing", drawing, {"seed": 0}),
        Task("closeness", closeness, {"n_seeds": n_seeds}),
        *by_noise,
        *theorems.tasks(n_sets),
    ]


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
        "matrices": [D.round(4) for D in _matrices_by_order(X)],
        "last_order": len(transitive_sequence(X)),
    }


def closeness(n_seeds: int) -> Result:
    """Return which of x_q and x_s is closer to x_p, by both distances, for many sets."""
    sets = [compare_distances(*make_figure1(random_state=seed)) for seed in range(n_seeds)]
    return {name: [found[name] for found in sets] for name in sets[0]}


def ratios(noise: float, n_seeds: int) -> Result:
    """Return, for each seed and order, how distances between moons compare with those within.

    The orders are 1 to 6, and last the transitive distance itself.
    """
    of_means, of_extremes = [], []
    for seed in range(n_seeds):
        X, y = make_two_moons(50, noise=noise, random_state=seed)
        matrices = _matrices_by_order(X)
        within, between = pairs_within_and_between(y)
        of_means.append([D[between].mean() / D[within].mean() for D in matrices])
        of_extremes.append([D[between].min() / D[within].max() for D in matrices])
    return {"of_means": of_means, "of_extremes": of_extremes}


def _name(noise: float) -> str:
    return f"ratios_noise_{noise:g}"


def _matrices_by_order(X: Floats) -> list[Floats]:
    """Return the distances of the orders 1 to 6 and of order n."""
    return [*transitive_sequence(X, _MAX_ORDER), transitive_distances(X)]


def chosen_points(X: Floats, y: Ints) -> tuple[int, int, int]:
    """Return x_p and x_q, the ends of the first moon, and x_s, of the other the nearest to x_p.

    The points of each moon are sorted along it.
    """
    first, other = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    p, q = int(first[0]), int(first[-1])
    return p, q, int(other[np.linalg.norm(X[other] - X[p], axis=1).argmin()])


def compare_distances(X: Floats, y: Ints) -> dict[str, Any]:
    """Return both distances of the chosen points, and how all triples of their kind compare.

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


def claims(results: Results) -> list[Claim]:
    """Return the four claims: closeness, ratios, Proposition 1, Theorem 2."""
    own = [_closeness_claim(results["closeness"]), _ratio_claim(results)]
    return [*own, *theorems.claims(results)]


def _closeness_claim(found: Result) -> Claim:
    """Reproduced if it holds for 95 % of the sets and of all triples, partly for half of them."""
    by_points = np.less(found["D_pq"], found["D_ps"]) & np.greater(found["d_pq"], found["d_ps"])
    of_triples = sum(found["reversed"]) / max(sum(found["triples"]), 1)
    share = min(float(by_points.mean()), of_triples)
    bounded = bool(np.all(np.greater_equal(found["smallest_between"], found["gap"])))
    return Claim(
        "Two far ends of one moon are farther apart than one end and the other moon by the "
        "Euclidean distance, but closer by the transitive one.",
        "d(p, q) > d(p, s), D(p, q) < D(p, s)",
        f"true in {by_points.sum()} of {len(by_points)} sets, and for {of_triples:.1%} of all "
        "triples with d(p, q) > d(p, s)",
        Verdict.of(share >= _LARGE_SHARE, share > _SMALL_SHARE),
        "Where the clusters are consistent it holds for every triple: every path to the other moon "
        f"crosses the gap between the moons (D(p, s) was {'never' if bounded else 'at times'} "
        "below it), and paths within a moon have only shorter steps. Where it fails, a moon has a "
        "hole that is wider than this gap.",
    )


def _ratio_claim(results: Results) -> Claim:
    """Reproduced if the ratio grows from order 1 to 6 in 95 % of the sets, whatever their noise.

    Partly, if it does in half of the sets with the noise of Figure 1.
    """
    by_noise = {noise: np.array(results[_name(noise)]["of_means"]) for noise in _NOISES}
    grown = {n: float((r[:, _MAX_ORDER - 1] > r[:, 0]).mean()) for n, r in by_noise.items()}
    by_order = by_noise[_NOISE]
    medians = np.median(by_order, axis=0)
    steps = (np.diff(by_order, axis=1) > 0).mean(axis=0)[1 : _MAX_ORDER - 1]  # 2 → 3, …, 5 → 6
    slowest = 2 + int(steps.argmin())
    shares = ", ".join(f"{share:.0%} at noise {noise:g}" for noise, share in grown.items())
    gaps = np.median(np.array(results[_name(_NOISE)]["of_extremes"]), axis=0)
    return Claim(
        "The larger the order, the larger the ratios of distances between clusters to those within "
        "tend to be.",
        "seen in six maps",
        f"ratio of means {medians[0]:.2f} at order 1, {medians[_MAX_ORDER - 1]:.2f} at 6, "
        f"{medians[-1]:.2f} at n (medians of {len(by_order)} sets)",
        Verdict.of(min(grown.values()) >= _LARGE_SHARE, grown[_NOISE] > _SMALL_SHARE),
        f"From order 1 to 6 the ratio grew in these shares of the sets: {shares}. More noise means "
        "fewer, because intermediate points shorten the paths between the moons, too. Nor does it "
        f"grow at each step: at noise {_NOISE:g}, from order {slowest} to {slowest + 1}, it did in "
        f"{steps.min():.0%} of the sets. The smallest distance between moons over the largest "
        f"within one goes from {gaps[0]:.2f} to {gaps[_MAX_ORDER - 1]:.2f}, and to {gaps[-1]:.2f} "
        "at order n: it takes many intermediate points to separate the moons.",
    )


def tables(results: Results) -> list[Table]:
    """Return the ratios by order and noise, and what was counted for the two theorems."""
    rows = []
    for noise in _NOISES:
        by_order = np.array(results[_name(noise)]["of_means"])
        rising = (np.diff(by_order, axis=1) > 0).mean(axis=0)
        median = np.median(by_order, axis=0)
        name = f"{noise:g}" + (" (Figure 1)" if noise == _NOISE else "")
        rows.append([f"noise {name}: median ratio", *(f"{ratio:.2f}" for ratio in median)])
        rows.append(["… sets in which it grew", "–", *(f"{share:.0%}" for share in rising)])
    by_ratio = Table(
        "Mean transitive distance between the moons over that within them, by order, for "
        f"{len(by_order)} sets of 50 points. Orders 1 and 2 are both the Euclidean distance.",
        ["", *map(str, range(1, _MAX_ORDER + 1)), "n"],
        rows,
    )
    return [by_ratio, theorems.table(results)]


def pictures(results: Results) -> list[Picture]:
    """Return the path, the maps by order, and how the ratio changes with the order."""
    return [
        _path_picture(results["drawing"]),
        _order_picture(results["drawing"]),
        _ratio_picture(results[_name(_NOISE)]),
    ]


def _path_picture(drawn: Result) -> Picture:
    figure, axes = subplots((8, 4.8))
    X = np.array(drawn["points"])
    p, q, s = drawn["p"], drawn["q"], drawn["s"]
    u, v, length = drawn["edge"]
    for end in (q, s):
        axes.plot(*X[[p, end]].T, color=FAINT_COLOUR, linestyle=":", linewidth=1.5, zorder=2)
    names = ("$x_p$", "$x_q$")
    plot_path(X, drawn["path"], drawn["edge"], labels=drawn["labels"], names=names, ax=axes)
    axes.scatter(X[s, 0], X[s, 1], s=45, color=cluster_style(1).colour, zorder=7)
    centre = X[drawn["path"]].mean(axis=0)
    for name, point, away in (
        ("$x_u$", X[u], centre - X[u]),
        ("$x_v$", X[v], centre - X[v]),
        ("$x_s$", X[s], X[s] - X[p]),
    ):
        name_point(axes, name, point, away / np.linalg.norm(away))
    d_pq, d_ps = (np.linalg.norm(X[end] - X[p]) for end in (q, s))
    return Picture(
        "figure1_path",
        f"Figure 1a: the path from x_p to x_q and its transitive edge x_u x_v. By the Euclidean "
        f"distance (dotted) x_q is {d_pq:.2f} from x_p and x_s only {d_ps:.2f}; by the transitive "
        f"distance x_q is {length:.2f} away and x_s {drawn['other_edge'][2]:.2f}.",
        figure,
    )


def _order_picture(drawn: Result) -> Picture:
    labels, matrices = np.array(drawn["labels"]), np.array(drawn["matrices"])
    within, _ = pairs_within_and_between(labels)
    figure, grid = subplots((9.5, 5.0), 2, 4)
    *panels, unused = grid.ravel()
    unused.remove()
    orders = [*range(1, _MAX_ORDER + 1), len(labels)]
    plot_orders([D / D[within].mean() for D in matrices], labels, orders=orders, axes=panels)
    for panel in panels:
        panel.set_yticks([12.5, 37.5], ["one moon", "the other"], rotation=90, va="center")
    figure.axes[-1].set_ylabel("distance / mean within the moons")
    return Picture(
        "figure1_orders",
        "Figure 1b: the distances of the orders 1 to 6 and of order n, each divided by the mean "
        "distance within the moons; points are sorted along the moons. Order 1 is drawn as order "
        "2, the Euclidean distance, since a path between two points has at least two vertices. In "
        f"this set distances change up to order {drawn['last_order']}.",
        figure,
    )


def _ratio_picture(found: Result) -> Picture:
    figure, panels = subplots((9, 3.8), 1, 2)
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
    n_orders = by_order.shape[1]
    x = np.append(np.arange(1, n_orders), n_orders + 0.5)
    axes.boxplot(by_order, positions=x, whis=(0, 100), medianprops={"color": PALETTE[0]})
    axes.set_xticks(x, [*map(str, range(1, n_orders)), "n"])
    axes.set(xlabel="order", ylabel="ratio")
    hide_frame(axes)
