"""How many bytes engines take beside the points, and which share of threads and blocks fits.

Upper bounds, not far above what is allocated at the peak; tests compare the two. Compiled code and
the buffers of BLAS are not counted, nor is what checking and converting the data took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from isthmus._utils.memory import Budget

# Small things, whatever the number of points.
_SMALL = 1 << 20
# Per point: sorting the edges at the end, which all engines do; the buffers of Prim's algorithm;
# sorting points on a line; distances of a Python function, as Python's numbers.
_EDGES = 72
_PRIM = 76
_LINE = 96
_PYTHON = 300
# Rows of distances that each thread computes ahead.
_ROWS_AHEAD = 160
# Points to a block of a tile: as many as is fastest, and fewer.
_BLOCKS = (1024, 512, 256)
# Rows of a tile are at least so many: points that search together.
_FEWEST_ROWS = 256


class Share(NamedTuple):
    """What an engine may take: threads, and points to a block."""

    n_jobs: int
    block: int = _BLOCKS[0]


def share_for_kdtree(budget: Budget, n_points: int, dims: int, itemsize: int, n_jobs: int) -> Share:
    """Return the share with which the kd-tree fits; raise MemoryError where none does."""

    def needed(share: Share) -> int:
        # the points in the tree's order, twice, and the boxes; then once, and what searches need
        build = 2.3 * dims * itemsize + 16
        search = 1.3 * dims * itemsize + 1.2 * dims + 80 + 8 * share.n_jobs
        return _SMALL + int(n_points * max(build, search, _EDGES))

    return _first_that_fits(budget, _threads(n_jobs), needed, _what(n_points, "kd-tree"))


def share_for_tiles(budget: Budget, points: Any, n_jobs: int) -> Share:
    """Return the share with which tiles of an array or a CSR matrix fit, or raise MemoryError."""
    n_points, n_features = (int(n) for n in points.shape)
    sparse = hasattr(points, "indptr")
    options = (Share(t.n_jobs, block) for t in _threads(n_jobs) for block in _BLOCKS)

    def needed(share: Share) -> int:
        block = min(share.block, n_points)
        tile = 4 * max(block, min(_FEWEST_ROWS, n_points)) * block
        if sparse:
            n_entries = len(points.data)
            tile += 4 * n_features + 8 * _most_entries(points.indptr, block)
            preparing, held = 40 * n_entries, 12 * n_entries
        else:
            tile += 4 * min(_FEWEST_ROWS, n_points) * n_features
            rows = share.n_jobs * block * n_features
            held = 4 * n_points * n_features
            preparing = max(32 * rows, held + 16 * rows)
        searching = held + 180 * n_points + share.n_jobs * tile
        return _SMALL + max(preparing + 32 * n_points, searching, _EDGES * n_points)

    return _first_that_fits(budget, options, needed, _what(n_points, "tiles"))


def share_for_rows(
    budget: Budget, n_points: int, n_features: int, copies: int, n_jobs: int
) -> Share:
    """Return the share with which rows of distances of any metric fit, or raise MemoryError.

    copies : int
        Of the points, in float64, while a row is computed.
    """

    def needed(share: Share) -> int:
        ahead = _ROWS_AHEAD * share.n_jobs if share.n_jobs > 1 else 0
        return _SMALL + n_points * (8 * n_features * copies + _PRIM + ahead)

    return _first_that_fits(budget, _threads(n_jobs), needed, _what(n_points, "prim"))


def require_for_prim(budget: Budget, n_points: int, n_bytes: int) -> None:
    """Raise MemoryError where Prim's algorithm and a copy of n_bytes do not fit."""
    budget.require(_SMALL + n_bytes + _PRIM * n_points, _what(n_points, "prim"))


def require_for_line(budget: Budget, n_points: int) -> None:
    """Raise MemoryError where sorting points on a line does not fit."""
    budget.require(_SMALL + _LINE * n_points, _what(n_points, "sort"))


def require_for_callable(budget: Budget, n_points: int) -> None:
    """Raise MemoryError where distances from a Python function do not fit."""
    budget.require(_SMALL + _PYTHON * n_points, _what(n_points, "prim"))


def require_for_graph(budget: Budget, n_points: int, n_edges: int) -> None:
    """Raise MemoryError where sorting the edges of a graph does not fit."""
    budget.require(_SMALL + 48 * n_edges + _EDGES * n_points, _what(n_points, "kruskal"))


def require_for_map(budget: Budget, n_entries: int, metric: str) -> None:
    """Raise MemoryError where mapped coordinates, as float64, do not fit."""
    budget.require(_SMALL + 24 * n_entries, f"Mapping the points for metric={metric!r}")


def _threads(n_jobs: int) -> Iterator[Share]:
    return (Share(threads) for threads in range(n_jobs, 0, -1))


def _first_that_fits(
    budget: Budget, options: Iterator[Share], needed: Callable[[Share], int], what: str
) -> Share:
    """Return the first of some options, the best first, for which there is memory."""
    for option in options:
        if budget.allows(needed(option)):
            return option
    budget.require(needed(option), what)
    return option


def _most_entries(indptr: Any, block: int) -> int:
    """Return an upper bound of the entries in a block of rows."""
    if len(indptr) <= block:
        return int(indptr[-1])
    return int((indptr[block:] - indptr[:-block]).max())


def _what(n_points: int, engine: str) -> str:
    return f"The spanning tree of {n_points:,} points (engine={engine!r})"
