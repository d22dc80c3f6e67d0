"""UltrametricTree → a dendrogram of its top on an Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from isthmus._utils.parameters import check_integer
from isthmus._utils.typing import Floats, Ints
from isthmus.plotting import style
from isthmus.plotting.tree_top import SEVERAL, TreeTop, tree_top
from isthmus.ultrametric import UltrametricTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How far above the largest finite height infinity is drawn, as a share of it.
_ABOVE_FINITE = 0.15
# Half the width of the triangle of a single point, and what is added to it for all points.
_NARROWEST, _WIDENING = 0.08, 0.34
# With more groups than this labels are vertical. They are left out where they would be smaller than
# the smallest font.
_MAX_HORIZONTAL_LABELS = 10
_LARGEST_FONT, _SMALLEST_FONT = 9.0, 5.0


def plot_dendrogram(
    tree: UltrametricTree, labels: Any = None, *, max_leaves: int = 50, ax: Axes | None = None
) -> Axes:
    """Draw the dendrogram of a tree; of many points, its top.

    Parameters
    ----------
    tree : UltrametricTree
        The tree.
    labels : array-like of shape (n_points,), optional
        The cluster of each point. Branches with points of one cluster only are drawn in its
        colour, the others and noise (the number -1) in grey. With more than eight clusters colours
        repeat, and there is no legend.
    max_leaves : int, default=50
        The most leaves. A leaf of several points is drawn as a triangle as high as its last merge,
        the wider the more points it has. Merges of one height are all shown or none of them, and
        equal points are one leaf: see :func:`tree_top`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        With one collection of lines, two legs and a bar for each merge (another one, dashed, for
        merges at an infinite height), and one of triangles. Leaves are labelled with their numbers
        of points, or with the points if each leaf is one.

    See Also
    --------
    tree_top : The numbers that are drawn.
    scipy.cluster.hierarchy.dendrogram : SciPy's, which takes ``tree_.linkage``.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, random_state=0)
    >>> model = TransitiveCut(2).fit(X)
    >>> ax = plotting.plot_dendrogram(model.tree_, model.labels_, max_leaves=30)
    """
    top = tree_top(tree, check_integer(max_leaves, "max_leaves", 1), labels)
    n_groups = len(top.groups)
    axes = style.axes_or_new(ax, (float(np.clip(0.15 * n_groups, 6.4, 14.0)), 4.8))
    largest = style.largest_finite(np.concatenate([top.heights, top.link_heights]))
    infinity = (1 + _ABOVE_FINITE) * largest
    _draw_links(axes, top, infinity)
    _draw_triangles(axes, top, infinity, tree.n_points)
    _label_leaves(axes, top, max_leaves)
    _finish(axes, top, largest, infinity)
    return axes


def triangle_half_widths(sizes: Ints, n_points: int) -> Floats:
    """Return half the width of each group's triangle, which grows with the logarithm of its size.

    So a group of 30 and one of 30,000 points are both visible; the label tells the number.
    """
    widths: Floats = _NARROWEST + _WIDENING * np.log(sizes) / np.log(max(n_points, 2))
    return widths


def link_lines(top: TreeTop, infinity: float) -> Floats:
    """Return the ends of each merge's left leg, right leg and bar: (n_groups - 1, 3, 2, 2)."""
    x, feet = top.link_positions, np.minimum(top.link_feet, infinity)
    bars = np.repeat(np.minimum(top.link_heights, infinity)[:, None], 2, axis=1)
    feet_and_tops = np.stack([feet, bars], axis=2)
    legs = np.stack([np.repeat(x[:, :, None], 2, axis=2), feet_and_tops], axis=3)
    bar = np.stack([x, bars], axis=2)
    return np.concatenate([legs, bar[:, None]], axis=1)


def _colours(clusters: Ints) -> list[str]:
    return [
        style.EDGE_COLOUR if cluster == SEVERAL else style.cluster_style(cluster).colour
        for cluster in clusters.tolist()
    ]


