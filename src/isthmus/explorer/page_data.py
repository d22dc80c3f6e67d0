"""A fit and a table → everything that the page shows, as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from isthmus._utils.typing import Array, Ints
from isthmus.explorer.axes import Axis, axes_of
from isthmus.explorer.cells import (
    NOISE,
    Cells,
    colours_by_overlap,
    colours_of_nodes,
    nodes_of_labels,
)
from isthmus.explorer.clustering import AttachedRows, Clustering
from isthmus.explorer.differences import Difference, largest_differences
from isthmus.explorer.figures import ClusterFigures, measure_clusters
from isthmus.explorer.options import Options
from isthmus.explorer.part_tree import PartTree
from isthmus.explorer.sample import rows_to_show
from isthmus.explorer.shown_tree import ShownTree, tree_of_shown

# Outlier scores are shown in steps of 1 / SCORE_STEPS.
SCORE_STEPS = 200


@dataclass(frozen=True, eq=False)
class Clusters:
    """All clusters that the page can show: the nodes of the dendrogram, then those that are none.

    Attributes
    ----------
    of_numbers : list of (k,) int64
        For each number of clusters, the cluster of each label.
    colours_of_numbers : list of (k,) int64
        Their colours.
    node_colours : (2m - 1,) int64
        Those of the nodes of the dendrogram.
    members : (n_clusters, c) bool
        The cells of each cluster.
    figures : ClusterFigures
    differences : list of lists of Difference
    """

    of_numbers: list[Ints]
    colours_of_numbers: list[Ints]
    node_colours: Ints
    members: Array
    figures: ClusterFigures
    differences: list[list[Difference]]


@dataclass(frozen=True, eq=False)
class PageData:
    """What the page shows.

    Attributes
    ----------
    clustering : Clustering
    options : Options
    parts : PartTree
        The dendrogram.
    cells : Cells
    clusters : Clusters
    score_levels : (n_rows,) uint8
        Outlier scores in steps of 1 / SCORE_STEPS, rounded down.
    shown : (m,) int64
        The rows that are drawn, ascending.
    shown_tree : ShownTree
        The spanning tree of these rows.
    axes : list of Axis
        What can be drawn; the first two at first.
    """

    clustering: Clustering
    options: Options
    parts: PartTree
    cells: Cells
    clusters: Clusters
    score_levels: Array
    shown: Ints
    shown_tree: ShownTree
    axes: list[Axis]


def page_data(clustering: Clustering, options: Options) -> PageData:
    """Return what the page of a fit shows."""
    parts = PartTree.of_cuts(clustering.cut_tree, clustering.point_weights)
    cells = Cells.of_labels(parts.part_of[clustering.attached_to], list(clustering.path.labels))
    clusters = _clusters(clustering, options, parts, cells)
    scores = clustering.outlier_scores
    needed = np.concatenate([clusters.figures.medoids, parts.edges.ravel()])
    needed = clustering.rows[np.unique(needed)]
    shown = rows_to_show(cells.cell_of, scores, needed, options.max_points)
    # A row of weight 0 is shown together with the point that it hangs on.
    paths = clustering.paths
    shown = np.union1d(shown, paths.rows[paths.attached_to[shown]])
    return PageData(
        clustering=clustering,
        options=options,
        parts=parts,
        cells=cells,
        clusters=clusters,
        score_levels=np.floor(np.clip(scores, 0.0, 1.0) * SCORE_STEPS).astype(np.uint8),
        shown=shown,
        shown_tree=_tree_of_rows(paths, shown),
        axes=axes_of(options.columns, options.coordinates, scores, shown),
    )


def _clusters(clustering: Clustering, options: Options, parts: PartTree, cells: Cells) -> Clusters:
    """Return the clusters; those of CUT are nodes of the dendrogram, those of K-means need not."""
    numbers = clustering.path.n_clusters.tolist()
    members = parts.members()[:, cells.part] & ~cells.is_noise
    node_colours = colours_of_nodes(parts, members @ cells.sizes)
    by_node = nodes_of_labels(cells, parts, numbers)
    of_numbers, more, not_nodes = [], [], {}
    n_clusters = len(members)
    for i, (k, nodes) in enumerate(zip(numbers, by_node, strict=True)):
        of_numbers.append(np.arange(n_clusters, n_clusters + k) if nodes is None else nodes)
        if nodes is None:
            # rows in no cluster are one more, which the page does not list
            some_noise = NOISE in cells.labels[i, ~cells.is_noise]
            labels = [*range(k), NOISE] if some_noise else [*range(k)]
            more.append(cells.labels[i] == np.array(labels)[:, None])
            not_nodes[i] = n_clusters
            n_clusters += len(labels)
    members = np.concatenate([members, *more])
    nested = all(nodes is not None for nodes in by_node)
    colours = (
        [node_colours[nodes] for nodes in of_numbers]
        if nested
        else colours_by_overlap(cells, numbers)
    )
    partitions = _partitions(clustering, parts, not_nodes)
    figures = measure_clusters(clustering.tree, clustering.point_weights, n_clusters, partitions)
    weights = clustering.row_weights()
    differences = largest_differences(options.columns, cells.cell_of, weights, members)
    return Clusters(of_numbers, colours, node_colours, members, figures, differences)


def _partitions(
    clustering: Clustering, parts: PartTree, not_nodes: dict[int, int]
) -> Iterator[Ints]:
    """Yield partitions of the tree's points that hold all clusters together.

    not_nodes : dict
        For the numbers of clusters whose clusters are no nodes, by their positions, the first of
        these clusters.
    """
    for nodes in parts.levels():
        yield nodes[parts.part_of]
    for i, first in not_nodes.items():
        labels = clustering.path.labels[i][clustering.rows].astype(np.int64)
        labels[labels == NOISE] = clustering.path.n_clusters[i]
        yield first + labels


def _tree_of_rows(attached: AttachedRows, shown: Ints) -> ShownTree:
    """Return the spanning tree of the rows that are shown; rows of weight 0 hang on its points."""
    tree_rows = np.full(attached.n_rows, -1)
    tree_rows[attached.rows] = np.arange(len(attached.rows))
    points = tree_rows[shown]
    on_tree = np.flatnonzero(points >= 0)
    found = tree_of_shown(attached.tree, points[on_tree])
    if len(on_tree) == len(shown):
        return found
    parent, length = np.full(len(shown), -1), np.zeros(len(shown))
    parent[on_tree] = np.where(found.parent < 0, -1, on_tree[found.parent])
    length[on_tree] = found.length
    place = np.full(attached.tree.n_points, -1)
    place[points[on_tree]] = on_tree
    others = np.flatnonzero(points < 0)
    parent[others] = place[attached.attached_to[shown[others]]]
    length[others] = attached.attached_at[shown[others]]
    return ShownTree(parent, length)
