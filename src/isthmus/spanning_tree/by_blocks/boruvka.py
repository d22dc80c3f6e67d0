"""Points with many features → the edges of their spanning tree, by blocked matrix products."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from isthmus._numba.simd import COLUMNS
from isthmus._utils.parallel import Workers
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.blocks import candidates
from isthmus.blocks.bounds import GROUP, Blocks
from isthmus.blocks.candidates import Lists, Searching
from isthmus.blocks.dense_rows import dense_blocks
from isthmus.blocks.nearest import Buffers, NearestLists
from isthmus.blocks.sparse_rows import sparse_blocks
from isthmus.metrics import PreparedPoints
from isthmus.neighbors.by_blocks import list_length, neighbors_from_lists
from isthmus.spanning_tree.best_edges import HUGE, Best, join_best, make_best, make_joined
from isthmus.spanning_tree.by_blocks import rounds
from isthmus.spanning_tree.engine import Declined, Edges
from isthmus.spanning_tree.round_progress import RoundProgress

# Points in a list.
_NEIGHBOURS = 8
# A point that searches looks farther than its component's best edge by this factor of squared
# distances: the component grows, and its best edges with it.
_FARTHER = 1.1


def boruvka_on_blocks(
    prepared: PreparedPoints,
    n_jobs: int = 1,
    progress: Progress | None = None,
    most_measured: float = np.inf,
    block_size: int = 1024,
    n_neighbors: int = 0,
) -> Edges | Declined:
    """Return the edges, unordered, and the weights of the spanning tree of at least two points.

    most_measured : float
        Declines where more distances than these would have to be measured one by one, because so
        many are all but equal that bounds of them are of no use. Does not depend on threads.
    block_size : int
        The most points to a block; fewer take less memory.
    n_neighbors : int
        How many nearest neighbours of each point, itself included, to return as well.
    """
    # Threads work on products of their own; the matrix products inside must not start others.
    with Workers(n_jobs) as workers, threadpool_limits(1, user_api="blas"):
        points = prepared.points
        make = sparse_blocks if issparse(points) else dense_blocks
        length = max(_NEIGHBOURS, list_length(n_neighbors))
        lists = NearestLists(make(points, workers, block_size), workers, length)
        run = _Run(lists, progress, most_measured)
        run.progress.begin_stage(1.0 / (1.0 + _REST))
        lists.find(lambda share: run.progress.report(share**_SLOW_START))
        neighbors = None
        if n_neighbors > 1:
            neighbors = neighbors_from_lists(lists, prepared, n_neighbors)
        if not run.join():
            return Declined(f"more than {most_measured:.2g} distances to measure")
        edges, accumulated = run.edges()
    return Edges(edges, prepared.heights(accumulated), neighbors=neighbors, by_index=False)


# Where finding the neighbours takes 1, a search of all points takes about _SEARCH. How many points
# will have to search is not known before: none, or all of them once more. _REST is in between, so
# that estimates of the whole are off by about as much either way.
_SEARCH, _REST = 2.5, 1.0
# The first blocks, which fill the lists, take longer than the last ones, which change few of them:
# of the time, about this power of the share is done.
_SLOW_START = 0.75


class _Run:
    """The state of Borůvka's algorithm over certified lists; the kernels fill it."""

    def __init__(
        self, lists: NearestLists, progress: Progress | None, most_measured: float
    ) -> None:
        blocks = lists.blocks
        self.lists = lists
        self.blocks = blocks
        self.workers = lists.workers
        self.progress = RoundProgress(progress, blocks.n_points)
        self.searched = 0.0  # the time of searches, where finding the neighbours takes 1
        self.kernels = lists.kernels
        self.positions = lists.positions
        self.distances = lists.distances
        self.reach = lists.reach
        self.used = np.zeros(blocks.n_points, dtype=np.int32)
        self.labels = np.arange(blocks.n_points, dtype=np.int32)
        self.joined = make_joined(blocks.n_points)
        self.n_edges = 0
        self.most_measured = most_measured
        self.n_measured = [0] * self.workers.n_jobs
        self.names = np.arange(blocks.n_points, dtype=np.int32)
        self.never = np.full(COLUMNS, -np.inf, dtype=np.float32)

    def join(self) -> bool:
        """Run rounds until one component is left; return False where that takes too much."""
        n_components, largest = self.blocks.n_points, 0
        has_searched = False
        new_label = np.empty(n_components, dtype=np.int32)
        while n_components > 1:
            best, unsure = self._best_edges(n_components)
            rounds.keep_certain(self.labels, unsure, best)
            if (best.distance == HUGE).all():
                if has_searched:
                    raise AssertionError("a search without an edge would go on for ever")
                self._search_again(unsure, n_components, largest)
                has_searched = True
                if self._has_measured_too_many():
                    return False
                continue
            has_searched = False
            n_components = join_best(
                n_components, -1, best, self.labels, self.joined, new_label, self.n_edges
            )
            self.n_edges = self.blocks.n_points - n_components
            largest = int(np.argmax(self.joined.size[:n_components]))
            self.labels = new_label[self.labels]
        self.progress.begin_stage(1.0)
        self.progress.report(1.0)
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
        groups = list(self.blocks.groups(searching, GROUP))
        self.searched += _SEARCH * len(searching) / self.blocks.n_points
        self.progress.begin_stage((1.0 + self.searched) / (1.0 + self.searched + _REST))

        def work(worker: int, number: int, _: int) -> None:
            if not self._has_measured_too_many():
                self.n_measured[worker] += self._search_group(
                    *groups[number], known, pure, self.lists.buffers[worker]
                )
            if worker == 0:
                self.progress.report((number + 1) / len(groups))

        self.workers.in_blocks(len(groups), 1, work)

    def _search_group(
        self, rows: Labels, block: int, known: Floats, pure: Labels, buffers: Buffers
    ) -> int:
        """Fill the lists of a group of positions; return how many distances were measured."""
        blocks = self.blocks
        n_measured, n_found = 0, min(_NEIGHBOURS, self.lists.length)
        found = Lists(
            distances=np.full((len(rows), n_found), np.inf),
            positions=np.full((len(rows), n_found), -1, dtype=np.int32),
            limits=np.empty(len(rows), dtype=np.float32),
        )
        unit = self.lists.unit
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
            chosen, separation = blocks.facing(rows, block, other, found.limits)
            if len(chosen) == 0:
                continue
            products = buffers.products(blocks, rows[chosen], other, separation)
            search = Searching(rows, chosen, self.labels, self.names, unit, self.never)
            n_measured += kernel(self.lists.exact, products, search, found)
            np.minimum.at(shortest, group, found.distances[:, 0])
        self.positions[rows, n_found:] = -1
        self.positions[rows, :n_found] = found.positions
        self.distances[rows, :n_found] = found.distances
        self.used[rows] = 0
        self.reach[rows] = np.minimum(_FARTHER * shortest[group], found.distances[:, -1])
        return n_measured

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


def _labels_of_blocks(labels: Labels, blocks: Blocks) -> Labels:
    """Return the label of each block's points; -1 where they have several."""
    starts = blocks.starts[:-1]
    least, most = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
    return np.where(least == most, least, -1)
