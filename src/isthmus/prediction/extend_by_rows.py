"""New points known by their distances alone → the spanning tree of all points."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from isthmus._utils.parallel import chunks
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Floats, Ints
from isthmus.metrics import CallableMetric, RowMetric
from isthmus.prediction.attachments import attach_by_distances
from isthmus.prediction.extended_tree import (
    ComparedTree,
    NewEdges,
    choose_extended,
    joined_edges,
    joined_tree,
)
from isthmus.spanning_tree.prim_rowwise import prim_of_callable, prim_of_rows
from isthmus.spanning_tree.result import SpanningTree
from isthmus.ultrametric import UltrametricTree

# Distances that are held together.
_DISTANCES_TOGETHER = 1 << 21
# Metrics whose distances differ, in the last bit, from one direction to the other.
_ONE_WAY = ("jensenshannon",)
# Lengths may be known up to this share.
_ROUNDING = 1e-14


def extended_by_rows(
    tree: UltrametricTree,
    data: Any,
    metric: RowMetric | CallableMetric,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> SpanningTree | None:
    """Return the spanning tree of points of which only distances are known.

    Parameters
    ----------
    tree : UltrametricTree
        Of the first points; ties were broken by index.
    data : array or list of objects
        All points, the old ones first.

    Returns
    -------
    SpanningTree or None
        None where it might differ in the last bit from the one that a search among all points
        finds.
    """
    if metric.name in _ONE_WAY:
        return None
    n_old = tree.n_points
    n_new = len(data) - n_old
    compared = ComparedTree.of(tree, tree.heights, lambda merges: tree.heights[merges])
    distances = _distances_to_old(data, n_old, metric, progress)
    new = candidates_by_rows(compared, np.arange(n_new), distances)
    if n_new > 1:
        if isinstance(metric, RowMetric):
            found = prim_of_rows(data[n_old:], metric, n_jobs)
        else:
            found = prim_of_callable(data[n_old:], metric)
        new = joined_edges([new, NewEdges(np.sort(found.edges, axis=1) + n_old, found.weights)])
    leaving, comes = choose_extended(compared, n_new, new)
    edges, weights = new.edges[comes], new.lengths[comes]
    if isinstance(metric, CallableMetric):
        for (i, j), weight in zip(edges.tolist(), weights.tolist(), strict=True):
            metric.check_pair(data, j, i, weight)
    return joined_tree(tree.spanning_tree, leaving, edges, weights)


def candidates_by_rows(
    compared: ComparedTree, numbers: Ints, distances: Callable[[Ints], Floats]
) -> NewEdges:
    """Return the candidates of some new points, from their distances to all old ones.

    distances : callable
        From numbers of new points, (b,), to their distances, (b, n), as edges are compared.
    """
    n_old = compared.tree.n_points
    # Edges as long as a merge are kept: which of the two comes first, their indices say.
    above = np.nextafter(compared.bounds * (1.0 + _ROUNDING), np.inf)
    per_block = max(1, _DISTANCES_TOGETHER // n_old)
    blocks = (
        (np.arange(*block), distances(numbers[slice(*block)]))
        for block in chunks(len(numbers), per_block)
    )
    found = attach_by_distances(compared.tree, len(numbers), blocks, above)
    ends = np.repeat(numbers, np.diff(found.begin)) + n_old
    return NewEdges(np.column_stack([found.point, ends]), found.length)


def _distances_to_old(
    data: Any, n_old: int, metric: RowMetric | CallableMetric, progress: Progress | None
) -> Callable[[Ints], Floats]:
    """Return a function from numbers of new points, (b,), to their distances, (b, n_old)."""
    rows = metric.prepare(data) if isinstance(metric, RowMetric) else data
    n_done = count(1)

    def fill_row(i: int, row: Floats) -> None:
        if isinstance(metric, RowMetric):
            metric.fill(rows[i : i + 1], rows[:n_old], row[None, :])
            metric.refuse_invalid(row, i, np.arange(n_old), n_old)
        else:
            row[:] = metric.distances(data, i, range(n_old), n_old)
            metric.check_pair(data, i, n_old // 2, float(row[n_old // 2]))

    def distances(numbers: Ints) -> Floats:
        out = np.empty((len(numbers), n_old))
        for row, i in zip(out, (numbers + n_old).tolist(), strict=True):
            fill_row(i, row)
            if progress is not None:
                progress(next(n_done), len(data) - n_old)
        return out

    return distances
