"""A graph of distances: Kruskal's algorithm, O(m log m) time and O(m) memory for m edges.

Edges are taken in the total order of edge_order.py, so the tree is the one that Prim's algorithm
finds on the full matrix, where no pair is left out.
"""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.parallel import chunks
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Floats, Ints
from isthmus.metrics.precomputed import Graph
from isthmus.spanning_tree.edge_order import sort_edges
from isthmus.spanning_tree.engine import BYTES_PER_EDGE, FIXED_BYTES, Edges, Engine, Problem
from isthmus.spanning_tree.union_find import unite

# Edges per kernel call: well under a second, so that Ctrl-C is seen.
_CHUNK = 1 << 20


class KruskalEngine(Engine):
    """Kruskal's algorithm on the edges of a graph."""

    name = "kruskal"
    takes = "sparse graphs, with metric='precomputed'"

    def supports(self, problem: Problem) -> bool:
        """Whether the data are a graph."""
        return isinstance(problem.data, Graph)

    def bytes_needed(self, problem: Problem) -> int:
        """Return how much memory sorting the edges takes."""
        graph: Graph = problem.data
        return FIXED_BYTES + 48 * len(graph.edges) + BYTES_PER_EDGE * graph.n_points

    def run(self, problem: Problem) -> Edges:
        """Find the tree; components are joined, or refused, as the problem says."""
        return kruskal_of_graph(problem.data, problem.disconnected, problem.progress)


def kruskal_of_graph(
    graph: Graph, joint: float | None = None, progress: Progress | None = None
) -> Edges:
    """Return the edges and weights of the spanning tree of a graph.

    Parameters
    ----------
    graph : Graph
    joint : float, optional
        The length of the edges between components, which join the first point of each to point 0;
        infinite, or not below any edge of the trees of the components. None: one component is
        required.
    progress : callable, optional
    """
    edges, weights = sort_edges(graph.edges, graph.weights)
    n_needed = graph.n_points - 1
    parent = np.arange(graph.n_points)
    chosen, n_chosen = np.empty(n_needed, dtype=np.int64), 0
    for start, stop in chunks(len(edges), _CHUNK):
        n_chosen = choose_edges(edges, start, stop, parent, chosen, n_chosen)
        if progress is not None:
            progress(n_chosen, n_needed)
        if n_chosen == n_needed:
            break
    chosen = chosen[:n_chosen]
    edges, weights = edges[chosen], weights[chosen]
    if n_chosen == n_needed:
        return Edges(edges, weights)
    firsts = _first_points(parent, weights, joint)
    joints = np.column_stack([np.zeros_like(firsts), firsts])
    return Edges(
        np.concatenate([edges, joints]),
        np.concatenate([weights, np.full(len(joints), joint)]),
    )


def _first_points(parent: Ints, weights: Floats, joint: float | None) -> Ints:
    """Return the first point of every component but point 0's, or say why they are not joined."""
    firsts = np.flatnonzero(parent == np.arange(len(parent)))
    n_components = len(firsts)
    if joint is None:
        flatten_sets(parent)
        largest = int(np.bincount(parent).max())
        raise ValueError(
            f"The sparse graph is not connected: it has {n_components} components, the largest "
            f"with {largest} of {len(parent)} points, and points of different components have no "
            "distance. Give it more edges (a larger n_neighbors), or join the components: "
            "disconnected='join' puts them infinitely far apart, disconnected=<number> that far."
        )
    if len(weights) and joint < weights[-1]:
        raise ValueError(
            f"disconnected={joint:g} is shorter than the longest edge within a component, "
            f"{weights[-1]:.17g}: the {n_components} components of the graph must be at least "
            "that far apart. Use a larger number, or disconnected='join'."
        )
    return firsts[1:]


@kernel
def choose_edges(
    edges: Ints, start: int, stop: int, parent: Ints, chosen: Ints, n_chosen: int
) -> int:
    """Choose the edges among start … stop - 1 that close no cycle; return how many there are now.

    Parameters
    ----------
    edges : (m, 2) int64, in
        In the order in which they are taken.
    parent : (n,) int64, in and out
        Disjoint sets of points, whose roots are their smallest points.
    chosen : (n - 1,) int64, out
        The chosen edges.
    n_chosen : int
        How many were chosen before.
    """
    for e in range(start, stop):
        if n_chosen == chosen.shape[0]:
            break
        if unite(parent, edges[e, 0], edges[e, 1]):
            chosen[n_chosen] = e
            n_chosen += 1
    return n_chosen


@kernel
def flatten_sets(parent: Ints) -> None:
    """Replace the parent of each point, in and out, by the root of its set."""
    for i in range(parent.shape[0]):
        parent[i] = parent[parent[i]]
