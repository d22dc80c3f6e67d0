"""UltrametricTree → how many clusters, and how good they are."""

from isthmus.model_selection.silhouette import Silhouette, transitive_silhouette
from isthmus.model_selection.suggestion import Suggestion, suggest

__all__ = ["Silhouette", "Suggestion", "suggest", "transitive_silhouette"]
