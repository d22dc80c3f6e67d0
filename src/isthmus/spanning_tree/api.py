"""Data of any kind → SpanningTree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from isthmus._utils.memory import Budget, check_memory_limit
from isthmus._utils.progress import Progress, ProgressBar
from isthmus.metrics import AnyMetric, resolve_metric
from isthmus.metrics.input import check_data, read_table
from isthmus.neighbors.neighborhood_parameters import check_neighborhood
from isthmus.spanning_tree.neighborhood import find_neighborhood_tree
from isthmus.spanning_tree.result import SpanningTree


def minimum_spanning_tree(
    X: Any,
    *,
    metric: str | Callable[..., float] | AnyMetric = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_neighbors: int | None = None,
    neighborhood: str = "mean",
    disconnected: str | float = "error",
    engine: str = "auto",
    neighbors: Any = None,
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
        (latitude and longitude), ``"hellinger"`` (rows are divided by their sums), ``"gower"``
        (tables of numbers, dates, categories and texts) or ``"precomputed"``.
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
    n_neighbors : int, optional
        The size of neighbourhoods, each point itself included; 20 to 50 serve tables, images and
        embeddings, where single distances are noise. None, as 1: plain distances.
    neighborhood : {"mean", "shared"}
        What neighbourhoods are for. ``"mean"`` replaces each point by the mean of its
        neighbourhood (for cosine and angular distances of rows of unit length, brought back to
        it). ``"shared"`` multiplies the distance of two points, one of which is in the other's
        neighbourhood, by the Jaccard distance of the two neighbourhoods.
    disconnected : {"error", "join"} or float
        What to do with a graph of several components. ``"join"`` puts them infinitely far apart,
        a number that far: the first point of each component is joined to point 0. The number must
        be finite and at least the longest edge of the components' own spanning trees. Then it is
        the transitive distance of any two points of different components, whichever points are
        joined; with a shorter one it would depend on them. (Longer edges of the graph that are
        in no spanning tree play no part.)
    engine : {"auto", "prim", "kd-tree", "blocked", "sort", "kruskal", "approximate"}
        How the tree is found. ``"auto"`` sorts points on a line, takes Prim's algorithm, O(n²),
        for few points, and for more Borůvka's: on a kd-tree where there are few features, and on
        neighbours found by blocked matrix products (``"blocked"``) where there are many. In
        between it counts the work of the kd-tree on a sample of the points, so the choice is
        deterministic. Where edges are equally long there may be several minimum spanning trees,
        all with the same transitive distances, and engines may differ in the one they find.
        ``"prim"`` takes precomputed matrices, ``"kruskal"`` graphs; they find the same tree where
        no pair is left out. ``"approximate"``, which is never chosen unasked, takes neighbours
        that pynndescent finds (``pip install 'isthmus[approximate]'``), or that are given: a tree
        of true lengths, but not always the lightest. It serves millions of embeddings.
    neighbors : tuple, array or sparse graph, optional
        For ``engine="approximate"``: neighbours that you have found. Indices of shape (n_points,
        m), alone or in a tuple with distances, in any order, which are measured anew; or a graph
        whose stored entries are neighbours, as of scikit-learn, UMAP or FAISS. -1 stands for none.
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

    See Also
    --------
    SpanningTree : What is returned.
    UltrametricTree.from_data : Points to transitive distances in one step.
    isthmus.dask.minimum_spanning_tree : For more points than one machine holds.

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
    if progress is None and verbose:
        progress = ProgressBar("spanning tree")
    budget = Budget(check_memory_limit(memory_limit))
    X, resolved = read_table(X, resolve_metric(metric, metric_params))
    return find_neighborhood_tree(
        check_data(X, resolved),
        resolved,
        check_neighborhood(n_neighbors, neighborhood, resolved),
        disconnected=disconnected,
        engine=engine,
        given_neighbors=neighbors,
        n_jobs=n_jobs,
        progress=progress,
        budget=budget,
        keep_index=False,
    ).tree
