"""CUT: k parts of a spanning tree, deterministic, without a seed.

From the whole tree on, the edge with the largest ``w · a · b / (a + b)`` over all parts is
removed, with w its weight and a, b the weights (where none are given, the numbers of points) on its
two sides within the part. That is the inertia which a split along the edge saves in the coordinate
√w · [side of the edge]: bisecting K-means, one edge at a time. Scores that agree to 12 digits are
a tie: of these edges the one that was merged last is cut. Where a least mass is asked for, only
edges are removed that leave as much on both sides.

Most edges are too light to be cut, wherever they are: in a part of mass m an edge of weight w
scores w · m / 4 at most, and less where one side must hold more than a half. So the tree is first
taken in few pieces. Only where an edge within a piece might score as much as the one that is to be
cut, it is taken apart to the points.
"""

from __future__ import annotations

import heapq
import math
from contextlib import suppress

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.rounding import DIGITS, TIE, unit_of
from isthmus._utils.typing import Array, Floats, Labels
from isthmus.cut.contracted import ContractedTree
from isthmus.cut.parts import CutTree
from isthmus.ultrametric import UltrametricTree

# Stands for the weight of an infinite edge, where the others are below 2: whatever the sizes of
# its sides, it is cut first, and of several such edges the one that divides most evenly.
INFINITE = 2.0**500

# 1 in the kernel that heeds a least mass.
LIMITED = 0

# Marks, in place of a merge, what edges within pieces may score; it comes first in a heap.
_WITHIN = -(2**63)

# So many merges are opened first, or a share of them, or so many times the number of parts.
_FEW = 4096
_SHARE = 64
_PER_PART = 8


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


class _UndecidedError(Exception):
    """An edge within a piece might be the one to cut."""


