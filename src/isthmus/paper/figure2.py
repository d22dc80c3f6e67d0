"""Figure 2: two clusters whose convex hulls intersect in the plane and not in R⁴⁹.

This illustrates Theorem 1; Lemma 1, the isometry behind it, is measured as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints
from isthmus.datasets import make_figure2
from isthmus.paper.drawing import Axes, draw_dots, subplots
from isthmus.paper.experiment import Claim, Picture, Result, Results, Table, Task, Verdict
from isthmus.paper.wording import median_and_range
from isthmus.plotting import plot_clusters
from isthmus.plotting.style import EDGE_COLOUR, cluster_style, hide_frame
from isthmus.theory import convex_hull_certificate
from isthmus.ultrametric import UltrametricTree

TITLE = "Figure 2: hulls that intersect in the plane, but not in R⁴⁹"
ABOUT = """
The paper maps 50 points of two clusters from the plane to R⁴⁹, where Euclidean distances are the
transitive ones: the convex hulls of the clusters intersect before and do not after. It computes no
coordinates and does not publish the points. Ours are a horseshoe and a bar in its mouth,
consistent for every seed, and their images are computed.

A linear programme decides whether hulls intersect, in either space. In R⁴⁹ there is a certificate
as well: the hyperplane with the widest gap, from the tree. To show what the condition of the
theorem, consistency, contributes, the same points are also labelled in two ways that are not
consistent.
"""

_LABELLINGS = {
    "clusters": "the two clusters",
    "sides": "left half, right half",
    "random": "random labels",
}
# How much Euclidean distances of images may differ from transitive ones, relative to the largest.
_ROUNDING = 1e-12


def tasks(quick: bool) -> list[Task]:
    """Return the drawing, hulls in parts of 25 sets, and the isometry."""
    n_parts, size = (1, 10) if quick else (4, 25)
    hulls = [
        Task(f"hulls_{part}", separations, {"first_seed": part * size, "n_seeds": size})
        for part in range(n_parts)
    ]
    return [
        Task("drawing", drawing, {"seed": 0}),
        *hulls,
        Task("isometry", isometry, {"n_seeds": n_parts * size}),
    ]


def drawing(seed: int) -> Result:
    """Return a set, and its images along the certificate's normal and across it."""
    X, y = make_figure2(random_state=seed)
    tree = UltrametricTree.from_data(X)
    certificate = convex_hull_certificate(tree, y)
    images = tree.embedding().toarray()
    normal = certificate.normals.toarray()[0]
    return {
        "points": X,
        "labels": y,
        "along": images @ normal - certificate.offsets[0],
        "across": images @ varying_direction(images, y),
        "margin": certificate.margins[0],
        "n_dimensions": images.shape[1],
    }


def separations(first_seed: int, n_seeds: int) -> Result:
    """Return whether hulls intersect in both spaces, for many sets and three labellings each."""
    sets = [separate(seed) for seed in range(first_seed, first_seed + n_seeds)]
    return {
        "labellings": {
            name: {key: [found[name][key] for found in sets] for key in sets[0][name]}
            for name in _LABELLINGS
        }
    }


def isometry(n_seeds: int) -> Result:
    """Return the largest error of distances between images, relative to the largest distance."""
    errors, ranks = [], []
    for seed in range(n_seeds):
        tree = UltrametricTree.from_data(make_figure2(random_state=seed)[0])
        D, images = tree.matrix(), tree.embedding().toarray()
        between = np.linalg.norm(images[:, None] - images, axis=2)
        errors.append(np.abs(between - D).max() / D.max())
        ranks.append(np.linalg.matrix_rank(images))
    return {"errors": errors, "ranks": ranks, "n_dimensions": images.shape[1]}


def separate(seed: int) -> dict[str, dict[str, Any]]:
    """Return, for each labelling of one set, which hulls intersect and how wide the gap is."""
    X, y = make_figure2(random_state=seed)
    tree = UltrametricTree.from_data(X)
    images, largest = tree.embedding().toarray(), tree.heights.max()
    labellings = {  # only the first is consistent
        "clusters": y,
        "sides": (X[:, 0] > np.median(X[:, 0])).astype(np.int64),
        "random": np.random.default_rng(seed).permutation(y),
    }
    found = {}
    for name, labels in labellings.items():
        certificate = convex_hull_certificate(tree, labels)
        sides = images @ certificate.normals.toarray()[0] - certificate.offsets[0]
        found[name] = {
            "consistent": certificate.consistent,
            "meet_in_plane": hulls_intersect(X, labels),
            "meet_in_embedding": hulls_intersect(images, labels),
            "certified": bool((sides[labels == 0] > 0).all() and (sides[labels == 1] < 0).all()),
            "margin": certificate.margins[0] / largest,
        }
    return found


