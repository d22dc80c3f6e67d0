"""Data of any kind → Neighbors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from isthmus._utils.memory import Budget, check_memory_limit
from isthmus._utils.parameters import check_n_jobs
from isthmus._utils.progress import Progress, ProgressBar
from isthmus.metrics import AnyMetric, resolve_metric
from isthmus.metrics.input import check_data, n_points_of
from isthmus.neighbors.neighborhood_parameters import check_n_neighbors
from isthmus.neighbors.selection import find_neighbors
from isthmus.neighbors.sorted_lists import Neighbors


def nearest_neighbors(
    X: Any,
    n_neighbors: int,
    *,
    metric: str | Callable[..., float] | AnyMetric = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    verbose: int = 0,
    memory_limit: int | str | None = None,
) -> Neighbors:
    """Return the nearest neighbours of all points, exactly.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Points, objects or precomputed distances, as for
        :func:`isthmus.minimum_spanning_tree`.
    n_neighbors : int
        How many, each point itself included: from 1 to the number of points.
    metric, metric_params
        As for :func:`isthmus.minimum_spanning_tree`.
    n_jobs : int, optional
        The number of threads (-1: every core). Never changes the result.
    progress : callable, optional
        Called as ``progress(done, total)``, many times.
    verbose : int
        1 shows a progress bar on standard error where it takes more than a few seconds.
    memory_limit : int or str, optional
        The most memory, beside the data: bytes, or a string such as ``"2GB"``. MemoryError where
        more is needed.

    Returns
    -------
    Neighbors
        ``indices`` (int32) and ``distances`` (float64) of shape (n_points, n_neighbors). Each
        point comes first in its own list, then the others in the order of (distance, index).
        Equal points count one by one, at distance 0: of 1,000 copies of a point the first ones
        fill its list. Squared distances that differ are told apart even if their roots are
        rounded alike.

    See Also
    --------
    minimum_spanning_tree : Takes such neighbours with ``engine="approximate"``.
    NeighborMean : The means of neighbourhoods.
    sklearn.neighbors.NearestNeighbors : scikit-learn's, also for new points.

    Notes
    -----
    Up to 8 features a kd-tree is searched; with more, and Euclidean distances after a map,
    blocked matrix products bound all distances, and what may be near is measured exactly; other
    metrics compute all distances, in O(n²) time. In a sparse graph (``metric="precomputed"``) the
    neighbours of a point are the ends of its own edges, and ValueError is raised where a point
    has too few.

    Examples
    --------
    >>> from isthmus import nearest_neighbors
    >>> found = nearest_neighbors([[0.0], [1.0], [3.0]], n_neighbors=2)
    >>> found.indices.tolist(), found.distances.tolist()
    ([[0, 1], [1, 0], [2, 1]], [[0.0, 1.0], [0.0, 1.0], [0.0, 2.0]])
    """
    if progress is None and verbose:
        progress = ProgressBar("neighbours")
    budget = Budget(check_memory_limit(memory_limit))
    resolved = resolve_metric(metric, metric_params)
    threads = check_n_jobs(n_jobs)
    data = check_data(X, resolved)
    size = check_n_neighbors(n_neighbors, n_points_of(data))
    return find_neighbors(data, resolved, size, n_jobs=threads, progress=progress, budget=budget)
