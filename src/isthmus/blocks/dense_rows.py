"""Dense points → blocks of neighbours, relative to their centres, rounded to float32."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from isthmus._numba.simd import COLUMNS
from isthmus._utils.parallel import Workers, chunks
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.blocks.bounds import EXACT, Blocks, Singles, even_starts

# Coordinates to a block, at most.
_BLOCK_NUMBERS = 1 << 23
# Rows that choose the feature by which a group is split.
_SAMPLE = 256
# Blocks have centres of their own where their points are closer to these, by this share of the
# squared distances, than to the mean of all points.
_WORTHWHILE = 0.25


class DenseRows:
    """Rows of arrays.

    Products of finite numbers below 1 are finite, yet OpenBLAS may set the flag of an invalid
    operation (a lane of a vector that holds no number of ours): NumPy would warn of it.
    """

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
        """Fill out, (n_rows, >= n_columns), with the inner products of positions."""
        n_columns = columns.stop - columns.start
        with np.errstate(invalid="ignore"):
            np.matmul(self.singles[rows], self.singles[columns].T, out=out[:, :n_columns])

    def along(self, positions: slice | Labels, direction: Floats) -> Floats:
        """Return the inner products of positions with a vector, computed in float32."""
        with np.errstate(invalid="ignore"):
            products = self.singles[positions] @ direction.astype(np.float32)
        return np.asarray(products, dtype=np.float64)

    def scratch(self) -> Any:
        """Return nothing: matrix products bring their own."""


def block_size(n_features: int, at_most: int) -> int:
    """Return the most points that a block may hold, a multiple of COLUMNS.

    Fewer than ``at_most`` where their features, in float64, would take too much memory.
    """
    fitting = _BLOCK_NUMBERS // n_features // COLUMNS * COLUMNS
    return max(COLUMNS, min(at_most, fitting))


def dense_blocks(
    points: Array, workers: Workers, at_most: int, parts: Sequence[int] | None = None
) -> Blocks:
    """Put points into blocks of neighbours.

    points : (n, d) float32 or float64
    at_most : int
        The most points to a block.
    parts : sequence of int, optional
        Where parts of the points begin, and where the last one ends: a block has points of one
        part. By default there is one.
    """
    points = np.ascontiguousarray(points)
    n_points, n_features = points.shape
    parts = (0, n_points) if parts is None else parts
    size = block_size(n_features, at_most)
    mean: Floats = np.add.reduce(points, axis=0, dtype=np.float64) / n_points
    order, starts = spatial_order(points, size, parts)
    centres = np.empty((len(starts) - 1, n_features))
    around_centres = np.empty(len(centres))
    around_mean = np.empty(len(centres))
    largest = np.empty(len(centres))
    # Memory that is new for each block costs as much as what is done with it: pages of zeros.
    buffers = [np.empty((min(size, n_points), n_features)) for _ in range(workers.n_jobs)]

    def describe(worker: int, block: int, _: int) -> None:
        positions = order[starts[block] : starts[block + 1]]
        rows = buffers[worker][: len(positions)]
        _take(points, positions, rows)
        centre = centres[block] = rows.mean(axis=0)
        rows -= mean
        around_mean[block] = np.einsum("ij,ij->", rows, rows)
        largest[block] = max(rows.max(), -rows.min())
        rows -= centre - mean
        around_centres[block] = np.einsum("ij,ij->", rows, rows)

    workers.in_blocks(len(centres), 1, describe)
    if around_centres.sum() > _WORTHWHILE * around_mean.sum():
        order, starts = np.arange(n_points), even_starts(parts, size)
        centres = mean[None, :]
    exact = _are_small_integers(points, mean, size)
    if exact:
        centres = np.rint(centres)
        scale = 1.0
    else:
        # twice the distance from the mean is enough for every other centre
        scale = float(np.ldexp(1.0, int(np.frexp(2 * largest.max())[1])))
    singles = np.empty(points.shape, dtype=np.float32)
    squares = np.empty(len(points))
    radii = np.empty(len(starts) - 1)

    def round_rows(worker: int, block: int, _: int) -> None:
        positions = slice(starts[block], starts[block + 1])
        rows = buffers[worker][: positions.stop - positions.start]
        _take(points, order[positions], rows)
        rows -= centres[block if len(centres) > 1 else 0]
        rows /= scale
        singles[positions] = rows
        squares[positions] = np.einsum("ij,ij->i", rows, rows)
        radii[block] = np.sqrt(squares[positions].max()) * (1 + 1e-9)

    workers.in_blocks(len(radii), 1, round_rows)
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


def _take(points: Array, chosen: Ints, out: Floats) -> None:
    """Fill out with some of the points."""
    if points.dtype == out.dtype:
        np.take(points, chosen, axis=0, out=out, mode="clip")  # "raise" would take memory
    else:
        out[:] = points[chosen]


def _are_small_integers(points: Array, mean: Floats, at_once: int) -> bool:
    """Whether all coordinates are integers, and so small that float32 is exact."""
    centre = np.rint(mean)
    for start, stop in chunks(len(points), at_once):
        rows = points[start:stop].astype(np.float64)
        if not (rows == np.rint(rows)).all() or ((rows - centre) ** 2).sum(axis=1).max() > EXACT:
            return False
    return True


def spatial_order(points: Array, largest: int, parts: Sequence[int]) -> tuple[Ints, Ints]:
    """Return an order of points in which blocks of neighbours follow each other, and their starts.

    Points stay in their parts; see dense_blocks.

    A group is split at the mean of the feature of largest variance (far clusters then come apart),
    or at the median where that would leave a very small part.
    """
    order = np.arange(len(points))
    starts = []
    waiting = [(start, stop) for start, stop in pairwise(parts) if stop > start][::-1]
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