def hulls_intersect(points: Floats, labels: Ints) -> bool:
    """Return whether the hulls of two clusters meet: no hyperplane lies between them.

    A linear programme looks for w and b with w · x + b at least 1 on one cluster and at most -1 on
    the other. It uses neither trees nor certificates.
    """
    from scipy.optimize import linprog

    signs = np.where(labels == 0, 1.0, -1.0)
    rows = signs[:, None] * np.column_stack([points / np.ptp(points), np.ones(len(points))])
    found = linprog(
        np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=(None, None)
    )
    if found.status not in (0, 2):  # neither solved nor shown to have no solution
        raise RuntimeError(f"The search for a hyperplane failed: {found.message}")
    return bool(found.status == 2)


def varying_direction(images: Floats, labels: Ints) -> Floats:
    """Return a unit vector along which the images of each cluster vary: for a drawing.

    It is the sum of the clusters' first principal directions; those of consistent clusters are at
    right angles to each other, and to the normal of the hyperplane between them.
    """
    directions = np.zeros(images.shape[1])
    for cluster in np.unique(labels):
        own = images[labels == cluster]
        directions += np.linalg.svd(own - own.mean(axis=0), full_matrices=False)[2][0]
    unit: Floats = directions / np.linalg.norm(directions)
    return unit


def _joined(results: Results, labelling: str) -> dict[str, Array]:
    """Return what all parts found for one labelling, as one array for each property."""
    parts = [found["labellings"][labelling] for found in results.values() if "labellings" in found]
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def claims(results: Results) -> list[Claim]:
    """Return Theorem 1 by example, and Lemma 1."""
    return [_hull_claim(results), _isometry_claim(results["isometry"])]


def _hull_claim(results: Results) -> Claim:
    """Reproduced if hulls of consistent clusters never meet in R⁴⁹, though they do in the plane.

    Not, if they ever meet; partly, if some set is not an example, because its hulls do not meet in
    the plane either, or its clusters are not consistent.
    """
    found = {name: _joined(results, name) for name in _LABELLINGS}
    clusters, others = found["clusters"], [found["sides"], found["random"]]
    n_sets = len(clusters["margin"])
    apart = np.count_nonzero(clusters["certified"] & ~clusters["meet_in_embedding"])
    examples = np.count_nonzero(clusters["meet_in_plane"] & clusters["consistent"])
    n_others = sum(len(other["margin"]) for other in others)
    also = sum(np.count_nonzero(other["certified"]) for other in others)
    widths = [float(np.median(each["margin"])) for each in found.values()]
    return Claim(
        "Theorem 1: images of consistent clusters have convex hulls that do not intersect, even if "
        "the hulls of the clusters do.",
        "50 points: hulls intersect in the plane, not in R⁴⁹",
        f"consistent and intersecting in the plane in {examples} of {n_sets} sets; apart in R⁴⁹ "
        f"in {apart}",
        Verdict.of(apart == examples == n_sets, apart == n_sets),
        "In R⁴⁹ a hyperplane was constructed from the tree and checked at every image; an "
        "independent linear programme agrees. The paper's proof has a gap: it shows that no image "
        "of another cluster lies in a cluster's hull, but two segments may cross without "
        "containing each other's ends. The theorem is true all the same, and for any labels: the "
        f"images of distinct points are the vertices of a simplex. Of {n_others} labellings that "
        f"are not consistent {also} are separated as well. What consistency adds is a wide gap: "
        f"{widths[0]:.2f} of the largest distance (median), against {widths[1]:.3f} for halves and "
        f"{widths[2]:.3f} for random labels.",
    )


