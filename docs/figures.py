"""Draw the figures of the documentation into ``docs/images/``: ``python docs/figures.py [NAME …]``.

The demo's picture is written by ``isthmus demo``, those of the benchmarks by ``make bench``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import ConvexHull

from isthmus import TransitiveCut, TransitiveEmbedding, UltrametricTree, suggest_n_clusters
from isthmus.datasets import (
    FIGURE5_PANELS,
    load_iris,
    make_figure1,
    make_figure2,
    make_figure3,
    make_figure4,
    make_figure5,
    make_multi_scale,
    make_two_moons,
)
from isthmus.plotting import (
    plot_cluster_path,
    plot_clusters,
    plot_consistency,
    plot_dendrogram,
    plot_distance_map,
    plot_orders,
    plot_outliers,
    plot_path,
    plot_suggestion,
)
from isthmus.plotting.style import cluster_style
from isthmus.theory import consistency, convex_hull_certificate, duality_gap, transitive_sequence

IMAGES = Path(__file__).parent / "images"
_SEED = 0
_DPI = 100


def draw_dendrogram() -> Figure:
    """Draw the top of a tree of 200 points beside that of 100,000."""
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    X, _ = make_two_moons(random_state=_SEED)
    model = TransitiveCut(2).fit(X)
    plot_dendrogram(model.tree_, model.labels_, max_leaves=30, ax=left)
    left.set_title("two moons, 200 points")
    X, _ = make_multi_scale(100_000, random_state=_SEED)
    model = TransitiveCut(3).fit(X)
    plot_dendrogram(model.tree_, model.labels_, max_leaves=30, ax=right)
    right.set_title("multi-scale, 100,000 points")
    return figure


def draw_distance_map() -> Figure:
    """Draw the distances of 300 points beside those of 100,000."""
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    X, _ = make_multi_scale(random_state=_SEED)
    model = TransitiveCut(3).fit(X)
    plot_distance_map(model.tree_, model.labels_, ax=left)
    left.set_title("multi-scale, 300 points")
    X, _ = make_two_moons(100_000, random_state=_SEED)
    plot_distance_map(UltrametricTree.from_data(X), ax=right)
    right.set_title("two moons, 100,000 points")
    return figure


def draw_orders() -> Figure:
    """Draw the paper's Figure 1b: two moons, from the base distance to higher orders."""
    X, y = make_two_moons(random_state=_SEED)
    tree = TransitiveCut(2).fit(X).tree_
    orders = [2, 4, 8, 16]
    steps = transitive_sequence(X, max(orders))
    panels = plot_orders(steps[[k - 1 for k in orders]], y, order=tree.leaf_order, orders=orders)
    figure: Figure = panels[0].figure
    return figure


def draw_path() -> Figure:
    """Draw the way between two far ends of two moons, and the edge that decides."""
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    X, _ = make_two_moons(random_state=_SEED)
    tree = TransitiveCut(2).fit(X).tree_
    first, last = int(X[:, 0].argmin()), int(X[:, 0].argmax())
    path, edge = tree.path(first, last), tree.transitive_edge(first, last)
    plot_path(X, path, edge, ax=figure.add_subplot())
    return figure


def draw_consistency() -> Figure:
    """Draw how wide clusters are and how far apart: three clear ones, and those of Iris."""
    figure = Figure(figsize=(12, 3.2), layout="constrained")
    examples = {
        "multi-scale": make_multi_scale(random_state=_SEED)[0],
        "Iris": load_iris(return_X_y=True)[0],
    }
    for axes, (name, X) in zip(figure.subplots(1, 2), examples.items(), strict=True):
        model = TransitiveCut(3).fit(X)
        plot_consistency(consistency(model.tree_, model.labels_), ax=axes)
        axes.set_title(name)
    return figure


def draw_cluster_path() -> Figure:
    """Draw how good 2 to 12 clusters are, of a set that has three."""
    X, _ = make_multi_scale(random_state=_SEED)
    panels = plot_cluster_path(TransitiveCut(3).fit(X).path(2, 12))
    figure: Figure = panels[0].figure
    return figure


def draw_embedding() -> Figure:
    """Draw three clusters in the plane beside the first two coordinates of their embedding."""
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    X, y = make_multi_scale(random_state=_SEED)
    plot_clusters(X, y, ax=left)
    left.set_title("points")
    model = TransitiveEmbedding(2).fit(X)
    plot_clusters(model.embedding_, y, ax=right)
    right.set_aspect("auto")
    right.margins(0.2)
    for cluster in np.unique(y):
        centre = model.embedding_[y == cluster].mean(axis=0)
        right.scatter(*centre, s=120, color=cluster_style(int(cluster)).colour)
        text = f"{np.count_nonzero(y == cluster)} points"
        right.annotate(text, centre, (10, 8), textcoords="offset points")
    shares = model.explained_variance_ratio_
    right.set(
        title="the first two coordinates of φ",
        xlabel=f"first coordinate, {shares[0]:.0%} of the variance",
        ylabel=f"second coordinate, {shares[1]:.0%}",
    )
    return figure


