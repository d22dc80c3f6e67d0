"""Checked data and a resolved metric → SpanningTree, its edges in one total order.

api.py            minimum_spanning_tree: checks, then delegates
neighborhood.py   find_neighborhood_tree: with neighbourhoods or without, exact or approximate
selection.py      find_spanning_tree: the first engine, in order, that suits the data
engine.py         the interface of an engine
line.py, prim.py, prim_rowwise.py, kruskal.py, by_kdtree/, by_blocks/      the engines
best_edges.py, union_find.py      what engines by Borůvka's algorithm share
listed_edges.py   edges in lists → spanning tree
approximate.py    a tree of neighbours that may not be the nearest
edge_order.py     the total order of edges
result.py         SpanningTree and what else was found
"""

from isthmus.spanning_tree.api import minimum_spanning_tree
from isthmus.spanning_tree.result import Found, KdTreeIndex, SpanningTree
from isthmus.spanning_tree.selection import find_spanning_tree

__all__ = ["Found", "KdTreeIndex", "SpanningTree", "find_spanning_tree", "minimum_spanning_tree"]
