"""Points → the edges of their spanning tree, by Borůvka's algorithm on a kd-tree."""

from __future__ import annotations

import time

import numpy as np

from isthmus._parallel import Workers
from isthmus._typing import Array, Floats, Ints
from isthmus.metrics import POWERS, PreparedPoints
from isthmus.spanning_tree.kdtree import components, rounds
from isthmus.spanning_tree.kdtree.neighbours import HUGE, STACK, nearest_neighbours
from isthmus.spanning_tree.kdtree.simd import LANES
from isthmus.spanning_tree.kdtree.tree import KdTree, aligned_empty, build_tree
from isthmus.spanning_tree.prim import Progress, prim_of_points

# Numbers of coordinates that kernels are compiled for; points are padded with zeros to the next.
COMPILED_DIMS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)

# Powers above this would vanish for small differences.
_LARGEST_POWER = 8.0
# Leaves that a probe looks at, and what all searches take compared with finding neighbours.
_PROBED = 48
_SEARCHES_PER_NEIGHBOURS = 3.0
# Components are few enough for bouncing where there is one for so many points.
_POINTS_PER_BOUNCE = 64


def serves(prepared: PreparedPoints) -> bool:
    """Whether there are kernels for this number of coordinates and this metric."""
    metric = prepared.metric
    few_enough = prepared.points.shape[1] <= COMPILED_DIMS[-1]
    return few_enough and (metric.kind != POWERS or metric.power <= _LARGEST_POWER)


def spanning_tree_by_boruvka(
    prepared: PreparedPoints,
    n_jobs: int = 1,
    progress: Progress | None = None,
    time_limit: float = np.inf,
) -> tuple[Ints, Floats] | None:
    """Return the edges, unordered, and the weights of the spanning tree of at least two points.

    None, after a short look, where it would take longer than ``time_limit`` seconds.
    """
    points = prepared.points
    if len(points) <= LANES:  # a tree of one leaf, fewer points than a list has neighbours
        return prim_of_points(prepared, progress)
    dims = next(size for size in COMPILED_DIMS if size >= points.shape[1])
    with Workers(n_jobs) as workers:
        tree = build_tree(points, dims, workers)
        run = _Run(tree, prepared, dims, workers, progress)
        if time_limit < np.inf and run.probe() * _SEARCHES_PER_NEIGHBOURS > time_limit:
            return None
        run.find_neighbours()
        run.join()
        edges, accumulated = run.edges()
    return edges, prepared.heights(accumulated)


