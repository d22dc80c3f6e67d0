"""CUT from above: k parts of a spanning tree, deterministic, without a seed.

From the whole tree on, the edge of the largest score (see score.py) over all parts is cut. Of
edges whose scores are a tie the one that was merged last is cut. Where a least weight is asked
for, only edges are cut that leave as much on both sides.

Most edges are too light to be cut, wherever they are: in a part of weight m an edge of weight w
scores w · m / 4 at most, and less where one side must hold more than a half. So light edges are
first contracted. Only where an edge within a component might score as much as the one that is to
be cut, CUT begins again with all edges.
"""

from __future__ import annotations

import heapq
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import AHEAD, kernel, kernel_part, prefetch
from isthmus._utils.rounding import TIE, to_twelve_digits, unit_of
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.cut.constraints import Constraints
from isthmus.cut.contracted import ContractedTree
from isthmus.cut.parts import CutTree
from isthmus.cut.score import INFINITE, cut_score, finite_weights
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.range_max import maxima_of_blocks

# Edges that are looked at first: this number, or a share of all, or a multiple of the parts.
_FEW = 4096
_SHARE = 64
_PER_PART = 8

# Positions that a survey passes over together, where all edges at them are too light.
_BLOCK_BITS = 6
_BLOCK = 1 << _BLOCK_BITS

# What a survey finds: the score of the best edge, and a bound for those of contracted edges.
BEST, BOUND = 0, 1


class TooFewCutsError(ValueError):
    """The tree has not enough edges between parts that are large enough.

    Attributes
    ----------
    n_parts : int
        How many parts it could be cut into.
    """

    def __init__(self, n_parts: int) -> None:
        super().__init__(f"only {n_parts} parts are large enough")
        self.n_parts = n_parts


class TooSmallPartError(ValueError):
    """The edges that must be cut leave a part that weighs too little.

    Attributes
    ----------
    weight : float
        What it weighs.
    """

    def __init__(self, weight: float) -> None:
        super().__init__(f"a part weighs {weight:g}")
        self.weight = weight


class _UndecidedError(Exception):
    """A contracted edge might be the one to cut."""


