"""Prim's algorithm, one row of distances at a time: O(n²) time, O(n) memory, any metric.

Edges are compared by (accumulated distance, smaller index, larger index), a strict total order,
so the tree is unique. Each driver advances its kernel by a limited amount of work per call, so
that Ctrl-C and progress are served in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics import PreparedPoints
from isthmus.metrics.accumulate import accumulate_row
from isthmus.metrics.precomputed import CondensedDistances, SquareDistances
from isthmus.spanning_tree.engine import FIXED_BYTES, Edges, Engine, Problem

# Distance evaluations, times features, per kernel call: a few hundredths of a second.
_WORK_PER_CALL = 20_000_000
# Up to this number of distances, times features, it takes a fraction of a second.
_QUICK_WORK = 1_500_000_000
# Its buffers, and sorting the edges.
BYTES_PER_POINT = 76


class PrimOnPoints(Engine):
    """Prim's algorithm on points whose distances a kernel computes."""

    name = "prim"
    takes = "dense points, any metric, and full matrices of distances"

    def supports(self, problem: Problem) -> bool:
        """Whether kernels can read the points."""
        return problem.has_dense_points or (problem.has_prepared_points and problem.n_points == 1)

    def bytes_needed(self, problem: Problem) -> int:
        """Return how much memory its buffers and a copy of the points take."""
        return FIXED_BYTES + int(problem.points.nbytes) + BYTES_PER_POINT * problem.n_points

    def run(self, problem: Problem) -> Edges:
        """Find the tree."""
        return prim_of_points(problem.prepared, problem.progress)


class PrimOnDistances(Engine):
    """Prim's algorithm on a matrix of distances."""

    name = "prim"
    takes = PrimOnPoints.takes

    def supports(self, problem: Problem) -> bool:
        """Whether all distances are given."""
        return isinstance(problem.data, SquareDistances | CondensedDistances)

    def bytes_needed(self, problem: Problem) -> int:
        """Return how much memory its buffers take."""
        return FIXED_BYTES + BYTES_PER_POINT * problem.n_points

    def run(self, problem: Problem) -> Edges:
        """Find the tree."""
        if isinstance(problem.data, CondensedDistances):
            return prim_of_condensed(problem.data, problem.progress)
        return prim_of_matrix(problem.data, problem.progress)


def is_quick(problem: Problem) -> bool:
    """Whether Prim's algorithm takes a fraction of a second."""
    n_points, n_features = problem.points.shape
    return bool(n_points**2 * (n_features + 6) <= _QUICK_WORK)


def prim_of_points(prepared: PreparedPoints, progress: Progress | None = None) -> Edges:
    """Return the edges and weights of the spanning tree of points, in the order Prim adds them."""
    points = prepared.points
    n_points, n_features = points.shape
    # Features first: the inner loop then runs over neighbouring points. The kernel reorders it.
    columns = np.array(points.T, order="C", copy=True)
    metric = prepared.metric

    def advance(state: State, n_steps: int) -> None:
        prim_steps_on_points(columns, metric.kind, metric.power, state, n_steps)

    state = run_prim(n_points, n_features, advance, progress)
    return Edges(state.edges, prepared.heights(state.weights))


def prim_of_matrix(distances: SquareDistances, progress: Progress | None = None) -> Edges:
    """Return the edges and weights of the spanning tree of a square distance matrix."""

    def advance(state: State, n_steps: int) -> None:
        prim_steps_on_matrix(distances.matrix, state, n_steps)

    state = run_prim(distances.n_points, 1, advance, progress)
    return Edges(state.edges, state.weights)


def prim_of_condensed(distances: CondensedDistances, progress: Progress | None = None) -> Edges:
    """Return the edges and weights of the spanning tree of a condensed distance matrix."""

    def advance(state: State, n_steps: int) -> None:
        prim_steps_on_condensed(distances.values, state, n_steps)

    state = run_prim(distances.n_points, 1, advance, progress)
    return Edges(state.edges, state.weights)


class State(NamedTuple):
    """The buffers of a run of Prim; the kernels fill them.

    Attributes
    ----------
    point : (n,) int64
        Those of the points outside the tree come first, then the one that joined last.
    nearest : (n,) int64
        Of the points outside, the point of the tree that is closest.
    distance : (n,) float64
        How far it is.
    row : (n,) float64
        Distances of the point that joined last to those outside.
    n_edges : (1,) int64
    edges, weights : (n - 1, 2) int64 and (n - 1,) float64
    """

    point: Ints
    nearest: Ints
    distance: Floats
    row: Floats
    n_edges: Ints
    edges: Ints
    weights: Floats

    @property
    def outside(self) -> int:
        """The number of points outside the tree, and the position of the one that joined last."""
        return len(self.point) - 1 - int(self.n_edges[0])


