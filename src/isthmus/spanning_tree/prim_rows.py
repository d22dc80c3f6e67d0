"""Prim's algorithm where rows of distances come from SciPy, or from a Python callable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus._parallel import Workers
from isthmus._typing import Array, Floats, Ints
from isthmus.any_metric import CallableMetric, RowMetric
from isthmus.spanning_tree.prim import Progress, State, prim_step_on_row, run_prim

# A distance of a callable takes any time: one row of them is as much as should pass before
# progress is reported.
_WORK_BY_CALLABLE = 1_000_000_000


def prim_of_rows(
    points: Array, metric: RowMetric, n_jobs: int = 1, progress: Progress | None = None
) -> tuple[Ints, Floats]:
    """Return the edges and weights of the spanning tree of points, in the order Prim adds them.

    The only memory beyond the points is a copy of them, whose rows are swapped as points join, so
    that those still outside the tree stand together.
    """
    rows = metric.prepare(points)
    n_points, n_features = rows.shape
    block = metric.block_length(n_features)

    def advance(state: State, n_steps: int) -> None:
        for _ in range(n_steps):
            outside = state.outside
            _fill_row(metric, rows, outside, state.row, block, workers)
            metric.refuse_invalid(state.row[:outside], int(state.point[outside]), state.point)
            j = prim_step_on_row(state)
            rows[[j, outside - 1]] = rows[[outside - 1, j]]

    with Workers(n_jobs) as workers:
        state = run_prim(n_points, n_features * metric.cost, advance, progress)
    return state.edges, state.weights


def _fill_row(
    metric: RowMetric, rows: Floats, outside: int, row: Floats, block: int, workers: Workers
) -> None:
    """Fill row[:outside] with the distances of rows[:outside] to rows[outside]."""
    newest, out = rows[outside : outside + 1], row[np.newaxis]

    def fill(_: int, start: int, stop: int) -> None:
        metric.fill(newest, rows[start:stop], out[:, start:stop])

    workers.in_blocks(outside, block, fill)


def prim_of_callable(
    items: Sequence[Any], metric: CallableMetric, progress: Progress | None = None
) -> tuple[Ints, Floats]:
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
    return state.edges, state.weights
