"""UltrametricTree → k parts by CUT, and nested ones."""

from isthmus.cut.agglomerative import cut_hierarchy, hierarchy_labels

__all__ = ["cut_hierarchy", "hierarchy_labels"]
