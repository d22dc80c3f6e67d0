"""Points in blocks of neighbours, rounded to float32, and lower bounds of their distances.

Let c and e be the centres of two blocks, a and b points of them *relative to their centres* and
scaled below 1, and D = c - e. The squared distance of the two points is

    |D + a - b|² = (|a|² + 2 D·a) + (|D|² + |b|² - 2 D·b) - 2 a·b,

a term of each point, computed once per pair of blocks, and a matrix product. Squares and |D|² are
computed in float64, where errors do not count here; inner products in float32, of a, b and D
rounded to float32. With the unit roundoff u = 2^-24 and d features, in whatever order a sum is
taken, an inner product of rounded vectors is wrong by at most g|a||b|, g = d u / (1 - d u) (Higham
2002, section 3.1), and rounding the two vectors costs 2 u |a||b|. So

- 2 a·b is wrong by at most 2 (g + 2 u)|a||b| <= (g + 2 u)(|a|² + |b|²), and 2 D·a by at most
  2 (g + 2 u)|D||a|;
- storing the terms in float32, adding them and subtracting the product costs 3 u times the terms'
  sizes and u (|a|² + |b|²).

Each of these belongs to one of the two points, so each term is lowered by

    (g + 6 u) |a|² + 4 u |term| + (2 g + 5 u) |D||a|,

a little more than that (and by d 2^-101 for what underflows), and what is computed is never larger
than the squared distance. Points that lie close together lie in the same block or in near ones, so
the bound loses little where distances are small, however far the data reach.

Where all coordinates are integers, small enough, float32 makes no error at all, and nothing
is lowered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from isthmus._numba.simd import COLUMNS
from isthmus._utils.parallel import Workers, chunks
from isthmus._utils.typing import Array, Floats, Ints, Labels

Singles = npt.NDArray[np.float32]

UNIT = 2.0**-24
# Points to a block, at most.
BLOCK = 1024
# Coordinates to a block, at most.
_BLOCK_NUMBERS = 1 << 23
# Rows that choose the feature by which a group is split.
_SAMPLE = 256
# Blocks have centres of their own where their points are closer to these, by this share of the
# squared distances, than to the mean of all points.
_WORTHWHILE = 0.25
# Squared length up to which integers are exact: lengths double relative to another centre,
# and the square of a sum of two such lengths must not exceed 2^24.
EXACT = 2.0**20


class Rows(Protocol):
    """The coordinates of points, and their inner products in float32.

    Attributes
    ----------
    given : what kernels measure distances of exactly
    sparse : bool
    n_summands : int
        The most that are added up in a product or a distance.
    """

    given: Any
    sparse: bool
    n_summands: int

    def products(self, rows: slice | Labels, columns: slice, out: Singles, scratch: Any) -> None:
        """Fill out, (n_rows, >= n_columns), with the inner products of places."""

    def along(self, places: slice | Labels, direction: Floats) -> Floats:
        """Return the inner products of places with a vector, computed in float32."""

    def scratch(self) -> Any:
        """Return the memory that a thread needs for products."""


class DenseRows:
    """Rows of arrays."""

    sparse = False

    def __init__(self, given: Array, singles: Singles) -> None:
        self.given = given
        self.singles = singles
        self.n_summands = singles.shape[1]

    def products(
        self,
        rows: slice | Labels,
        columns: slice,
        out: Singles,
        scratch: Any,  # noqa: ARG002
    ) -> None:
        """Fill out, (n_rows, >= n_columns), with the inner products of places."""
        n_columns = columns.stop - columns.start
        np.matmul(self.singles[rows], self.singles[columns].T, out=out[:, :n_columns])

    def along(self, places: slice | Labels, direction: Floats) -> Floats:
        """Return the inner products of places with a vector, computed in float32."""
        products = self.singles[places] @ direction.astype(np.float32)
        return np.asarray(products, dtype=np.float64)

    def scratch(self) -> Any:
        """Return nothing: matrix products bring their own."""


class Apart(NamedTuple):
    """How points of two blocks lie along D, the difference of the blocks' centres.

    Attributes
    ----------
    length : float
        |D|.
    rows, columns : (n_rows,) and (n_columns,) float64
        D·a and D·b.
    """

    length: float
    rows: Floats
    columns: Floats


@dataclass(frozen=True)
class Blocks:
    """Points in blocks.

    Attributes
    ----------
    rows : Rows
        Coordinates relative to the block's centre, divided by ``scale``.
    order : (n,) int32
        The point at each place; a block is a range of places.
    starts : (n_blocks + 1,) int64
    squares : (n,) float64
        Squared lengths of the rows.
    centres : (n_blocks, d) float64, divided by ``scale``; or (1, d) where all blocks share one
    radii : (n_blocks,) float64
        No point of a block is farther from its centre.
    scale : float
        A power of two.
    exact : bool
        Whether float32 makes no error.
    size : int
        The most points that a block may hold, a multiple of COLUMNS.
    """

    rows: Rows
    order: Labels
    starts: Ints
    squares: Floats
    centres: Floats
    radii: Floats
    scale: float
    exact: bool
    size: int

    @property
    def n_points(self) -> int:
        """The number of points."""
        return len(self.order)

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return len(self.starts) - 1

    @property
    def one_centre(self) -> bool:
        """Whether all blocks share one centre."""
        return len(self.centres) == 1

    def places(self, block: int) -> slice:
        """Return the places of a block."""
        return slice(int(self.starts[block]), int(self.starts[block + 1]))

    def apart(self, rows: slice | Labels, block: int, other: int) -> Apart | None:
        """Return how places of a block lie to another block; None where both have one centre."""
        if block == other or self.one_centre:
            return None
        delta = self.centres[block] - self.centres[other]
        return Apart(
            float(np.sqrt((delta**2).sum())),
            self.rows.along(rows, delta),
            self.rows.along(self.places(other), delta),
        )

    def gaps(self, block: int) -> Floats:
        """Return squared distances, scaled, that points of all blocks keep from a block's."""
        if self.one_centre:
            return np.zeros(self.n_blocks)
        apart = np.sqrt(((self.centres - self.centres[block]) ** 2).sum(axis=1))
        gaps: Floats = np.maximum(apart * (1 - 1e-9) - self.radii - self.radii[block], 0.0) ** 2
        gaps[block] = 0.0
        return gaps

    def distances_along(self, rows: slice | Labels, other: int, apart: Apart) -> Floats:
        """Return squares that places of a block keep from another block along their difference.

        What separates two clusters is often a single direction: in it both are narrow.
        """
        if apart.length == 0.0:
            return np.zeros(len(apart.rows))
        g = self._growth()
        nearest = apart.length + (apart.rows - apart.columns.max()) / apart.length
        lost = (g + 4 * UNIT) * (np.sqrt(self.squares[rows]) + self.radii[other])
        distances: Floats = np.maximum(nearest * (1 - 1e-9) - lost - 1e-30, 0.0) ** 2
        return distances

    def row_terms(self, places: slice | Labels, apart: Apart | None) -> Singles:
        """Return the terms of points as rows."""
        return self._terms(places, 0.0, 0.0 if apart is None else 2.0 * apart.rows, apart)

    def column_terms(self, other: int, apart: Apart | None) -> Singles:
        """Return the terms of a block's points as columns."""
        if apart is None:
            return self._terms(self.places(other), 0.0, 0.0, None)
        return self._terms(self.places(other), apart.length**2, -2.0 * apart.columns, apart)

    def _growth(self) -> float:
        """Return how much of its size a sum of products can lose: g above."""
        lost = self.rows.n_summands * UNIT
        return lost / (1.0 - lost)

    def _terms(
        self,
        places: slice | Labels,
        constant: float,
        along: Floats | float,
        apart: Apart | None,
    ) -> Singles:
        squares, g = self.squares[places], self._growth()
        terms = squares + constant + along
        if not self.exact:
            lowering = (g + 6 * UNIT) * squares + self.rows.n_summands * 2.0**-101
            if apart is not None:
                lowering += (2 * g + 5 * UNIT) * apart.length * np.sqrt(squares)
            terms -= lowering + 4 * UNIT * np.abs(terms)
        return terms.astype(np.float32)


