"""Points with many features → the edges of their spanning tree, by blocked matrix products."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from isthmus._numba.simd import COLUMNS
from isthmus._utils.parallel import Workers
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.blocks import candidates
from isthmus.blocks.bounds import Blocks, Separation, Singles
from isthmus.blocks.candidates import Exact, Lists, Products, Searching
from isthmus.blocks.dense_rows import dense_blocks
from isthmus.blocks.sparse_rows import sparse_blocks
from isthmus.metrics import PreparedPoints
from isthmus.spanning_tree.best_edges import HUGE, Best, join_best, make_best, make_joined
from isthmus.spanning_tree.by_blocks import rounds
from isthmus.spanning_tree.by_blocks.engine import GROUP
from isthmus.spanning_tree.engine import Declined, Edges

# Points in a list.
_NEIGHBOURS = 8
# A point that searches looks farther than its component's best edge by this factor of squared
# distances: the component grows, and its best edges with it.
_FARTHER = 1.1
# Relative error of a sum of squared differences in float64, per feature; twice as much as need be.
_SLACK = 2.0**-52


def boruvka_on_blocks(
    prepared: PreparedPoints,
    n_jobs: int = 1,
    progress: Progress | None = None,
    most_measured: float = np.inf,
    block_size: int = 1024,
) -> Edges | Declined:
    """Return the edges, unordered, and the weights of the spanning tree of at least two points.

    most_measured : float
        Declines where more distances than these would have to be measured one by one, because so
        many are all but equal that bounds of them are of no use. Does not depend on threads.
    block_size : int
        The most points to a block; fewer take less memory.
    """
    # Threads work on products of their own; the matrix products inside must not start others.
    with Workers(n_jobs) as workers, threadpool_limits(1, user_api="blas"):
        points = prepared.points
        make = sparse_blocks if issparse(points) else dense_blocks
        run = _Run(make(points, workers, block_size), workers, progress, most_measured)
        run.find_neighbours()
        if not run.join():
            return Declined(f"more than {most_measured:.2g} distances to measure")
        edges, accumulated = run.edges()
    return Edges(edges, prepared.heights(accumulated))


class _Buffers:
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


class _Run:
    """The state of Borůvka's algorithm over certified lists; the kernels fill it."""

    def __init__(
        self, blocks: Blocks, workers: Workers, progress: Progress | None, most_measured: float
    ) -> None:
        n_points = blocks.n_points
        self.blocks = blocks
        self.workers = workers
        self.progress = progress
        self.kernels = {"SPARSE": int(blocks.rows.sparse)}
        self.exact = Exact(blocks.rows.given, blocks.order)
        self.buffers = [_Buffers(blocks) for _ in range(workers.n_jobs)]
        self.n_neighbours = min(_NEIGHBOURS, n_points - 1)
        self.slack = 0.0 if blocks.exact else (blocks.rows.n_summands + 8) * _SLACK
        self.positions = np.full((n_points, self.n_neighbours), -1, dtype=np.int32)
        self.distances = np.empty((n_points, self.n_neighbours))
        self.reach = np.empty(n_points)
        self.used = np.zeros(n_points, dtype=np.int32)
        self.labels = np.arange(n_points, dtype=np.int32)
        self.joined = make_joined(n_points)
        self.n_edges = 0
        self.most_measured = most_measured
        self.n_measured = [0] * workers.n_jobs
        self.never = np.full(COLUMNS, -np.inf, dtype=np.float32)

    def find_neighbours(self) -> None:
        """Fill the lists of all points, from each pair of blocks once."""
        blocks, n_points = self.blocks, self.blocks.n_points
        bounds = Lists(
            distances=np.full((n_points, self.n_neighbours), np.inf, dtype=np.float32),
            positions=self.positions,
            limits=np.full(n_points + COLUMNS, np.inf, dtype=np.float32),
        )
        done = 0
        for pairs in _rounds_of_pairs(blocks.n_blocks):

            def work(
                worker: int, number: int, _: int, pairs: list[tuple[int, int]] = pairs
            ) -> None:
                self._compare(*pairs[number], self.buffers[worker], bounds)

            self.workers.in_blocks(len(pairs), 1, work)
            done += len(pairs)
            self._report(2 * done / (blocks.n_blocks * (blocks.n_blocks + 1)))
        last = bounds.distances[:, -1].astype(np.float64)
        self.reach[:] = last * blocks.scale**2 * (1.0 - self.slack)
        if self.n_neighbours == n_points - 1:
            self.reach[:] = np.inf
        kernel = candidates.measure_lists.specialised(self.kernels)

        def measure(_: int, start: int, stop: int) -> None:
            kernel(self.exact, self.positions, self.distances, start, stop)

        self.workers.in_blocks(n_points, 256, measure)

    def _compare(self, block: int, other: int, buffers: _Buffers, bounds: Lists) -> None:
        blocks = self.blocks
        rows, columns = blocks.positions(block), blocks.positions(other)
        farthest = max(bounds.limits[rows].max(), bounds.limits[columns].max())
        if blocks.gaps(block)[other] > farthest:
            return
        separation = blocks.separation(rows, block, other)
        if (
            separation is not None
            and blocks.distances_along(rows, other, separation).min() > farthest
        ):
            return
        products = buffers.products(blocks, rows, other, separation)
        candidates.keep_nearest(products, rows.start, bounds)

    def join(self) -> bool:
        """Run rounds until one component is left; return False where that takes too much."""
        n_components, largest = self.blocks.n_points, 0
        new_label = np.empty(n_components, dtype=np.int32)
        while n_components > 1:
            best, unsure = self._best_edges(n_components)
            rounds.keep_certain(self.labels, unsure, best)
            if (best.distance == HUGE).all():
                self._search_again(unsure, n_components, largest)
                if self._has_measured_too_many():
                    return False
                continue
            n_components = join_best(
                n_components, -1, best, self.labels, self.joined, new_label, self.n_edges
            )
            self.n_edges = self.blocks.n_points - n_components
            largest = int(np.argmax(self.joined.size[:n_components]))
            self.labels = new_label[self.labels]
            self._report(1.0)
        return True

    def _has_measured_too_many(self) -> bool:
        return sum(self.n_measured) > self.most_measured

    def _best_edges(self, n_components: int) -> tuple[Best, Labels]:
        """Return the best edges that the lists hold, and the points for which they may be wrong."""
        best = make_best(n_components)
        rounds.scan_lists(self.labels, self.positions, self.distances, self.used, best)
        unsure = np.empty(len(self.labels), dtype=np.int32)
        return best, unsure[: rounds.list_unsure(self.labels, self.reach, best, unsure)]

    def _search_again(self, unsure: Labels, n_components: int, largest: int) -> None:
        """Let unsure points search, first one of each component, then those still unsure.

        What the first finds limits how far the others must look. The largest component waits.
        """
        unsure = unsure[self.labels[unsure] != largest]
        _, first = np.unique(self.labels[unsure], return_index=True)
        self._search(np.sort(unsure[first]), np.full(n_components, np.inf))
        best, unsure = self._best_edges(n_components)
        self._search(unsure[self.labels[unsure] != largest], best.distance)

    def _search(self, searching: Labels, known: Floats) -> None:
        """Fill the lists of some positions, ascending, with positions of other labels.

        known : (n_components,)
            The length of an edge out of each component.
        """
        pure = _labels_of_blocks(self.labels, self.blocks)
        groups = list(self._groups(searching))

        def work(worker: int, number: int, _: int) -> None:
            if not self._has_measured_too_many():
                self.n_measured[worker] += self._search_group(
                    *groups[number], known, pure, self.buffers[worker]
                )

        self.workers.in_blocks(len(groups), 1, work)

    def _groups(self, searching: Labels) -> Iterator[tuple[Labels, int]]:
        """Yield positions, ascending, in groups that share a centre, and a block with it."""
        starts = self.blocks.starts
        if self.blocks.one_centre:
            cuts = [*range(0, len(searching), GROUP), len(searching)]
        else:
            cuts = np.unique(np.searchsorted(searching, starts)).tolist()
        for begin, end in pairwise(cuts):
            if end > begin:
                rows = searching[begin:end]
                yield rows, int(np.searchsorted(starts, rows[0], side="right")) - 1

    def _search_group(
        self, rows: Labels, block: int, known: Floats, pure: Labels, buffers: _Buffers
    ) -> int:
        """Fill the lists of a group of positions; return how many distances were measured."""
        blocks = self.blocks
        n_measured = 0
        found = Lists(
            distances=np.full((len(rows), self.n_neighbours), np.inf),
            positions=np.full((len(rows), self.n_neighbours), -1, dtype=np.int32),
            limits=np.empty(len(rows), dtype=np.float32),
        )
        # float32 rounds to nearest: 2^-22 is more than it and float64 can lose
        unit = blocks.scale**2 * (1.0 - 2.0**-22 - self.slack)
        labels, group = np.unique(self.labels[rows], return_inverse=True)
        shortest = known[labels]
        gaps = blocks.gaps(block)
        kernel = candidates.keep_nearest_exactly.specialised(self.kernels)
        for other in np.argsort(gaps, kind="stable").tolist():
            # Farther than its component's best edge, and a little more, no point need look now.
            farthest = np.minimum(_FARTHER * shortest[group], found.distances[:, -1])
            found.limits[:] = farthest / unit
            if gaps[other] > found.limits.max():
                break
            if len(labels) == 1 and pure[other] == labels[0]:
                continue
            chosen, separation = self._facing(rows, block, other, found.limits)
            if len(chosen) == 0:
                continue
            products = buffers.products(blocks, rows[chosen], other, separation)
            search = Searching(rows, chosen, self.labels, unit, self.never)
            n_measured += kernel(self.exact, products, search, found)
            np.minimum.at(shortest, group, found.distances[:, 0])
        self.positions[rows] = found.positions
        self.distances[rows] = found.distances
        self.used[rows] = 0
        self.reach[rows] = np.minimum(_FARTHER * shortest[group], found.distances[:, -1])
        return n_measured

    def _facing(
        self, rows: Labels, block: int, other: int, limits: Singles
    ) -> tuple[Ints, Separation | None]:
        """Return which of the rows may be within their limits of another block."""
        separation = self.blocks.separation(rows, block, other)
        if separation is None:
            return np.arange(len(rows)), None
        near = self.blocks.distances_along(rows, other, separation) <= limits
        return np.flatnonzero(near), separation._replace(rows=separation.rows[near])

    def edges(self) -> tuple[Ints, Floats]:
        """Return the edges between points, and their squared lengths."""
        order = self.blocks.order
        ends = np.column_stack([order[self.joined.edge_a], order[self.joined.edge_b]]).astype(
            np.int64
        )
        accumulated = np.empty(len(ends))
        candidates.measure_edges.specialised(self.kernels)(
            self.blocks.rows.given, ends, accumulated
        )
        return ends, accumulated

    def _report(self, share_of_neighbours: float) -> None:
        """Report progress in edges: finding the neighbours counts as the first half of them."""
        if self.progress is not None:
            n_edges = self.blocks.n_points - 1
            self.progress(int((share_of_neighbours * n_edges + self.n_edges) / 2), n_edges)


def _labels_of_blocks(labels: Labels, blocks: Blocks) -> Labels:
    """Return the label of each block's points; -1 where they have several."""
    starts = blocks.starts[:-1]
    least, most = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
    return np.where(least == most, least, -1)


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