def _draw_links(axes: Axes, top: TreeTop, infinity: float) -> None:
    """Draw the legs of each merge in the colours of its children, its bar in its own."""
    from matplotlib.collections import LineCollection

    infinite = np.isinf(top.link_heights)
    lines = link_lines(top, infinity)
    colours = _colours(np.column_stack([top.leg_clusters, top.link_clusters]).ravel())
    for chosen, dashes, ends in (
        (~infinite, "solid", "projecting"),
        (infinite, style.DASHES, "butt"),
    ):
        if chosen.any():
            axes.add_collection(
                LineCollection(
                    list(lines[chosen].reshape(-1, 2, 2)),
                    colors=[colours[line] for line in np.flatnonzero(np.repeat(chosen, 3))],
                    linestyles=[dashes],
                    linewidths=1.2,
                    capstyle=ends,
                )
            )


def _draw_triangles(axes: Axes, top: TreeTop, infinity: float, n_points: int) -> None:
    """Draw each group of several points as a triangle from its height down to 0."""
    from matplotlib.collections import PolyCollection

    wide = np.flatnonzero(top.sizes > 1)
    if not len(wide):
        return
    half = triangle_half_widths(top.sizes[wide], n_points)
    tops = np.minimum(top.heights[wide], infinity)
    x = np.column_stack([wide - half, wide, wide + half])
    y = np.column_stack([np.zeros(len(wide)), tops, np.zeros(len(wide))])
    colours = _colours(top.clusters[wide])
    axes.add_collection(
        PolyCollection(
            list(np.stack([x, y], axis=2)),
            facecolors=colours,
            edgecolors=colours,
            linewidths=1.2,
            joinstyle="round",
            zorder=3,
        )
    )


def _label_leaves(axes: Axes, top: TreeTop, max_leaves: int) -> None:
    n_groups = len(top.groups)
    size = min(0.9 * style.size_in_points(axes)[0] / n_groups, _LARGEST_FONT)
    labelled = size >= _SMALLEST_FONT
    axes.set_xticks([])
    if labelled:
        rotation = 90 if n_groups > _MAX_HORIZONTAL_LABELS else 0
        names = [f"{n:,}" for n in top.sizes] if top.points is None else list(map(str, top.points))
        axes.set_xticks(np.arange(n_groups), names, fontsize=size, rotation=rotation)
    axes.tick_params(axis="x", length=0)
    if top.points is not None:
        axes.set_xlabel("point" if labelled else f"{n_groups} points")
    elif n_groups > 1:
        axes.set_xlabel(f"number of points in each of {n_groups} groups")
    elif top.heights[0] > 0 and max_leaves > 1:
        axes.set_xlabel(f"number of points: more than {max_leaves} groups join at this height")
    else:
        axes.set_xlabel("number of points")


def _finish(axes: Axes, top: TreeTop, largest: float, infinity: float) -> None:
    """Set the scale, with a tick for infinity where something reaches it, and the legend."""
    infinite = np.isinf(np.concatenate([top.heights, top.link_heights])).any()
    highest = infinity if infinite else largest
    axes.set_xlim(-0.7, len(top.groups) - 0.3)
    axes.set_ylim(0.0, 1.04 * highest)
    axes.set_ylabel("transitive distance")
    style.hide_frame(axes)
    if infinite:
        style.add_infinity_tick(axes.yaxis, largest, infinity)
        axes.axhline(infinity, color=style.FAINT_COLOUR, linewidth=0.8, zorder=0)
    if 0 < len(top.names) <= len(style.PALETTE):
        _add_legend(axes, top, highest)


def _add_legend(axes: Axes, top: TreeTop, highest: float) -> None:
    """Put the legend into the upper right corner or, if that is not free, above everything."""
    from matplotlib.patches import Patch

    names, colours = [str(name) for name in top.names], _colours(np.arange(len(top.names)))
    if SEVERAL in top.clusters or SEVERAL in top.link_clusters:
        names, colours = [*names, "several"], [*colours, style.EDGE_COLOUR]
    handles = [Patch(color=colour, label=name) for name, colour in zip(names, colours, strict=True)]
    if _corner_is_free(top, highest):
        axes.legend(handles=handles, title="cluster", loc="upper right")
    else:
        axes.set_ylim(0.0, 1.3 * highest)
        axes.legend(handles=handles, title="cluster", loc="upper right", ncols=5)


def _corner_is_free(top: TreeTop, highest: float) -> bool:
    """Return whether nothing in the right third of the drawing is higher than half of it."""
    right = 2 / 3 * (len(top.groups) - 1)
    links = top.link_heights[top.link_positions[:, 1] > right]
    groups = top.heights[int(np.ceil(right)) :]
    return bool(np.concatenate([links, groups]).max(initial=0.0) < highest / 2)