def _begin(n_points: int) -> State:
    return State(
        point=np.arange(n_points, dtype=np.int64),
        nearest=np.full(n_points, -1, dtype=np.int64),
        distance=np.full(n_points, np.inf),
        row=np.empty(n_points),
        n_edges=np.zeros(1, dtype=np.int64),
        edges=np.empty((n_points - 1, 2), dtype=np.int64),
        weights=np.empty(n_points - 1),
    )


def run_prim(
    n_points: int,
    work_per_distance: int,
    advance: Callable[[State, int], None],
    progress: Progress | None,
) -> State:
    """Call advance(state, n_steps), for a limited amount of work each, until the tree is done."""
    state = _begin(n_points)
    n_steps = n_points - 1
    while (done := int(state.n_edges[0])) < n_steps:
        work_per_step = (n_points - done) * work_per_distance
        advance(state, max(1, min(n_steps - done, _WORK_PER_CALL // work_per_step)))
        if progress is not None:  # the later a step, the fewer points are left to look at
            left = n_steps - int(state.n_edges[0])
            progress(n_steps - left * left // n_steps, n_steps)
    return state


@kernel
def prim_steps_on_points(
    columns: Array, kind: int, power: float, state: State, n_steps: int
) -> None:
    """Add n_steps edges to the tree of points.

    Parameters
    ----------
    columns : (n_features, n) float array, in and out
        Coordinates; column j belongs to state.point[j], and columns are swapped as points join.
    kind, power : int, float
        What to accumulate; see accumulate_row.
    state : in and out
    n_steps : int
    """
    for _ in range(n_steps):
        # The point that joined last stands right behind the points still outside.
        outside = state.point.shape[0] - 1 - state.n_edges[0]
        accumulate_row(columns[:, outside], columns, kind, power, state.row[:outside])
        j = join_next(state)
        for f in range(columns.shape[0]):
            swapped = columns[f, j]
            columns[f, j] = columns[f, outside - 1]
            columns[f, outside - 1] = swapped


@kernel
def prim_steps_on_matrix(matrix: Array, state: State, n_steps: int) -> None:
    """Add n_steps edges to the tree of a distance matrix; arguments as above."""
    point, row = state.point, state.row
    for _ in range(n_steps):
        outside = point.shape[0] - 1 - state.n_edges[0]
        newest = point[outside]
        for j in range(outside):
            row[j] = matrix[newest, point[j]]
        join_next(state)


@kernel
def prim_steps_on_condensed(values: Array, state: State, n_steps: int) -> None:
    """Add n_steps edges to the tree of a condensed distance matrix; arguments as above.

    values : (n (n - 1) / 2,) float32 or float64, in
        The distances above the diagonal, row by row.
    """
    point, row = state.point, state.row
    n_points = point.shape[0]
    for _ in range(n_steps):
        outside = n_points - 1 - state.n_edges[0]
        newest = point[outside]
        for j in range(outside):
            low, high = min(newest, point[j]), max(newest, point[j])
            row[j] = values[low * (2 * n_points - low - 1) // 2 + high - low - 1]
        join_next(state)


@kernel
def prim_step_on_row(state: State) -> int:
    """Add an edge, given the newest point's row; return what join_next does."""
    return join_next(state)


@kernel_part
def join_next(state: State) -> int:
    """Let the point that is nearest to the tree join it, given the newest point's row.

    Returns the position of that point, which is swapped with the last one outside. Of points that
    are equally near the edge that is smaller by its indices is taken.
    """
    row, point, nearest, distance = state.row, state.point, state.nearest, state.distance
    e = state.n_edges[0]
    outside = point.shape[0] - 1 - e
    newest = point[outside]
    best = 0
    for j in range(outside):
        d = row[j]
        if d <= distance[j] and (
            d < distance[j] or edge_before(point[j], newest, point[j], nearest[j])
        ):
            distance[j] = d
            nearest[j] = newest
        if distance[j] <= distance[best] and (
            distance[j] < distance[best]
            or edge_before(point[j], nearest[j], point[best], nearest[best])
        ):
            best = j
    joining, last = point[best], outside - 1
    state.edges[e, 0] = nearest[best]
    state.edges[e, 1] = joining
    state.weights[e] = distance[best]
    state.n_edges[0] = e + 1
    point[best] = point[last]
    nearest[best] = nearest[last]
    distance[best] = distance[last]
    point[last] = joining
    return best


@kernel_part
def edge_before(a: int, b: int, c: int, d: int) -> bool:
    """Whether edge {a, b} comes before edge {c, d} of the same length."""
    low, other_low = min(a, b), min(c, d)
    return low < other_low or (low == other_low and max(a, b) < max(c, d))
