"""Any metric, and precomputed distances: a row of distances at a time, O(n²) time."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._utils.parallel import Workers
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Ints
from isthmus.metrics import PreparedPoints
from isthmus.metrics.accumulate import fill_distances
from isthmus.metrics.input import n_points_of
from isthmus.metrics.pairwise import distances_between
from isthmus.metrics.precomputed import Graph
from isthmus.metrics.registry import AnyMetric
from isthmus.neighbors.sorted_lists import (
    Neighbors,
    empty_neighbors,
    keep_nearest_of_rows,
    with_heights,
)

# Distances per task: a few hundredths of a second, so that Ctrl-C is seen.
_WORK_PER_CALL = 4_000_000


def neighbors_by_rows(
    data: Any, metric: AnyMetric, n_neighbors: int, progress: Progress | None = None
) -> Neighbors:
    """Return the neighbours of checked data, from all their distances."""
    n_points = n_points_of(data)
    everything = np.arange(n_points)
    names = everything.astype(np.int32)
    found = empty_neighbors(n_points, n_neighbors)
    done = 0
    for numbers, rows in distances_between(data, everything, everything, metric):
        part = Neighbors(found.indices[numbers, 1:], found.distances[numbers, 1:])
        keep_nearest_of_rows(rows, names, names[numbers], part)
        found.indices[numbers, 1:], found.distances[numbers, 1:] = part
        done += len(numbers)
        if progress is not None:
            progress(done, n_points)
    return found


def neighbors_by_kernel(
    prepared: PreparedPoints, n_neighbors: int, n_jobs: int = 1, progress: Progress | None = None
) -> Neighbors:
    """Return the neighbours of prepared points, from all their distances, which a kernel computes.

    They are compared as accumulated, so that roots that are rounded alike are told apart.
    """
    points, metric = prepared.points, prepared.metric
    n_points = len(points)
    columns = np.ascontiguousarray(points.T)
    names = np.arange(n_points, dtype=np.int32)
    found = empty_neighbors(n_points, n_neighbors)
    done = [0] * n_jobs

    def work(worker: int, start: int, stop: int) -> None:
        rows = np.empty((stop - start, n_points))
        some = np.array(points[start:stop], order="C")  # of one layout, which is compiled for
        fill_distances(some, columns, metric.kind, metric.power, rows)
        part = Neighbors(found.indices[start:stop, 1:], found.distances[start:stop, 1:])
        keep_nearest_of_rows(rows, names, names[start:stop], part)
        done[worker] += stop - start
        if worker == 0 and progress is not None:
            progress(sum(done), n_points)

    with Workers(n_jobs) as workers:
        workers.in_blocks(n_points, max(1, _WORK_PER_CALL // n_points), work)
    return with_heights(found, prepared)


def neighbors_in_graph(graph: Graph, n_neighbors: int) -> Neighbors:
    """Return the nearest points along the edges of a graph; ValueError where a point has fewer."""
    ends = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    weights = np.concatenate([graph.weights, graph.weights])
    order = np.lexsort((ends[:, 1], weights, ends[:, 0]))
    counts = np.bincount(ends[:, 0], minlength=graph.n_points)
    _refuse_too_few(counts, n_neighbors)
    begins = np.concatenate([[0], np.cumsum(counts)])[:-1]
    chosen = order[begins[:, None] + np.arange(n_neighbors - 1)]
    found = empty_neighbors(graph.n_points, n_neighbors)
    found.indices[:, 1:], found.distances[:, 1:] = ends[chosen, 1], weights[chosen]
    return found


def _refuse_too_few(counts: Ints, n_neighbors: int) -> None:
    fewest = int(np.argmin(counts))
    if counts[fewest] < n_neighbors - 1:
        raise ValueError(
            f"n_neighbors={n_neighbors} counts each point and its {n_neighbors - 1} nearest "
            f"others, but point {fewest} of the graph has {counts[fewest]} edges. Lower "
            f"n_neighbors to {int(counts[fewest]) + 1}, or give the graph more edges."
        )
