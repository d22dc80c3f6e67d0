"""Points → the edges of their spanning tree, by Borůvka's algorithm on a kd-tree."""

from __future__ import annotations

import numpy as np

from isthmus._numba.accumulators import POWERS
from isthmus._numba.simd import LANES
from isthmus._utils.parallel import Workers
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.metrics import PreparedPoints
from isthmus.spanning_tree import union_find
from isthmus.spanning_tree.engine import Declined, Edges
from isthmus.spanning_tree.kdtree import components, rounds
from isthmus.spanning_tree.kdtree.bounding_balls import Balls
from isthmus.spanning_tree.kdtree.build import KdTree, aligned_empty, build_tree
from isthmus.spanning_tree.kdtree.knn import (
    STACK,
    Neighbours,
    make_group,
    nearest_neighbours,
)
from isthmus.spanning_tree.kdtree.limits import padded_dims
from isthmus.spanning_tree.kdtree.query import Forest
from isthmus.spanning_tree.prim import prim_of_points
from isthmus.spanning_tree.union_find import HUGE, Best, Joined

# Leaves whose searches are counted, and what a block in the search for neighbours stands for: a
# run on one thread took 9 to 18 times as long, per block, as one of Prim's distances where they
# were near a draw; and threads help here, but not there.
_PROBED = 48
_DISTANCES_PER_BLOCK = 8.0
# Up to so many coordinates the points of a leaf search together.
_DIMS_TOGETHER = 4
# Up to so many coordinates searches are short.
_FEW_DIMS = 5
# Components are few enough for bouncing where there is one for so many points; and how many make
# a task.
_POINTS_PER_BOUNCE = 64
_COMPONENTS_PER_TASK = 256
# Threads share joining points to their neighbours, and comparing what they have found, where there
# are many.
_POINTS_TO_SHARE = 1 << 15
_COMPONENTS_TO_MERGE = 1 << 15


def boruvka_on_kdtree(
    prepared: PreparedPoints,
    n_jobs: int = 1,
    progress: Progress | None = None,
    most_work: float = np.inf,
) -> Edges | Declined:
    """Return the edges, unordered, and the weights of the spanning tree of at least two points.

    most_work : float
        A number of distances: declines, after a look at a few points, where it would take longer
        than to compute them one after the other.
    """
    points = prepared.points
    if len(points) <= LANES:  # a tree of one leaf, fewer points than a list has neighbours
        return prim_of_points(prepared, progress)
    dims = padded_dims(points.shape[1])
    constants = {
        "DIMS": dims,
        "NEIGHBOURS": _neighbours_for(dims),
        "KIND": prepared.metric.kind,
        "TOGETHER": LANES if dims <= _DIMS_TOGETHER else 1,
    }
    with Workers(n_jobs) as workers:
        tree = build_tree(points, dims, workers)
        run = _Run(tree, prepared, constants, workers, progress)
        if most_work < np.inf and run.would_exceed(most_work):
            return Declined(f"more work than computing {most_work:.2g} distances")
        run.find_neighbours()
        run.join()
        edges, accumulated = run.edges()
    return Edges(edges, prepared.heights(accumulated), tree)


