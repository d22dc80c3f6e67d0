"""Neighbours that may not be the nearest: found by pynndescent, or given by the user."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus._numba.accumulators import ABSOLUTES, MAXIMUM, SQUARES
from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import Workers, chunks
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.metrics import PreparedPoints
from isthmus.neighbors.sorted_lists import Neighbors, offer_neighbor

# What pynndescent calls the distances that kernels accumulate.
_NAMES = {SQUARES: "euclidean", ABSOLUTES: "manhattan", MAXIMUM: "chebyshev"}
# Distances, times features, per task.
_WORK_PER_TASK = 1 << 24
# Points that are converted together.
_ROWS = 1 << 12
# Nothing random may be left to chance.
_SEED = 0

MISSING = (
    "engine='approximate' searches for neighbours with pynndescent, which is not installed. "
    "Install it with: pip install 'isthmus[approximate]'; or pass neighbors=."
)


def is_supported(prepared: PreparedPoints) -> bool:
    """Whether pynndescent, and the kernels here, know the distances of prepared points."""
    return isinstance(prepared.points, np.ndarray) and prepared.metric.kind in _NAMES


def descend(prepared: PreparedPoints, n_neighbors: int, n_jobs: int = 1) -> Labels:
    """Return neighbours of prepared points, approximately the nearest: (n, n_neighbors) int32.

    -1 where none was found.
    """
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise ImportError(MISSING) from error
    import numba

    points = as_singles(prepared.points)
    found = NNDescent(
        points,
        metric=_NAMES[prepared.metric.kind],
        n_neighbors=min(n_neighbors, len(points)),
        random_state=_SEED,
        n_jobs=min(n_jobs, numba.config.NUMBA_NUM_THREADS),
    )
    return np.ascontiguousarray(found.neighbor_graph[0], dtype=np.int32)


def as_singles(points: Array) -> Array:
    """Return points as float32, shifted and scaled so that no offset or unit costs accuracy."""
    centre = points.mean(axis=0, dtype=np.float64)
    parts = [slice(*bounds) for bounds in chunks(len(points), _ROWS)]
    largest = max(float(np.abs(points[part] - centre).max()) for part in parts)
    singles = np.empty(points.shape, dtype=np.float32)
    for part in parts:  # not all at once, as float64
        singles[part] = (points[part] - centre) / (largest or 1.0)
    return singles


def check_given_neighbors(given: Any, n_points: int) -> Labels:
    """Return neighbours that a user has found: (n_points, n_neighbors) int32.

    given : indices, a pair of indices and distances in any order, or a sparse graph
        Distances are measured anew. Of a graph the stored entries of a row are its neighbours;
        -1 fills up the rows that have fewer.
    """
    if issparse(given):
        if given.shape != (n_points, n_points):
            raise ValueError(
                f"neighbors must be a graph of shape ({n_points}, {n_points}); got {given.shape}."
            )
        indices = _neighbors_of_graph(given)
    else:
        indices = _indices_of(given)
    if indices.ndim != 2 or indices.shape[0] != n_points or indices.shape[1] == 0:
        raise ValueError(
            f"neighbors must have a row for each of the {n_points} points, as indices of shape "
            f"(n_points, n_neighbors) or a sparse graph; got shape {indices.shape}."
        )
    if not np.issubdtype(indices.dtype, np.integer):
        raise TypeError(f"neighbors must be indices of points, integers; got {indices.dtype}.")
    if indices.max() >= n_points or indices.min() < -1:
        raise ValueError(
            f"neighbors must be indices from 0 to {n_points - 1}, or -1 for none; got "
            f"{indices.min()} to {indices.max()}."
        )
    return np.ascontiguousarray(indices, dtype=np.int32)


def _indices_of(given: Any) -> Array:
    """Return indices, given alone or in a pair with distances, which are not integers."""
    if not isinstance(given, tuple):
        return np.asarray(given)
    arrays = [np.asarray(each) for each in given]
    indices = [each for each in arrays if np.issubdtype(each.dtype, np.integer)]
    if len(arrays) != 2 or len(indices) != 1 or arrays[0].shape != arrays[1].shape:
        raise ValueError(
            "neighbors, as a tuple, must be indices (integers) and distances (floats) of one shape."
        )
    return indices[0]


def _neighbors_of_graph(graph: Any) -> Ints:
    rows = graph.tocsr()
    counts = np.diff(rows.indptr)
    indices = np.full((rows.shape[0], max(int(counts.max(initial=0)), 1)), -1)
    indices[np.arange(indices.shape[1]) < counts[:, None]] = rows.indices
    return indices


def measured(prepared: PreparedPoints, indices: Labels, n_jobs: int = 1) -> Neighbors:
    """Return lists of neighbours with exact distances, in order, each point itself first.

    indices : (n, m) int32
        Neighbours in any order, the point itself among them or not; -1 for none.

    Lists that come out shorter are filled up with -1, infinitely far.
    """
    points, metric = np.ascontiguousarray(prepared.points), prepared.metric
    n_points = len(points)
    has_own = (indices == np.arange(n_points)[:, None]).any(axis=1).all()
    size = indices.shape[1] + (0 if has_own else 1)
    found = Neighbors(
        np.full((n_points, size), -1, dtype=np.int32), np.full((n_points, size), np.inf)
    )
    run = measure.bound(points, indices, found, metric.kind)
    per_task = max(1, _WORK_PER_TASK // (size * points.shape[1]))
    with Workers(n_jobs) as workers:
        workers.in_blocks(n_points, per_task, lambda _, start, stop: run(start, stop))
    is_there = np.isfinite(found.distances)
    found.distances[is_there] = prepared.heights(found.distances[is_there])
    return found


@kernel_part
def distance_of(points: Array, i: int, j: int, kind: int) -> float:
    """Return the accumulated distance of two points."""
    total = 0.0
    for f in range(points.shape[1]):
        difference = abs(np.float64(points[i, f]) - np.float64(points[j, f]))
        if kind == SQUARES:
            total += difference * difference
        elif kind == ABSOLUTES:
            total += difference
        else:
            total = max(total, difference)
    return total


@kernel
def measure(
    points: Array, indices: Labels, found: Neighbors, kind: int, start: int, stop: int
) -> None:
    """Fill the lists of points start … stop - 1, themselves first."""
    for i in range(start, stop):
        found.indices[i, 0] = i
        found.distances[i, 0] = 0.0
        distances, own = found.distances[i, 1:], found.indices[i, 1:]
        for t in range(indices.shape[1]):
            j = np.int64(indices[i, t])
            is_new = j >= 0 and j != i
            for s in range(t):
                is_new = is_new and indices[i, s] != j
            if is_new:
                offer_neighbor(distances, own, distance_of(points, i, j, kind), j)


@kernel
def fill_distances_to(points: Array, i: int, others: Ints, kind: int, distances: Floats) -> None:
    """Fill the accumulated distances of a point to others."""
    for t in range(others.shape[0]):
        distances[t] = distance_of(points, i, others[t], kind)
