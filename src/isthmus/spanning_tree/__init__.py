"""Checked data and a resolved metric → SpanningTree, its edges in one total order.

api.py            minimum_spanning_tree: checks, then delegates
selection.py      find_spanning_tree: the first engine, in order, that suits the data
engine.py         the interface of an engine
line.py, prim.py, prim_rowwise.py, kruskal.py, kdtree/, blocked/      the engines
duplicates.py     equal points, collapsed before an engine sees them
union_find.py     what engines by Borůvka's algorithm share
edge_order.py     the total order of edges
result.py         SpanningTree and what else was found
"""

from isthmus.spanning_tree.api import minimum_spanning_tree
from isthmus.spanning_tree.result import Found, KdTreeIndex, SpanningTree
from isthmus.spanning_tree.selection import find_spanning_tree

__all__ = ["Found", "KdTreeIndex", "SpanningTree", "find_spanning_tree", "minimum_spanning_tree"]
