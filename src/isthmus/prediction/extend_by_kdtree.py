"""New points with few features → the spanning tree of all points, by searching a kd-tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from isthmus._numba.accumulators import ABSOLUTES, POWERS, SQUARES
from isthmus._utils.parallel import Workers, chunks, map_in_threads
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.kdtree.limits import FEW_FEATURES, padded_dims
from isthmus.metrics.accumulate import fill_distances
from isthmus.metrics.duplicates import RowIndex, find_duplicates
from isthmus.metrics.maps import unchanged
from isthmus.prediction.extend_by_rows import candidates_by_rows
from isthmus.prediction.extended_tree import (
    ComparedTree,
    NewEdges,
    choose_extended,
    joined_edges,
    joined_tree,
)
from isthmus.spanning_tree.by_kdtree.engine import FIRST_POINTS, is_by_index
from isthmus.spanning_tree.engine import Problem
from isthmus.spanning_tree.prim import is_quick
from isthmus.spanning_tree.result import KdTreeIndex, SpanningTree, tree_in_order
from isthmus.spanning_tree.selection import find_spanning_tree
from isthmus.ultrametric import UltrametricTree

# Distances that differ by this share, or less, are not told apart when candidates are pruned.
_SLACK = 1e-12
# Searching for new points pays up to this number of them, as a share of the old ones.
_MOST_NEW = 0.05
# New points that are searched for together.
_TOGETHER = 1 << 10


class Extended(NamedTuple):
    """The spanning tree of all points, and the kd-tree of the first ones, which is used again."""

    tree: SpanningTree
    first: KdTreeIndex


def extended_by_kdtree(
    tree: UltrametricTree, problem: Problem, first: KdTreeIndex | None
) -> Extended | None:
    """Return the spanning tree of dense points with few features.

    Parameters
    ----------
    tree : UltrametricTree
        Of the old points; ties were broken by index.
    problem : Problem
        All points, the old ones first.
    first : KdTreeIndex, optional
        The kd-tree of the old points, or of the first of them, if there is one.

    Returns
    -------
    Extended or None
        None where a search among all points may break ties in another way, or takes no longer.
    """
    n_old = tree.n_points
    n_new = problem.n_points - n_old
    if n_new > _MOST_NEW * n_old or not _is_found_by_index(problem, tree):
        return None
    points, metric = problem.points, problem.prepared.metric
    of_new = find_spanning_tree(points[n_old:], metric.plain(), n_jobs=problem.n_jobs)
    if not of_new.tree.by_index:
        return None
    compared = _as_compared(tree, problem)
    indexes = _indexes_of_old(first, problem, n_old)
    # New points that are near each other are searched for one after the other.
    order = np.arange(n_new) if of_new.index is None else of_new.index.rows
    if len(order) < n_new:  # some are equal
        order = np.concatenate([order, np.setdiff1d(np.arange(n_new), order)])
    among_new = of_new.tree.edges + n_old
    new = joined_edges(
        [
            *(_candidates(compared, index, problem, order) for index in indexes),
            NewEdges(among_new, _lengths(points, among_new, metric.kind)),
        ]
    )
    leaving, comes = choose_extended(compared, n_new, new)
    weights = problem.prepared.heights(new.lengths[comes])
    joined = joined_tree(tree.spanning_tree, leaving, new.edges[comes], weights)
    return Extended(joined, indexes[0])


def _is_found_by_index(problem: Problem, tree: UltrametricTree) -> bool:
    """Whether a search among all points is sure to take a kd-tree, and to break ties by index.

    tree : UltrametricTree
        Of the old points, which come first.
    """
    prepared = problem.prepared
    n_features = prepared.points.shape[1]
    is_plain = prepared.scale == 1.0 and prepared.unscaled is None
    if not is_plain or prepared.metric.kind == POWERS or not 1 < n_features <= FEW_FEATURES:
        return False
    if is_quick(problem):  # so it is found in a moment
        return False
    if tree.heights[0] > 0.0 and tree.n_points >= FIRST_POINTS:
        return is_by_index(problem)  # the first points are distinct, and tell
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


def _as_compared(tree: UltrametricTree, problem: Problem) -> ComparedTree:
    """Return the tree with its edges as kernels compare them.

    Different lengths may be equal distances, by the rounding of a root: then the edges are in
    another order.
    """
    spanning_tree, metric = tree.spanning_tree, problem.prepared.metric
    edges, heights = spanning_tree.edges, spanning_tree.weights

    def lengths_of(edges: Ints) -> Callable[[Ints], Floats]:
        return lambda merges: _lengths(problem.points, edges[merges], metric.kind)

    bounds = None
    if not (heights[1:] == heights[:-1]).any():
        if metric.to_heights is np.sqrt:
            bounds = heights * heights
        elif metric.to_heights is unchanged:
            bounds = heights
    if bounds is not None:
        return ComparedTree.of(tree, bounds, lengths_of(edges))
    lengths = _lengths(problem.points, edges, metric.kind)
    if (lengths[1:] >= lengths[:-1]).all():
        return ComparedTree.of(tree, lengths, lengths_of(edges))
    order = np.argsort(lengths, kind="stable")  # equal ones are in order already
    edges, lengths = edges[order], lengths[order]
    in_order = UltrametricTree.from_spanning_tree(tree_in_order(edges, lengths, "as compared"))
    return ComparedTree.of(in_order, lengths, lengths_of(edges), order)


def _indexes_of_old(first: KdTreeIndex | None, problem: Problem, n_old: int) -> list[KdTreeIndex]:
    """Return a kd-tree of the first points, and one of the other old ones, if there are any.

    So a model that is extended again and again does not build the large one each time.

    first : KdTreeIndex, optional
        That of the first points, as it was when it was last used.
    """
    points = problem.points
    n_first = 0
    if first is not None and first.prepared.scale == problem.prepared.scale:
        n_first = len(first.prepared.points)
    if first is None or n_old - n_first > _MOST_NEW * n_first:
        return [_build_index(problem, 0, n_old)]
    # The points as they are now: those of then need not be kept beside them.
    same = replace(first, prepared=replace(problem.prepared, points=points[:n_first]))
    return [same] if n_first == n_old else [same, _build_index(problem, n_first, n_old)]


def _build_index(problem: Problem, start: int, stop: int) -> KdTreeIndex:
    """Return the kd-tree of the distinct points among some."""
    from isthmus.kdtree.build import build_tree  # it loads Numba

    points = np.ascontiguousarray(problem.points[start:stop])
    first = RowIndex(points).first_equal()
    distinct = np.flatnonzero(first == np.arange(len(first)))
    with Workers(problem.n_jobs) as workers:
        kdtree = build_tree(points[distinct], padded_dims(points.shape[1]), workers)
    prepared = replace(problem.prepared, points=problem.points[:stop])
    return KdTreeIndex(prepared, start + distinct, kdtree)


def _candidates(
    compared: ComparedTree, index: KdTreeIndex, problem: Problem, order: Ints
) -> NewEdges:
    """Return the edges between old and new points that the kd-tree leaves.

    order : (n_new,) int64
        In which new points are searched for.
    """
    from isthmus.prediction.kdtree_candidates import CandidateSearch  # it loads Numba

    tree, metric = compared.tree, problem.prepared.metric
    n_old = tree.n_points
    search = CandidateSearch(index, tree.starts, compared.gaps, _SLACK)
    new = problem.points[n_old:].astype(np.float64, copy=False)

    def find(block: tuple[int, int]) -> tuple[Ints, NewEdges]:
        numbers = order[slice(*block)]
        found = search.candidates(new[numbers], only_nearest=False)
        used = np.arange(found.point.shape[1]) < found.n_found[:, None]
        ends = np.repeat(numbers, np.maximum(found.n_found, 0)) + n_old
        edges = np.column_stack([found.point[used], ends])
        return numbers[found.n_found < 0], NewEdges(edges, found.distance[used])

    found = map_in_threads(find, list(chunks(len(new), _TOGETHER)), problem.n_jobs)
    others = np.concatenate([too_many for too_many, _ in found])
    parts = [part for _, part in found]
    if len(others):
        columns = np.ascontiguousarray(problem.points[:n_old].T)

        def distances(numbers: Ints) -> Floats:
            out = np.empty((len(numbers), n_old))
            fill_distances(new[numbers], columns, metric.kind, metric.power, out)
            return out

        parts.append(candidates_by_rows(compared, others, distances))
    return joined_edges(parts)
