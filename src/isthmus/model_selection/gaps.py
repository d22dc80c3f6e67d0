"""UltrametricTree → the gaps between groups of points, for one number of groups after another.

An edge of the spanning tree is a gap where it is much longer than the edges of both groups that
it joins. How much is a question of how these vary: the edges of points without any structure have
a tail like exp(-(length / scale)^d) with some d, whatever the scale, and two quantiles of a
group's edges tell what that tail can reach. Lengths enter as logarithms alone, and equal points
count once, so that neither units nor copies of rows matter.

1. Every merge of two groups that are large enough is a *link*, with a strength: how far it lies
   beyond the wide edges of its two sides, over how far these lie beyond the short ones.
2. The strongest links are removed; the spanning tree falls into parts.
3. The weakest link joins its two parts again, and strengths are taken anew, since a part is
   compared with its own edges: a number of groups after another, each with its weakest gap.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.model_selection.edge_quantiles import EdgeLengths, Spread, spread_of_sorted
from isthmus.ultrametric import UltrametricTree

# A group has at least this times log2(n) points: smaller ones are apart by chance.
_POINTS_PER_DOUBLING = 2.0
# So many links are removed first, at least, and this times the numbers of clusters in question.
_FEWEST_LINKS, _LINKS_PER_CLUSTER = 60, 3


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
        log(gap / wide edge) / log(wide edge / short edge), of the side where that is less.
    widths : (m,) float64
        The length of that gap.
    ratios : (m,) float64
        The gap over the wide edges of the same side.
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

    @classmethod
    def none(cls, n_points: int, n_different: int, smallest_group: int) -> Gaps:
        """Return the record of points without any gaps."""
        no = np.empty(0)
        parts, joined = np.zeros(n_points, dtype=np.int32), np.empty((0, 2), dtype=np.int32)
        return cls(n_different, smallest_group, no, no, no, parts, joined)

    def labels(self, n_groups: int) -> Labels:
        """Return the groups of all points, (n_points,) int32, where there are so many."""
        number = np.arange(len(self.joined) + 1, dtype=np.int32)
        for k in range(len(self.joined) + 1, n_groups, -1):
            kept, gone = self.joined[k - 2]
            number[number == gone] = kept
        _, groups = np.unique(number, return_inverse=True)
        labels: Labels = groups.astype(np.int32)[self.parts]
        return labels


@dataclass
class _Link:
    """An edge that was removed, between two parts."""

    log_length: float
    merge: int
    sides: list[int]
    strength: float = 0.0
    log_ratio: float = 0.0


def find_gaps(tree: UltrametricTree, n_groups: int) -> Gaps:
    """Return the gaps of a tree for up to n_groups groups, and for some more where there are."""
    edges = EdgeLengths.of_tree(tree)
    n_different = len(edges.logs) + 1
    smallest = max(4, math.ceil(_POINTS_PER_DOUBLING * math.log2(max(n_different, 2))))
    n_attached = max(_FEWEST_LINKS, _LINKS_PER_CLUSTER * n_groups)
    merges = _strongest_links(tree, edges, smallest, n_attached)
    if not len(merges):
        return Gaps.none(tree.n_points, n_different, smallest)
    parts = _parts_without(tree, merges)
    links = [
        _Link(float(length), int(merge), [int(a), int(b)])
        for length, merge, (a, b) in zip(
            edges.log_heights(tree, merges),
            merges,
            parts[tree.spanning_tree.edges[merges]],
            strict=True,
        )
    ]
    joined = _join_again(links, _edges_of_parts(tree, edges, parts, merges))
    order = joined[::-1]
    return Gaps(
        n_different=n_different,
        smallest_group=smallest,
        strengths=np.array([link.strength for link in order]),
        widths=tree.heights[[link.merge for link in order]],
        ratios=np.exp([link.log_ratio for link in order]),
        parts=parts,
        joined=np.array([link.sides for link in order], dtype=np.int32).reshape(-1, 2),
    )


def _strongest_links(
    tree: UltrametricTree, edges: EdgeLengths, smallest: int, n_attached: int
) -> Ints:
    """Return the merges of the strongest links, at most n_links, from the strongest on.

    The strength is that on the weaker side. The smaller side, which is the cheaper one to look at,
    bounds it from above; the larger one is looked at only where the bound is good enough.
    """
    sizes = (edges.end - edges.begin)[tree.children] + 1
    merges = np.flatnonzero(sizes.min(axis=1) >= smallest)
    smaller = sizes[merges].argmin(axis=1)
    near, far = tree.children[merges, smaller], tree.children[merges, 1 - smaller]
    lengths = edges.log_heights(tree, merges)
    # A heap hands out the least number first, so strengths are negated.
    queue = [(-_strength(lengths[i], edges.spread(near[i])), i, False) for i in range(len(merges))]
    heapq.heapify(queue)
    found: list[int] = []
    while queue and len(found) < n_attached:
        bound, i, is_known = heapq.heappop(queue)
        if is_known:
            found.append(i)
        else:
            strength = min(-bound, _strength(lengths[i], edges.spread(far[i])))
            heapq.heappush(queue, (-strength, i, True))
    strongest: Ints = merges[np.array(found, dtype=np.int64)]
    return strongest


def _strength(log_length: float, spread: Spread) -> float:
    # Rounded, so that what is equal but for rounding errors is decided as equal.
    return round(float(log_length - spread.wide) / spread.spread, 9)


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
    # Short numbers are sorted fastest.
    part = parts[tree.spanning_tree.edges[n_zero:][kept, 0]].astype(np.min_scalar_type(len(merges)))
    order = np.argsort(part, kind="stable")
    borders = np.searchsorted(part[order], np.arange(1, len(merges) + 1))
    return np.split(edges.logs[kept][order], borders)


def _join_again(links: list[_Link], edges: list[Floats]) -> list[_Link]:
    """Join the two parts of the weakest link, again and again; return the links in that order."""
    spreads = [spread_of_sorted(part) for part in edges]
    for link in links:
        _measure(link, spreads)
    left, joined = list(links), []
    while left:
        weakest = min(left, key=lambda link: (link.strength, link.merge))
        left.remove(weakest)
        joined.append(weakest)
        kept, gone = weakest.sides
        more, fewer = sorted([edges[kept], edges[gone]], key=len, reverse=True)
        added = np.sort(np.append(fewer, weakest.log_length))
        edges[kept] = np.insert(more, np.searchsorted(more, added), added)
        edges[gone] = np.empty(0)
        spreads[kept] = spread_of_sorted(edges[kept])
        for link in left:
            link.sides = [kept if side == gone else side for side in link.sides]
            if kept in link.sides:
                _measure(link, spreads)
    return joined


def _measure(link: _Link, spreads: list[Spread]) -> None:
    link.strength, link.log_ratio = min(
        (_strength(link.log_length, spreads[side]), link.log_length - spreads[side].wide)
        for side in link.sides
    )
