"""Few features: each point goes through a kd-tree, nearest nodes first.

Points search one at a time, in the order of the tree, so that neighbouring ones find the same
nodes in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isthmus._numba.accumulators import POWERS
from isthmus._numba.kernel import announced_kernel, kernel_part
from isthmus._numba.simd import LANES, lowest_lane
from isthmus._utils.parallel import Workers
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array, Floats, Labels
from isthmus.kdtree.build import KdTree, build_tree
from isthmus.kdtree.limits import padded_dims
from isthmus.kdtree.traversal import (
    Group,
    level_of,
    make_group,
    node_of,
    nodes_within,
    points_within,
    push_nodes,
)
from isthmus.metrics import PreparedPoints
from isthmus.neighbors.sorted_lists import Neighbors, offer_neighbor

# Set for each specialisation: coordinates, and what distances accumulate.
DIMS = 0
KIND = 0
# Points search one at a time.
TOGETHER = 1

HUGE = float(np.finfo(np.float64).max)
# Points per task: some hundredths of a second, so that Ctrl-C is seen.
_PER_TASK = 1 << 13


class KdTreeNeighbors:
    """Points in a kd-tree, and searches for the nearest ones.

    Parameters
    ----------
    prepared : PreparedPoints
    workers : Workers
    """

    def __init__(self, prepared: PreparedPoints, workers: Workers) -> None:
        self.dims = padded_dims(prepared.points.shape[1])
        self._kind, self._power = prepared.metric.kind, prepared.metric.power
        self._workers = workers
        self._tree = build_tree(prepared.points, self.dims, workers)
        constants = {"DIMS": self.dims, "KIND": self._kind, "TOGETHER": TOGETHER}
        self._own = nearest_of_positions.specialised(constants)
        self._new = nearest_of_queries.specialised(constants)

    def fill(self, found: Neighbors, progress: Progress | None = None) -> None:
        """Fill the lists of all points with others, and their accumulated distances."""
        kernels = [
            self._own.bound(self._tree, self._group(), found) for _ in range(self._workers.n_jobs)
        ]
        self._run(self._tree.n_points, kernels, progress)
        self._take_roots(found)

    def fill_for(self, queries: Floats, found: Neighbors, progress: Progress | None = None) -> None:
        """Fill the lists of new points, prepared as those in the tree: (m, n_features)."""
        padded = np.zeros((len(queries), self.dims))
        padded[:, : queries.shape[1]] = queries
        kernels = [
            self._new.bound(self._tree, padded, self._group(), found)
            for _ in range(self._workers.n_jobs)
        ]
        self._run(len(queries), kernels, progress)
        self._take_roots(found)

    def _take_roots(self, found: Neighbors) -> None:
        """Replace sums of powers by their roots, as other kernels accumulate them."""
        if self._kind == POWERS:
            np.power(found.distances, 1.0 / self._power, out=found.distances)

    def _group(self) -> Group:
        return make_group(self.dims, 1, self._power)

    def _run(
        self, n: int, kernels: list[Callable[[int, int], None]], progress: Progress | None
    ) -> None:
        done = [0] * len(kernels)

        def work(worker: int, start: int, stop: int) -> None:
            kernels[worker](start, stop)
            done[worker] += stop - start
            if worker == 0 and progress is not None:
                progress(sum(done), n)

        self._workers.in_blocks(n, _PER_TASK, work)


@kernel_part
def search_nearest(
    tree: KdTree, own: int, group: Group, distances: Floats, indices: Labels
) -> None:
    """Fill the list of the point that the group's box is, infinitely long at first.

    own : int
        Its position, which does not enter the list; -1 if it has none.
    """
    last = distances.shape[0] - 1
    below, parent = tree.n_nodes.shape[0] - 1, int(np.int64(0))
    mask = nodes_within(tree, tree.first_block[below], group, HUGE)
    height = np.int64(0)
    while True:
        height = np.int64(push_nodes(mask, below, parent * LANES, group, height))
        while height > 0 and group.stack_distance[height - 1] > distances[last]:
            height -= 1
        if height == 0:
            break
        height -= 1
        entry = group.stack_node[height]
        below, parent = level_of(entry) - 1, node_of(entry)
        if below >= 0:
            block = tree.first_block[below] + parent
            mask = nodes_within(tree, block, group, min(distances[last], HUGE))
            continue
        mask = points_within(tree, parent, group, min(distances[last], HUGE))
        while mask != 0:
            lane = lowest_lane(mask)
            mask &= mask - 1
            position = parent * LANES + lane
            if position != own:
                offer_neighbor(
                    distances, indices, group.found[lane], np.int64(tree.order[position])
                )


@announced_kernel("the search for nearest neighbours among up to {DIMS} features")
def nearest_of_positions(
    tree: KdTree, group: Group, found: Neighbors, start: int, stop: int
) -> None:
    """Fill the lists of the points at positions start … stop - 1, in their own rows.

    group : scratch
    found : out
        Of each row the entries after the first.
    """
    for position in range(start, stop):
        leaf, lane = position >> 3, position & 7
        for t in range(DIMS):
            x = np.float64(tree.blocks[(leaf * DIMS + t) * LANES + lane])
            group.box[t] = x
            group.box[DIMS + t] = x
        row = np.int64(tree.order[position])
        distances, indices = found.distances[row, 1:], found.indices[row, 1:]
        search_nearest(tree, position, group, distances, indices)


@announced_kernel("the search for nearest neighbours of new points among up to {DIMS} features")
def nearest_of_queries(
    tree: KdTree,
    queries: Array,
    group: Group,
    found: Neighbors,
    start: int,
    stop: int,
) -> None:
    """Fill the lists of queries start … stop - 1.

    queries : (m, DIMS) float64, in
    group : scratch
    found : out
    """
    for i in range(start, stop):
        for t in range(DIMS):
            group.box[t] = queries[i, t]
            group.box[DIMS + t] = queries[i, t]
        search_nearest(tree, np.int64(-1), group, found.distances[i], found.indices[i])
