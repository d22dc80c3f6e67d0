"""Checked data and a resolved metric → their spanning tree, by the first engine that suits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus._utils.memory import Budget
from isthmus._utils.parameters import check_choice, check_disconnected, check_n_jobs
from isthmus._utils.progress import Progress, part_of
from isthmus.metrics import AnyMetric, MappedMetric, PreparedPoints, prepare_points
from isthmus.metrics.duplicates import Duplicates, find_duplicates
from isthmus.metrics.input import Data, n_bytes_of
from isthmus.metrics.mapped import in_range
from isthmus.spanning_tree.by_blocks.engine import BlockedEngine
from isthmus.spanning_tree.by_kdtree.engine import KdTreeEngine
from isthmus.spanning_tree.engine import (
    BYTES_PER_EDGE,
    FIXED_BYTES,
    Declined,
    Edges,
    Engine,
    Problem,
)
from isthmus.spanning_tree.kruskal import KruskalEngine
from isthmus.spanning_tree.line import SortEngine
from isthmus.spanning_tree.prim import PrimOnDistances, PrimOnPoints
from isthmus.spanning_tree.prim_rowwise import PrimOnItems, PrimOnRows
from isthmus.spanning_tree.result import Found, KdTreeIndex, SpanningTree, trusted_tree
from isthmus.spanning_tree.tiny_edges import with_exact_edges

# In the order in which "auto" tries them. Those of one name take data of different kinds.
ENGINES: tuple[Engine, ...] = (
    SortEngine(),
    KdTreeEngine(),
    BlockedEngine(),
    PrimOnPoints(),
    PrimOnRows(),
    PrimOnItems(),
    PrimOnDistances(),
    KruskalEngine(),
)
# The share of the time after which an engine has found its edges, and they are ordered.
_EDGES_FOUND = 0.93
ENGINE_NAMES = ("auto", *dict.fromkeys(engine.name for engine in ENGINES))


def find_spanning_tree(
    data: Data,
    metric: AnyMetric,
    *,
    disconnected: str | float = "error",
    engine: str = "auto",
    n_jobs: int | None = None,
    progress: Progress | None = None,
    budget: Budget | None = None,
    n_neighbors: int = 0,
    keep_index: bool = True,
) -> Found:
    """Return the spanning tree of checked data, and what was built on the way.

    Parameters
    ----------
    data : array, CSR matrix, list of objects or precomputed distances
        As :func:`isthmus.metrics.input.check_data` returns them for the metric; not checked again.
    metric : a resolved metric
    disconnected, engine, n_jobs, progress
        As for :func:`isthmus.minimum_spanning_tree`.
    budget : Budget, optional
        The memory that may be used beside the data.
    n_neighbors : int
        How many nearest neighbours are wanted as well, where they are found on the way.
    keep_index : bool
        Whether a kd-tree that was built is wanted as well.
    """
    check_choice(engine, "engine", ENGINE_NAMES)
    threads, distance = check_n_jobs(n_jobs), check_disconnected(disconnected)
    left = budget or Budget(None)
    prepared: Any = data
    if isinstance(metric, MappedMetric):
        prepared, left = _prepare(data, metric, left)
    problem = Problem(
        data=prepared,
        metric=metric,
        disconnected=distance,
        n_jobs=threads,
        progress=progress,
        budget=left,
        may_decline=engine == "auto",
        n_neighbors=n_neighbors,
        keep_kdtree=keep_index,
    )
    n_edges = problem.n_points - 1
    finding = part_of(progress, 0.0, _EDGES_FOUND, n_edges)
    found = _find_tree(replace(problem, progress=finding), engine)
    if progress is not None:
        progress(n_edges, n_edges)
    return found if _maps_new_points_alike(data, metric) else replace(found, index=None)


def _find_tree(problem: Problem, engine: str) -> Found:
    for candidate in _candidates(problem, engine):
        found = _run(candidate, problem)
        if not isinstance(found, Declined):
            return found
    raise AssertionError("the last engine never declines")


def _tree_of_mapped_points(points: Any, problem: Problem, engine: str) -> SpanningTree:
    """Return the tree of some mapped points of a problem, its weights the lengths of edges."""
    metric = problem.prepared.metric.plain()
    part = replace(
        problem,
        data=in_range(points, metric),
        metric=metric,
        budget=problem.budget.after(n_bytes_of(points)),
        progress=None,
        n_neighbors=0,
        keep_kdtree=False,
    )
    return _find_tree(part, engine).tree


def _maps_new_points_alike(data: Data, metric: AnyMetric) -> bool:
    """Whether new points, which come in C order, are mapped as these: sums then round alike."""
    if not isinstance(metric, MappedMetric) or not isinstance(data, np.ndarray):
        return False
    return metric.keeps_points or data.flags.c_contiguous


def _prepare(points: Any, metric: MappedMetric, budget: Budget) -> tuple[PreparedPoints, Budget]:
    """Return the points as the metric maps them, and the memory that is left then."""
    if not metric.keeps_points:
        n_entries = points.nnz if issparse(points) else len(points) * max(points.shape[1], 3)
        needed = FIXED_BYTES + 32 * n_entries
        budget.require(needed, f"Mapping the points for metric={metric.name!r}")
    prepared = prepare_points(points, metric)
    if prepared.points is points:
        return prepared, budget
    return prepared, budget.after(n_bytes_of(prepared.points))


def _candidates(problem: Problem, engine: str) -> Iterator[Engine]:
    """Yield the engines to try, one after the other; refuse one that cannot find the tree."""
    able = [candidate for candidate in ENGINES if candidate.supports(problem)]
    if engine == "auto":
        yield from (candidate for candidate in able if candidate.suits(problem))
        return
    named = [candidate for candidate in able if candidate.name == engine]
    if not named:
        takes = next(other.takes for other in ENGINES if other.name == engine)
        others = " or ".join(repr(other.name) for other in able)
        raise ValueError(
            f"engine={engine!r} takes {takes}; it does not serve {problem.describe()}. Use "
            f"engine={others} or 'auto'."
        )
    yield from named


def _run(engine: Engine, problem: Problem) -> Found | Declined:
    """Let an engine find the tree; without duplicates, where it gains from that."""
    duplicates = None
    if engine.removes_duplicates and problem.has_dense_points:
        duplicates = find_duplicates(problem.points, problem.n_jobs)
    found = _find_edges(engine, problem if duplicates is None else _without(problem, duplicates))
    if isinstance(found, Declined):
        return found
    edges, weights = found.edges, found.weights
    if duplicates is not None:
        edges = np.concatenate([duplicates.stars, duplicates.distinct[edges]])
        weights = np.concatenate([np.zeros(len(duplicates.stars)), weights])
    if problem.has_prepared_points and problem.prepared.unscaled is not None:
        name = "auto" if problem.may_decline else engine.name

        def solve(points: Any) -> SpanningTree:
            return _tree_of_mapped_points(points, problem, name)

        edges, weights = with_exact_edges(problem.prepared, edges, weights, solve)
        return Found(trusted_tree(edges, weights, engine.name, problem.n_jobs))
    tree = trusted_tree(edges, weights, engine.name, problem.n_jobs, by_index=found.by_index)
    if found.kdtree is None or not found.weights.all():
        return Found(tree, lists=found.neighbors)
    distinct = None if duplicates is None else duplicates.distinct
    return Found(tree, KdTreeIndex(problem.prepared, distinct, found.kdtree))


def _without(problem: Problem, duplicates: Duplicates) -> Problem:
    """Return the problem of the distinct points."""
    points = problem.points[duplicates.distinct]
    held = points.nbytes + duplicates.distinct.nbytes + duplicates.stars.nbytes
    held += BYTES_PER_EDGE * len(duplicates.stars)
    return replace(
        problem,
        data=replace(problem.prepared, points=points, unscaled=None),
        budget=problem.budget.after(held),
        n_neighbors=0,  # of all points, these would not be found on the way
    )


def _find_edges(engine: Engine, problem: Problem) -> Edges | Declined:
    """Let an engine run with as many threads, and blocks as large, as memory allows."""
    if problem.has_prepared_points and problem.n_points == 1:
        return Edges(np.empty((0, 2), dtype=np.int64), np.empty(0))
    for option in engine.smaller(problem):
        if problem.budget.allows(engine.bytes_needed(option)):
            break
    what = f"The spanning tree of {problem.n_points:,} points (engine={engine.name!r})"
    problem.budget.require(engine.bytes_needed(option), what)
    return engine.run(option)
