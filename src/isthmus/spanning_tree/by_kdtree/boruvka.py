"""Points → the edges of their spanning tree, by Borůvka's algorithm on a kd-tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isthmus._numba.accumulators import POWERS
from isthmus._numba.simd import LANES
from isthmus._utils.parallel import Workers
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.kdtree.build import KdTree, aligned_empty, build_tree
from isthmus.kdtree.limits import padded_dims
from isthmus.kdtree.traversal import STACK, make_group
from isthmus.metrics import PreparedPoints
from isthmus.spanning_tree.best_edges import (
    HUGE,
    Best,
    join_best,
    make_best,
    make_joined,
    merge_best,
    merge_best_by_index,
)
from isthmus.spanning_tree.by_kdtree import first_round, rounds
from isthmus.spanning_tree.by_kdtree.bounding_balls import NOT_MADE, Balls
from isthmus.spanning_tree.by_kdtree.component_labels import (
    MIXED,
    Forest,
    relabel_leaves,
    relabel_nodes,
)
from isthmus.spanning_tree.by_kdtree.knn import make_neighbours, nearest_neighbours
from isthmus.spanning_tree.engine import Declined, Edges
from isthmus.spanning_tree.prim import prim_of_points
from isthmus.spanning_tree.round_progress import RoundProgress, share_after_round

# Leaves whose searches are counted, and what a block in the search for neighbours stands for: a
# run on one thread took 9 to 18 times as long, per block, as one of Prim's distances where they
# were near a draw; and threads help here, but not there.
_PROBED = 48
_DISTANCES_PER_BLOCK = 8.0
# Up to this number of coordinates the points of a leaf search together.
_DIMS_TOGETHER = 4
# Up to this number of coordinates searches are short.
_FEW_DIMS = 5
# Following nearest points, component by component, pays where a component has this many points on
# average; and how many components make a task.
_POINTS_PER_COMPONENT = 64
_COMPONENTS_PER_TASK = 256
# Threads share joining points to their neighbours, and comparing what they have found, where there
# are this many points or components.
_POINTS_TO_SHARE = 1 << 15
_COMPONENTS_TO_MERGE = 1 << 15


def boruvka_on_kdtree(
    prepared: PreparedPoints,
    n_jobs: int = 1,
    progress: Progress | None = None,
    most_work: float = np.inf,
    *,
    by_index: bool = True,
) -> Edges | Declined:
    """Return the edges, unordered, and the weights of the spanning tree of at least two points.

    most_work : float
        A number of distances: declines, after a look at a few points, where it would take longer
        than to compute them one after the other.
    by_index : bool
        Whether edges of equal length are compared by their points' indices, as Prim's algorithm
        does: the tree then does not depend on the kd-tree. Lattices take longer.
    """
    points = prepared.points
    if len(points) <= LANES:  # a tree of one leaf, fewer points than a list has neighbours
        return prim_of_points(prepared, progress)
    with Workers(n_jobs) as workers:
        tree = build_tree(points, padded_dims(points.shape[1]), workers)
        run = _Run(tree, prepared, workers, progress, by_index=by_index)
        if most_work < np.inf and run.would_exceed(most_work):
            return Declined(f"more work than computing {most_work:.2g} distances")
        run.find_neighbours()
        run.join()
        edges, accumulated = run.edges()
    return Edges(edges, prepared.heights(accumulated), tree, by_index=by_index)


def is_compiled(prepared: PreparedPoints) -> bool:
    """Whether the kernels that take longest to compile are in use or in the cache on disk."""
    dims, dtype = padded_dims(prepared.points.shape[1]), prepared.points.dtype
    one_leaf = KdTree(
        order=np.zeros(1, dtype=np.int32),
        blocks=np.empty(LANES * dims, dtype),
        boxes=np.empty(2 * LANES * dims, dtype),
        first_block=np.arange(2),
        n_nodes=np.ones(1, dtype=np.int64),
    )
    with Workers(1) as workers:
        run = _Run(one_leaf, prepared, workers, None)
    neighbours = nearest_neighbours.specialised(run.constants)
    if not neighbours.is_compiled(one_leaf, run.groups[0], run.lists, 0, 1):
        return False
    searcher = _Searcher(run, _make_forest(one_leaf, by_index=True), 1)
    search = rounds.search_tree.specialised(run.constants)
    return search.is_compiled(searcher.searches[0], run.top, searcher.stacks[0], 0, 1)


def _make_forest(tree: KdTree, *, by_index: bool) -> Forest:
    forest = Forest(
        labels=aligned_empty(tree.n_leaves * LANES, np.int32),
        node_labels=aligned_empty(int(tree.first_block[-1]) * LANES, np.int32),
        by_index=by_index,
    )
    forest.node_labels[:] = MIXED
    return forest


class _Run:
    """The state of Borůvka's algorithm on a kd-tree; the kernels fill it."""

    def __init__(
        self,
        tree: KdTree,
        prepared: PreparedPoints,
        workers: Workers,
        progress: Progress | None,
        *,
        by_index: bool = True,
    ) -> None:
        dims = tree.dims
        length = _neighbours_for(dims)
        self.constants = {
            "DIMS": dims,
            "NEIGHBOURS": length,
            "KIND": prepared.metric.kind,
            "TOGETHER": LANES if dims <= _DIMS_TOGETHER else 1,
        }
        self.tree = tree
        self.power = prepared.metric.power
        self.dims = dims
        self.workers = workers
        self.n_jobs = workers.n_jobs
        self.progress = RoundProgress(progress, tree.n_points)
        # Searches begin at nodes of this level, and take more time the more coordinates there are;
        # a task should take some hundredths of a second, so that Ctrl-C is seen.
        self.top = min(3 if dims <= _FEW_DIMS else 1, len(tree.n_nodes) - 1)
        while self.n_jobs > 1 and self.top > 0 and tree.n_nodes[self.top] < 16 * self.n_jobs:
            self.top -= 1
        most = 8192 if dims <= 4 else 512 if dims <= 6 else 64 if dims <= 10 else 8
        self.leaves_per_task = max(8, min(most, tree.n_leaves // (4 * self.n_jobs)))
        self.by_index = by_index
        self.lists = make_neighbours(tree.n_leaves * LANES, length)
        self.joined = make_joined(tree.n_points)
        self.n_edges = 0
        self.groups = [make_group(dims, length, self.power) for _ in range(self.n_jobs)]
        kernel = nearest_neighbours.specialised(self.constants)
        self._nearest_neighbours = [kernel.bound(tree, group, self.lists) for group in self.groups]

    def find_neighbours(self) -> None:
        """Fill the neighbour lists of all points."""
        done = [0] * self.n_jobs
        building, neighbours = _shares_of_time(self.dims)
        self.progress.begin_stage(building)
        self.progress.report(1.0)
        self.progress.begin_stage(neighbours)

        def work(worker: int, start: int, stop: int) -> None:
            self._find_neighbours_of(worker, start, stop)
            done[worker] += stop - start
            if worker == 0:
                self.progress.report(sum(done) / self.tree.n_leaves)

        self.workers.in_blocks(self.tree.n_leaves, self.leaves_per_task, work)

    def _find_neighbours_of(self, worker: int, start: int, stop: int) -> int:
        return self._nearest_neighbours[worker](start, stop)

    def join(self) -> None:
        """Run rounds until one component is left."""
        tree, joined = self.tree, self.joined
        forest = _make_forest(tree, by_index=self.by_index)
        n_components = self._join_nearest(forest.labels)
        self._relabel(forest, np.empty(0, dtype=np.int32))
        new_label = np.empty(n_components, dtype=np.int32)
        searcher = _Searcher(self, forest, n_components)
        first = self.progress.reached
        while n_components > 1:
            done = share_after_round(tree.n_points, n_components)
            self.progress.begin_stage(first + (1.0 - first) * done)
            largest = int(np.argmax(joined.size[:n_components]))
            best = searcher.best_edges(n_components, largest)
            n_components = join_best(
                n_components, largest, best, forest.labels, joined, new_label, self.n_edges
            )
            self.n_edges = tree.n_points - n_components
            if n_components > 1:
                self._relabel(forest, new_label)
        self.progress.begin_stage(1.0)
        self.progress.report(1.0)

    def _join_nearest(self, labels: Labels) -> int:
        """Do the first round, each point and its nearest neighbours; return how many components.

        labels : (>= n_points,) int32, out
        """
        n_points, lists, joined = self.tree.n_points, self.lists, self.joined
        join_ties = first_round.join_ties.specialised(self.constants)
        join_to_nearest = first_round.join_to_nearest.specialised(self.constants)
        end_first_round = first_round.end_first_round.specialised(self.constants)
        n_ties = 0
        if not self.by_index:
            n_ties = join_ties(lists, joined, np.zeros(n_points, dtype=np.bool_))
        # Blocks share nothing as long as nothing is joined.
        n_blocks = 1 if n_ties > 0 or n_points < _POINTS_TO_SHARE else self.n_jobs
        lists.n_inside[:] = lists.n_nearest == 1
        if self.by_index:  # not all that are equally near need be in the list
            lists.n_inside[lists.n_nearest > 1] = self.constants["NEIGHBOURS"]
        waits = np.zeros(n_points, dtype=np.bool_)
        found: dict[int, int] = {}

        def work(_: int, start: int, stop: int) -> None:
            found[start] = join_to_nearest(lists, joined, n_ties + start, waits, start, stop)

        self.workers.in_blocks(n_points, -(-n_points // n_blocks), work)
        self.n_edges = n_ties
        for start, n_found in sorted(found.items()):  # close the gaps between blocks
            for ends in (joined.edge_a, joined.edge_b):
                first = n_ties + start
                ends[self.n_edges : self.n_edges + n_found] = ends[first : first + n_found]
            self.n_edges += n_found
        n_components = end_first_round(lists, joined, waits, self.n_edges, labels)
        self.n_edges = n_points - n_components
        return n_components

    def _relabel(self, forest: Forest, new_label: Labels) -> None:
        tree = self.tree

        def work(_: int, start: int, stop: int) -> None:
            relabel_leaves(forest, new_label, tree.n_points, start, stop)

        self.workers.in_blocks(tree.n_leaves, 1 << 15, work)
        relabel_nodes(forest.node_labels, tree.first_block, tree.n_nodes)

    def edges(self) -> tuple[Ints, Floats]:
        """Return the edges between points, and their accumulated lengths."""
        n_edges = self.tree.n_points - 1
        edges = np.empty((n_edges, 2), dtype=np.int32)
        accumulated = np.empty(n_edges)
        kernel = rounds.measure_edges.specialised(self.constants)
        ends = self.joined.edge_a, self.joined.edge_b

        def work(_: int, start: int, stop: int) -> None:
            kernel(self.tree, *ends, self.power, edges, accumulated, start, stop)

        self.workers.in_blocks(n_edges, 1 << 16, work)
        if self.constants["KIND"] == POWERS:  # here sums of powers; elsewhere their roots
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
    """Finds the best edge of every component, in parallel.

    The kernels are bound to their records once for all rounds: a twentieth of the time that the
    tree of 100,000 points takes.
    """

    def __init__(self, run: _Run, forest: Forest, n_components: int) -> None:
        n_nodes = len(forest.node_labels)
        self.run = run
        self.best = [make_best(n_components) for _ in range(run.n_jobs)]
        self.largest = np.zeros(1, dtype=np.int64)
        few = run.dims <= _FEW_DIMS
        radius_factor, ball_factor = (1.5, 1.0) if few else (1.0, 4.0)  # the fastest
        shared = rounds.Search(
            tree=run.tree,
            forest=forest,
            lists=run.lists,
            least=np.zeros(n_nodes),
            balls=Balls(centres=np.empty(n_nodes * run.dims), radii=np.full(n_nodes, NOT_MADE)),
            best=self.best[0],
            group=run.groups[0],
            largest=self.largest,
            radius_factor=radius_factor,
            ball_factor=ball_factor,
        )
        self.searches = [
            shared._replace(best=best, group=group)
            for best, group in zip(self.best, run.groups, strict=True)
        ]
        self.stacks = [np.empty(STACK, dtype=np.int64) for _ in range(run.n_jobs)]
        scan, follow, search = (
            kernel.specialised(run.constants)
            for kernel in (rounds.scan_lists, rounds.follow_nearest, rounds.search_tree)
        )
        self._scans = [scan.bound(each) for each in self.searches]
        self._follows = [follow.bound(each, run.joined.member) for each in self.searches]
        self._tree_searches = [
            search.bound(each, run.top, stack)
            for each, stack in zip(self.searches, self.stacks, strict=True)
        ]
        known, *others = self.best
        if run.by_index:
            merges = [merge_best_by_index.bound(known, other, run.tree.order) for other in others]
        else:
            merges = [merge_best.bound(known, other) for other in others]
        self._merges = merges

    def best_edges(self, n_components: int, largest: int) -> Best:
        """Return the best edge of each component but the largest."""
        run = self.run
        self.largest[0] = largest
        for best in self.best:
            best.distance[:n_components] = HUGE
        run.workers.in_blocks(run.tree.n_leaves, 4096, _each(self._scans))
        self._merge(n_components)
        if n_components * _POINTS_PER_COMPONENT < run.tree.n_points:
            self._follow(n_components)
            self._merge(n_components)
        self._search()
        self._merge(n_components)
        return self.best[0]

    def _merge(self, n_components: int) -> None:
        """Give every worker the best edges that any of them has found."""
        known, *others = self.best

        def work(_: int, start: int, stop: int) -> None:
            for merge in self._merges:
                merge(start, stop)
            for other in others:
                for field in Best._fields:
                    getattr(other, field)[start:stop] = getattr(known, field)[start:stop]

        if others:
            self.run.workers.in_blocks(n_components, _COMPONENTS_TO_MERGE, work)

    def _follow(self, n_components: int) -> None:
        self.run.workers.in_blocks(n_components, _COMPONENTS_PER_TASK, _each(self._follows))

    def _search(self) -> None:
        run = self.run
        n_nodes = int(run.tree.n_nodes[run.top])
        per_task = max(1, run.leaves_per_task >> (3 * run.top))
        done = [0] * run.n_jobs

        def work(worker: int, start: int, stop: int) -> None:
            self._tree_searches[worker](start, stop)
            done[worker] += stop - start
            if worker == 0:
                run.progress.report(sum(done) / n_nodes)

        run.workers.in_blocks(n_nodes, per_task, work)


def _each(kernels: list[Callable[..., Any]]) -> Callable[[int, int, int], None]:
    """Return a task that lets each worker call the kernel bound to its own records."""
    return lambda worker, start, stop: kernels[worker](start, stop)


def _shares_of_time(dims: int) -> tuple[float, float]:
    """Return about when the tree is built, and when the neighbours are found; rounds follow."""
    if dims <= 3:
        return 0.2, 0.45
    return (0.15, 0.6) if dims <= _FEW_DIMS else (0.03, 0.75)


def _neighbours_for(dims: int) -> int:
    """Return the length of the neighbour lists that was fastest."""
    if dims <= 3:
        return 5
    return 4 if dims <= 8 else 3
