"""Points in blocks, rounded to float32, and lower bounds of their distances.

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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from isthmus._utils.typing import Floats, Ints, Labels

Singles = npt.NDArray[np.float32]

UNIT = 2.0**-24
# Points that search together, at most.
GROUP = 256
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
        """Fill out, (n_rows, >= n_columns), with the inner products of positions."""

    def along(self, positions: slice | Labels, direction: Floats) -> Floats:
        """Return the inner products of positions with a vector, computed in float32."""

    def scratch(self) -> Any:
        """Return the memory that a thread needs for products."""


class Separation(NamedTuple):
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
        The point at each position; a block is a range of positions.
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

    def positions(self, block: int) -> slice:
        """Return the positions of a block."""
        return slice(int(self.starts[block]), int(self.starts[block + 1]))

    def separation(self, rows: slice | Labels, block: int, other: int) -> Separation | None:
        """Return how positions of a block lie to another block; None where both have one centre."""
        if block == other or self.one_centre:
            return None
        delta = self.centres[block] - self.centres[other]
        return Separation(
            float(np.sqrt((delta**2).sum())),
            self.rows.along(rows, delta),
            self.rows.along(self.positions(other), delta),
        )

    def gaps(self, block: int) -> Floats:
        """Return squared distances, scaled, that points of all blocks keep from a block's."""
        if self.one_centre:
            return np.zeros(self.n_blocks)
        between = np.sqrt(((self.centres - self.centres[block]) ** 2).sum(axis=1))
        gaps: Floats = np.maximum(between * (1 - 1e-9) - self.radii - self.radii[block], 0.0) ** 2
        gaps[block] = 0.0
        return gaps

    def distances_along(self, rows: slice | Labels, other: int, separation: Separation) -> Floats:
        """Return squares that positions of a block keep from another block along their difference.

        What separates two clusters is often a single direction: in it both are narrow.
        """
        length = separation.length
        if length == 0.0:
            return np.zeros(len(separation.rows))
        g = self._growth()
        nearest = length + (separation.rows - separation.columns.max()) / length
        lost = (g + 4 * UNIT) * (np.sqrt(self.squares[rows]) + self.radii[other])
        distances: Floats = np.maximum(nearest * (1 - 1e-9) - lost - 1e-30, 0.0) ** 2
        return distances

    def groups(self, positions: Labels, largest: int) -> Iterator[tuple[Labels, int]]:
        """Yield positions, ascending, in groups that share a centre, and a block with it."""
        if self.one_centre:
            cuts = [*range(0, len(positions), largest), len(positions)]
        else:
            cuts = np.unique(np.searchsorted(positions, self.starts)).tolist()
        for begin, end in pairwise(cuts):
            if end > begin:
                rows = positions[begin:end]
                yield rows, int(np.searchsorted(self.starts, rows[0], side="right")) - 1

    def facing(
        self, rows: Labels, block: int, other: int, limits: Singles
    ) -> tuple[Ints, Separation | None]:
        """Return which of some rows may be within their limits of another block."""
        separation = self.separation(rows, block, other)
        if separation is None:
            return np.arange(len(rows), dtype=np.int64), None
        near = self.distances_along(rows, other, separation) <= limits
        return np.flatnonzero(near), separation._replace(rows=separation.rows[near])

    def row_terms(self, positions: slice | Labels, separation: Separation | None) -> Singles:
        """Return the terms of points as rows."""
        along = 0.0 if separation is None else 2.0 * separation.rows
        return self._terms(positions, 0.0, along, separation)

    def column_terms(self, other: int, separation: Separation | None) -> Singles:
        """Return the terms of a block's points as columns."""
        positions = self.positions(other)
        if separation is None:
            return self._terms(positions, 0.0, 0.0, None)
        along = -2.0 * separation.columns
        return self._terms(positions, separation.length**2, along, separation)

    def _growth(self) -> float:
        """Return how much of its size a sum of products can lose: g above."""
        lost = self.rows.n_summands * UNIT
        return lost / (1.0 - lost)

    def _terms(
        self,
        positions: slice | Labels,
        constant: float,
        along: Floats | float,
        separation: Separation | None,
    ) -> Singles:
        squares, g = self.squares[positions], self._growth()
        terms = squares + constant + along
        if not self.exact:
            lowering = (g + 6 * UNIT) * squares + self.rows.n_summands * 2.0**-101
            if separation is not None:
                lowering += (2 * g + 5 * UNIT) * separation.length * np.sqrt(squares)
            terms -= lowering + 4 * UNIT * np.abs(terms)
        return terms.astype(np.float32)


def even_starts(parts: Sequence[int], largest: int) -> Ints:
    """Return where blocks of about the same size begin, and where the last one ends.

    parts : sequence of int
        Where parts of the points begin, and where the last one ends: no block is in two of them.
    """
    starts = [
        np.linspace(begin, end, -(-(end - begin) // largest) + 1).astype(np.int64)[:-1]
        for begin, end in pairwise(parts)
    ]
    return np.append(np.concatenate(starts), parts[-1])
