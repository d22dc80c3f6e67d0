"""Draw the five pictures of "How it works": points → tree → longest hop → matrix → cut."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from isthmus import TransitiveCut
from isthmus.datasets import make_two_moons
from isthmus.plotting import plot_clusters, plot_path, plot_spanning_tree
from isthmus.plotting.style import CUT_COLOUR, EDGE_COLOUR

_N_POINTS = 120
_DPI = 110


def draw(folder: Path) -> None:
    """Write the pictures of the five steps into a folder."""
    folder.mkdir(exist_ok=True)
    X, _ = make_two_moons(_N_POINTS, noise=0.07, random_state=3)
    model = TransitiveCut(2).fit(X)
    pictures = {
        "step_points": _points(X),
        "step_tree": _tree(X, model),
        "step_hop": _hop(X, model),
        "step_matrix": _matrix(X, model),
        "step_cut": _cut(X, model),
    }
    for name, figure in pictures.items():
        figure.savefig(folder / f"{name}.png", dpi=_DPI)


def _plane() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7.2, 3.7), layout="constrained")
    axes = figure.add_subplot()
    axes.axis("off")
    return figure, axes


def _points(X: np.ndarray) -> Figure:
    figure, axes = _plane()
    axes.scatter(*X.T, s=26, color=EDGE_COLOUR)
    axes.set_aspect("equal", adjustable="datalim")
    return figure


def _tree(X: np.ndarray, model: TransitiveCut) -> Figure:
    figure, axes = _plane()
    plot_spanning_tree(X, model.spanning_tree_, ax=axes)
    return figure


def _hop(X: np.ndarray, model: TransitiveCut) -> Figure:
    """Draw the path between the outer ends of the moons."""
    figure, axes = _plane()
    tree, first, last = model.tree_, int(X[:, 0].argmin()), int(X[:, 0].argmax())
    plot_path(X, tree.path(first, last), tree.transitive_edge(first, last), ax=axes)
    return figure


def _matrix(X: np.ndarray, model: TransitiveCut) -> Figure:
    """Draw the direct distances and the transitive ones, with rows in the order of the tree."""
    figure = Figure(figsize=(7.2, 3.5), layout="constrained")
    order = model.tree_.leaf_order
    direct = np.linalg.norm(X[:, None] - X, axis=2)
    matrices = {
        "direct distance d": direct,
        "transitive distance D": model.tree_.matrix(),
    }
    for axes, (title, matrix) in zip(figure.subplots(1, 2), matrices.items(), strict=True):
        image = axes.imshow(matrix[np.ix_(order, order)], cmap="viridis")
        axes.set(title=title, xticks=[], yticks=[])
        figure.colorbar(image, ax=axes, shrink=0.8)
    return figure


def _cut(X: np.ndarray, model: TransitiveCut) -> Figure:
    figure, axes = _plane()
    plot_clusters(X, model.labels_, ax=axes)
    edges = model.spanning_tree_.edges
    inside = model.labels_[edges[:, 0]] == model.labels_[edges[:, 1]]
    for edge in edges[inside]:
        axes.plot(*X[edge].T, color=EDGE_COLOUR, linewidth=0.8, zorder=0)
    for edge in edges[~inside]:
        axes.plot(*X[edge].T, color=CUT_COLOUR, linewidth=2.0, linestyle="--")
    legend = [Line2D([], [], color=CUT_COLOUR, linestyle="--", label="the edge that CUT removes")]
    axes.legend(handles=legend, loc="upper right", frameon=False)
    return figure