def block_size(n_features: int, at_most: int | None = None) -> int:
    """Return the most points that a block may hold, a multiple of COLUMNS.

    BLOCK, or ``at_most``; fewer where their features, in float64, would take too much memory.
    """
    fitting = _BLOCK_NUMBERS // n_features // COLUMNS * COLUMNS
    return max(COLUMNS, min(at_most or BLOCK, fitting))


def dense_blocks(points: Array, workers: Workers, at_most: int | None = None) -> Blocks:
    """Put points into blocks of neighbours, of at most so many points.

    points : (n, d) float32 or float64
    """
    points = np.ascontiguousarray(points)
    n_points, n_features = points.shape
    size = block_size(n_features, at_most)
    mean = _sum_of_rows(points) / n_points
    order, starts = spatial_order(points, size)
    centres = np.empty((len(starts) - 1, n_features))
    spreads = np.empty(len(centres))
    around_mean = np.empty(len(centres))
    largest = np.empty(len(centres))

    def look(_: int, block: int, __: int) -> None:
        rows = points[order[starts[block] : starts[block + 1]]].astype(np.float64)
        centre = centres[block] = rows.mean(axis=0)
        spreads[block] = ((rows - centre) ** 2).sum()
        rows -= mean
        around_mean[block] = (rows**2).sum()
        largest[block] = np.abs(rows).max()

    workers.in_blocks(len(centres), 1, look)
    if spreads.sum() > _WORTHWHILE * around_mean.sum():
        order, starts = np.arange(n_points), even_starts(n_points, size)
        centres = mean[None, :]
    exact = _small_whole_numbers(points, mean, size)
    if exact:
        centres = np.rint(centres)
        scale = 1.0
    else:
        # twice the distance from the mean is enough for every other centre
        scale = float(np.ldexp(1.0, int(np.frexp(2 * largest.max())[1])))
    return _round(points, order, starts, centres, scale, exact, size, workers)


