"""UltrametricTree → the 10th and the 90th percentile of the edge lengths below any node, exactly.

The edges below a node are neighbours in leaf order. Few of them are sorted. For many, the order of
merges gives the ranks of all edges, and tables count how many edges of each range of ranks come
before a position in leaf order.
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

LOW, HIGH = 0.1, 0.9
# log(90th percentile / 10th) of edges that hardly vary, as on a lattice, counts as this much.
_LEAST_RATIO = 0.4
# The logarithm of an infinite edge is this much above that of the longest finite one.
_INFINITELY_LONGER = 100.0
# Up to this many edges are sorted.
_FEW = 8192
# The sizes of the tables: positions per block, and ranges of ranks.
_POSITIONS, _RANGES = 4096, 256


class Percentiles(NamedTuple):
    """The logarithm of the 90th percentile of edge lengths, and that of its ratio to the 10th."""

    log_p90: float
    log_ratio: float


def percentiles_of_sorted(logs: Floats) -> Percentiles:
    """Return the percentiles of lengths given as ascending logarithms."""
    return _interpolate(logs, len(logs))


@dataclass(frozen=True, eq=False)
class EdgeLengths:
    """The lengths of the edges below every node, as logarithms; those of length 0 left out.

    Attributes
    ----------
    logs : (m,) float64
        In ascending order.
    ranks : (m,) int64
        The rank, by length, of the edge at each position in leaf order.
    begin, end : (n_nodes,) int64
        The edges below a node are at the positions from ``begin`` to ``end`` - 1.
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

    def percentiles(self, node: int) -> Percentiles:
        """Return the percentiles of the edges below a node."""
        begin, end = int(self.begin[node]), int(self.end[node])
        n = end - begin
        if n <= _FEW:
            return percentiles_of_sorted(self.logs[np.sort(self.ranks[begin:end])])
        wanted = sorted({i for below, above, _ in _neighbours(n) for i in (below, above)})
        found = self.logs[self._select(begin, end, wanted)]
        return _interpolate(dict(zip(wanted, found, strict=True)), n)

    def log_heights(self, tree: UltrametricTree, merges: Ints) -> Floats:
        """Return the logarithms of the heights, above 0, of some merges."""
        logs: Floats = self.logs[merges - (len(tree.heights) - len(self.logs))]
        return logs

    def _select(self, begin: int, end: int, wanted: list[int]) -> list[int]:
        """Return the ranks of the wanted edges from begin to end - 1, 0 being the shortest."""
        first, last = -(-begin // _POSITIONS), end // _POSITIONS
        loose = [self.ranks[begin : first * _POSITIONS], self.ranks[last * _POSITIONS : end]]
        counts = self._counts_before[last] - self._counts_before[first]
        counts = counts + np.bincount(np.concatenate(loose) // self._width, minlength=_RANGES)
        up_to = np.cumsum(counts)
        found = []
        for number in wanted:
            part = int(np.searchsorted(up_to, number, side="right"))
            positions = self._position_of_rank[part * self._width : (part + 1) * self._width]
            here = np.flatnonzero((positions >= begin) & (positions < end))
            found.append(part * self._width + int(here[number - (up_to[part] - counts[part])]))
        return found

    @property
    def _width(self) -> int:
        """The number of ranks in a range."""
        return -(-len(self.logs) // _RANGES)

    @cached_property
    def _counts_before(self) -> Ints:
        """The number of edges of each range before each block of positions."""
        blocks = np.arange(len(self.ranks)) // _POSITIONS
        n_blocks = len(self.ranks) // _POSITIONS + 1
        cells = blocks * _RANGES + self.ranks // self._width
        counts = np.bincount(cells, minlength=n_blocks * _RANGES).reshape(n_blocks, _RANGES)
        return np.concatenate([np.zeros((1, _RANGES), dtype=np.int64), np.cumsum(counts, axis=0)])

    @cached_property
    def _position_of_rank(self) -> Ints:
        positions = np.empty_like(self.ranks)
        positions[self.ranks] = np.arange(len(self.ranks))
        return positions


def _neighbours(n: int) -> list[tuple[int, int, float]]:
    """Return, for both percentiles of n numbers, the two between which it lies, and where."""
    found = []
    for quantile in (LOW, HIGH):
        exact = quantile * (n - 1)
        below = math.floor(exact)
        found.append((below, min(below + 1, n - 1), exact - below))
    return found


def _interpolate(logs: Floats | dict[int, float], n: int) -> Percentiles:
    """Return the percentiles of n ascending logarithms, of which the neighbours are given."""
    p10, p90 = (
        float(logs[below] + share * (logs[above] - logs[below]))
        for below, above, share in _neighbours(n)
    )
    return Percentiles(p90, max(p90 - p10, _LEAST_RATIO))