def cut_spanning_tree(
    tree: UltrametricTree,
    n_parts: int,
    point_weights: Floats | None = None,
    least: float = 0.0,
) -> CutTree:
    """Return the parts of the spanning tree of an ultrametric tree.

    Parameters
    ----------
    tree : UltrametricTree
    n_parts : int
    point_weights : (n,) float64, optional
        How many points each one stands for; one, where not given.
    least : float
        What each part must weigh at least; raises TooFewCutsError where no edge is left to cut.
    """
    if n_parts == 1:
        only = np.zeros(1, dtype=np.int32)
        return CutTree(tree, only + (2 * tree.n_points - 2), only, only[:0], only)
    n_merges = tree.n_points - 1
    n_open = max(_FEW, n_merges // _SHARE, _PER_PART * n_parts)
    if 2 * n_open < n_merges:
        with suppress(_UndecidedError):
            return cut_pieces(ContractedTree.below(tree, n_open), n_parts, point_weights, least)
    return cut_pieces(ContractedTree.below(tree, n_merges), n_parts, point_weights, least)


def cut_pieces(
    pieces: ContractedTree, n_parts: int, point_weights: Floats | None, least: float
) -> CutTree:
    """Return the parts of a spanning tree in pieces.

    Raises _UndecidedError where edges within pieces may have to be cut, and TooFewCutsError.
    """
    parent, size, merge = pieces.parent, pieces.size, pieces.merge
    mass = pieces.point_weights(point_weights)
    # Scores are compared with one another only; weights near 1 cannot overflow. That of the root,
    # which has no edge, is never looked at.
    weight, height = pieces.tree.heights[merge], pieces.heights()
    for lengths in (weight, height):
        np.divide(lengths, unit_of(pieces.tree.heights), out=lengths)
        np.minimum(lengths, INFINITE, out=lengths)
    largest = np.empty(len(height))
    # Of the part that a place is in: the mass in the branch that begins there, and, where that is
    # no integer, the rest.
    inside = mass.copy()
    sum_branches(parent, inside)
    rest = np.empty(0 if point_weights is None else len(mass), dtype=mass.dtype)
    branches = np.empty_like(parent[: len(rest)])
    part_of = np.full(len(parent), -1, dtype=np.int32)  # filled where a part begins
    part_of[0] = 0
    cuts, cut_from = np.empty(n_parts - 1, dtype=np.int64), np.zeros(n_parts, dtype=np.int32)
    best_edge = best_cut.specialised({"LIMITED": 1}) if least > 0.0 else best_cut
    least *= 1.0 - TIE
    # Edges by their scores, and what edges within the pieces of a part may score; the last number
    # of the latter is how many parts there were when that was so.
    heap: list[tuple[float, int, int, int]] = []
    surveyed: dict[int, int] = {}

    def survey(begin: int, n_made: int) -> None:
        if len(rest):
            sum_rest(size, mass, inside, part_of, begin, branches, rest)
        score, place = best_edge(size, inside, rest, part_of, weight, merge, begin, least)
        mantissa, exponent = math.frexp(score)
        rounded = math.ldexp(round(math.ldexp(mantissa, DIGITS)), exponent - DIGITS)
        heapq.heappush(heap, (-rounded, -int(merge[place]), place, begin))
        if len(height):
            bound = bound_within(parent, size, inside, part_of, height, largest, begin, least)
            surveyed[begin] = n_made
            heapq.heappush(heap, (-bound * (1.0 + 4.0 * TIE), _WITHIN, begin, n_made))

    survey(0, 1)
    part = 1
    while part < n_parts:
        minus_score, minus_merge, place, begin = heapq.heappop(heap)
        if minus_merge == _WITHIN:
            if surveyed[place] == begin:
                raise _UndecidedError
            continue
        if minus_score > 0.0:
            raise TooFewCutsError(part)
        cuts[part - 1], cut_from[part] = merge[place], part_of[begin]
        detach(parent, size, mass, inside, rest, part_of, place, part)
        part += 1
        if part < n_parts:
            survey(place, part)
            survey(begin, part)
    hand_parts_down(parent, part_of)
    return CutTree(pieces.tree, pieces.node, part_of[pieces.place], cuts, cut_from)


@kernel
def sum_branches(parent: Labels, amount: Array) -> None:
    """Turn an amount per place, (m,), into its sum over the branch that begins there, in place."""
    for place in range(parent.shape[0] - 1, 0, -1):
        amount[parent[place]] += amount[place]


@kernel
def sum_rest(
    size: Labels,
    mass: Floats,
    inside: Floats,
    part_of: Labels,
    begin: int,
    branches: Labels,
    rest: Floats,
) -> None:
    """Fill, in the part that begins at a place, the mass that is not in the branch of each one.

    It is added up from other branches: the mass of the part, less that of a branch which is almost
    all of it, would be nothing but rounding errors.

    branches : (n,) int32, scratch
    rest : (n,) float64, out
    """
    rest[begin] = 0.0
    place = begin
    stop = begin + size[begin]
    while place < stop:
        if place > begin and part_of[place] >= 0:
            place += size[place]
            continue
        total = rest[place] + mass[place]
        n_branches = 0
        child = place + 1
        while child < place + size[place]:
            if part_of[child] < 0:
                rest[child] = total
                total += inside[child]
                branches[n_branches] = child
                n_branches += 1
            child += size[child]
        total = 0.0
        for b in range(n_branches - 1, -1, -1):
            rest[branches[b]] += total
            total += inside[branches[b]]
        place += 1


@kernel
def best_cut(
    size: Labels,
    inside: Array,
    rest: Array,
    part_of: Labels,
    weight: Floats,
    merge: Labels,
    begin: int,
    least: float,
) -> tuple[float, int]:
    """Return the score and the place of the best edge to cut in the part that begins at a place.

    Branches where another part begins are skipped as a whole. A part of one piece has no edge:
    its score is -1; so is that of a part without an edge that leaves the least mass on both sides,
    which counts where LIMITED is 1.
    """
    whole = inside[begin]
    best = begin
    best_score = -1.0
    to_beat = -1.0
    place = begin + 1
    stop = begin + size[begin]
    while place < stop:
        if part_of[place] >= 0:
            place += size[place]
            continue
        if LIMITED and inside[place] < least:  # nothing in this branch is larger
            place += size[place]
            continue
        other = rest[place] if rest.shape[0] > 0 else whole - inside[place]
        score = weight[place] * (inside[place] * other / whole)
        beats = score > to_beat or (
            score >= best_score * (1.0 - TIE) and merge[place] > merge[best]
        )
        if beats and (not LIMITED or other >= least):
            best = place
            best_score = score
            to_beat = score * (1.0 + TIE)
        place += 1
    return best_score, best


@kernel
def bound_within(
    parent: Labels,
    size: Labels,
    inside: Array,
    part_of: Labels,
    height: Floats,
    largest: Floats,
    begin: int,
    least: float,
) -> float:
    """Return what edges within the pieces of a part score at most.

    Or -1, where none of them is to be cut: pieces are points, or leave too little on one side.

    Parameters
    ----------
    height : (m,) float64, in
        The height of each piece, below 0 for single points.
    largest : (m,) float64, scratch
        The mass of the largest branch at each piece.
    """
    whole = inside[begin]
    stop = begin + size[begin]
    largest[begin] = 0.0
    place = begin + 1
    while place < stop:
        if part_of[place] >= 0:
            place += size[place]
            continue
        largest[place] = 0.0
        largest[parent[place]] = max(largest[parent[place]], inside[place])
        place += 1
    bound = -1.0
    place = begin
    while place < stop:
        if place > begin and part_of[place] >= 0:
            place += size[place]
            continue
        # Every edge within the piece has each of the branches at the piece on one side, the
        # largest one, too.
        across = np.float64(whole - inside[place])
        large = max(across, largest[place])
        large = max(large, 0.5 * whole)
        small = (whole - large) + 1e-15 * whole  # never below the truth, whatever rounding did
        if height[place] >= 0.0 and small >= least:
            bound = max(bound, height[place] * (large * small / whole))
        place += 1
    return bound


@kernel
def detach(
    parent: Labels,
    size: Labels,
    mass: Array,
    inside: Array,
    rest: Array,
    part_of: Labels,
    place: int,
    part: int,
) -> None:
    """Make the branch at a place a part of its own: the branches it was in lose its mass."""
    part_of[place] = part
    above = place
    while above == place or part_of[above] < 0:
        above = parent[above]
        if rest.shape[0] == 0:
            inside[above] -= inside[place]
        else:
            # Added up anew, as in sum_rest.
            total = mass[above]
            child = above + 1
            while child < above + size[above]:
                if part_of[child] < 0:
                    total += inside[child]
                child += size[child]
            inside[above] = total


@kernel
def hand_parts_down(parent: Labels, part_of: Labels) -> None:
    """Give each place where no part begins the part of its parent."""
    for place in range(part_of.shape[0]):
        if part_of[place] < 0:
            part_of[place] = part_of[parent[place]]
