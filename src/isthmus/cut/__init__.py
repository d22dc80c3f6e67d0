"""UltrametricTree → k parts by CUT, and nested ones."""

from isthmus.cut.agglomerative import CutHierarchy, cut_hierarchy

__all__ = ["CutHierarchy", "cut_hierarchy"]