class _Run:
    """The state of Borůvka's algorithm on a tree; the kernels fill it."""

    def __init__(
        self,
        tree: KdTree,
        prepared: PreparedPoints,
        constants: dict[str, int],
        workers: Workers,
        progress: Progress | None,
    ) -> None:
        n_points, dims = tree.n_points, constants["DIMS"]
        n_places = tree.n_leaves * LANES
        self.tree = tree
        self.power = prepared.metric.power
        self.dims = dims
        self.workers = workers
        self.n_jobs = workers.n_jobs
        self.progress = progress
        # Searches begin at nodes of this level, and take more time the more coordinates there are;
        # a task should take some hundredths of a second, so that Ctrl-C is seen.
        self.top = min(3 if dims <= _FEW_DIMS else 1, len(tree.n_nodes) - 1)
        while self.n_jobs > 1 and self.top > 0 and tree.n_nodes[self.top] < 16 * self.n_jobs:
            self.top -= 1
        most = 8192 if dims <= 4 else 512 if dims <= 6 else 64 if dims <= 10 else 8
        self.leaves_per_task = max(8, min(most, tree.n_leaves // (4 * workers.n_jobs)))
        self.constants = constants
        self.lists = Neighbours(
            places=np.empty(n_places * constants["NEIGHBOURS"], dtype=np.int32),
            known=np.empty(n_places),
            used=np.empty(n_places, dtype=np.int8),
        )
        self.ends = np.empty((2, n_points - 1), dtype=np.int32)
        self.n_edges = 0
        self.groups = [
            make_group(dims, constants["NEIGHBOURS"], self.power) for _ in range(workers.n_jobs)
        ]

    def find_neighbours(self) -> None:
        """Fill the neighbour lists of all points."""
        done = [0] * self.n_jobs

        def work(worker: int, start: int, stop: int) -> None:
            self._find_neighbours_of(worker, start, stop)
            done[worker] += stop - start
            if worker == 0:
                self._report(sum(done) / self.tree.n_leaves)

        self.workers.in_blocks(self.tree.n_leaves, self.leaves_per_task, work)

    def _find_neighbours_of(self, worker: int, start: int, stop: int) -> int:
        kernel = nearest_neighbours.specialised(self.constants)
        group = self.groups[worker]
        return kernel(self.tree, start, stop, group, self.lists)

    def join(self) -> None:
        """Run rounds until one component is left."""
        tree = self.tree
        forest = Forest(
            labels=aligned_empty(tree.n_leaves * LANES, np.int32),
            node_labels=aligned_empty(int(tree.first_block[-1]) * LANES, np.int32),
        )
        forest.node_labels[:] = -1
        joined = Joined(*np.empty((3, tree.n_points), dtype=np.int32), *self.ends)
        n_components = self._join_nearest(joined, forest.labels)
        self._relabel(forest, np.empty(0, dtype=np.int32))
        largest = int(np.argmax(joined.size[:n_components]))
        new_label = np.empty(n_components, dtype=np.int32)
        searcher = _Searcher(self, forest, joined.member, n_components)
        while n_components > 1:
            self._report(1.0)
            best = searcher.best_edges(n_components, largest)
            n_components = union_find.join_best(
                n_components, largest, best, forest.labels, joined, new_label, self.n_edges
            )
            self.n_edges = tree.n_points - n_components
            largest = int(np.argmax(joined.size[:n_components]))
            if n_components > 1:
                self._relabel(forest, new_label)
        self._report(1.0)

    def _join_nearest(self, joined: Joined, labels: Labels) -> int:
        """Do the first round, each point and its nearest neighbours; return how many components.

        labels : (>= n_points,) int32, out
        """
        n_points, lists = self.tree.n_points, self.lists
        join_to_nearest = components.join_to_nearest.specialised(self.constants)
        self.n_edges = components.join_ties.specialised(self.constants)(lists, joined)
        # Blocks share nothing as long as nothing is joined.
        n_blocks = 1 if self.n_edges > 0 or n_points < _POINTS_TO_SHARE else self.n_jobs
        found: dict[int, Ints] = {}

        def work(_: int, start: int, stop: int) -> None:
            # its edges stand where sizes and labels will be
            edges = joined.size[start:], labels[start:]
            found[start] = np.empty(2, dtype=np.int64)
            join_to_nearest(lists, joined, start, stop, *edges, found[start])

        self.workers.in_blocks(n_points, -(-n_points // n_blocks), work)
        left = []
        for start in sorted(found):
            n_found, n_left = found[start]
            left.append((start, n_left))
            new = np.s_[self.n_edges : self.n_edges + n_found]
            self.ends[0, new] = joined.size[start : start + n_found]
            self.ends[1, new] = labels[start : start + n_found]
            self.n_edges += n_found
        n_components = components.end_first_round.specialised(self.constants)(
            lists, joined, np.array(left, dtype=np.int64), self.n_edges, labels
        )
        self.n_edges = n_points - n_components
        return n_components

    def _relabel(self, forest: Forest, new_label: Array) -> None:
        tree = self.tree

        def work(_: int, start: int, stop: int) -> None:
            components.relabel_leaves(forest, new_label, tree.n_points, start, stop)

        self.workers.in_blocks(tree.n_leaves, 1 << 15, work)
        components.relabel_nodes(forest.node_labels, tree.first_block, tree.n_nodes)

    def _report(self, share_of_neighbours: float) -> None:
        """Report progress in edges: finding the neighbours counts as the first half of them."""
        if self.progress is not None:
            n_edges = self.tree.n_points - 1
            done = (share_of_neighbours * n_edges + self.n_edges) / 2
            self.progress(int(done), n_edges)

    def edges(self) -> tuple[Ints, Floats]:
        """Return the edges between points, and their lengths as metrics.py accumulates them."""
        n_edges = self.tree.n_points - 1
        edges = np.empty((n_edges, 2), dtype=np.int32)
        accumulated = np.empty(n_edges)
        kernel = rounds.measure_edges.specialised(self.constants)

        def work(_: int, start: int, stop: int) -> None:
            kernel(self.tree, *self.ends, self.power, edges, accumulated, start, stop)

        self.workers.in_blocks(n_edges, 1 << 16, work)
        if self.constants["KIND"] == POWERS:  # here sums of powers; there their roots
            accumulated **= 1.0 / self.power
        return edges, accumulated

    def would_exceed(self, limit: float) -> bool:
        """Whether the work, as a number of distances, is above a limit, judged by a few leaves.

        It is counted and not timed, so that the answer is the same every time.
        """
        sample = np.unique(np.linspace(0, self.tree.n_leaves - 1, _PROBED).astype(np.int64))
        per_block = _DISTANCES_PER_BLOCK * self.tree.n_leaves / len(sample)
        work = 0.0
        for leaf in sample.tolist():
            work += per_block * self._find_neighbours_of(0, leaf, leaf + 1)
            if work > limit:
                return True
        return False


class _Searcher:
    """Finds the best edge of every component, in parallel."""

    def __init__(self, run: _Run, forest: Forest, member: Array, n_components: int) -> None:
        tree = run.tree
        n_nodes = int(tree.first_block[-1]) * LANES
        self.run = run
        self.forest = forest
        self.member = member
        self.least = np.zeros(n_nodes)
        self.balls = Balls(centres=np.empty(n_nodes * run.dims), radii=np.full(n_nodes, -1.0))
        self.best = [
            Best(
                np.empty(n_components),
                np.empty(n_components, dtype=np.int32),
                np.empty(n_components, dtype=np.int32),
            )
            for _ in range(run.n_jobs)
        ]
        self.node_stack = np.empty((run.n_jobs, STACK), dtype=np.int64)

    def best_edges(self, n_components: int, largest: int) -> Best:
        """Return the best edge of each component but the largest."""
        for best in self.best:
            best.distance[:n_components] = HUGE
        self._scan()
        self._merge(n_components)
        if n_components * _POINTS_PER_BOUNCE < self.run.tree.n_points:
            self._bounce(n_components, largest)
        self._search(largest)
        self._merge(n_components)
        return self.best[0]

    def _scan(self) -> None:
        run = self.run
        kernel = rounds.scan_lists.specialised(run.constants)

        def work(worker: int, start: int, stop: int) -> None:
            best = self.best[worker]
            kernel(run.tree, self.forest, run.lists, self.least, best, run.power, start, stop)

        run.workers.in_blocks(run.tree.n_leaves, 4096, work)

    def _merge(self, n_components: int) -> None:
        """Give every worker the best edges that any of them has found."""
        known, others = self.best[0], self.best[1:]

        def work(_: int, start: int, stop: int) -> None:
            for other in others:
                union_find.merge_best(known, other, start, stop)
            for other in others:
                other.distance[start:stop] = known.distance[start:stop]
                other.a[start:stop] = known.a[start:stop]
                other.b[start:stop] = known.b[start:stop]

        if others:
            self.run.workers.in_blocks(n_components, _COMPONENTS_TO_MERGE, work)

    def _bounce(self, n_components: int, largest: int) -> None:
        run = self.run
        kernel = rounds.bounce.specialised(run.constants)

        def work(worker: int, start: int, stop: int) -> None:
            best, group = self.best[worker], run.groups[worker]
            kernel(run.tree, self.forest, self.member, largest, best, group, start, stop)

        run.workers.in_blocks(n_components, _COMPONENTS_PER_TASK, work)
        self._merge(n_components)

    def _search(self, largest: int) -> None:
        run = self.run
        kernel = rounds.search_tree.specialised(run.constants)
        few = run.dims <= _FEW_DIMS
        stretch, ball_factor = (1.5, 1.0) if few else (1.0, 4.0)  # what was fastest

        searches = [
            rounds.Search(
                run.tree,
                self.forest,
                run.lists,
                self.least,
                self.balls,
                best,
                group,
                largest,
                stretch,
                ball_factor,
            )
            for best, group in zip(self.best, run.groups, strict=True)
        ]

        def work(worker: int, start: int, stop: int) -> None:
            kernel(searches[worker], run.top, start, stop, self.node_stack[worker])

        n_nodes = int(run.tree.n_nodes[run.top])
        run.workers.in_blocks(n_nodes, max(1, run.leaves_per_task >> (3 * run.top)), work)


def _neighbours_for(dims: int) -> int:
    """Return the length of the neighbour lists that was fastest."""
    if dims <= 3:
        return 5
    return 4 if dims <= 8 else 3