def draw_hulls() -> Figure:
    """Draw hulls that intersect in the plane, and the same clusters along their normal in φ."""
    figure = Figure(figsize=(12, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    X, y = make_two_moons(random_state=_SEED)
    plot_clusters(X, y, ax=left)
    for moon in (0, 1):
        corners = X[y == moon][ConvexHull(X[y == moon]).vertices]
        colour = cluster_style(moon).colour
        left.fill(*corners.T, facecolor=colour, alpha=0.15, edgecolor=colour)
    left.set_title("hulls in the plane intersect")
    tree = UltrametricTree.from_data(X)
    certificate = convex_hull_certificate(tree, y)
    along = (certificate.normals @ tree.embedding().T).toarray()[0] - certificate.offsets[0]
    for moon in (0, 1):
        here = along[y == moon]
        heights = np.random.default_rng(_SEED).uniform(0.15, 0.85, len(here))
        right.scatter(here, heights, s=14, color=cluster_style(moon).colour)
    right.axvline(0.0, color="black", linestyle="--")
    right.set(
        title="hulls in the embedded space do not",
        xlabel="distance from the hyperplane of the certificate",
        yticks=[],
        ylim=(0, 1),
    )
    return figure


def draw_duality() -> Figure:
    """Draw K-means on points, and the points that K-means on their distances labels otherwise."""
    figure = Figure(figsize=(7, 4.6), layout="constrained")
    axes = figure.add_subplot()
    rng = np.random.default_rng(_SEED)
    clouds = np.concatenate([rng.normal(centre, 1.0, size=(100, 2)) for centre in (0.0, 3.0)])
    gap = duality_gap(clouds, 2, random_state=_SEED)
    plot_clusters(clouds, gap.labels, ax=axes)
    axes.scatter(
        *clouds[gap.differing].T,
        s=160,
        facecolors="none",
        edgecolors="black",
        linewidths=1.6,
        label=f"{len(gap.differing)} of {len(clouds)} labelled otherwise by their distances",
    )
    axes.legend(loc="lower right", frameon=False)
    return figure


def draw_outliers() -> Figure:
    """Draw the outlier scores of three clouds in noise, and of two moons with a few far points."""
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    rng = np.random.default_rng(_SEED)
    scales = np.repeat([0.1, 0.35, 1.0], 200)[:, None]
    centres = np.repeat([[0.0, 0.0], [4.0, 0.0], [1.0, 7.0]], 200, axis=0)
    noise = rng.uniform([-6.0, -5.0], [9.0, 12.0], size=(40, 2))
    X = np.vstack([centres + scales * rng.normal(size=(600, 2)), noise])
    plot_outliers(X, TransitiveCut(3).fit(X).outlier_scores_, ax=left)
    left.set_title("three scales in noise: 40 of 640 points")
    moons, _ = make_two_moons(300, random_state=_SEED)
    far = [[-1.5, 1.6], [2.6, 1.3], [2.66, 1.34], [0.5, 2.0], [-1.3, -1.0], [-1.25, -1.0]]
    X = np.vstack([moons, far])
    plot_outliers(X, TransitiveCut(2).fit(X).outlier_scores_, ax=right)
    right.set_title("two moons and six far points, some in pairs")
    return figure


def draw_datasets() -> Figure:
    """Draw the sets of the paper's Figures 1 to 5."""
    figure = Figure(figsize=(11, 8.7), layout="constrained")
    sets = {
        "Figure 1": make_figure1(random_state=_SEED),
        "Figure 2": make_figure2(random_state=_SEED),
        "Figure 3": make_figure3(random_state=_SEED),
        "Figure 4": make_figure4(random_state=_SEED),
    }
    for panel in FIGURE5_PANELS:
        sets[f"Figure 5, {panel}"] = make_figure5(panel, random_state=_SEED)
    for axes, (name, (X, y)) in zip(figure.subplots(3, 4).flat, sets.items(), strict=True):
        plot_clusters(X, y, ax=axes)
        axes.set_title(f"{name}: {len(X)} points")
    return figure


def draw_suggestion() -> Figure:
    """Draw three sets, clear, weak and without structure, above the evidence for each number."""
    rng = np.random.default_rng(_SEED)
    centres = 6.3 * np.array([[x, y] for x in range(3) for y in range(3)])
    sets = {
        "discs within a ring": make_multi_scale(random_state=_SEED)[0],
        "clouds with fringes": np.repeat(centres, 600, axis=0) + rng.normal(size=(5400, 2)),
        "uniform noise": rng.uniform(size=(500, 2)),
    }
    figure = Figure(figsize=(12, 6.6), layout="constrained")
    for (upper, lower), (name, X) in zip(figure.subplots(2, 3).T, sets.items(), strict=True):
        suggestion = suggest_n_clusters(X, 12)
        plot_clusters(X, suggestion.labels, ax=upper)
        upper.set_title(f"{name}, {len(X):,} points")
        plot_suggestion(suggestion, ax=lower)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "dendrogram": draw_dendrogram,
    "distance_map": draw_distance_map,
    "orders": draw_orders,
    "path": draw_path,
    "consistency": draw_consistency,
    "cluster_path": draw_cluster_path,
    "embedding": draw_embedding,
    "hulls": draw_hulls,
    "duality": draw_duality,
    "outliers": draw_outliers,
    "datasets": draw_datasets,
    "suggestion": draw_suggestion,
}


def main(names: list[str]) -> None:
    """Draw the figures of these names, or all of them."""
    unknown = set(names) - set(FIGURES)
    if unknown:
        sys.exit(f"No figure is called {sorted(unknown)[0]}; there are {', '.join(FIGURES)}.")
    mpl.use("Agg")
    for name in names or FIGURES:
        path = IMAGES / f"{name}.png"
        FIGURES[name]().savefig(path, dpi=_DPI)
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
