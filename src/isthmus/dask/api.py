"""Dask arrays → the spanning tree of their rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._utils.memory import require_memory
from isthmus._utils.parameters import check_integer, check_n_jobs
from isthmus._utils.progress import Stages, check_verbose
from isthmus.dask.cell import edges_of, weights_of
from isthmus.dask.executors import Aligned, Executor, aligned, find_executor
from isthmus.dask.fitting import begin
from isthmus.dask.log import Log
from isthmus.dask.spanning_tree import CellTree, Report
from isthmus.spanning_tree import SpanningTree
from isthmus.spanning_tree.result import trusted_tree

# What a spanning tree takes where it is gathered: edges and weights, twice while they are sorted.
_BYTES_PER_EDGE = 72


@dataclass(frozen=True, eq=False, repr=False)
class DistributedTree:
    """The minimum spanning tree of the rows of a Dask collection.

    Attributes
    ----------
    edges : dask.array.Array of shape (n_points - 1, 2), int64
        The two rows of each edge, the smaller one first; a block for each cell, and one for the
        edges between cells.
    weights : dask.array.Array of shape (n_points - 1,), float64
        The lengths of these edges.
    n_points : int
    log : Log
        What it took.

    See Also
    --------
    minimum_spanning_tree : Compute it.

    Examples
    --------
    >>> import dask.array as da
    >>> from isthmus.dask import minimum_spanning_tree
    >>> tree = minimum_spanning_tree(da.from_array([[0.0], [1.0], [3.0]], chunks=(2, 1)))
    >>> tree.n_points, float(tree.weights.sum().compute())
    (3, 3.0)
    """

    edges: Any
    weights: Any
    n_points: int
    log: Any

    def gather(self) -> SpanningTree:
        """Return the tree in this process's memory, its edges in total order."""
        require_memory(
            _BYTES_PER_EDGE * self.n_points,
            f"Gathering a spanning tree of {self.n_points:,} points",
            "Keep edges and weights as Dask arrays.",
        )
        import dask

        edges, weights = aligned(dask.compute(self.edges, self.weights))
        return trusted_tree(edges, weights, "dask")

    def __repr__(self) -> str:
        return f"DistributedTree(n_points={self.n_points})"


def minimum_spanning_tree(
    X: Any,
    *,
    metric: str = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_cells: int | None = None,
    client: Any = None,
    n_jobs: int | None = None,
    verbose: Any = 0,
) -> DistributedTree:
    """Return the exact minimum spanning tree of the rows of a Dask array or data frame.

    Weights are those that one machine finds, to the last bit, whatever the blocks and the cells.
    Where edges are equally long, the tree of cells is the one of ``engine="prim"``: ties are broken
    by the numbers of rows. In many features it is one of the minimum spanning trees.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        In blocks of rows. Sizes of blocks need not be known.
    metric : str, default="euclidean"
        Any name that :func:`isthmus.minimum_spanning_tree` knows; ``"seuclidean"`` and
        ``"mahalanobis"`` with given variances. Where distances are Euclidean after a map of each
        row to up to eight features, cells in space keep work and memory small. For all others
        every two blocks meet in a task, and this process gathers the tree.
    metric_params : dict, optional
    n_cells : int, optional
        Into how many cells points are divided; by default four for each thread of the cluster,
        and more where they would have more than a million points each. In many features, into how
        many bundles of blocks, at most; by default as many as there are threads, or three.
    client : distributed.Client, optional
        By default the current one. Without one, threads of this process do the work.
    n_jobs : int, optional
        Threads, where there is no client; None is one, -1 every core.
    verbose : int or callable, default=0
        With 1, progress bars; a function is called as ``verbose(stage, done, total)``.

    Returns
    -------
    DistributedTree
        ``edges`` and ``weights`` as Dask arrays; ``gather()`` makes a SpanningTree of them.

    See Also
    --------
    DistributedTree : What is returned.
    isthmus.minimum_spanning_tree : For points that one machine holds.

    Examples
    --------
    >>> import dask.array as da
    >>> from isthmus.dask import minimum_spanning_tree
    >>> X = da.from_array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]], chunks=(2, 2))
    >>> minimum_spanning_tree(X).gather().weights.tolist()
    [1.0, 2.0]
    """
    check_verbose(verbose)
    check_n_cells(n_cells)
    executor = find_executor(client, check_n_jobs(n_jobs))
    task = begin(X, (metric, metric_params), executor, n_cells, reporter(verbose))
    if task.has_cells:
        return as_dask_tree(executor, task.find_cells())
    return as_dask_tree_of(task.find_whole_tree())


def as_dask_tree_of(tree: SpanningTree) -> DistributedTree:
    """Return a tree in this process's memory as Dask arrays."""
    import dask.array as da

    edges, weights = da.from_array(tree.edges, chunks=-1), da.from_array(tree.weights, chunks=-1)
    return DistributedTree(edges, weights, tree.n_points, Log())


def as_dask_tree(executor: Executor, tree: CellTree) -> DistributedTree:
    """Return a tree of cells as Dask arrays."""
    import dask.array as da
    from dask.delayed import delayed

    across, across_weights = tree.edges_across()
    edges, weights = [da.from_array(across, chunks=-1)], [da.from_array(across_weights, chunks=-1)]
    rows_of, lengths_of = delayed(Aligned(edges_of)), delayed(Aligned(weights_of))
    for n_rows, handle, dropped in zip(tree.n_rows, tree.cells, tree.dropped, strict=True):
        cell, size = executor.delayed(handle), n_rows - 1 - len(dropped)
        edges.append(da.from_delayed(rows_of(cell, dropped), (size, 2), np.int64))
        lengths = lengths_of(cell, dropped, tree.mapping)
        weights.append(da.from_delayed(lengths, (size,), np.float64))
    return DistributedTree(da.concatenate(edges), da.concatenate(weights), tree.n_points, tree.log)


def check_n_cells(n_cells: Any) -> None:
    """Raise for anything but None or a number of cells that there can be."""
    if n_cells is not None and check_integer(n_cells, "n_cells", 1) > np.iinfo(np.int16).max:
        raise ValueError(f"n_cells must be at most {np.iinfo(np.int16).max}, got {n_cells}.")


def reporter(verbose: Any) -> Report:
    """Return the function that reports all stages."""
    stages = Stages(verbose)
    progress: dict[str, Any] = {}

    def report(stage: str, done: int, total: int) -> None:
        if stage not in progress:
            progress[stage] = stages.stage(stage)
        if progress[stage] is not None:
            progress[stage](done, total)

    return report
