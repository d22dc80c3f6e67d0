"""Points with many features → the edges of their spanning tree, by blocked matrix products."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from threadpoolctl import threadpool_limits

from isthmus._utils.parallel import Workers
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Floats, Labels
from isthmus.blocks.dense_rows import dense_blocks
from isthmus.blocks.nearest import NearestLists
from isthmus.blocks.sparse_rows import sparse_blocks
from isthmus.metrics import PreparedPoints
from isthmus.neighbors.by_blocks import list_length, neighbors_from_lists
from isthmus.spanning_tree.by_blocks.joining import CertifiedLists, ListBoruvka
from isthmus.spanning_tree.by_blocks.searching import (
    NEIGHBOURS,
    Components,
    queries,
    search_outside,
)
from isthmus.spanning_tree.engine import Declined, Edges
from isthmus.spanning_tree.round_progress import RoundProgress


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
        length = max(NEIGHBOURS, list_length(n_neighbors))
        lists = NearestLists(make(points, workers, block_size), workers, length)
        done = RoundProgress(progress, len(lists.reach))
        done.begin_stage(1.0 / (1.0 + _REST))
        lists.find(lambda share: done.report(share**_SLOW_START))
        neighbors = None
        if n_neighbors > 1:
            neighbors = neighbors_from_lists(lists, prepared, n_neighbors)
        certified = CertifiedLists(lists.positions, lists.distances, lists.reach)
        run = ListBoruvka(certified, BlockSearch(lists, done, most_measured))
        if not run.join():
            return Declined(f"more than {most_measured:.2g} distances to measure")
        done.begin_stage(1.0)
        done.report(1.0)
    order = lists.blocks.order
    ends = np.column_stack([order[run.joined.edge_a], order[run.joined.edge_b]])
    weights = prepared.heights(run.squares)
    return Edges(ends.astype(np.int64), weights, neighbors=neighbors, by_index=False)


# Where finding the neighbours takes 1, a search of all points takes about _SEARCH. How many points
# will have to search is not known before: none, or all of them once more. _REST is in between, so
# that estimates of the whole are off by about as much either way.
_SEARCH, _REST = 2.5, 1.0
# The first blocks, which fill the lists, take longer than the last ones, which change few of them:
# of the time, about this power of the share is done.
_SLOW_START = 0.75


class BlockSearch:
    """Searches for points of other components, and fills lists with them.

    Parameters
    ----------
    lists : NearestLists
    progress : RoundProgress
    most_measured : float
        Distances; see boruvka_on_blocks.
    """

    def __init__(self, lists: NearestLists, progress: RoundProgress, most_measured: float) -> None:
        self.lists = lists
        self.progress = progress
        self.most_measured = most_measured
        self.n_measured = [0] * lists.workers.n_jobs
        self.names = np.arange(len(lists.reach), dtype=np.int32)
        self.searched = 0.0  # the time of searches, where finding the neighbours takes 1

    def __call__(self, searching: Labels, labels: Labels, known: Floats) -> bool:
        """Fill the lists of some positions; see Search."""
        blocks = self.lists.blocks
        components = Components.of(blocks, labels, self.names)
        groups = queries(blocks, searching, known[labels[searching]])
        self.searched += _SEARCH * len(searching) / blocks.n_points
        self.progress.begin_stage((1.0 + self.searched) / (1.0 + self.searched + _REST))

        def work(worker: int, number: int, _: int) -> None:
            if not self._has_measured_too_many():
                query, buffers = groups[number], self.lists.buffers[worker]
                answer = search_outside(self.lists, components, query, buffers)
                n_found = answer.names.shape[1]
                self.lists.positions[query.rows, n_found:] = -1
                self.lists.positions[query.rows, :n_found] = answer.names
                self.lists.distances[query.rows, :n_found] = answer.distances
                self.lists.reach[query.rows] = answer.reach
                self.n_measured[worker] += answer.n_measured
            if worker == 0:
                self.progress.report((number + 1) / len(groups))

        self.lists.workers.in_blocks(len(groups), 1, work)
        return not self._has_measured_too_many()

    def _has_measured_too_many(self) -> bool:
        return sum(self.n_measured) > self.most_measured
