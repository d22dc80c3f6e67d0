"""Spanning trees that this process holds as a whole → clusters, by one machine's estimators.

K-means needs all merges of the tree, and in many features the tree is gathered anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from isthmus._utils.memory import require_memory
from isthmus._utils.typing import Ints, Labels
from isthmus.spanning_tree import SpanningTree

# What one machine's estimators take for each row, beside the tree's edges.
BYTES_PER_ROW = {"cut": 150, "kmeans": 290}


@dataclass
class WholeModel:
    """A model of one machine, fitted to a spanning tree.

    Attributes
    ----------
    model : TransitiveCut or TransitiveKMeans
        Of :mod:`isthmus`.
    tree : SpanningTree
    starts : (n_blocks + 1,) int64
        The row that each block begins with, and the number of rows.
    """

    model: Any
    tree: SpanningTree
    starts: Ints

    def in_blocks(self, labels: Labels) -> Any:
        """Return labels as a Dask array in the blocks of X."""
        import dask.array as da

        return da.from_array(labels, chunks=(tuple(np.diff(self.starts).tolist()),))


def require_whole(n_rows: int, method: str) -> None:
    """Raise MemoryError where this process cannot hold what a method needs of all rows."""
    require_memory(
        (72 + BYTES_PER_ROW[method]) * n_rows,
        f"The whole spanning tree of {n_rows:,} rows, and clusters of it,",
        "Use isthmus.dask.TransitiveCut with a number of clusters and up to eight features, or a "
        "coordinator with more memory.",
    )


def fit_tree(model: Any, tree: SpanningTree, starts: Ints, sample_weight: Any) -> WholeModel:
    """Return a model of one machine, fitted to a spanning tree as to a graph."""
    n_rows = int(starts[-1])
    graph = csr_array((tree.weights, tree.edges.T), shape=(n_rows, n_rows))
    weights = None
    if sample_weight is not None:
        weights = np.asarray(sample_weight, dtype=np.float64)
    return WholeModel(model.fit(graph, sample_weight=weights), tree, starts)
