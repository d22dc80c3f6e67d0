"""Points in blocks → the few nearest others of each point, from each pair of blocks once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from isthmus._numba.simd import COLUMNS
from isthmus._utils.parallel import Workers
from isthmus._utils.typing import Array, Floats, Labels
from isthmus.blocks import candidates
from isthmus.blocks.bounds import GROUP, Blocks, Separation, Singles
from isthmus.blocks.candidates import Exact, Lists, Products

# Relative error of a sum of squared differences in float64, per feature; twice as much as need be.
_SLACK = 2.0**-52


class Buffers:
    """The memory of a worker for inner products of points with those of a block."""

    def __init__(self, blocks: Blocks) -> None:
        n_columns = blocks.size
        n_rows = max(n_columns, min(GROUP, blocks.n_points))
        self.flat = np.empty(n_rows * n_columns, dtype=np.float32)
        self.square = self.flat.reshape(n_rows, n_columns)
        self.column_terms = np.empty(n_columns, dtype=np.float32)
        self.scratch = blocks.rows.scratch()

    def products(
        self, blocks: Blocks, rows: slice | Labels, other: int, separation: Separation | None
    ) -> Products:
        """Compute products and terms of positions of a block with another block."""
        columns = blocks.positions(other)
        n_columns = columns.stop - columns.start
        row_terms = blocks.row_terms(rows, separation)
        self.column_terms[:n_columns] = blocks.column_terms(other, separation)
        self.column_terms[n_columns:] = np.nan
        blocks.rows.products(rows, columns, self.square[: len(row_terms)], self.scratch)
        return Products(self.flat, row_terms, self.column_terms, columns.start, n_columns)


class ComparedBlocks:
    """Blocks whose points are compared with each other.

    Parameters
    ----------
    blocks : Blocks
    workers : Workers

    Attributes
    ----------
    buffers : list of Buffers
        One for each worker.
    exact : Exact
    never : (n_columns,) float32
        Minus infinity: limits of columns that do not search.
    slack : float
        The share of a squared distance that rounding may have added.
    """

    def __init__(self, blocks: Blocks, workers: Workers) -> None:
        self.blocks = blocks
        self.workers = workers
        self.kernels = {"SPARSE": int(blocks.rows.sparse)}
        self.exact = Exact(blocks.rows.given, blocks.order)
        self.never = np.full(blocks.size, -np.inf, dtype=np.float32)
        self.buffers = [Buffers(blocks) for _ in range(workers.n_jobs)]
        self.slack = 0.0 if blocks.exact else (blocks.rows.n_summands + 8) * _SLACK

    @property
    def unit(self) -> float:
        """The squared distance that is 1 to the products, and a little less.

        float32 rounds to nearest: 2^-22 is more than it and float64 can lose.
        """
        return self.blocks.scale**2 * (1.0 - 2.0**-22 - self.slack)


class NearestLists(ComparedBlocks):
    """The nearest others of all points, exactly measured, and how far these lists reach.

    Parameters
    ----------
    blocks : Blocks
    workers : Workers
    length : int
        Points to a list; fewer, if there are no more.

    Attributes
    ----------
    positions : (n, length) int32
        -1 beyond the last of them, where there are fewer.
    distances : (n, length) float64
        Squared, ascending; infinite beyond the last.
    reach : (n,) float64
        Nothing that is not in a point's list is nearer than this.
    """

    def __init__(self, blocks: Blocks, workers: Workers, length: int) -> None:
        super().__init__(blocks, workers)
        n_points = blocks.n_points
        self.length = max(1, min(length, n_points - 1))
        self.positions = np.full((n_points, self.length), -1, dtype=np.int32)
        self.distances = np.empty((n_points, self.length))
        self.reach = np.empty(n_points)

    def find(
        self,
        report: Callable[[float], None],
        meet: Array | None = None,
        farthest: Floats | None = None,
    ) -> None:
        """Fill the lists; report is called with the share that is done.

        meet : (n_blocks, n_blocks) bool, optional
            Which blocks are compared, the same both ways; by default all of them.
        farthest : (n,) float64, optional
            Squared distances, at the positions, beyond which lists need not reach.
        """
        blocks, n_points = self.blocks, self.blocks.n_points
        limits = np.full(n_points + COLUMNS, np.inf, dtype=np.float32)
        if farthest is not None:
            limits[:n_points] = farthest / self.unit
        bounds = Lists(
            distances=np.repeat(limits[:n_points, None], self.length, axis=1),
            positions=self.positions,
            limits=limits,
        )
        keep_nearest = candidates.keep_nearest.bound(bounds)
        done = 0
        for pairs in _rounds_of_pairs(blocks.n_blocks):
            met = pairs if meet is None else [pair for pair in pairs if meet[pair]]

            def work(worker: int, number: int, _: int, met: list[tuple[int, int]] = met) -> None:
                self._compare(*met[number], self.buffers[worker], bounds.limits, keep_nearest)

            self.workers.in_blocks(len(met), 1, work)
            done += len(pairs)
            report(2 * done / (blocks.n_blocks * (blocks.n_blocks + 1)))
        last = bounds.distances[:, -1].astype(np.float64)
        self.reach[:] = last * blocks.scale**2 * (1.0 - self.slack)
        if self.length >= n_points - 1:  # whatever was not too far is in the list
            self.reach[np.isinf(farthest) if farthest is not None else slice(None)] = np.inf
        kernel = candidates.measure_lists.specialised(self.kernels)

        def measure(_: int, start: int, stop: int) -> None:
            kernel(self.exact, self.positions, self.distances, start, stop)

        self.workers.in_blocks(n_points, 256, measure)

    def _compare(
        self,
        block: int,
        other: int,
        buffers: Buffers,
        limits: Singles,
        keep_nearest: Callable[[Products, int], None],
    ) -> None:
        blocks = self.blocks
        rows, columns = blocks.positions(block), blocks.positions(other)
        farthest = max(limits[rows].max(), limits[columns].max())
        if blocks.gaps(block)[other] > farthest:
            return
        separation = blocks.separation(rows, block, other)
        if (
            separation is not None
            and blocks.distances_along(rows, other, separation).min() > farthest
        ):
            return
        products = buffers.products(blocks, rows, other, separation)
        keep_nearest(products, rows.start)


def _rounds_of_pairs(n: int) -> Iterator[list[tuple[int, int]]]:
    """Yield all pairs (i, j), i <= j, of n items, in rounds in which no item comes up twice.

    The pairs of a round can be dealt with at the same time. Everybody meets itself first; then
    it goes as in a tournament: one stays seated and the others move on by one seat a round.
    """
    yield [(i, i) for i in range(n)]
    seats = n + n % 2
    for r in range(seats - 1):
        pairs = [(r, seats - 1)]
        for k in range(1, seats // 2):
            a, b = (r + k) % (seats - 1), (r - k) % (seats - 1)
            pairs.append((min(a, b), max(a, b)))
        yield [pair for pair in pairs if pair[1] < n]
