"""Prepared points → rows of distances, the one place where base distances are computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from isthmus._compile import kernel, kernel_part
from isthmus._memory import require_memory
from isthmus._parallel import chunks, map_in_threads
from isthmus._typing import Array, Floats
from isthmus.metrics import ABSOLUTES, MAXIMUM, SQUARES, prepare_points, resolve_metric

# Distances per kernel call.
_WORK_PER_CALL = 4_000_000


@kernel_part
def distances_to_column(
    columns: Array, j0: int, stop: int, kind: int, power: float, row: Floats
) -> None:
    """Fill row[:stop] with the accumulated distances of columns 0 … stop - 1 to column j0.

    Parameters
    ----------
    columns : (n_features, n) float32 or float64, in
        Coordinates, features first, so that the inner loop runs over neighbouring points.
    j0, stop : int
    kind, power : int, float
        What to accumulate; see metrics.py. Differences and sums are float64 whatever the input.
    row : (>= stop,) float64, out
    """
    for j in range(stop):
        row[j] = 0.0
    for f in range(columns.shape[0]):
        x = np.float64(columns[f, j0])
        column = columns[f]
        if kind == SQUARES:
            for j in range(stop):
                difference = np.float64(column[j]) - x
                row[j] += difference * difference
        elif kind == ABSOLUTES:
            for j in range(stop):
                row[j] += abs(np.float64(column[j]) - x)
        else:
            for j in range(stop):
                row[j] = max(row[j], abs(np.float64(column[j]) - x))
    if kind in (SQUARES, ABSOLUTES, MAXIMUM):
        return
    # Minkowski: the largest difference is factored out, so that no power over- or underflows.
    for j in range(stop):
        largest = row[j]
        if largest > 0.0:
            total = 0.0
            for f in range(columns.shape[0]):
                difference = abs(np.float64(columns[f, j]) - np.float64(columns[f, j0]))
                total += (difference / largest) ** power
            row[j] = largest * total ** (1.0 / power)


@kernel
def fill_distance_rows(
    columns: Array, kind: int, power: float, start: int, stop: int, out: Floats
) -> None:
    """Fill rows start … stop - 1 of out, (n, n) float64, with accumulated distances."""
    for i in range(start, stop):
        distances_to_column(columns, i, columns.shape[1], kind, power, out[i])


def distance_matrix(
    points: Array,
    metric: str = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int = 1,
) -> Floats:
    """Return the dense (n, n) matrix of base distances of checked points.

    Its entries equal the weights of a spanning tree of the same points: to the last bit but for
    Minkowski's distances, whose powers the kd-tree sums in another way.
    """
    prepared = prepare_points(points, resolve_metric(metric, metric_params))
    n_points = len(points)
    require_memory(
        2 * n_points**2 * 8,
        f"The distance matrix of {n_points} points",
        "TransitiveClustering works without it.",
    )
    columns = np.ascontiguousarray(prepared.points.T)
    out = np.empty((n_points, n_points))
    kind, power = prepared.metric.kind, prepared.metric.power

    def fill(bounds: tuple[int, int]) -> None:
        fill_distance_rows(columns, kind, power, *bounds, out)

    map_in_threads(fill, chunks(n_points, max(1, _WORK_PER_CALL // n_points)), n_jobs)
    return prepared.heights(out)