def cut_spanning_tree(
    tree: UltrametricTree,
    n_parts: int,
    point_weights: Floats | None = None,
    least: float = 0.0,
    n_edges: int | None = None,
    constraints: Constraints | None = None,
) -> CutTree:
    """Return the parts of the spanning tree of an ultrametric tree.

    Parameters
    ----------
    tree : UltrametricTree
    n_parts : int
    point_weights : (n,) float64, optional
        How many points each one stands for; one, where not given.
    least : float
        What each part must weigh at least; raises TooFewCutsError where no edge is left to cut,
        TooSmallPartError where constraints cut off less.
    n_edges : int, optional
        How many of the heaviest edges to look at first. The parts do not depend on it.
    constraints : Constraints, optional
        Edges that are cut first, the longest one first, and edges that are never cut.
    """
    if n_parts == 1:
        only = np.zeros(1, dtype=np.int32)
        return CutTree(tree, only + (2 * tree.n_points - 2), only, only[:0], only)
    n_merges = tree.n_points - 1
    if n_edges is None:
        n_edges = max(_FEW, n_merges // _SHARE, _PER_PART * n_parts)
    if constraints is not None and len(constraints.apart):
        n_edges = max(n_edges, n_merges - int(constraints.apart[0]))
    limits = Limits(least, constraints)
    if 2 * n_edges < n_merges:
        with suppress(_UndecidedError):
            return _cut(ContractedTree.of(tree, n_edges), n_parts, point_weights, limits)
    return _cut(ContractedTree.of(tree, n_merges), n_parts, point_weights, limits)


def cut_contracted_tree(
    contracted: ContractedTree, n_parts: int, point_weights: Floats | None, least: float = 0.0
) -> CutTree | None:
    """Return the parts of a tree that is contracted already; None where it is so too far.

    Raises TooFewCutsError, as cut_spanning_tree does.
    """
    with suppress(_UndecidedError):
        return _cut(contracted, n_parts, point_weights, Limits(least))
    return None


class Limits(NamedTuple):
    """What limits the cuts.

    Attributes
    ----------
    least : float
        What each part must weigh at least.
    constraints : Constraints or None
    """

    least: float = 0.0
    constraints: Constraints | None = None

    @property
    def first_cuts(self) -> Ints:
        """The merges that are cut first, in this order."""
        return np.empty(0, np.int64) if self.constraints is None else self.constraints.apart[::-1]


def _cut(
    contracted: ContractedTree, n_parts: int, point_weights: Floats | None, limits: Limits
) -> CutTree:
    """Return the parts of a contracted tree; raises _UndecidedError and errors as above."""
    cuts, cut_from = np.empty(n_parts - 1, dtype=np.int64), np.zeros(n_parts, dtype=np.int32)
    candidates = _Candidates(contracted, point_weights, limits)
    parts = candidates.parts
    first_cuts = limits.first_cuts[: n_parts - 1].tolist()
    begins = [0]
    for part, merge in enumerate(first_cuts, 1):
        position = int(np.flatnonzero(parts.merge == merge)[0])
        begin = begin_of_part(parts, position)
        cuts[part - 1], cut_from[part] = merge, parts.label[begin]
        detach(parts, begin, position, part)
        begins.append(position)
    smallest = float(parts.inside[begins].min())
    if first_cuts and smallest < limits.least * (1.0 - TIE):
        raise TooSmallPartError(smallest)
    for begin in begins:
        candidates.add(begin)
    for part in range(len(begins), n_parts):
        position, begin = candidates.pop_best(part)
        cuts[part - 1], cut_from[part] = parts.merge[position], parts.label[begin]
        detach(parts, begin, position, part)
        if part + 1 < n_parts:
            candidates.add(position)
            candidates.add(begin)
    labels = parts.label[contracted.rooted.position]
    return CutTree(contracted.tree, contracted.node, labels, cuts, cut_from)


class Parts(NamedTuple):
    """A rooted tree of m components while it is being cut; arrays are by position.

    A part begins at the position of its highest component.

    Attributes
    ----------
    parent, size, merge : (m,) int
        As in Rooted.
    edge_weight : (m,) float64
        The weight of the edge to the parent; of the root, anything.
    heaviest : (n_blocks,) float64
        The largest edge weight of each 64 positions.
    height : (m,) or (0,) float64
        The height of each component, below 0 for points; empty where all are points.
    weight : (m,) int or float64
        The weight of each component.
    label : (m,) int32
        The part that each component is in.
    inside : (m,) int or float64
        The weight of the branch that begins at each position, within its part.
    outside : (m,) or (0,) float64
        The weight of the rest of that part; empty where weights are integers.
    branches : (m,) or (0,) int
        Scratch of sum_outside.
    largest : (m,) or (0,) float64
        Scratch of bound_contracted.
    """

    parent: Labels
    size: Labels
    merge: Labels
    edge_weight: Floats
    heaviest: Floats
    height: Floats
    weight: Array
    label: Labels
    inside: Array
    outside: Array
    branches: Labels
    largest: Floats


class _Candidates:
    """The best edge of each part, and what contracted edges within the part may score."""

    def __init__(
        self, contracted: ContractedTree, point_weights: Floats | None, limits: Limits
    ) -> None:
        rooted, weight = contracted.rooted, contracted.weights(point_weights)
        # Scores are compared with one another only: weights near 1 cannot overflow.
        unit = unit_of(contracted.tree.heights)
        height = finite_weights(contracted.heights(), unit)
        n_sums = 0 if point_weights is None else len(weight)
        counts_points = len(height) == n_sums == 0  # components are points, and weigh 1
        edge_weight = np.empty(len(weight))
        fill_edge_weights(contracted.tree.heights, rooted.merge, unit, edge_weight)
        if limits.constraints is not None:  # no score is as low
            edge_weight[np.isin(rooted.merge, limits.constraints.together)] = -np.inf
        self.parts = Parts(
            *rooted[1:],
            edge_weight=edge_weight,
            heaviest=maxima_of_blocks(edge_weight, _BLOCK),
            height=height,
            weight=weight,
            label=np.zeros(len(weight), dtype=np.int32),
            inside=rooted.size.copy() if counts_points else weight.copy(),
            outside=np.empty(n_sums, dtype=weight.dtype),
            branches=np.empty_like(rooted.parent[:n_sums]),
            largest=np.empty(len(height)),
        )
        if not counts_points:
            sum_branches(rooted.parent, self.parts.inside)
        self._least = limits.least * (1.0 - TIE)
        self._scores = np.empty(2)
        # Heaps of (-score, -merge, position of the edge, begin) and of (-bound, begin).
        self._edges: list[tuple[float, int, int, int]] = []
        self._bounds: list[tuple[float, int]] = []
        self._bound_of: dict[int, float] = {}

    def add(self, begin: int) -> None:
        """Look for the best edge of the part that begins at a position."""
        parts = self.parts
        if len(parts.outside):
            sum_outside(parts, begin)
        position = survey(parts, begin, self._least, self._scores)
        rounded, bound = float(to_twelve_digits(self._scores[BEST])), float(self._scores[BOUND])
        heapq.heappush(self._edges, (-rounded, -int(parts.merge[position]), position, begin))
        self._bound_of[begin] = bound * (1.0 + 4.0 * TIE)
        heapq.heappush(self._bounds, (-self._bound_of[begin], begin))

    def pop_best(self, n_parts: int) -> tuple[int, int]:
        """Return the position of the best edge of all and where its part begins, of n parts."""
        minus_score, _, position, begin = heapq.heappop(self._edges)
        while self._bounds[0][0] <= minus_score:
            minus_bound, other = heapq.heappop(self._bounds)
            if -minus_bound == self._bound_of[other]:  # else it was one of a larger part
                raise _UndecidedError
        if minus_score > 0.0:
            raise TooFewCutsError(n_parts)
        return position, begin


@kernel
def begin_of_part(parts: Parts, position: int) -> int:
    """Return where the part of a position begins."""
    begin = position
    while begin > 0 and parts.label[parts.parent[begin]] == parts.label[position]:
        begin = int(parts.parent[begin])
    return begin


@kernel
def fill_edge_weights(heights: Floats, merge: Labels, unit: float, out: Floats) -> None:
    """Fill out, (m,), with the heights of merges, (m,), as finite_weights returns them.

    The root, which comes first, has no edge: 0.
    """
    out[0] = 0.0
    for position in range(1, merge.shape[0]):
        if position + AHEAD < merge.shape[0]:
            prefetch(heights, merge[position + AHEAD])
        out[position] = min(heights[merge[position]] / unit, INFINITE)


@kernel
def sum_branches(parent: Labels, amount: Array) -> None:
    """Turn an amount per position, (m,), into its sum over the branch that begins there."""
    for position in range(parent.shape[0] - 1, 0, -1):
        amount[parent[position]] += amount[position]


@kernel
def sum_outside(parts: Parts, begin: int) -> None:
    """Fill ``outside`` in the part that begins at a position.

    It is added up from other branches: the weight of the part, less that of a branch which is
    almost all of it, would be nothing but rounding errors.
    """
    size, label, inside = parts.size, parts.label, parts.inside
    outside, branches = parts.outside, parts.branches
    outside[begin] = 0.0
    position, stop = begin, begin + size[begin]
    while position < stop:
        if label[position] != label[begin]:
            position += size[position]
            continue
        total = outside[position] + parts.weight[position]
        n_branches = 0
        child = position + 1
        while child < position + size[position]:
            if label[child] == label[begin]:
                outside[child] = total
                total += inside[child]
                branches[n_branches] = child
                n_branches += 1
            child += size[child]
        total = 0.0
        for b in range(n_branches - 1, -1, -1):
            outside[branches[b]] += total
            total += inside[branches[b]]
        position += 1


@kernel
def survey(parts: Parts, begin: int, least: float, scores: Floats) -> int:
    """Return the position of the best edge of the part that begins at a position.

    Only edges that leave the least weight on both sides count.

    scores : (2,) float64, out
        The score of this edge, and a bound for those of contracted edges in the part; -1 where
        there is none.
    """
    scores[BOUND] = -1.0
    if parts.height.shape[0] > 0:
        scores[BOUND] = bound_contracted(parts, begin, least)
    return best_edge(parts, begin, least, scores)


@kernel_part
def best_edge(parts: Parts, begin: int, least: float, scores: Floats) -> int:
    """Return the position of a part's best edge, and fill its score; see survey."""
    size, label, inside, merge = parts.size, parts.label, parts.inside, parts.merge
    whole = inside[begin]
    best, best_score, to_beat, to_tie = begin, -1.0, -1.0, -1.0
    position, stop = begin + 1, begin + size[begin]
    while position < stop:
        # Of sides that weigh as much as the part, a · b / (a + b) is a quarter of it at most.
        block = position >> _BLOCK_BITS
        if position & (_BLOCK - 1) == 0 and parts.heaviest[block] * whole < to_tie:
            position += _BLOCK
            continue
        # Skipped as a whole: branches of other parts, and those that weigh too little.
        if label[position] != label[begin] or inside[position] < least:
            position += size[position]
            continue
        other = whole - inside[position]
        if parts.outside.shape[0] > 0:
            other = parts.outside[position]
        score = cut_score(parts.edge_weight[position], inside[position], other, whole)
        beats = score > to_beat or (
            score >= best_score * (1.0 - TIE) and merge[position] > merge[best]
        )
        if beats and other >= least:
            best, best_score, to_beat = position, score, score * (1.0 + TIE)
            to_tie = 4.0 * score * (1.0 - 2.0 * TIE)
        position += 1
    scores[BEST] = best_score
    return best


@kernel_part
def bound_contracted(parts: Parts, begin: int, least: float) -> float:
    """Return what the contracted edges within the components of a part score at most.

    Or -1, where none of them is to be cut: components are points, or leave too little on one side.
    """
    size, label, inside = parts.size, parts.label, parts.inside
    whole, largest = inside[begin], parts.largest
    stop = begin + size[begin]
    largest[begin] = 0.0
    position = begin + 1
    while position < stop:
        if label[position] != label[begin]:
            position += size[position]
            continue
        above = parts.parent[position]
        largest[position] = 0.0
        largest[above] = max(largest[above], inside[position])
        position += 1
    bound = -1.0
    position = begin
    while position < stop:
        if label[position] != label[begin]:
            position += size[position]
            continue
        # Every edge within the component has each of the branches at the component on one side,
        # the largest one, too.
        large = max(np.float64(whole - inside[position]), largest[position])
        large = max(large, 0.5 * whole)
        small = (whole - large) + 1e-15 * whole  # never below the truth, whatever rounding did
        if parts.height[position] >= 0.0 and small >= least:
            bound = max(bound, cut_score(parts.height[position], large, small, whole))
        position += 1
    return bound


@kernel
def detach(parts: Parts, begin: int, position: int, part: int) -> None:
    """Make a branch of the part that begins at ``begin`` a part of its own, with a new label."""
    size, label, inside = parts.size, parts.label, parts.inside
    p = position
    while p < position + size[position]:
        if label[p] == label[begin]:
            label[p] = part
            p += 1
        else:
            p += size[p]
    above = position
    while above != begin:
        above = parts.parent[above]
        if parts.outside.shape[0] == 0:
            inside[above] -= inside[position]
            continue
        total = parts.weight[above]  # added up anew, as in sum_outside
        child = above + 1
        while child < above + size[above]:
            if label[child] == label[begin]:
                total += inside[child]
            child += size[child]
        inside[above] = total
