"""A fit in cells: labels of rows, and of new ones."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from isthmus._utils.typing import Array, Ints, Labels
from isthmus.cut.api import CutClusterer
from isthmus.cut.settings import CutSettings
from isthmus.dask.api import DistributedTree, as_dask_tree
from isthmus.dask.clusters_by_cut import Cutter, NeedsAllPointsError, gather_tree
from isthmus.dask.contraction import RowLabels, join_rows, take_rows
from isthmus.dask.executors import Executor, ThreadExecutor, for_each
from isthmus.dask.inputs import as_blocks
from isthmus.dask.prediction import begin_search, index_cell, labels_of, search_cell
from isthmus.dask.spanning_tree import CellTree
from isthmus.model_selection.suggestion import Suggestion
from isthmus.ultrametric import UltrametricTree


@dataclass
class CellModel:
    """A tree of cells, and its clusters.

    Attributes
    ----------
    executor : Executor
        Where the cells are.
    tree : CellTree
    cutter : Cutter
    settings : CutSettings
    row_labels : list of handles
        Of RowLabels, one for each cell.
    n_features : int
        Of the rows that were given.
    suggestion : Suggestion or None
    """

    executor: Executor
    tree: CellTree
    cutter: Cutter
    settings: CutSettings
    row_labels: list[Any]
    n_features: int
    suggestion: Suggestion | None = None
    _indexes: list[Any] | None = field(default=None, repr=False)

    @property
    def n_points(self) -> int:
        """The number of rows."""
        return self.tree.n_points

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.settings.n_clusters)

    def labels(self) -> Any:
        """Return the cluster of each row: a Dask array in the blocks of X."""
        return _as_dask_array(self.executor, self.row_labels, self.tree.starts)

    def labels_for(self, n_clusters: int) -> Any:
        """Return the same for another number of clusters."""
        labels = labels_of_cells(self.cutter, replace(self.settings, n_clusters=n_clusters))
        return _as_dask_array(self.executor, labels, self.tree.starts)

    def spanning_tree(self) -> DistributedTree:
        """Return the minimum spanning tree."""
        return as_dask_tree(self.executor, self.tree)

    def predict(self, X: Any) -> Any:
        """Return the clusters of the rows of cells that are nearest to new ones: a Dask array."""
        import dask.array as da
        from dask.delayed import delayed

        executor, tree = self.executor, self.tree
        given = as_blocks(X)
        if self._indexes is None:
            self._indexes = [
                executor.submit("index", index_cell, cell, labels, where=c, large=True)
                for c, (cell, labels) in enumerate(zip(tree.cells, self.row_labels, strict=True))
            ]
        indexes = [executor.delayed(index) for index in self._indexes]
        found = []
        for block, size in zip(given.blocks, given.sizes, strict=True):
            search = delayed(begin_search)(block, tree.mapping, self.n_features)
            for c, index in enumerate(indexes):
                search = delayed(search_cell)(search, index, tree.boxes.take([c]))
            found.append(da.from_delayed(delayed(labels_of)(search), (size,), np.int32))
        return da.concatenate(found, allow_unknown_chunksizes=True)

    def __getstate__(self) -> dict[str, Any]:
        """Return everything in this process's memory: the cluster need not be there again."""
        here = ThreadExecutor(1)
        tree = replace(self.tree, cells=self.executor.gather(self.tree.cells))
        return vars(self) | {
            "executor": here,
            "tree": tree,
            "cutter": replace(self.cutter, executor=here, tree=tree),
            "row_labels": self.executor.gather(self.row_labels),
            "_indexes": None,
        }


def labels_of_cells(cutter: Cutter, settings: CutSettings) -> list[Any]:
    """Return handles of the labels of each cell."""
    try:
        return cutter.labels(settings)
    except NeedsAllPointsError:
        whole = UltrametricTree.from_spanning_tree(gather_tree(cutter.executor, cutter.tree))
        weights = _gathered_weights(cutter) if cutter.has_weights else None
        labels = CutClusterer(whole, weights).labels(settings)
        rows = for_each(cutter.executor, "rows", _rows_of, cutter.tree.cells)
        return [RowLabels(of_cell, labels[of_cell]) for of_cell in rows]


def _rows_of(cell: Any) -> Ints:
    return np.array(cell.rows)  # a copy: an array of a cell in a file would keep the file mapped


def _rows_and_weights(cell: Any) -> tuple[Ints, Array]:
    return cell.rows, cell.weights


def _gathered_weights(cutter: Cutter) -> Array:
    weights = np.empty(cutter.tree.n_points)
    for rows, of_cell in for_each(cutter.executor, "rows", _rows_and_weights, cutter.tree.cells):
        weights[rows] = of_cell
    return weights


def _as_dask_array(executor: Executor, labels: list[Any], starts: Ints) -> Any:
    """Return the labels of all rows, in the blocks of the input, empty ones included."""
    import dask.array as da
    from dask.delayed import delayed
    from dask.highlevelgraph import HighLevelGraph

    blocks = []
    for start, stop in pairwise(starts.tolist()):
        parts = [executor.delayed(cell) for cell in labels]
        if not executor.shares_memory:  # what other workers hold is not worth moving as a whole
            parts = [delayed(take_rows)(part, start, stop) for part in parts]
        blocks.append(delayed(join_rows)(parts, start, stop))
    name = f"labels-{uuid.uuid4().hex}"
    layer = {(name, b): (_as_it_is, block.key) for b, block in enumerate(blocks)}
    graph = HighLevelGraph.from_collections(name, layer, dependencies=blocks)
    return da.Array(graph, name, chunks=(tuple(np.diff(starts).tolist()),), dtype=np.int32)


def _as_it_is(labels: Labels) -> Labels:
    return labels
