"""Names of other libraries → inventories from which Sphinx makes links, without a network.

Sphinx's intersphinx usually fetches the inventory of each library from its site. The reference
mentions few of their names, so these are listed here, with the pages that document them.
"""

from __future__ import annotations

import zlib
from pathlib import Path

# library: (the address of its documentation, {name: (the kind of object, its page)})
LIBRARIES: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "sklearn": (
        "https://scikit-learn.org/stable/",
        {
            name: (kind, f"modules/generated/{name}.html#$")
            for name, kind in (
                ("sklearn.cluster.HDBSCAN", "class"),
                ("sklearn.cluster.KMeans", "class"),
                ("sklearn.cluster.SpectralClustering", "class"),
                ("sklearn.datasets.load_iris", "function"),
                ("sklearn.datasets.make_moons", "function"),
                ("sklearn.metrics.adjusted_rand_score", "function"),
                ("sklearn.metrics.silhouette_score", "function"),
                ("sklearn.neighbors.LocalOutlierFactor", "class"),
                ("sklearn.neighbors.NearestNeighbors", "class"),
                ("sklearn.neighbors.kneighbors_graph", "function"),
            )
        },
    ),
    "scipy": (
        "https://docs.scipy.org/doc/scipy/",
        {
            name: ("function", f"reference/generated/{name}.html#$")
            for name in (
                "scipy.cluster.hierarchy.dendrogram",
                "scipy.cluster.hierarchy.fcluster",
                "scipy.cluster.hierarchy.linkage",
                "scipy.sparse.csgraph.minimum_spanning_tree",
                "scipy.spatial.distance.pdist",
            )
        },
    ),
}


def write_inventories(folder: Path) -> dict[str, tuple[str, str]]:
    """Write one inventory for each library; return the mapping that intersphinx takes."""
    folder.mkdir(exist_ok=True)
    mapping = {}
    for library, (address, names) in LIBRARIES.items():
        path = folder / f"{library}.inv"
        lines = [f"{name} py:{kind} 1 {page} -\n" for name, (kind, page) in names.items()]
        head = f"# Sphinx inventory version 2\n# Project: {library}\n# Version: \n"
        note = "# The remainder of this file is compressed using zlib.\n"
        path.write_bytes((head + note).encode() + zlib.compress("".join(lines).encode()))
        mapping[library] = (address, str(path))
    return mapping
