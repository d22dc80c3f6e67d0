"""The order of the sections of the gallery, and of the scripts in each."""

from __future__ import annotations

from pathlib import Path

SECTIONS = ("first_steps", "kinds_of_data", "inside_a_result")
ORDER = (
    "shapes_and_six_methods",
    "how_many_clusters",
    "new_points",
    "table_to_report",
    "pipeline",
    "cut_and_kmeans",
    "cities",
    "words",
    "graph",
    "sentences",
    "digits",
    "many_features",
    "stars",
    "half_a_million_points",
    "outliers",
    "hierarchy",
    "path_between_points",
    "matrix",
    "certainty",
    "embedding",
    "explorer",
)


def section_key(folder: str) -> int:
    """Return the place of a section."""
    return SECTIONS.index(Path(folder).name)


class ScriptOrder:
    """Sphinx-gallery's interface: a key for each file; scripts that are not listed come last."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, filename: str) -> tuple[int, str]:
        """Return the key of a script."""
        name = filename.removesuffix(".py")
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)

    def __repr__(self) -> str:
        return "<ScriptOrder>"
