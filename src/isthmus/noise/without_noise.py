"""UltrametricTree, and which points are noise → the tree of the other points.

Noise is not clustered, but it stays on the way between others: the transitive distances of the
points that are kept are those of the whole tree. Merging along the edges, a group of nothing but
noise is *absorbed* by the group that it joins: by the point at the other end of the edge, at its
length. An edge that joins two groups with kept points becomes an edge between the points at its
ends, or those that absorbed them. So CUT counts noise for nothing, and no cluster is all noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.prediction.attachments import Attachments
from isthmus.spanning_tree.result import trusted_tree
from isthmus.spanning_tree.union_find import find, unite
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import CHUNK


@dataclass(frozen=True, eq=False)
class TreeWithoutNoise:
    """The tree of the m points that are kept, of n.

    Attributes
    ----------
    tree : UltrametricTree
        Of the kept points, in their order.
    kept : (m,) int64
        The points that are kept, ascending.
    owner : (n,) int64
        Of each point the position in ``kept`` of itself or, for noise, of the point that absorbed
        it.
    absorbed_at : (n,) float64
        The transitive distance to that point; 0 for kept points.
    """

    tree: UltrametricTree
    kept: Ints
    owner: Ints
    absorbed_at: Floats

    def moved(self, attachments: Attachments) -> Attachments:
        """Return attachments to the whole tree as those to this one, of the same distances.

        An edge to noise leads to the point that absorbed it, at the larger of the two distances;
        of several edges to one point the shortest is left.
        """
        point = self.owner[attachments.point]
        length = np.maximum(attachments.length, self.absorbed_at[attachments.point])
        row = np.repeat(np.arange(len(attachments)), np.diff(attachments.begin))
        order = np.lexsort((length, point, row))
        row, point, length = row[order], point[order], length[order]
        first = np.append(True, (row[1:] != row[:-1]) | (point[1:] != point[:-1]))[: len(row)]
        row, point, length = row[first], point[first], length[first]
        order = np.lexsort((point, length, row))
        begin = np.searchsorted(row, np.arange(len(attachments) + 1))
        return Attachments(begin, point[order], length[order])


def without_noise(tree: UltrametricTree, is_noise: Array) -> TreeWithoutNoise:
    """Return the tree of the points that are not noise, in O(n); at least one is not.

    is_noise : (n,) bool
    """
    n_points, kept = tree.n_points, np.flatnonzero(~is_noise)
    sets = Sets(
        is_noise=is_noise,
        parent=np.arange(n_points),
        owner=np.arange(n_points),
        absorbed_at=np.zeros(n_points),
    )
    edges, weights = np.empty((len(kept) - 1, 2), np.int64), np.empty(len(kept) - 1)
    whole, n_found = tree.spanning_tree, 0
    for start, stop in chunks(n_points - 1, CHUNK):
        n_found = absorb_noise(
            whole.edges[start:stop], whole.weights[start:stop], sets, edges, weights, n_found
        )
    fill_owners(sets)
    position = np.cumsum(~is_noise) - 1
    rest = trusted_tree(position[edges], weights, whole.engine)
    return TreeWithoutNoise(
        UltrametricTree.from_spanning_tree(rest), kept, position[sets.owner], sets.absorbed_at
    )


class Sets(NamedTuple):
    """Groups of noise while edges are merged.

    Attributes
    ----------
    is_noise : (n,) bool
    parent : (n,) int64
        Disjoint sets of noise, as they were when they were absorbed; kept points are alone.
    owner : (n,) int64
        Of the root of each set the kept point that absorbed it; before that, and of a kept point,
        itself.
    absorbed_at : (n,) float64
        The length of the edge to it.
    """

    is_noise: Array
    parent: Ints
    owner: Ints
    absorbed_at: Floats


@kernel_part
def owner_of(sets: Sets, x: int) -> int:
    """Return the kept point that x is, or that absorbed it; a point of noise where none has.

    So x has been merged with a kept point if, and only if, this is one.
    """
    if not sets.is_noise[x]:
        return x
    return int(sets.owner[find(sets.parent, x)])


@kernel
def absorb_noise(
    edges: Ints, weights: Floats, sets: Sets, out: Ints, out_weights: Floats, n_found: int
) -> int:
    """Merge along some edges of the whole tree; return the number of edges between kept points.

    out, out_weights : (m - 1, 2) int64 and (m - 1,) float64, in and out
        These edges; the first n_found are filled on entry.
    """
    is_noise = sets.is_noise
    for e in range(edges.shape[0]):
        a, b = edges[e, 0], edges[e, 1]
        first, second = owner_of(sets, a), owner_of(sets, b)
        if is_noise[first] and is_noise[second]:
            unite(sets.parent, a, b)
        elif is_noise[first] or is_noise[second]:
            root = find(sets.parent, a if is_noise[first] else b)
            sets.owner[root] = second if is_noise[first] else first
            sets.absorbed_at[root] = weights[e]
        else:
            out[n_found, 0] = first
            out[n_found, 1] = second
            out_weights[n_found] = weights[e]
            n_found += 1
    return n_found


@kernel
def fill_owners(sets: Sets) -> None:
    """Give each point of noise what the root of its set has."""
    for x in range(sets.is_noise.shape[0]):
        if sets.is_noise[x]:
            root = find(sets.parent, x)
            sets.owner[x] = sets.owner[root]
            sets.absorbed_at[x] = sets.absorbed_at[root]
