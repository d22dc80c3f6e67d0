"""New points → the edges with which the spanning tree of all points can reach them.

A search returns the candidates between old and new points, and the tree of the new ones; see
extended_tree.py. Or None, where it cannot promise the tree that a search among all points finds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES, POWERS, SQUARES
from isthmus._utils.parallel import Workers, chunks, map_in_threads
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.kdtree.limits import FEW_FEATURES, padded_dims
from isthmus.metrics import CallableMetric, PreparedPoints, RowMetric
from isthmus.metrics.accumulate import fill_distances
from isthmus.metrics.duplicates import RowIndex, find_duplicates
from isthmus.prediction.attachments import attach_by_distances
from isthmus.prediction.extended_tree import NewEdges, choose_extended, joined_tree
from isthmus.spanning_tree.by_kdtree.engine import is_by_index
from isthmus.spanning_tree.engine import Problem
from isthmus.spanning_tree.prim import is_quick
from isthmus.spanning_tree.prim_rowwise import prim_of_callable, prim_of_rows
from isthmus.spanning_tree.result import KdTreeIndex, SpanningTree, tree_in_order
from isthmus.spanning_tree.selection import find_spanning_tree
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import gaps_of_merges

# Distances that differ by this share, or less, are not told apart when candidates are pruned.
_SLACK = 1e-12
# Searching for new points pays up to this number of them, as a share of the old ones.
_MOST_NEW = 0.25
# New points that are searched for together.
_TOGETHER = 1 << 10
# Distances that are held together.
_DISTANCES_TOGETHER = 1 << 21
# Metrics whose distances differ, in the last bit, from one direction to the other.
_ONE_WAY = ("jensenshannon",)


def extended_by_kdtree(
    tree: UltrametricTree, problem: Problem, index: KdTreeIndex | None
) -> SpanningTree | None:
    """Return the spanning tree of dense points with few features, by searching a kd-tree.

    Parameters
    ----------
    tree : UltrametricTree
        Of the first points; ties were broken by index.
    problem : Problem
        All points, the old ones first.
    index : KdTreeIndex, optional
        The kd-tree of the old points, if there is one.
    """
    n_old = tree.n_points
    n_new = problem.n_points - n_old
    if n_new > _MOST_NEW * n_old or not _is_found_by_index(problem):
        return None
    points, metric = problem.points, problem.prepared.metric
    new_tree = find_spanning_tree(points[n_old:], metric.plain(), n_jobs=problem.n_jobs).tree
    if not new_tree.by_index:
        return None
    compared, order = _as_compared(tree, points, metric.kind)
    index = index or _build_index(replace(problem.prepared, points=points[:n_old]), problem.n_jobs)
    candidates = _candidates(compared, index, problem)
    among_new = new_tree.edges + n_old
    new = NewEdges(
        np.concatenate([candidates.edges, among_new]),
        np.concatenate([candidates.lengths, _lengths(points, among_new, metric.kind)]),
    )
    stays = np.empty(n_old - 1, dtype=np.bool_)
    stays[order], chosen = choose_extended(compared, n_new, new)
    weights = problem.prepared.heights(new.lengths[chosen])
    return joined_tree(tree.spanning_tree, stays, new.edges[chosen], weights, problem.n_jobs)


def _is_found_by_index(problem: Problem) -> bool:
    """Whether a search among all points is sure to take a kd-tree, and to break ties by index."""
    prepared = problem.prepared
    n_features = prepared.points.shape[1]
    is_plain = prepared.scale == 1.0 and prepared.unscaled is None
    if not is_plain or prepared.metric.kind == POWERS or not 1 < n_features <= FEW_FEATURES:
        return False
    if is_quick(problem):  # so it is found in a moment
        return False
    duplicates = find_duplicates(prepared.points, problem.n_jobs)
    if duplicates is None:
        return is_by_index(problem)
    distinct = replace(prepared, points=prepared.points[duplicates.distinct])
    return is_by_index(replace(problem, data=distinct))


def _lengths(points: Array, edges: Ints, kind: int) -> Floats:
    """Return the lengths of edges, as kernels accumulate them."""
    total = np.zeros(len(edges))
    for feature in points.T:
        difference = feature[edges[:, 0]].astype(np.float64) - feature[edges[:, 1]]
        if kind == SQUARES:
            total += difference * difference
        elif kind == ABSOLUTES:
            total += np.abs(difference)
        else:
            np.maximum(total, np.abs(difference), out=total)
    return total


def _as_compared(tree: UltrametricTree, points: Array, kind: int) -> tuple[UltrametricTree, Any]:
    """Return the tree with the lengths that kernels compare, and where its edges were before.

    Of lengths that differ the distances may be equal, by the rounding of a root. Edges are then in
    another order.
    """
    spanning_tree = tree.spanning_tree
    edges, lengths = spanning_tree.edges, _lengths(points, spanning_tree.edges, kind)
    order: Any = slice(None)
    if (lengths[1:] < lengths[:-1]).any():
        order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
        in_order = tree_in_order(edges[order], lengths[order], spanning_tree.engine)
        return UltrametricTree.from_spanning_tree(in_order), order
    in_order = tree_in_order(edges, lengths, spanning_tree.engine)
    compared = UltrametricTree(in_order, tree.children, tree.sizes)
    vars(compared)["starts"] = tree.starts  # they are kept once they are computed
    return compared, order


def _build_index(prepared: PreparedPoints, n_jobs: int) -> KdTreeIndex:
    from isthmus.kdtree.build import build_tree  # it loads Numba

    points = np.ascontiguousarray(prepared.points)
    first = RowIndex(points).first_equal()
    distinct = np.flatnonzero(first == np.arange(len(first)))
    with Workers(n_jobs) as workers:
        kdtree = build_tree(points[distinct], padded_dims(points.shape[1]), workers)
    return KdTreeIndex(prepared, distinct, kdtree)


def _candidates(compared: UltrametricTree, index: KdTreeIndex, problem: Problem) -> NewEdges:
    """Return the edges between old and new points that the kd-tree leaves."""
    from isthmus.prediction.kdtree_candidates import CandidateSearch  # it loads Numba

    n_old, metric = compared.n_points, problem.prepared.metric
    gaps = gaps_of_merges(compared.children, compared.starts, compared.heights)
    search = CandidateSearch(index, compared.starts, gaps, _SLACK)
    new = problem.points[n_old:].astype(np.float64, copy=False)

    def find(block: tuple[int, int]) -> tuple[Ints, NewEdges]:
        found = search.candidates(new[slice(*block)], only_nearest=False)
        used = np.arange(found.point.shape[1]) < found.n_found[:, None]
        ends = np.repeat(np.arange(*block), np.maximum(found.n_found, 0)) + n_old
        edges = np.column_stack([found.point[used], ends])
        return np.flatnonzero(found.n_found < 0) + block[0], NewEdges(edges, found.distance[used])

    blocks = list(chunks(len(new), _TOGETHER))
    found = list(map_in_threads(find, blocks, problem.n_jobs))
    others = np.concatenate([too_many for too_many, _ in found])
    parts = [part for _, part in found]
    if len(others):
        columns = np.ascontiguousarray(problem.points[:n_old].T)

        def distances(numbers: Ints) -> Floats:
            out = np.empty((len(numbers), n_old))
            fill_distances(new[numbers], columns, metric.kind, metric.power, out)
            return out

        parts.append(_candidates_by_rows(compared, others, distances))
    return NewEdges(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _candidates_by_rows(
    compared: UltrametricTree, numbers: Ints, distances: Callable[[Ints], Floats]
) -> NewEdges:
    """Return the candidates of some new points, from their distances to all old ones.

    distances : callable
        From numbers of new points, (b,), to their distances, (b, n), as edges are compared.
    """
    n_old = compared.n_points
    # Edges as long as a merge are kept: which of the two comes first, their indices say.
    above = np.nextafter(compared.heights, np.inf)
    per_block = max(1, _DISTANCES_TOGETHER // n_old)
    blocks = (
        (np.arange(*block), distances(numbers[slice(*block)]))
        for block in chunks(len(numbers), per_block)
    )
    found = attach_by_distances(compared, len(numbers), blocks, above)
    ends = np.repeat(numbers, np.diff(found.begin)) + n_old
    return NewEdges(np.column_stack([found.point, ends]), found.length)


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
    """
    if metric.name in _ONE_WAY:
        return None
    n_old = tree.n_points
    n_new = len(data) - n_old
    distances = _distances_to_old(data, n_old, metric, progress)
    candidates = _candidates_by_rows(tree, np.arange(n_new), distances)
    among_new = NewEdges(np.empty((0, 2), dtype=np.int64), np.empty(0))
    if n_new > 1:
        if isinstance(metric, RowMetric):
            found = prim_of_rows(data[n_old:], metric, n_jobs)
        else:
            found = prim_of_callable(data[n_old:], metric)
        among_new = NewEdges(np.sort(found.edges, axis=1) + n_old, found.weights)
    new = NewEdges(*(np.concatenate(each) for each in zip(candidates, among_new, strict=True)))
    stays, chosen = choose_extended(tree, n_new, new)
    edges, weights = new.edges[chosen], new.lengths[chosen]
    if isinstance(metric, CallableMetric):
        for (i, j), weight in zip(edges.tolist(), weights.tolist(), strict=True):
            metric.check_pair(data, j, i, weight)
    return joined_tree(tree.spanning_tree, stays, edges, weights, n_jobs)


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
