"""Precomputed distances → SpanningTree, by the engine that reads their form."""

from __future__ import annotations

from isthmus._utils.memory import Budget
from isthmus._utils.progress import Progress
from isthmus.metrics.precomputed import CondensedDistances, Graph, Precomputed
from isthmus.spanning_tree import memory
from isthmus.spanning_tree.kruskal import kruskal_of_graph
from isthmus.spanning_tree.prim import prim_of_condensed, prim_of_matrix
from isthmus.spanning_tree.result import SpanningTree

_TAKES = {"prim": "takes full matrices", "kruskal": "takes sparse graphs"}


def spanning_tree_of_distances(
    distances: Precomputed,
    engine: str,
    joint: float | None,
    progress: Progress | None,
    budget: Budget,
) -> SpanningTree:
    """Return the spanning tree of checked distances.

    Parameters
    ----------
    distances : SquareDistances, CondensedDistances or Graph
    engine : str
        ``"auto"``, or the one that serves: ``"kruskal"`` for a graph, ``"prim"`` for the others.
    joint : float or None
        How far apart the components of a graph are; None: a graph of several is refused.
    progress : callable, optional
    budget : Budget
        The memory that may be used beside the distances.
    """
    is_graph = isinstance(distances, Graph)
    serves = "kruskal" if is_graph else "prim"
    if engine not in ("auto", serves):
        takes = _TAKES.get(engine, "needs points")
        given = "a sparse graph" if is_graph else "a full matrix"
        raise ValueError(
            f"engine={engine!r} {takes}; for precomputed distances in {given} use "
            f"engine={serves!r} or 'auto'."
        )
    if isinstance(distances, Graph):
        memory.require_for_graph(budget, distances.n_points, len(distances.edges))
    else:
        memory.require_for_prim(budget, distances.n_points, 0)
    if isinstance(distances, Graph):
        edges, weights = kruskal_of_graph(distances, joint, progress)
    elif isinstance(distances, CondensedDistances):
        edges, weights = prim_of_condensed(distances.values, distances.n_points, progress)
    else:
        edges, weights = prim_of_matrix(distances.matrix, progress)
    return SpanningTree.from_edges(edges, weights, engine=serves)