class _Run:
    """The state of Borůvka's algorithm on a tree; the kernels fill it."""

    def __init__(
        self,
        tree: KdTree,
        prepared: PreparedPoints,
        dims: int,
        workers: Workers,
        progress: Progress | None,
    ) -> None:
        n_points = tree.n_points
        self.tree = tree
        self.power = prepared.metric.power
        self.dims = dims
        self.workers = workers
        self.n_jobs = workers.n_jobs
        self.progress = progress
        self.n_neighbours = _neighbours_for(dims)
        # Searches begin at nodes of this level, and take more time the more coordinates there are;
        # a task should take some hundredths of a second, so that Ctrl-C is seen.
        self.top = min(3 if dims <= 5 else 1, len(tree.n_nodes) - 1)
        self.leaves_per_task = 512 if dims <= 5 else 64 if dims <= 10 else 8
        self.constants = {
            "DIMS": dims,
            "NEIGHBOURS": self.n_neighbours,
            "KIND": prepared.metric.kind,
        }
        self.distances = np.empty(n_points * self.n_neighbours)
        self.places = np.empty(n_points * self.n_neighbours, dtype=np.int32)
        self.edge_a = np.empty(n_points - 1, dtype=np.int32)
        self.edge_b = np.empty(n_points - 1, dtype=np.int32)
        self.n_edges = 0
        size = LANES + dims + self.n_neighbours + 1 + STACK
        self.scratch = [
            (
                aligned_empty(size, np.float64),
                np.empty(STACK, dtype=np.int64),
                np.empty(STACK, dtype=np.int64),
                np.empty(self.n_neighbours + 1, dtype=np.int32),
            )
            for _ in range(workers.n_jobs)
        ]

    def find_neighbours(self) -> None:
        """Fill the neighbour lists of all points."""
        self.workers.in_blocks(self.tree.n_leaves, self.leaves_per_task, self._find_neighbours_of)

    def _find_neighbours_of(self, worker: int, start: int, stop: int) -> None:
        tree = self.tree
        scratch, stack, _, list_place = self.scratch[worker]
        nearest_neighbours.specialised(self.constants)(
            tree.blocks,
            tree.boxes,
            tree.first_block,
            len(tree.n_nodes),
            tree.order,
            self.power,
            start,
            stop,
            scratch,
            stack,
            list_place,
            self.distances,
            self.places,
        )

    def join(self) -> None:
        """Run rounds until one component is left."""
        tree, n_points = self.tree, self.tree.n_points
        labels = aligned_empty(tree.n_leaves * LANES, np.int32)
        node_labels = aligned_empty(int(tree.first_block[-1]) * LANES, np.int32)
        node_labels[:] = -1
        parent, size, member = np.empty((3, n_points), dtype=np.int32)
        join_nearest = components.join_nearest.specialised(self.constants)
        n_components, self.n_edges = join_nearest(
            self.places, parent, labels, self.edge_a, self.edge_b, size, member
        )
        self._relabel(labels, np.empty(0, dtype=np.int32), node_labels)
        largest = int(np.argmax(size[:n_components]))
        new_label = np.empty(n_components, dtype=np.int32)
        searcher = _Searcher(self, labels, node_labels, member, n_components)
        while n_components > 1:
            self._report()
            best = searcher.best_edges(n_components, largest)
            n_components, self.n_edges, largest = components.join_best(
                n_components,
                largest,
                *best,
                labels,
                parent,
                new_label,
                size,
                member,
                self.edge_a,
                self.edge_b,
                self.n_edges,
            )
            if n_components > 1:
                self._relabel(labels, new_label, node_labels)
        self._report()

    def _relabel(self, labels: Array, new_label: Array, node_labels: Array) -> None:
        tree = self.tree

        def work(_: int, start: int, stop: int) -> None:
            components.relabel_leaves(labels, new_label, node_labels, tree.n_points, start, stop)

        self.workers.in_blocks(tree.n_leaves, 1 << 15, work)
        components.relabel_nodes(node_labels, tree.first_block, tree.n_nodes)

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(self.n_edges, self.tree.n_points - 1)

    def edges(self) -> tuple[Ints, Floats]:
        """Return the edges between points, and their lengths as metrics.py accumulates them."""
        n_edges = self.tree.n_points - 1
        edges = np.empty((n_edges, 2), dtype=np.int64)
        accumulated = np.empty(n_edges)
        kernel = rounds.measure_edges.specialised(self.constants)

        def work(_: int, start: int, stop: int) -> None:
            kernel(
                self.tree.blocks,
                self.tree.order,
                self.edge_a,
                self.edge_b,
                self.power,
                edges,
                accumulated,
                start,
                stop,
            )

        self.workers.in_blocks(n_edges, 1 << 16, work)
        if self.constants["KIND"] == POWERS:  # here sums of powers; there their roots
            accumulated **= 1.0 / self.power
        return edges, accumulated

    def probe(self) -> float:
        """Return the seconds that finding all neighbours takes, judged by a few leaves."""
        n_leaves = self.tree.n_leaves
        sample = np.unique(np.linspace(0, n_leaves - 1, _PROBED).astype(np.int64))
        self._find_neighbours_of(0, int(sample[0]), int(sample[0]) + 1)  # compiles
        begin = time.perf_counter()
        for leaf in sample:
            self._find_neighbours_of(0, int(leaf), int(leaf) + 1)
        return (time.perf_counter() - begin) * n_leaves / len(sample) / self.n_jobs


