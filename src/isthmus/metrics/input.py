"""Raw input and a resolved metric → checked data; and what can be asked of data of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus._utils.typing import Array, Ints
from isthmus.metrics.gower import GowerMetric
from isthmus.metrics.precomputed import (
    CondensedDistances,
    Graph,
    Precomputed,
    SquareDistances,
    check_precomputed,
    condensed_positions,
)
from isthmus.metrics.registry import AnyMetric, PrecomputedMetric
from isthmus.metrics.validation import check_items, check_points

Data = Array | list[Any] | Precomputed
"""Checked points, objects that a callable compares, or distances. Sparse points are CSR."""


def check_data(X: Any, metric: AnyMetric, *, dense: bool = False) -> Data:
    """Return X as checked data of the kind that a metric takes.

    dense : bool
        Whether sparse points are refused, whatever the metric.
    """
    refuse_unbound(metric)
    if isinstance(metric, PrecomputedMetric):
        return check_precomputed(X)
    if metric.takes_objects:
        return check_items(X)
    return check_points(
        X, allow_nan=metric.accepts_nan, accept_sparse=metric.accepts_sparse and not dense
    )


def read_table(X: Any, metric: AnyMetric) -> tuple[Any, AnyMetric]:
    """Return a table as numbers, and the metric of its rows, where that is Gower's; else both."""
    if not isinstance(metric, GowerMetric):
        return X, metric
    table = metric.learn(X)
    return table.points, table.metric


def refuse_unbound(metric: AnyMetric) -> None:
    """Raise TypeError where a metric of tables is asked of what takes arrays."""
    if isinstance(metric, GowerMetric):
        raise TypeError(
            "metric='gower' is served by TransitiveCut, TransitiveKMeans, minimum_spanning_tree "
            "and suggest_n_clusters."
        )


def n_points_of(data: Data) -> int:
    """Return the number of points."""
    if isinstance(data, list):
        return len(data)
    return int(data.n_points if isinstance(data, Precomputed) else data.shape[0])


def n_bytes_of(data: Any) -> int:
    """Return the size of the data in memory."""
    if isinstance(data, list):
        return 8 * len(data)
    if isinstance(data, SquareDistances):
        return int(data.matrix.nbytes)
    if isinstance(data, CondensedDistances):
        return int(data.values.nbytes)
    if isinstance(data, Graph):
        return int(data.edges.nbytes + data.weights.nbytes)
    if issparse(data):
        return int(data.data.nbytes + data.indices.nbytes + data.indptr.nbytes)
    return int(data.nbytes)


def take_rows(data: Any, rows: Ints) -> Any:
    """Return some rows, in ascending order; of distances, those between them."""
    if isinstance(data, list):
        return [data[i] for i in rows]
    if isinstance(data, SquareDistances):
        return SquareDistances(data.matrix[np.ix_(rows, rows)])
    if isinstance(data, CondensedDistances):
        i, j = (rows[ends] for ends in np.triu_indices(len(rows), 1))
        entries = condensed_positions(i, j, data.n_points)
        return CondensedDistances(data.values[entries], len(rows))
    if isinstance(data, Graph):
        number = np.full(data.n_points, -1)
        number[rows] = np.arange(len(rows))
        edges = number[data.edges]
        inside = (edges >= 0).all(axis=1)
        return Graph(edges[inside], data.weights[inside], len(rows))
    return data[rows]
