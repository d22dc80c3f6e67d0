"""UltrametricTree → how long the edges below any node are: logarithms of quantiles, exactly.

Edges below a node stand side by side in leaf order, so few of them are sorted, and of many the
quantiles are counted out: edges have their ranks from the order of merges, and tables say how many
of each range of ranks stand before a place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import merges_of_gaps

# The short and the wide edges of a group are these quantiles of its edges.
SHORT, WIDE = 0.1, 0.9
# log(wide / short) of edges that hardly vary, as on a lattice, counts as this much.
_LEAST_SPREAD = 0.4
# An infinite edge counts as so much longer than the longest finite one, in logarithms.
_INFINITELY_LONGER = 100.0
# Up to so many edges are sorted.
_FEW = 8192
# The sizes of the tables: places per block, and ranges of ranks.
_PLACES, _RANGES = 4096, 256


class Spread(NamedTuple):
    """The logarithm of the wide edges, and how far it is above that of the short ones."""

    wide: float
    spread: float


def spread_of_sorted(logs: Floats) -> Spread:
    """Return the spread of lengths given as ascending logarithms."""
    short, wide = (_between(logs[i], logs[j], share) for i, j, share in _places(len(logs)))
    return Spread(wide, max(wide - short, _LEAST_SPREAD))


@dataclass(frozen=True, eq=False)
class EdgeLengths:
    """The lengths of the edges below every node, as logarithms; those of length 0 left out.

    Attributes
    ----------
    logs : (m,) float64
        In ascending order.
    ranks : (m,) int64
        Where the edge that stands at a place of the leaf order stands in ascending order.
    begin, end : (n_nodes,) int64
        The edges below a node stand at the places from ``begin`` to ``end`` - 1.
    """

    logs: Floats
    ranks: Ints
    begin: Ints
    end: Ints

    @classmethod
    def of_tree(cls, tree: UltrametricTree) -> EdgeLengths:
        """Return the lengths of a tree's edges."""
        positive = tree.heights[np.searchsorted(tree.heights, 0.0, side="right") :]
        logs = np.log(positive)
        finite = int(np.searchsorted(positive, np.inf))
        logs[finite:] = (logs[finite - 1] if finite else 0.0) + _INFINITELY_LONGER
        n_zero = len(tree.heights) - len(logs)
        ranks = merges_of_gaps(tree.children, tree.starts) - n_zero
        before = np.zeros(tree.n_points, dtype=np.int64)
        np.cumsum(ranks >= 0, out=before[1:])
        end = before[tree.starts + tree.sizes - 1]
        return cls(logs, ranks[ranks >= 0], before[tree.starts], end)

    def spread(self, node: int) -> Spread:
        """Return the spread of the edges below a node."""
        begin, end = int(self.begin[node]), int(self.end[node])
        if end - begin <= _FEW:
            return spread_of_sorted(self.logs[np.sort(self.ranks[begin:end])])
        wanted = sorted({place for i, j, _ in _places(end - begin) for place in (i, j)})
        length = dict(zip(wanted, self.logs[self._select(begin, end, wanted)], strict=True))
        short, wide = (
            _between(length[i], length[j], share) for i, j, share in _places(end - begin)
        )
        return Spread(wide, max(wide - short, _LEAST_SPREAD))

    def log_heights(self, tree: UltrametricTree, merges: Ints) -> Floats:
        """Return the logarithms of the heights, above 0, of some merges."""
        lengths: Floats = self.logs[merges - (len(tree.heights) - len(self.logs))]
        return lengths

    def _select(self, begin: int, end: int, wanted: list[int]) -> list[int]:
        """Return the ranks of the edges from begin to end - 1 that are wanted, 0 the shortest."""
        first, last = -(-begin // _PLACES), end // _PLACES
        loose = [self.ranks[begin : first * _PLACES], self.ranks[last * _PLACES : end]]
        counts = self._counts_before[last] - self._counts_before[first]
        counts = counts + np.bincount(np.concatenate(loose) // self._width, minlength=_RANGES)
        up_to = np.cumsum(counts)
        found = []
        for number in wanted:
            part = int(np.searchsorted(up_to, number, side="right"))
            places = self._place_of_rank[part * self._width : (part + 1) * self._width]
            here = np.flatnonzero((places >= begin) & (places < end))
            found.append(part * self._width + int(here[number - (up_to[part] - counts[part])]))
        return found

    @property
    def _width(self) -> int:
        """How many ranks a range holds."""
        return -(-len(self.logs) // _RANGES)

    @cached_property
    def _counts_before(self) -> Ints:
        """How many edges of each range stand before each block of places."""
        blocks = np.arange(len(self.ranks)) // _PLACES
        n_blocks = len(self.ranks) // _PLACES + 1
        cells = blocks * _RANGES + self.ranks // self._width
        counts = np.bincount(cells, minlength=n_blocks * _RANGES).reshape(n_blocks, _RANGES)
        return np.concatenate([np.zeros((1, _RANGES), dtype=np.int64), np.cumsum(counts, axis=0)])

    @cached_property
    def _place_of_rank(self) -> Ints:
        places = np.empty_like(self.ranks)
        places[self.ranks] = np.arange(len(self.ranks))
        return places


def _places(n: int) -> list[tuple[int, int, float]]:
    """Return, for both quantiles, two places of n sorted numbers and how far between them to go."""
    found = []
    for quantile in (SHORT, WIDE):
        place = quantile * (n - 1)
        below = math.floor(place)
        found.append((below, min(below + 1, n - 1), place - below))
    return found


def _between(low: float, high: float, share: float) -> float:
    return float(low + share * (high - low))
