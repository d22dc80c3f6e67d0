"""Beyond one machine: the exact spanning tree, and CUT, of Dask arrays and data frames.

executors.py        where tasks run: workers of a client, or threads
result_files.py     results in files, read as memory maps
inputs.py           Dask collections → blocks; what is wrong with them
points.py           a block → its points, as the metric maps them
halfspaces.py       where bundles of points with many features are
partition.py        blocks → cells, or bundles, of points that are near each other
longest_edges.py    which edge joined what
boxes.py            how far boxes are apart
near_points.py      which points of a cell are near the boxes of others
cell.py             a cell → its own tree, and nodes with boxes
node_pairs.py       which nodes of two cells are not settled
point_pairs.py      which points of two nodes an edge may join
comparison.py       such points → edges between cells
boundary.py         trees of cells → the tree of all points: the coordinator
log.py              what that took
spanning_tree.py    all of that
bundles.py          blocks → bundles, and tasks in which any two of them meet
line_lists.py       the rows of a task → the nearest rows of each
nearest_lists.py    such lists → the tree, where there are many features
many_features.py    blocks → the tree of any metric, from trees of tasks
api.py              Dask collections → the tree as Dask arrays
fitting.py          what every fit begins with
contraction.py      cells → the contracted tree, and labels back to rows
clusters_by_cut.py  the contracted tree → clusters, by CUT
cell_model.py       a fit in cells: labels, and those of new rows
whole_tree.py       a fit on a gathered tree, by one machine's estimators
prediction.py       new rows → the nearest rows of cells, or of blocks
base.py             what both estimators have in common
transitive_cut.py, transitive_kmeans.py
"""

try:
    import dask.array as _dask_array  # noqa: F401
except ImportError as error:
    raise ImportError("isthmus.dask needs Dask: pip install 'isthmus[dask]'") from error

from isthmus.dask.api import DistributedTree, minimum_spanning_tree
from isthmus.dask.transitive_cut import TransitiveCut
from isthmus.dask.transitive_kmeans import TransitiveKMeans

__all__ = ["DistributedTree", "TransitiveCut", "TransitiveKMeans", "minimum_spanning_tree"]
