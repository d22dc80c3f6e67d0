"""Transitive distances of order k (the paper's Definition 1), as repeated (min, max) products."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.memory import require_memory
from isthmus._utils.parallel import chunks, map_in_threads
from isthmus._utils.parameters import check_integer, check_n_jobs
from isthmus._utils.typing import Floats, Ints
from isthmus.metrics.input import check_data
from isthmus.metrics.pairwise import distance_matrix
from isthmus.metrics.precomputed import SquareDistances, check_full_matrix
from isthmus.metrics.registry import AnyMetric, PrecomputedMetric, resolve_metric
from isthmus.ultrametric.hop_counts import orders_of_pairs
from isthmus.ultrametric.tree import UltrametricTree

_INSTEAD_OF_GRAPH = (
    "UltrametricTree.from_data(graph, metric='precomputed') holds its transitive distances."
)
_INSTEAD_OF_MATRIX = (
    "UltrametricTree answers distance(i, j), row(i) and products without the matrix."
)
# Rows of the result per task, and the width of the panels that stay in the cache.
_ROWS, _PANEL = 16, 512


def transitive_distances(
    X: Any,
    order: int | None = None,
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """Return the matrix of transitive distances of a given order.

    D_k(i, j) is the least, over paths from i to j with at most k vertices, of the longest edge.
    Order 2, and by convention order 1, is the base distance; order n and above is the transitive
    distance D itself, an ultrametric.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features) or (n_points, n_points)
        Points, or their distances with ``metric="precomputed"``, square or condensed.
    order : int, optional
        The largest number of vertices on a path; None for no limit.
    metric, metric_params
        As for :func:`isthmus.minimum_spanning_tree`.
    n_jobs : int, optional
        Threads; never changes the result.

    Returns
    -------
    ndarray of shape (n_points, n_points)

    See Also
    --------
    transitive_sequence : All orders at once.
    isthmus.UltrametricTree : The last order, without a matrix.

    Notes
    -----
    Full order costs a spanning tree and O(n²). A smaller order costs O(n³ log k).

    Examples
    --------
    >>> from isthmus.theory import transitive_distances
    >>> line = [[0.0], [1.0], [3.0]]
    >>> float(transitive_distances(line, order=2)[0, 2]), float(transitive_distances(line)[0, 2])
    (3.0, 2.0)
    """
    threads = check_n_jobs(n_jobs)
    if order is not None:
        order = check_integer(order, "order", 1)
    resolved = resolve_metric(metric, metric_params)
    data = _checked(X, resolved)
    n_points = len(data)
    full = order is None or (order >= n_points and order > 2)
    # the result, and for a limited order also the base, its running power and a product
    require_memory(
        n_points**2 * 8 * (1 if full else 4),
        f"The transitive distance matrix of {n_points} points",
        _INSTEAD_OF_MATRIX,
    )
    if full or order is None:
        tree = UltrametricTree.from_data(
            SquareDistances(data) if isinstance(resolved, PrecomputedMetric) else data,
            metric=resolved,
            n_jobs=threads,
        )
        return tree.matrix(n_jobs=threads)
    base = _base_distances(data, resolved, threads)
    return minimax_power(base, max(order - 1, 1), threads)


def transitive_sequence(
    X: Any,
    max_order: int | None = None,
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """Return the matrices of transitive distances of the orders 1, 2, … K.

    Parameters
    ----------
    X, metric, metric_params, n_jobs
        As for :func:`transitive_distances`.
    max_order : int, optional
        K. If None, the order from which on no distance changes: the last matrix then holds the
        transitive distances themselves.

    Returns
    -------
    ndarray of shape (K, n_points, n_points)
        Order k is entry k - 1. As for :func:`transitive_distances` order 1 is, like order 2, the
        base distance.

    See Also
    --------
    transitive_distances : One order.
    stopping_orders : From which order on nothing changes.
    isthmus.plotting.plot_orders : Draw them.

    Notes
    -----
    O(n³) for each order.

    Examples
    --------
    >>> from isthmus.theory import transitive_sequence
    >>> steps = transitive_sequence([[0.0], [1.0], [2.0], [3.0]])
    >>> steps[:, 0, 3].tolist()
    [3.0, 3.0, 2.0, 1.0]
    """
    threads = check_n_jobs(n_jobs)
    if max_order is not None:
        max_order = check_integer(max_order, "max_order", 1)
    resolved = resolve_metric(metric, metric_params)
    data = _checked(X, resolved)
    _require_matrices(len(data), 4 if max_order is None else max_order + 3)
    base = _symmetric(_base_distances(data, resolved, threads))
    if max_order is None:
        max_order = int(_orders_of_base(base, threads).max())
        _require_matrices(len(data), max_order + 1)
    sequence = np.empty((max_order, *base.shape))
    sequence[:2] = base
    for k in range(2, max_order):
        sequence[k] = minimax_product(sequence[k - 1], base, threads)
        if np.array_equal(sequence[k], sequence[k - 1]):
            sequence[k + 1 :] = sequence[k]
            break
    return sequence


def stopping_orders(
    X: Any,
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Ints:
    """Return, for each pair, the order from which on its transitive distance does not change.

    That is the smallest number of vertices on a path from i to j whose longest edge is as short as
    possible. Where the pair itself is such a path it is 1, since by convention order 1 is, like
    order 2, the base distance; it is never 2.

    Parameters
    ----------
    X, metric, metric_params, n_jobs
        As for :func:`transitive_distances`.

    Returns
    -------
    ndarray of shape (n_points, n_points), dtype int64

    See Also
    --------
    transitive_sequence : The distances of all orders.

    Notes
    -----
    Breadth-first searches, O(n³ log n) at worst, without the matrices of the orders.

    Examples
    --------
    >>> from isthmus.theory import stopping_orders
    >>> stopping_orders([[0.0], [1.0], [2.0], [3.0]])[0].tolist()
    [1, 1, 3, 4]
    """
    threads = check_n_jobs(n_jobs)
    resolved = resolve_metric(metric, metric_params)
    data = _checked(X, resolved)
    _require_matrices(len(data), 4)
    return _orders_of_base(_symmetric(_base_distances(data, resolved, threads)), threads)


def _orders_of_base(base: Floats, n_jobs: int) -> Ints:
    tree = UltrametricTree.from_data(SquareDistances(base), metric="precomputed")
    return orders_of_pairs(base, tree, n_jobs)


def _checked(X: Any, metric: AnyMetric) -> Any:
    if isinstance(metric, PrecomputedMetric):
        return check_full_matrix(X, _INSTEAD_OF_GRAPH)
    return check_data(X, metric, dense=True)


def _base_distances(data: Any, metric: AnyMetric, n_jobs: int) -> Floats:
    if isinstance(metric, PrecomputedMetric):
        return np.array(data, dtype=np.float64)
    return distance_matrix(data, metric, n_jobs=n_jobs)


def _symmetric(base: Floats) -> Floats:
    """Return distances that are symmetric to the last bit; given ones may differ by rounding."""
    return np.minimum(base, base.T)


def _require_matrices(n_points: int, count: int) -> None:
    require_memory(
        count * n_points**2 * 8,
        f"{count} matrices of distances of {n_points} points",
        _INSTEAD_OF_MATRIX,
    )


def minimax_power(base: Floats, exponent: int, n_jobs: int = 1) -> Floats:
    """Return the (min, max) power of a distance matrix, by repeated squaring."""
    power = base
    result: Floats | None = None
    while True:
        if exponent & 1:
            result = power if result is None else minimax_product(result, power, n_jobs)
        exponent >>= 1
        if not exponent:
            return result if result is not None else power
        power = minimax_product(power, power, n_jobs)


def minimax_product(a: Floats, b: Floats, n_jobs: int = 1) -> Floats:
    """Return C with C[i, j] = min over l of max(a[i, l], b[l, j])."""
    out = np.full((len(a), b.shape[1]), np.inf)

    def fill(bounds: tuple[int, int]) -> None:
        start, stop = bounds
        minimax_rows(a[start:stop], b, out[start:stop])

    map_in_threads(fill, chunks(len(a), _ROWS), n_jobs)
    return out


@kernel
def minimax_rows(a: Floats, b: Floats, out: Floats) -> None:
    """Lower out[i, j], in and out, to min over l of max(a[i, l], b[l, j])."""
    n_inner, n_columns = b.shape
    for panel in range(0, n_columns, _PANEL):
        stop = min(panel + _PANEL, n_columns)
        for l0 in range(0, n_inner, 64):
            for i in range(a.shape[0]):
                row = out[i, panel:stop]
                for l in range(l0, min(l0 + 64, n_inner)):  # noqa: E741
                    longest = a[i, l]
                    other = b[l, panel:stop]
                    for j in range(stop - panel):
                        through = max(longest, other[j])
                        row[j] = min(row[j], through)