def _round(
    points: Array,
    order: Ints,
    starts: Ints,
    centres: Floats,
    scale: float,
    exact: bool,
    size: int,
    workers: Workers,
) -> Blocks:
    singles = np.empty(points.shape, dtype=np.float32)
    squares = np.empty(len(points))
    radii = np.empty(len(starts) - 1)

    def work(_: int, block: int, __: int) -> None:
        places = slice(starts[block], starts[block + 1])
        rows = points[order[places]].astype(np.float64)
        rows -= centres[block if len(centres) > 1 else 0]
        rows /= scale
        singles[places] = rows
        squares[places] = np.einsum("ij,ij->i", rows, rows)
        radii[block] = np.sqrt(squares[places].max()) * (1 + 1e-9)

    workers.in_blocks(len(radii), 1, work)
    return Blocks(
        DenseRows(points, singles),
        order.astype(np.int32),
        starts,
        squares,
        centres / scale,
        radii,
        scale,
        exact,
        size,
    )


def even_starts(n_points: int, largest: int) -> Ints:
    """Return where blocks of about the same size begin, and where the last one ends."""
    n_blocks = -(-n_points // largest)
    return np.linspace(0, n_points, n_blocks + 1).astype(np.int64)


def _sum_of_rows(points: Array) -> Floats:
    total: Floats = np.add.reduce(points, axis=0, dtype=np.float64)
    return total


def _small_whole_numbers(points: Array, mean: Floats, at_once: int) -> bool:
    """Whether all coordinates are integers, and so small that float32 is exact."""
    centre = np.rint(mean)
    for start, stop in chunks(len(points), at_once):
        rows = points[start:stop].astype(np.float64)
        if not (rows == np.rint(rows)).all() or ((rows - centre) ** 2).sum(axis=1).max() > EXACT:
            return False
    return True


def spatial_order(points: Array, largest: int) -> tuple[Ints, Ints]:
    """Return an order of points in which blocks of neighbours follow each other, and their starts.

    A group is split at the mean of the feature in which it spreads most (far clusters then come
    apart), or at the median where that would leave a very small part.
    """
    order = np.arange(len(points))
    starts = []
    waiting = [(0, len(points))]
    while waiting:
        start, stop = waiting.pop()
        size = stop - start
        if size <= largest:
            starts.append(start)
            continue
        rows = order[start:stop]
        sample = points[rows[:: -(-size // _SAMPLE)]].astype(np.float64)
        values = points[rows, int(np.argmax(sample.var(axis=0)))]
        left = values < values.mean(dtype=np.float64)
        n_left = int(np.count_nonzero(left))
        if min(n_left, size - n_left) < max(largest // 8, size // 16):
            n_left = size // 2
            left = np.zeros(size, dtype=bool)
            left[np.argsort(values, kind="stable")[:n_left]] = True
        order[start:stop] = np.concatenate([rows[left], rows[~left]])
        waiting += [(start + n_left, stop), (start, start + n_left)]
    return order, np.array([*starts, len(points)])
