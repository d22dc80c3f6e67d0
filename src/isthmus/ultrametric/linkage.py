"""SciPy's linkage → a spanning tree of the same ultrametric."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.parameters import as_real
from isthmus._utils.typing import Ints
from isthmus.spanning_tree import SpanningTree

# The engine of such a spanning tree, whose edges are stand-ins.
LINKAGE = "linkage"


def spanning_tree_of_linkage(Z: Any) -> SpanningTree:
    """Return a spanning tree whose merges are those of a linkage.

    Its edges join the smallest points of the two sides of each merge. Raises ValueError where Z is
    no valid linkage, or no ultrametric.
    """
    linkage = as_real(Z, "Z")
    from scipy.cluster.hierarchy import is_valid_linkage  # slow to import, rarely needed

    is_valid_linkage(linkage, throw=True, name="Z")
    children = linkage[:, :2].astype(np.int64)
    if (children != linkage[:, :2]).any():
        raise ValueError("The first two columns of Z must be integers.")
    heights = linkage[:, 2]
    below = np.concatenate([np.zeros(len(linkage) + 1), heights])[children].max(axis=1)
    if (below > heights).any():
        merge = int(np.flatnonzero(below > heights)[0])
        raise ValueError(
            f"Merge {merge} of Z is lower ({heights[merge]}) than a merge below it "
            f"({below[merge]}), so Z is no ultrametric. The methods 'centroid' and 'median' "
            "produce such linkages; use another one."
        )
    smallest = np.arange(2 * len(children) + 1, dtype=np.int64)
    fill_smallest_leaves(children, smallest)
    edges: Ints = np.sort(smallest[children], axis=1)
    return SpanningTree.from_edges(edges, heights, engine=LINKAGE)


@kernel
def fill_smallest_leaves(children: Ints, smallest: Ints) -> None:
    """Fill smallest[v], in and out, with the smallest leaf below each node; leaves are given."""
    n_points = children.shape[0] + 1
    for e in range(n_points - 1):
        smallest[n_points + e] = min(smallest[children[e, 0]], smallest[children[e, 1]])
