"""The one way in: data of any kind → SpanningTree, by the engine that suits it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus._numba.accumulators import POWERS, SQUARES
from isthmus._utils.memory import Budget, check_memory_limit
from isthmus._utils.parameters import check_choice, check_disconnected, check_n_jobs
from isthmus._utils.progress import Progress, ProgressBar
from isthmus._utils.typing import Floats, Ints
from isthmus.metrics.mapped import MappedMetric, PreparedPoints, prepare_points
from isthmus.metrics.maps import unchanged
from isthmus.metrics.precomputed import check_precomputed
from isthmus.metrics.registry import (
    AnyMetric,
    PrecomputedMetric,
    resolve_metric,
)
from isthmus.metrics.rowwise import CallableMetric, RowMetric
from isthmus.metrics.validation import check_items, check_points
from isthmus.spanning_tree import memory
from isthmus.spanning_tree.duplicates import representatives
from isthmus.spanning_tree.given_distances import spanning_tree_of_distances
from isthmus.spanning_tree.line import spanning_tree_of_line
from isthmus.spanning_tree.prim import prim_of_points
from isthmus.spanning_tree.prim_rowwise import prim_of_callable, prim_of_rows
from isthmus.spanning_tree.result import SpanningTree, trusted_tree

ENGINES = ("auto", "prim", "kd-tree", "tiles", "sort", "kruskal")

# Up to so many distances, times features, Prim's algorithm takes a fraction of a second, and its
# kernel compiles in one.
_WORK_FOR_PRIM = 1_500_000_000
# Up to so many features the kd-tree is faster by so much that there is nothing to count.
_FEATURES_FOR_TREE = 8
# The kd-tree is faster than matrix products where it looks at no more than this share of all pairs,
# times features and a few: products take about as long for few features as for some dozens.
_SHARE_FOR_TREE = 3.6
# Where more than this share of all pairs must be measured after all, Prim's algorithm is better.
_MEASURED_BY_TILES = 0.05


def minimum_spanning_tree(
    X: Any,
    *,
    metric: str | Callable[..., float] | AnyMetric = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    disconnected: str | float = "error",
    engine: str = "auto",
    n_jobs: int | None = None,
    progress: Progress | None = None,
    verbose: int = 0,
    memory_limit: int | str | None = None,
) -> SpanningTree:
    """Return the minimum spanning tree of points, of precomputed distances or of a graph.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        The points. float32 is kept as it is, and small types (float16, int16, uint8, bool …)
        become float32, which holds them exactly; distances are computed in float64 from the given
        values. A sparse matrix or array of ``scipy.sparse`` stays sparse, for Euclidean, cosine,
        angular and Hellinger distances. With a callable metric also a list, or a 1-D array, of
        anything that it takes. Or, with ``metric="precomputed"``, their distances:

        - a square matrix, (n_points, n_points): symmetric within rounding, zero on the diagonal.
          Of two entries that differ by rounding either may count. Never copied if it is float32
          or float64; one in a file (``np.load(…, mmap_mode="r")``) is read row by row and stays
          there;
        - a condensed one, (n_points (n_points - 1) / 2,), as ``scipy.spatial.distance.pdist``
          returns it, known by its one dimension and never expanded;
        - a graph, any matrix or array of ``scipy.sparse``, such as scikit-learn's
          ``kneighbors_graph`` returns. Stored entries are edges, and a stored zero is an edge of
          length 0; what is not stored is no edge. An edge may be stored in one direction or in
          both; of two that differ by rounding the shorter counts. Zeros on the diagonal are
          ignored. Entries stored more than once are refused: call ``sum_duplicates()`` if their
          sum is meant.
    metric : str or callable
        ``"euclidean"`` (``"l2"``), ``"sqeuclidean"``, ``"manhattan"`` (``"cityblock"``,
        ``"l1"``), ``"chebyshev"`` (``"linf"``), ``"minkowski"``, ``"seuclidean"``,
        ``"mahalanobis"``, ``"cosine"``, ``"angular"``, ``"correlation"``, ``"haversine"``
        (latitude and longitude in radians), ``"hellinger"`` (rows are divided by their sums) or
        ``"precomputed"``.
        All other names of SciPy and scikit-learn, in O(n²) time: ``"braycurtis"``,
        ``"canberra"``, ``"hamming"``, ``"jensenshannon"``; ``"jaccard"``, ``"dice"``,
        ``"rogerstanimoto"``, ``"russellrao"``, ``"sokalsneath"``, ``"yule"``, ``"kulsinski"``, for
        which an entry is zero or not; ``"nan_euclidean"``, for which it may be missing.
        A callable is given two points, and returns a number; see the notes.
    metric_params : mapping, optional
        Keyword arguments of a callable; ``{"p": …}`` for ``"minkowski"``; ``{"V": variances}`` for
        ``"seuclidean"``; ``{"V": covariance}`` or ``{"VI": its inverse}`` for ``"mahalanobis"``;
        ``{"base": …}`` for ``"jensenshannon"``; ``{"w": weights}``, one for each feature, for most
        others.
    disconnected : {"error", "join"} or float
        What to do with a graph of several components. ``"join"`` puts them infinitely far apart,
        a number that far: the first point of each component is joined to point 0. The number must
        be finite and at least the longest edge of the components' own spanning trees. Then it is
        the transitive distance of any two points of different components, whichever points are
        joined; with a shorter one it would depend on them. (Longer edges of the graph that are
        in no spanning tree play no part.)
    engine : {"auto", "prim", "kd-tree", "tiles", "sort", "kruskal"}
        How the tree is found. ``"auto"`` sorts points on a line, takes Prim's algorithm, O(n²),
        for few points, and for more Borůvka's, on a kd-tree where there are few features
        and on neighbours found by matrix products (``"tiles"``) where there are many; in between
        it counts on a sample how much the kd-tree would have to look at. Where edges are equally
        long there may be several minimum spanning trees, all with the same transitive distances,
        and engines may differ in the one they find. Precomputed matrices are served by
        ``"prim"``, graphs by ``"kruskal"``, which finds the same tree where no pair is left out.
    n_jobs : int, optional
        The number of threads (-1: every core). Never changes the result. Prim's algorithm works
        on one thread, unless its rows of distances come from SciPy.
    progress : callable, optional
        Called as ``progress(done, total)``, many times.
    verbose : int
        1 shows a progress bar on standard error where it takes more than a few seconds.
    memory_limit : int or str, optional
        The most memory, beside the data themselves, as a number of bytes or a string such as
        ``"2GB"`` or ``"512 MiB"``. Where more is needed, smaller blocks and fewer threads are
        tried, and then MemoryError is raised before the work begins.

    Returns
    -------
    SpanningTree
        Edges from the lightest to the heaviest; equal weights by index. ``engine`` says what
        found them.

    Notes
    -----
    A callable is called about n² / 2 times, on one thread, as ``metric(x, y, **metric_params)``.
    Its values must be finite, not negative, and the same for (y, x); what it raises is passed on.
    To ask for every pair twice would double the time, so the two are compared for all pairs among
    the first 50 points, for every edge of the tree, and for one more pair per edge.

    Examples
    --------
    >>> from isthmus import minimum_spanning_tree
    >>> tree = minimum_spanning_tree([[0.0], [1.0], [3.0]])
    >>> tree.edges.tolist(), tree.weights.tolist()
    ([[0, 1], [1, 2]], [1.0, 2.0])

    >>> def in_length(a, b):
    ...     return abs(len(a) - len(b))
    >>> minimum_spanning_tree(["an", "isthmus", "joins"], metric=in_length).weights.tolist()
    [2.0, 3.0]
    """
    threads = check_n_jobs(n_jobs)
    if progress is None and verbose:
        progress = ProgressBar("spanning tree")
    check_choice(engine, "engine", ENGINES)
    joint = check_disconnected(disconnected)
    budget = Budget(check_memory_limit(memory_limit))
    resolved = resolve_metric(metric, metric_params)
    if isinstance(resolved, PrecomputedMetric):
        return spanning_tree_of_distances(check_precomputed(X), engine, joint, progress, budget)
    if not isinstance(resolved, MappedMetric):
        edges, weights = _by_rows(X, resolved, engine, threads, progress, budget)
        return SpanningTree.from_edges(edges, weights, engine="prim")
    points = check_points(X, accept_sparse=resolved.accepts_sparse)
    prepared, budget = _prepare(points, resolved, budget)
    _check_engine(engine, prepared)
    edges, weights, used = _run(engine, prepared, threads, progress, budget)
    if used == "kd-tree":
        return trusted_tree(edges, weights, used, threads)
    return SpanningTree.from_edges(edges, weights, engine=used)


def _prepare(points: Any, metric: MappedMetric, budget: Budget) -> tuple[PreparedPoints, Budget]:
    """Return the points as the metric maps them, and the memory that is left then."""
    maps = unchanged not in (metric.prepare, metric.prepare_sparse) or metric.kind == POWERS
    if maps:
        n_entries = len(points.data) if issparse(points) else len(points) * max(points.shape[1], 3)
        memory.require_for_map(budget, n_entries, metric.name)
    prepared = prepare_points(points, metric)
    mapped = prepared.points
    if mapped is points:
        return prepared, budget
    return prepared, budget.after((mapped.data if issparse(mapped) else mapped).nbytes)


def _by_rows(
    X: Any,
    metric: RowMetric | CallableMetric,
    engine: str,
    n_jobs: int,
    progress: Progress | None,
    budget: Budget,
) -> tuple[Ints, Floats]:
    if engine not in ("auto", "prim"):
        raise ValueError(
            f"engine={engine!r} does not serve metric={metric.name!r}, of which it knows nothing "
            "but its distances. Use engine='prim' or 'auto'."
        )
    if isinstance(metric, CallableMetric):
        items = check_items(X)
        memory.require_for_callable(budget, len(items))
        return prim_of_callable(items, metric, progress)
    points = check_points(X, allow_nan=metric.accepts_nan)
    copies = 4 if metric.accepts_nan else 1
    n_points, n_features = points.shape
    share = memory.share_for_rows(budget, n_points, n_features, copies, n_jobs)
    return prim_of_rows(points, metric, share.n_jobs, progress)


def _check_engine(engine: str, prepared: PreparedPoints) -> None:
    n_features = prepared.points.shape[1]
    if engine == "kruskal":
        raise ValueError(
            "engine='kruskal' takes sparse graphs, with metric='precomputed'; for points use "
            "engine='auto'."
        )
    if issparse(prepared.points) and engine not in ("auto", "tiles"):
        raise ValueError(
            f"engine={engine!r} needs dense points; sparse ones are served by engine='tiles'."
        )
    if engine == "sort" and n_features > 1:
        raise ValueError(
            f"engine='sort' is for points on a line; for this metric these have {n_features} "
            "features."
        )
    if engine == "tiles" and prepared.metric.kind != SQUARES:
        raise ValueError(
            "engine='tiles' serves metrics that are Euclidean after a map of the points, and "
            f"metric={prepared.metric.name!r} is none of them. Use engine='auto'."
        )
    if engine == "kd-tree":
        from isthmus.spanning_tree.kdtree import boruvka as kdtree

        if not kdtree.serves(prepared):
            raise ValueError(
                f"engine='kd-tree' serves up to {kdtree.COMPILED_DIMS[-1]} features, and Minkowski "
                "distances up to p = 8. Use engine='auto'."
            )


def _run(
    engine: str, prepared: PreparedPoints, n_jobs: int, progress: Progress | None, budget: Budget
) -> tuple[Ints, Floats, str]:
    """Return edges, weights and the name of the engine that found them."""
    n_points, n_features = prepared.points.shape
    if n_points == 1:
        return np.empty((0, 2), dtype=np.int64), np.empty(0), "prim" if engine == "auto" else engine
    if engine == "auto":
        engine = _first_choice(prepared)
    if engine == "sort":
        memory.require_for_line(budget, n_points)
        return *spanning_tree_of_line(prepared), "sort"
    if engine == "kd-tree or another":
        # What it would have to look at is counted on a sample: too much, and the other is better.
        other = "tiles or prim" if prepared.metric.kind == SQUARES else "prim"
        share = 1.0 if other == "prim" else _SHARE_FOR_TREE / (n_features + 6)
        limit = n_points**2 / 2 * share
        found = _by_kdtree(prepared, n_jobs, progress, budget, limit)
        if found is not None:
            return *found, "kd-tree"
        engine = other
    if engine == "tiles or prim":
        most = _MEASURED_BY_TILES * n_points**2
        found = _by_tiles(prepared, n_jobs, progress, budget, most)
        if found is not None:
            return *found, "tiles"
        engine = "prim"
    if engine == "prim":
        memory.require_for_prim(budget, n_points, prepared.points.nbytes)
        return *prim_of_points(prepared, progress), "prim"
    found = (_by_tiles if engine == "tiles" else _by_kdtree)(prepared, n_jobs, progress, budget)
    assert found is not None  # without a limit they find it
    return *found, engine


def _first_choice(prepared: PreparedPoints) -> str:
    """Return the engine for at least two points; one of two where that must be counted."""
    n_points, n_features = prepared.points.shape
    if issparse(prepared.points):
        return "tiles"
    if n_features == 1:
        return "sort"
    if n_points**2 * (n_features + 6) <= _WORK_FOR_PRIM:
        return "prim"
    # Imported here: a small fit needs none of it, and Numba's machinery loads with it.
    from isthmus.spanning_tree.kdtree import boruvka as kdtree

    if not kdtree.serves(prepared):
        return "tiles or prim" if prepared.metric.kind == SQUARES else "prim"
    return "kd-tree" if n_features <= _FEATURES_FOR_TREE else "kd-tree or another"


def _by_kdtree(
    prepared: PreparedPoints,
    n_jobs: int,
    progress: Progress | None,
    budget: Budget,
    limit: float = np.inf,
) -> tuple[Ints, Floats] | None:
    from isthmus.spanning_tree.kdtree.boruvka import padded_dims, spanning_tree_by_boruvka

    def find(distinct: PreparedPoints, budget: Budget) -> tuple[Ints, Floats] | None:
        n_points, n_features = distinct.points.shape
        size = distinct.points.itemsize
        share = memory.share_for_kdtree(budget, n_points, padded_dims(n_features), size, n_jobs)
        return spanning_tree_by_boruvka(distinct, share.n_jobs, progress, limit)

    return _of_distinct(prepared, find, budget, n_jobs)


def _by_tiles(
    prepared: PreparedPoints,
    n_jobs: int,
    progress: Progress | None,
    budget: Budget,
    limit: float = np.inf,
) -> tuple[Ints, Floats] | None:
    from isthmus.spanning_tree.blocked.boruvka import spanning_tree_by_tiles

    def find(distinct: PreparedPoints, budget: Budget) -> tuple[Ints, Floats] | None:
        share = memory.share_for_tiles(budget, distinct.points, n_jobs)
        return spanning_tree_by_tiles(distinct, share.n_jobs, progress, limit, share.block)

    if issparse(prepared.points):
        return find(prepared, budget)
    return _of_distinct(prepared, find, budget, n_jobs)


def _of_distinct(
    prepared: PreparedPoints,
    find: Callable[[PreparedPoints, Budget], tuple[Ints, Floats] | None],
    budget: Budget,
    n_jobs: int,
) -> tuple[Ints, Floats] | None:
    """Let an engine find the tree of points without their duplicates; hang these on again."""
    first = representatives(prepared.points, n_jobs)
    if first is None:
        return find(prepared, budget)
    is_first = first == np.arange(len(first))
    distinct, repeated = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    stars = np.column_stack([first[repeated], repeated])
    if len(distinct) == 1:
        return stars, np.zeros(len(stars))
    budget = budget.after(first.nbytes + stars.nbytes + len(distinct) * prepared.points[0].nbytes)
    found = find(replace(prepared, points=prepared.points[distinct]), budget)
    if found is None:
        return None
    edges, weights = found
    return (
        np.concatenate([stars, distinct[edges]]),
        np.concatenate([np.zeros(len(stars)), weights]),
    )
