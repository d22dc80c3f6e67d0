"""UltrametricTree → the gaps between groups of points, for one number of groups after another.

An edge of the spanning tree is a gap if it is much longer than the edges of both groups that it
joins. How much longer depends on how these vary: the edges of points without structure have a tail
like exp(-(length / scale)^d) for some d, so two percentiles of a group's edges tell what that tail
can reach. Only logarithms of lengths matter, and equal points count once, so that neither units nor
copies of rows matter.

1. Every merge of two groups that are large enough is a candidate. Its strength is
   log(length / 90th percentile) / log(90th / 10th percentile) of the edges of its weaker side.
2. The edges of the strongest candidates are removed; the spanning tree falls into parts.
3. The weakest of these edges joins its two parts again, and strengths are recomputed, since a part
   is compared with its own edges. This gives one number of groups after another, each with its
   weakest gap.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.model_selection.edge_quantiles import EdgeLengths, Percentiles, percentiles_of_sorted
from isthmus.ultrametric import UltrametricTree

# A group has at least this times log2(n) points: smaller ones are apart by chance.
_POINTS_PER_DOUBLING = 2.0
# The least number of edges that are removed first, and their number per cluster in question.
_LEAST_REMOVED, _REMOVED_PER_CLUSTER = 60, 3


@dataclass(frozen=True)
class Gaps:
    """The weakest gap between k groups for every k, and the groups.

    Arrays have one entry for each k, from 2 on.

    Attributes
    ----------
    n_different : int
        The number of different points.
    smallest_group : int
        The least number of different points that counts as a group.
    strengths : (m,) float64
        log(gap / 90th percentile) / log(90th / 10th percentile), of the side where that is less.
    widths : (m,) float64
        The length of that gap.
    ratios : (m,) float64
        The gap over the 90th percentile of the edges of the same side.
    parts : (n_points,) int32
        The finest groups, m + 1 in number.
    joined : (m, 2) int32
        The two parts that become one (and keep the first one's number) where k groups become
        k - 1; from k = 2 on.
    """

    n_different: int
    smallest_group: int
    strengths: Floats
    widths: Floats
    ratios: Floats
    parts: Labels
    joined: Labels

    def labels(self, n_groups: int) -> Labels:
        """Return the groups of all points, (n_points,) int32, for one number of groups."""
        number = np.arange(len(self.joined) + 1, dtype=np.int32)
        for k in range(len(self.joined) + 1, n_groups, -1):
            kept, gone = self.joined[k - 2]
            number[number == gone] = kept
        _, groups = np.unique(number, return_inverse=True)
        labels: Labels = groups.astype(np.int32)[self.parts]
        return labels


@dataclass
class _Removed:
    """An edge that was removed, between two parts."""

    log_length: float
    merge: int
    sides: list[int]
    strength: float = 0.0
    log_ratio: float = 0.0

    def measure(self, percentiles: list[Percentiles]) -> None:
        """Compare the edge with those of its two parts."""
        self.strength, self.log_ratio = min(
            (_strength(self.log_length, percentiles[side]), self.log_length - percentiles[side][0])
            for side in self.sides
        )


def find_gaps(tree: UltrametricTree, n_groups: int) -> Gaps:
    """Return the gaps of a tree for up to n_groups groups, and for more where there are some."""
    edges = EdgeLengths.of_tree(tree)
    n_different = len(edges.logs) + 1
    smallest = max(4, math.ceil(_POINTS_PER_DOUBLING * math.log2(max(n_different, 2))))
    n_removed = max(_LEAST_REMOVED, _REMOVED_PER_CLUSTER * n_groups)
    merges = _strongest_merges(tree, edges, smallest, n_removed)
    parts = _parts_without(tree, merges)
    ends = parts[tree.spanning_tree.edges[merges]].tolist()
    logs = edges.log_heights(tree, merges).tolist()
    removed = [_Removed(*each) for each in zip(logs, merges.tolist(), ends, strict=True)]
    gaps = _join_again(removed, _edges_of_parts(tree, edges, parts, merges))[::-1]
    return Gaps(
        n_different=n_different,
        smallest_group=smallest,
        strengths=np.array([gap.strength for gap in gaps]),
        widths=tree.heights[np.array([gap.merge for gap in gaps], dtype=np.int64)],
        ratios=np.exp([gap.log_ratio for gap in gaps]),
        parts=parts,
        joined=np.array([gap.sides for gap in gaps], dtype=np.int32).reshape(-1, 2),
    )


def _strongest_merges(
    tree: UltrametricTree, edges: EdgeLengths, smallest: int, n_removed: int
) -> Ints:
    """Return the strongest candidates, at most n_removed, in descending order.

    The strength is that on the weaker side. The smaller side is the cheaper one to measure and
    bounds it from above; the larger one is measured only where the bound is high enough.
    """
    sizes = (edges.end - edges.begin)[tree.children] + 1
    merges = np.flatnonzero(sizes.min(axis=1) >= smallest)
    smaller = sizes[merges].argmin(axis=1)
    near, far = tree.children[merges, smaller], tree.children[merges, 1 - smaller]
    logs = edges.log_heights(tree, merges)
    # A heap returns the least number first, so strengths are negated.
    queue = [
        (-_strength(logs[i], edges.percentiles(near[i])), i, False) for i in range(len(merges))
    ]
    heapq.heapify(queue)
    found: list[int] = []
    while queue and len(found) < n_removed:
        bound, i, is_known = heapq.heappop(queue)
        if is_known:
            found.append(i)
        else:
            strength = min(-bound, _strength(logs[i], edges.percentiles(far[i])))
            heapq.heappush(queue, (-strength, i, True))
    strongest: Ints = merges[np.array(found, dtype=np.int64)]
    return strongest


def _strength(log_length: float, percentiles: Percentiles) -> float:
    # Rounded, so that strengths that differ by rounding errors are equal.
    return round(float(log_length - percentiles.log_p90) / percentiles.log_ratio, 9)


def _parts_without(tree: UltrametricTree, merges: Ints) -> Labels:
    """Return the part of each point where the edges of some merges are removed."""
    kept = np.ones(tree.n_points - 1, dtype=bool)
    kept[merges] = False
    i, j = tree.spanning_tree.edges[kept].T
    graph = coo_array((np.ones(len(i), dtype=np.int8), (i, j)), shape=tree.shape)
    parts: Labels = connected_components(graph, directed=False)[1]
    return parts


def _edges_of_parts(
    tree: UltrametricTree, edges: EdgeLengths, parts: Labels, merges: Ints
) -> list[Floats]:
    """Return the lengths of the edges within each part, as ascending logarithms."""
    n_zero = len(tree.heights) - len(edges.logs)
    kept = np.ones(len(edges.logs), dtype=bool)
    kept[merges - n_zero] = False
    # Short integers are sorted fastest.
    part = parts[tree.spanning_tree.edges[n_zero:][kept, 0]].astype(np.min_scalar_type(len(merges)))
    order = np.argsort(part, kind="stable")
    borders = np.searchsorted(part[order], np.arange(1, len(merges) + 1))
    return np.split(edges.logs[kept][order], borders)


def _join_again(removed: list[_Removed], edges: list[Floats]) -> list[_Removed]:
    """Join the two parts of the weakest edge until none is left; return the edges in that order.

    edges : list of float64 arrays, in and out
        The lengths of the edges within each part, as ascending logarithms.
    """
    percentiles = [percentiles_of_sorted(part) for part in edges] if removed else []
    for edge in removed:
        edge.measure(percentiles)
    left, joined = list(removed), []
    while left:
        weakest = min(left, key=lambda edge: (edge.strength, edge.merge))
        left.remove(weakest)
        joined.append(weakest)
        kept, gone = weakest.sides
        more, fewer = sorted([edges[kept], edges[gone]], key=len, reverse=True)
        added = np.sort(np.append(fewer, weakest.log_length))
        edges[kept] = np.insert(more, np.searchsorted(more, added), added)
        edges[gone] = np.empty(0)
        percentiles[kept] = percentiles_of_sorted(edges[kept])
        for edge in left:
            edge.sides = [kept if side == gone else side for side in edge.sides]
            if kept in edge.sides:
                edge.measure(percentiles)
    return joined
