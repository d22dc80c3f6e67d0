"""The one way in: data of any kind → SpanningTree, by the engine that suits it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isthmus.metrics import is_precomputed, prepare_points, resolve_metric
from isthmus.spanning_tree.prim import Progress, prim_of_matrix, prim_of_points
from isthmus.spanning_tree.record import SpanningTree
from isthmus.validation import check_distance_matrix, check_n_jobs, check_points


def minimum_spanning_tree(
    X: Any,
    *,
    metric: str = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> SpanningTree:
    """Return the minimum spanning tree of points, or of a precomputed distance matrix.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        The points; or, with ``metric="precomputed"``, their (n_points, n_points) distances.
        float32 is kept as it is; distances are computed in float64 from the given values.
    metric : str
        ``"euclidean"`` (``"l2"``), ``"sqeuclidean"``, ``"manhattan"`` (``"cityblock"``,
        ``"l1"``), ``"chebyshev"`` (``"linf"``), ``"minkowski"``, ``"cosine"``, ``"angular"``,
        ``"correlation"`` or ``"precomputed"``.
    metric_params : mapping, optional
        ``{"p": …}`` for ``"minkowski"``.
    n_jobs : int, optional
        The number of threads (-1: every core). Never changes the result. Prim's algorithm, the
        engine of today, works on one thread.
    progress : callable, optional
        Called as ``progress(done, total)``, many times.

    Returns
    -------
    SpanningTree
        Edges from the lightest to the heaviest; equal weights by index.

    Examples
    --------
    >>> from isthmus import minimum_spanning_tree
    >>> tree = minimum_spanning_tree([[0.0], [1.0], [3.0]])
    >>> tree.edges.tolist(), tree.weights.tolist()
    ([[0, 1], [1, 2]], [1.0, 2.0])
    """
    check_n_jobs(n_jobs)
    if is_precomputed(metric, metric_params):
        edges, weights = prim_of_matrix(check_distance_matrix(X), progress)
        return SpanningTree.from_edges(edges, weights, engine="prim")
    resolved = resolve_metric(metric, metric_params)
    prepared = prepare_points(check_points(X), resolved)
    edges, weights = prim_of_points(prepared, progress)
    return SpanningTree.from_edges(edges, weights, engine="prim")
