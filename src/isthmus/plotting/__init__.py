"""Drawing, from plain data. Needs matplotlib: ``pip install 'isthmus[plot]'``."""

from isthmus.plotting.scatter import plot_clusters, plot_spanning_tree, require_matplotlib

__all__ = ["plot_clusters", "plot_spanning_tree", "require_matplotlib"]
