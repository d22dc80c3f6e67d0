"""Beyond one machine: the exact spanning tree, and CUT, of Dask arrays and data frames.

executors.py     where tasks run: workers of a client, or threads
result_files.py  results in files, read as memory maps
inputs.py        Dask collections → blocks; what is wrong with them
points.py        a block → its points, as the metric maps them
partition.py     blocks → cells of points that are near each other
forest.py        which edge joined what
boxes.py         how far boxes are apart, and which points face each other
cell.py          a cell → its own tree; the comparison with others
boundary.py      trees of cells → the tree of all points: the coordinator
tree.py          all of that
many_features.py blocks → the tree, where cells do not serve: sets of blocks
fitting.py       what every fit begins with
whole_tree.py    a gathered tree → clusters, by one machine's estimators
contraction.py   cells → the contracted tree, and labels back to rows
clusters.py      the contracted tree → clusters, by CUT
prediction.py    new rows → clusters
"""

try:
    import dask.array as _dask_array  # noqa: F401
except ImportError as error:
    raise ImportError("isthmus.dask needs Dask: pip install 'isthmus[dask]'") from error

from isthmus.dask.api import DistributedTree, minimum_spanning_tree
from isthmus.dask.estimator import TransitiveCut
from isthmus.dask.kmeans_estimator import TransitiveKMeans

__all__ = ["DistributedTree", "TransitiveCut", "TransitiveKMeans", "minimum_spanning_tree"]
