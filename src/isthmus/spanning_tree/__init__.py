"""Checked arrays → SpanningTree, its edges in one total order."""

from isthmus.spanning_tree.api import minimum_spanning_tree
from isthmus.spanning_tree.result import SpanningTree

__all__ = ["SpanningTree", "minimum_spanning_tree"]
