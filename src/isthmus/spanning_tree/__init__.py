"""Checked arrays → SpanningTree, its edges in one total order."""

from isthmus.spanning_tree.build import minimum_spanning_tree
from isthmus.spanning_tree.record import SpanningTree

__all__ = ["SpanningTree", "minimum_spanning_tree"]
