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
from isthmus.dask.api import DistributedTree, as_dask_tree_of
from isthmus.dask.fitting import Task
from isthmus.dask.inputs import as_blocks
from isthmus.dask.many_features import common_dtype
from isthmus.dask.prediction import begin_block_search, index_block, labels_of, search_block
from isthmus.metrics import AnyMetric
from isthmus.model_selection.suggestion import Suggestion
from isthmus.spanning_tree import SpanningTree

# What one machine's estimators take for each row, beside the tree's edges.
BYTES_PER_ROW = {"cut": 150, "kmeans": 290}


@dataclass
class FittedBlocks:
    """The input of a fit, as it was given: read again where new rows are compared with it.

    Attributes
    ----------
    blocks : list of Delayed or array
    metric : resolved metric
    dtype : numpy dtype
        In which points are compared.
    n_features : int
    """

    blocks: list[Any]
    metric: AnyMetric
    dtype: Any
    n_features: int

    @classmethod
    def of_task(cls, task: Task) -> FittedBlocks:
        """Return the input of a task."""
        return cls(task.given.blocks, task.metric, common_dtype(task.looks), task.n_features)

    def __getstate__(self) -> dict[str, Any]:
        """Return everything in this process's memory: the input need not be there again."""
        import dask

        return vars(self) | {"blocks": list(dask.compute(*self.blocks))}


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
    blocks : FittedBlocks, optional
        Where new rows are to be compared with those of the fit.
    """

    model: Any
    tree: SpanningTree
    starts: Ints
    blocks: FittedBlocks | None = None

    @property
    def n_points(self) -> int:
        """The number of rows."""
        return int(self.starts[-1])

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.model.n_clusters_)

    @property
    def suggestion(self) -> Suggestion | None:
        """Why as many."""
        return getattr(self.model, "suggestion_", None)

    def labels(self) -> Any:
        """Return the cluster of each row: a Dask array in the blocks of X."""
        return self._in_blocks(self.model.labels_)

    def labels_for(self, n_clusters: int) -> Any:
        """Return the same for another number of clusters."""
        return self._in_blocks(self.model.labels_for(n_clusters))

    def _in_blocks(self, labels: Labels) -> Any:
        import dask.array as da

        return da.from_array(labels, chunks=(tuple(np.diff(self.starts).tolist()),))

    def spanning_tree(self) -> DistributedTree:
        """Return the minimum spanning tree."""
        return as_dask_tree_of(self.tree)

    def predict(self, X: Any) -> Any:
        """Return the clusters of the rows that are nearest to new ones: a Dask array."""
        import dask.array as da
        from dask.delayed import delayed

        assert self.blocks is not None
        given, fitted = as_blocks(X), self.blocks
        indexes = [
            delayed(index_block)(block, fitted.dtype, fitted.metric) if filled else None
            for block, filled in zip(fitted.blocks, np.diff(self.starts) > 0, strict=True)
        ]
        parts = np.split(self.model.labels_, self.starts[1:-1])
        found = []
        for block, size in zip(given.blocks, given.sizes, strict=True):
            search = delayed(begin_block_search)(block, fitted.n_features)
            for index, labels in zip(indexes, parts, strict=True):
                if index is not None:
                    search = delayed(search_block)(search, index, labels)
            found.append(da.from_delayed(delayed(labels_of)(search), (size,), np.int32))
        return da.concatenate(found, allow_unknown_chunksizes=True)


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
