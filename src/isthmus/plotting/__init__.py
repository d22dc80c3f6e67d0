"""Drawing, from plain data. Needs matplotlib: ``pip install 'isthmus[plot]'``."""

from isthmus.plotting.dendrogram import plot_dendrogram
from isthmus.plotting.distance_map import DistanceMap, distance_map
from isthmus.plotting.heat_map import plot_distance_map, plot_orders
from isthmus.plotting.k_selection import plot_cluster_path, plot_suggestion
from isthmus.plotting.margins import plot_consistency
from isthmus.plotting.minimax_path import plot_path
from isthmus.plotting.scatter import plot_clusters, plot_outliers, plot_spanning_tree
from isthmus.plotting.style import require_matplotlib
from isthmus.plotting.tree_top import TreeTop, tree_top

__all__ = [
    "DistanceMap",
    "TreeTop",
    "distance_map",
    "plot_cluster_path",
    "plot_clusters",
    "plot_consistency",
    "plot_dendrogram",
    "plot_distance_map",
    "plot_orders",
    "plot_outliers",
    "plot_path",
    "plot_spanning_tree",
    "plot_suggestion",
    "require_matplotlib",
    "tree_top",
]