def _isometry_claim(found: Result) -> Claim:
    """Reproduced if all distances agree to rounding, in n - 1 dimensions."""
    largest = max(found["errors"])
    return Claim(
        "Lemma 1: n points with an ultrametric have images in n − 1 dimensions at the same "
        "Euclidean distances.",
        "cited",
        f"largest error {largest:.1e} of the largest distance, {len(found['errors'])} sets of "
        f"{found['n_dimensions'] + 1} points in {found['n_dimensions']} dimensions",
        Verdict.of(largest <= _ROUNDING, False),
        "The map is explicit, with one coordinate for each merge of the tree, so it can be "
        "measured; the errors are those of rounding. The images span at least "
        f"{min(found['ranks'])} dimensions: distinct points need n − 1.",
    )


def tables(results: Results) -> list[Table]:
    """Return how often hulls meet and how wide the gap is, by labelling."""
    columns = {
        "consistent": "consistent",
        "meet_in_plane": "hulls meet in the plane",
        "meet_in_embedding": "hulls meet in R⁴⁹",
        "certified": "hyperplane holds at all images",
    }
    rows = []
    for name, title in _LABELLINGS.items():
        found = _joined(results, name)
        shares = [f"{np.mean(found[key]):.0%}" for key in columns]
        rows.append([title, *shares, median_and_range(found["margin"])])
    caption = (
        f"Two labels on {len(found['margin'])} sets of 50 points: in how many of the sets the "
        "hulls meet, and the gap between them in R⁴⁹ in units of the largest distance (median "
        "and range)."
    )
    return [Table(caption, ["labels", *columns.values(), "gap"], rows)]


def pictures(results: Results) -> list[Picture]:
    """Return both spaces, and the widths of gaps by labelling."""
    drawn = results["drawing"]
    figure, (plane, space, gaps) = subplots((10.5, 4.0), 1, 3)
    _draw_plane(plane, drawn)
    _draw_space(space, drawn)
    names = ("clusters:\nconsistent", "halves:\nnot", "random:\nnot")
    margins = [_joined(results, labelling)["margin"] for labelling in _LABELLINGS]
    groups = dict(zip(names, margins, strict=True))
    draw_dots(gaps, groups, 6, title="gap between the hulls", ylabel="of the largest distance")
    gaps.set_ylim(bottom=0.0)
    return [
        Picture(
            "figure2",
            "Figure 2. Left: a horseshoe and a bar, whose hulls intersect. Middle: their images in "
            f"{drawn['n_dimensions']} dimensions, seen along the hyperplane (dashed) with the "
            f"widest gap, {drawn['margin']:.3f}; all images of a cluster are at the same distance "
            "from it, so each hull is seen edge-on. The vertical axis is a direction in which the "
            "images of both vary. Right: the gap in units of the largest distance, with consistent "
            "labels and with others; one dot for each set.",
            figure,
        )
    ]


def _draw_plane(axes: Axes, drawn: Result) -> None:
    from scipy.spatial import ConvexHull

    X, y = np.array(drawn["points"]), np.array(drawn["labels"])
    plot_clusters(X, y, ax=axes)
    for cluster in (0, 1):
        points = X[y == cluster]
        colour = cluster_style(cluster).colour
        corners = points[ConvexHull(points).vertices]
        axes.fill(*corners.T, facecolor=colour, alpha=0.15)
        axes.fill(*corners.T, facecolor="none", edgecolor=colour, linewidth=1.2)
    axes.set_title("in the plane")


def _draw_space(axes: Axes, drawn: Result) -> None:
    y: Array = np.array(drawn["labels"])
    along, across = np.array(drawn["along"]), np.array(drawn["across"])
    for cluster in (0, 1):
        colour = cluster_style(cluster).colour
        here, up = along[y == cluster], across[y == cluster]
        axes.plot(here[[up.argmin(), up.argmax()]], [up.min(), up.max()], color=colour, alpha=0.4)
        axes.scatter(here, up, s=14, color=colour, zorder=3)
    half = drawn["margin"] / 2
    axes.axvline(0.0, color=EDGE_COLOUR, linestyle="--", linewidth=1.0)
    axes.axvspan(-half, half, color=EDGE_COLOUR, alpha=0.08, linewidth=0)
    axes.set(
        xlim=(-1.6 * half, 1.6 * half),
        title=f"in R$^{{{drawn['n_dimensions']}}}$",
        xlabel="distance from the hyperplane",
        ylabel="a direction along it",
    )
    hide_frame(axes)