class _Searcher:
    """Finds the best edge of every component, in parallel."""

    def __init__(
        self, run: _Run, labels: Array, node_labels: Array, member: Array, n_components: int
    ) -> None:
        tree = run.tree
        n_nodes = int(tree.first_block[-1]) * LANES
        self.run = run
        self.labels = labels
        self.node_labels = node_labels
        self.member = member
        self.used = np.ones(tree.n_points, dtype=np.int8)
        self.node_least = np.zeros(n_nodes)
        self.centres = np.empty(n_nodes * run.dims)
        self.radii = np.full(n_nodes, -1.0)
        self.best_distance = np.empty((run.n_jobs, n_components))
        self.best_a = np.empty((run.n_jobs, n_components), dtype=np.int32)
        self.best_b = np.empty((run.n_jobs, n_components), dtype=np.int32)

    def best_edges(self, n_components: int, largest: int) -> tuple[Array, Array, Array]:
        """Return, for each component but the largest, its best edge: distance and both places."""
        self.best_distance[:, :n_components] = HUGE
        self._scan()
        self._merge(n_components)
        if n_components * _POINTS_PER_BOUNCE < self.run.tree.n_points:
            self._bounce(n_components, largest)
        self._search(largest)
        self._merge(n_components)
        return self.best_distance[0], self.best_a[0], self.best_b[0]

    def _best(self, worker: int) -> tuple[Array, Array, Array]:
        return self.best_distance[worker], self.best_a[worker], self.best_b[worker]

    def _scan(self) -> None:
        run = self.run
        kernel = rounds.scan_lists.specialised(run.constants)

        def work(worker: int, start: int, stop: int) -> None:
            kernel(
                run.tree.n_points,
                run.tree.order,
                self.labels,
                self.node_labels,
                run.distances,
                run.places,
                self.used,
                self.node_least,
                *self._best(worker),
                start,
                stop,
            )

        run.workers.in_blocks(run.tree.n_leaves, 4096, work)

    def _merge(self, n_components: int) -> None:
        if self.run.n_jobs > 1:
            components.merge_best(
                self.best_distance, self.best_a, self.best_b, n_components, self.run.tree.order
            )

    def _bounce(self, n_components: int, largest: int) -> None:
        run, tree = self.run, self.run.tree
        scratch, stack, _, _ = run.scratch[0]
        rounds.bounce.specialised(run.constants)(
            tree.blocks,
            tree.boxes,
            tree.first_block,
            len(tree.n_nodes),
            tree.order,
            self.labels,
            self.node_labels,
            self.member,
            n_components,
            largest,
            run.power,
            scratch,
            stack,
            *self._best(0),
        )
        self._merge(n_components)

    def _search(self, largest: int) -> None:
        run, tree = self.run, self.run.tree
        kernel = rounds.search_tree.specialised(run.constants)
        low = run.dims <= 5

        def work(worker: int, start: int, stop: int) -> None:
            scratch, stack, node_stack, _ = run.scratch[worker]
            kernel(
                tree.n_points,
                tree.blocks,
                tree.boxes,
                tree.first_block,
                tree.n_nodes,
                tree.order,
                self.labels,
                self.node_labels,
                run.distances,
                run.places,
                self.used,
                self.node_least,
                self.centres,
                self.radii,
                *self._best(worker),
                largest,
                run.power,
                1.5 if low else 1.0,
                1.0 if low else 4.0,
                run.top,
                start,
                stop,
                scratch,
                stack,
                node_stack,
            )

        n_nodes = int(tree.n_nodes[run.top])
        run.workers.in_blocks(n_nodes, max(1, run.leaves_per_task >> (3 * run.top)), work)


def _neighbours_for(dims: int) -> int:
    """Return the length of the neighbour lists that was fastest."""
    if dims <= 2:
        return 3
    return 4 if dims <= 6 else 3
