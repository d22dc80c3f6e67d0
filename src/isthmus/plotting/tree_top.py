"""UltrametricTree → its top: a few groups of points and the merges that join them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._utils.parameters import check_integer, coded_labels
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.plotting.style import has_noise
from isthmus.ultrametric import UltrametricTree

# The cluster of a node whose points have several labels, or none.
SEVERAL = -1


@dataclass(frozen=True)
class TreeTop:
    """The top of a tree as a dendrogram shows it.

    Attributes
    ----------
    groups : ndarray of shape (n_groups,)
        The nodes of the tree that are shown as leaves, from left to right: group g is at x = g.
    sizes, heights : ndarray of shape (n_groups,)
        The number of points in each group, and its height: 0 for a point or for equal points.
    clusters : ndarray of shape (n_groups,)
        The cluster that all points of the group have, as an index into ``names``, or -1.
    link_heights : ndarray of shape (n_groups - 1,)
        The height of each merge above the groups, from the lowest to the highest.
    link_positions, link_feet : ndarray of shape (n_groups - 1, 2)
        The x of its two legs, and the heights at which they begin.
    link_clusters : ndarray of shape (n_groups - 1,)
        As ``clusters``, for all points below the merge.
    leg_clusters : ndarray of shape (n_groups - 1, 2)
        As ``clusters``, for all points below either leg.
    points : ndarray of shape (n_groups,), or None
        The point that each group is, if all of them are single points.
    names : ndarray of shape (n_clusters,)
        The different labels, sorted; empty without labels.

    See Also
    --------
    tree_top : Compute it.
    plot_dendrogram : Draw it.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import make_two_moons
    >>> X, labels = make_two_moons(200, random_state=0)
    >>> top = plotting.tree_top(TransitiveCut(2).fit(X).tree_, 10, labels)
    >>> len(top.groups), len(top.link_heights), top.names.tolist()
    (10, 9, [0, 1])
    """

    groups: Ints
    sizes: Ints
    heights: Floats
    clusters: Ints
    link_heights: Floats
    link_positions: Floats
    link_feet: Floats
    link_clusters: Ints
    leg_clusters: Ints
    points: Ints | None
    names: Array


def tree_top(tree: UltrametricTree, max_groups: int = 50, labels: Any = None) -> TreeTop:
    """Return the top of a tree: at most ``max_groups`` groups and the merges that join them.

    Merges of one height are all shown or none of them, so that the groups do not depend on the
    order of equal edges. Equal points stay together. So a tree whose merges all have one height is
    one group, unless ``max_groups`` is enough for every point.

    Parameters
    ----------
    tree : UltrametricTree
    max_groups : int, default=50
        The most groups.
    labels : array-like of shape (n_points,), optional
        The cluster of each point.

    Returns
    -------
    TreeTop

    See Also
    --------
    plot_dendrogram : Draw it.

    Notes
    -----
    O(n), mostly for the leaf order; only the merges above the groups are visited.

    Examples
    --------
    >>> from isthmus import TransitiveCut, plotting
    >>> from isthmus.datasets import make_two_moons
    >>> X, _ = make_two_moons(200, random_state=0)
    >>> model = TransitiveCut(2).fit(X)
    >>> top = plotting.tree_top(model.tree_, 10)
    >>> top.sizes.tolist()
    [1, 99, 2, 19, 4, 12, 1, 2, 15, 45]
    """
    max_groups = check_integer(max_groups, "max_groups", 1)
    n_points = tree.n_points
    names, uniform = np.empty(0), np.full(2 * n_points - 1, SEVERAL)
    if labels is not None:
        names, codes = coded_labels(labels, n_points)
        uniform = clusters_of_nodes(tree, codes)
        if has_noise(names):  # grey, as if it were of several clusters
            names, uniform = names[1:], np.where(uniform > 0, uniform - 1, SEVERAL)
    highest_inside = tree.heights[n_points - 1 - max_groups] if n_points > max_groups else 0.0
    first_link = int(np.searchsorted(tree.heights, highest_inside, side="right"))
    children = tree.children[first_link:]
    below = np.append(children[children < n_points + first_link], tree.sizes.size - 1)
    groups = below[:-1] if len(children) else below
    groups = groups[np.argsort(tree.starts[groups])]
    node_heights = np.concatenate([np.zeros(n_points), tree.heights])
    single = bool((tree.sizes[groups] == 1).all())
    return TreeTop(
        groups=groups,
        sizes=tree.sizes[groups],
        heights=node_heights[groups],
        clusters=uniform[groups],
        link_heights=tree.heights[first_link:],
        link_positions=positions_of_links(groups, children, n_points + first_link),
        link_feet=node_heights[children],
        link_clusters=uniform[n_points + first_link :],
        leg_clusters=uniform[children],
        points=groups if single else None,
        names=names,
    )


def clusters_of_nodes(tree: UltrametricTree, codes: Ints) -> Ints:
    """Return the cluster that all points below a node have, or -1 for several: (2n - 1,)."""
    in_order = codes[tree.leaf_order]
    changes = np.concatenate([[0], np.cumsum(in_order[1:] != in_order[:-1])])
    first, last = tree.starts, tree.starts + tree.sizes - 1
    return np.where(changes[first] == changes[last], in_order[first], SEVERAL)


def positions_of_links(groups: Ints, children: Ints, first_node: int) -> Floats:
    """Return the x of the two legs of each merge: (m, 2) for the m merges above the groups.

    A group is at its number; a merge, which is node ``first_node`` or a later one, midway between
    its legs.
    """
    group_of = {node: g for g, node in enumerate(groups.tolist())}
    positions = np.empty((len(children), 2))
    for e, pair in enumerate(children.tolist()):
        for side, node in enumerate(pair):
            merge = node - first_node
            positions[e, side] = positions[merge].mean() if merge >= 0 else group_of[node]
    return positions
