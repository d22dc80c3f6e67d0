"""Prim's algorithm where rows of distances come from SciPy, or from a Python callable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus._utils.parallel import Workers
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array, Floats
from isthmus.metrics import CallableMetric, RowMetric
from isthmus.spanning_tree.engine import FIXED_BYTES, Edges, Engine, Problem
from isthmus.spanning_tree.prim import (
    BYTES_PER_POINT,
    PrimOnPoints,
    State,
    prim_step_on_row,
    run_prim,
)

# A distance of a callable takes any time: one row of them is as much as should pass before
# progress is reported.
_WORK_BY_CALLABLE = 1_000_000_000
# Rows that each thread computes at a time, and keeps at most.
_AT_ONCE, _MOST_KEPT = 2, 16
# Rows that take less are not worth another thread.
_WORTH_NANOSECONDS = 1_000_000
# Bytes per point: of the rows that each thread keeps, and of distances as Python's numbers.
_BYTES_KEPT = 8 * (_AT_ONCE + _MOST_KEPT + 2)
_BYTES_OF_OBJECTS = 300


class PrimOnRows(Engine):
    """Prim's algorithm on rows of distances that SciPy computes."""

    name = "prim"
    takes = PrimOnPoints.takes

    def supports(self, problem: Problem) -> bool:
        """Whether the metric is one by rows."""
        return isinstance(problem.metric, RowMetric)

    def bytes_needed(self, problem: Problem) -> int:
        """Return how much memory its buffers, copies of the points and rows ahead take."""
        copies = 4 if problem.metric.accepts_nan else 1
        row = 8 * int(problem.data.shape[1]) * copies
        ahead = _BYTES_KEPT * problem.n_jobs if problem.n_jobs > 1 else 0
        return FIXED_BYTES + problem.n_points * (row + BYTES_PER_POINT + ahead)

    def run(self, problem: Problem) -> Edges:
        """Find the tree."""
        assert isinstance(problem.metric, RowMetric)
        return prim_of_rows(problem.data, problem.metric, problem.n_jobs, problem.progress)


class PrimOnItems(Engine):
    """Prim's algorithm on distances that a Python function computes."""

    name = "prim"
    takes = PrimOnPoints.takes

    def supports(self, problem: Problem) -> bool:
        """Whether the metric is a function."""
        return isinstance(problem.metric, CallableMetric)

    def bytes_needed(self, problem: Problem) -> int:
        """Return how much memory its buffers and Python's numbers take."""
        return FIXED_BYTES + _BYTES_OF_OBJECTS * problem.n_points

    def run(self, problem: Problem) -> Edges:
        """Find the tree."""
        assert isinstance(problem.metric, CallableMetric)
        return prim_of_callable(problem.data, problem.metric, problem.progress)


def prim_of_rows(
    points: Array, metric: RowMetric, n_jobs: int = 1, progress: Progress | None = None
) -> Edges:
    """Return the edges and weights of the spanning tree of points, in the order Prim adds them.

    The only memory beyond the points is a copy of them, whose rows are swapped as points join, so
    that those still outside the tree stand together; and with several threads some rows ahead.
    """
    rows = metric.prepare(points)
    n_points, n_features = rows.shape
    with Workers(n_jobs) as workers:
        ahead = _RowsAhead(metric, rows, workers)

        def advance(state: State, n_steps: int) -> None:
            for _ in range(n_steps):
                ahead.fill_row(state)
                last = state.outside - 1
                j = prim_step_on_row(state)
                rows[[j, last]] = rows[[last, j]]

        state = run_prim(n_points, n_features * metric.cost, advance, progress)
    return Edges(state.edges, state.weights)


class _RowsAhead:
    """Rows of distances, each thread computing whole ones: some of points that are yet to join.

    Every point joins once, and its row is needed then. Those that are nearest to the tree now join
    soon, so threads compute their rows, too, and keep them until then.
    """

    def __init__(self, metric: RowMetric, rows: Floats, workers: Workers) -> None:
        self.metric = metric
        self.rows = rows
        self.workers = workers
        self.kept: dict[int, Floats] = {}

    def fill_row(self, state: State) -> None:
        """Fill state.row with the distances of the point that joined last."""
        outside = state.outside
        newest = int(state.point[outside])
        if newest not in self.kept and not self._worth_threads(outside):
            row = state.row[np.newaxis, :outside]
            self.metric.fill(self.rows[outside : outside + 1], self.rows[:outside], row)
            self.metric.refuse_invalid(row[0], newest, state.point)
            return
        if newest not in self.kept:
            self._compute(state, [outside, *self._next(state)])
        state.row[:outside] = self.kept.pop(newest)[state.point[:outside]]

    def _worth_threads(self, outside: int) -> bool:
        """Whether a row takes long enough that computing several at once pays."""
        nanoseconds = self.metric.cost * self.rows.shape[1] * outside
        return self.workers.n_jobs > 1 and nanoseconds > _WORTH_NANOSECONDS

    def _next(self, state: State) -> list[int]:
        """Return the positions of the points that will join next, as far as can be said now."""
        outside = state.outside
        n_jobs = self.workers.n_jobs
        spare = _MOST_KEPT * n_jobs - len(self.kept)
        n_more = min(_AT_ONCE * n_jobs - 1, spare, outside - 1)
        if n_more <= 0:
            return []
        n_near = min(n_more + len(self.kept), outside - 1)
        near = np.argpartition(state.distance[:outside], n_near)[:n_near]
        new = [
            position for position in near.tolist() if int(state.point[position]) not in self.kept
        ]
        return new[:n_more]

    def _compute(self, state: State, positions: list[int]) -> None:
        outside, others = state.outside, state.point

        def work(_: int, number: int, __: int) -> None:
            position = positions[number]
            row = np.empty((1, outside))
            self.metric.fill(self.rows[position : position + 1], self.rows[:outside], row)
            point = int(others[position])
            if position < outside:
                row[0, position] = 0.0  # of itself; nobody asks
            self.metric.refuse_invalid(row[0], point, others)
            by_point = np.empty(len(others))
            by_point[others[:outside]] = row[0]
            self.kept[point] = by_point

        self.workers.in_blocks(len(positions), 1, work)


def prim_of_callable(
    items: Sequence[Any], metric: CallableMetric, progress: Progress | None = None
) -> Edges:
    """Return the edges and weights of the spanning tree of items, in the order Prim adds them.

    Each pair is asked for once. Whether the metric is symmetric is asked of all pairs among the
    first items, of each edge of the tree and of one more pair per edge.
    """
    metric.check_symmetry(items)

    def advance(state: State, n_steps: int) -> None:
        for _ in range(n_steps):
            outside = state.outside
            newest, others = int(state.point[outside]), state.point[:outside].tolist()
            state.row[:outside] = metric.distances(items, newest, others)
            probe = outside // 2
            metric.check_pair(items, newest, others[probe], float(state.row[probe]))
            prim_step_on_row(state)
            edge = int(state.n_edges[0]) - 1
            inside, joined = state.edges[edge].tolist()
            metric.check_pair(items, inside, joined, float(state.weights[edge]))

    state = run_prim(len(items), _WORK_BY_CALLABLE, advance, progress)
    return Edges(state.edges, state.weights)
