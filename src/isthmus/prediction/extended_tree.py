"""A spanning tree and edges to new points → the spanning tree of all points.

Let T be the minimum spanning tree of the old points, edges compared by (length, smaller index,
larger index). An edge of two old points that is not in T closes a cycle with edges of T, all of
which come before it; so it is not in the tree of all points either. What is left are the edges of
T, those of the tree of the new points among themselves, by the same argument, and those between an
old and a new point: of these the *candidates* (kdtree_candidates.py, attachments.py) are enough.

Of T only a contraction matters. Take the old points that candidates end at, in leaf order. Between
each and the next the last merge is where T would be cut to part them. All other edges of T have no
candidate on one of their sides when they are the shortest edge out of it, and stay.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints
from isthmus.spanning_tree.kruskal import choose_edges
from isthmus.spanning_tree.result import SpanningTree, tree_in_order, trusted_tree
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import merges_of_gaps


class NewEdges(NamedTuple):
    """Edges that have a new point at one end, or at both.

    Attributes
    ----------
    edges : (m, 2) int64
        The smaller index first. New points are numbered behind the old ones.
    lengths : (m,) float64
        As edges are compared; of the tree's edges the heights are.
    """

    edges: Ints
    lengths: Floats


class Contraction(NamedTuple):
    """What candidates see of a tree.

    Attributes
    ----------
    number : (n_touched,) int64
        The old points that they end at, ascending.
    order : (n_touched,) int64
        Positions in ``number``, in leaf order.
    merges : (n_touched - 1,) int64
        The last merge between each and the next one, in leaf order.
    """

    number: Ints
    order: Ints
    merges: Ints


def contract(tree: UltrametricTree, touched: Ints) -> Contraction:
    """Return the contraction of a tree to some of its points, ascending."""
    starts = tree.starts[touched]
    order = np.argsort(starts)
    positions = starts[order]
    gaps = merges_of_gaps(tree.children, tree.starts)
    if len(touched) == 1:
        return Contraction(touched, order, np.empty(0, dtype=np.int64))
    merges = np.maximum.reduceat(gaps[: positions[-1]], positions[:-1])
    return Contraction(touched, order, merges)


def choose_extended(tree: UltrametricTree, n_new: int, new: NewEdges) -> tuple[Array, Array]:
    """Return which edges the tree of all points has: of the tree, and of the new ones.

    Parameters
    ----------
    tree : UltrametricTree
        Of the old points; its edges are ordered as they are compared.
    n_new : int
        At least one.
    new : NewEdges
        The candidates, with which all points are connected.
    """
    n_old = tree.n_points
    ends = new.edges.ravel()
    touched = np.unique(ends[ends < n_old])
    contraction = contract(tree, touched)
    of_tree = tree.spanning_tree.edges[contraction.merges]
    lengths = np.concatenate([tree.heights[contraction.merges], new.lengths])
    indices = np.concatenate([of_tree, new.edges])
    # The same edges between numbers of what is left: first the old points, then the new ones.
    old = np.searchsorted(touched, np.minimum(new.edges, n_old - 1))
    numbered = np.where(new.edges < n_old, old, new.edges - n_old + len(touched))
    between = np.column_stack([contraction.order[:-1], contraction.order[1:]])
    ordered = np.lexsort((indices[:, 1], indices[:, 0], lengths))
    edges = np.concatenate([between, numbered])[ordered]
    n_left = len(touched) + n_new
    chosen = np.empty(n_left - 1, dtype=np.int64)
    n_chosen = choose_edges(edges, 0, len(edges), np.arange(n_left), chosen, 0)
    assert n_chosen == n_left - 1  # candidates connect every new point
    is_chosen = np.zeros(len(edges), dtype=np.bool_)
    is_chosen[ordered[chosen]] = True
    stays = np.ones(len(tree.heights), dtype=np.bool_)
    stays[contraction.merges] = is_chosen[: len(contraction.merges)]
    return stays, is_chosen[len(contraction.merges) :]


def joined_tree(
    old: SpanningTree, stays: Array, edges: Ints, weights: Floats, n_jobs: int = 1
) -> SpanningTree:
    """Return the tree of some edges of another one, and of new edges in any order.

    stays : (n - 1,) bool
    edges, weights : (m, 2) and (m,)
        The new edges, the smaller index first.
    """
    order = np.lexsort((edges[:, 1], edges[:, 0], weights))
    edges, weights = edges[order], weights[order]
    kept_edges, kept = old.edges[stays], old.weights[stays]
    before = np.searchsorted(kept, weights, side="left")
    if (before < np.searchsorted(kept, weights, side="right")).any():  # then indices decide
        all_edges = np.concatenate([kept_edges, edges])
        all_weights = np.concatenate([kept, weights])
        return trusted_tree(all_edges, all_weights, old.engine, n_jobs, by_index=True)
    all_edges = np.insert(kept_edges, before, edges, axis=0)
    return tree_in_order(all_edges, np.insert(kept, before, weights), old.engine, by_index=True)
