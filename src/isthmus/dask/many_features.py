"""The spanning tree of points with many features, or of other metrics: sets of blocks.

Where cells in space separate nothing, every two rows must meet. Rows are put into bundles, and each
task finds the tree of several bundles together. A projective plane says which: any two of its
g = q² + q + 1 points are on exactly one of its g lines of s = q + 1 points. So any two bundles meet
in exactly one task, all tasks together do s / (s - 1) times the work of one machine at most, and a
task holds s / g of all rows.

The tree of all rows is among the edges of these trees: an edge that is the longest in a cycle
within a task is so among all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.memory import require_memory
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.dask.executors import Executor
from isthmus.dask.forest import NEVER, grow_forest
from isthmus.dask.points import Look, as_table
from isthmus.spanning_tree import SpanningTree, minimum_spanning_tree
from isthmus.spanning_tree.result import trusted_tree

# A line of each projective plane; the others are its shifts, modulo the number of points.
LINES = {
    1: (0,),
    3: (0, 1),
    7: (0, 1, 3),
    13: (0, 1, 3, 9),
    21: (3, 6, 7, 12, 14),
    31: (1, 5, 11, 24, 25, 27),
    57: (0, 1, 3, 13, 32, 36, 43, 52),
    73: (1, 2, 4, 8, 16, 32, 37, 55, 64),
    91: (0, 1, 3, 9, 27, 49, 56, 61, 77, 81),
}
# What the coordinator takes for each edge that tasks find: rows and length, in order and sorted.
_BYTES_PER_EDGE = 64


class Plan(NamedTuple):
    """Which blocks meet.

    Attributes
    ----------
    bundles : list of range
        The blocks of each bundle.
    tasks : list of list of int
        The bundles of each task.
    """

    bundles: list[range]
    tasks: list[list[int]]


def make_plan(sizes: Sequence[int], n_bundles: int) -> Plan:
    """Return which blocks meet, in about as many bundles as there is a plane for.

    sizes : sequence of int
        The numbers of rows of blocks; a block is never divided.
    """
    filled = int(np.count_nonzero(sizes))
    n_bundles = max(each for each in LINES if each <= max(1, min(n_bundles, filled)))
    rows = np.cumsum(sizes)
    wanted = rows[-1] * np.arange(1, n_bundles) / n_bundles
    cuts = [0, *(np.searchsorted(rows, wanted) + 1).tolist(), len(sizes)]
    bundles = [range(first, last) for first, last in pairwise(cuts)]
    line = LINES[n_bundles]
    tasks = [sorted((each + shift) % n_bundles for each in line) for shift in range(n_bundles)]
    return Plan(bundles, tasks)


def default_n_bundles(n_threads: int) -> int:
    """Return the fewest bundles whose tasks keep all threads busy."""
    return next((n for n in LINES if n >= min(max(n_threads, 3), max(LINES))), max(LINES))


class Metric(NamedTuple):
    """A metric by its name, as it was given."""

    name: str
    params: Mapping[str, Any] | None


def common_dtype(looks: Sequence[Look]) -> Any:
    """Return the type in which the rows of all blocks are compared."""
    return np.float32 if all(look.single for look in looks) else np.float64


class TaskTree(NamedTuple):
    """The tree of a task: rows, the smaller one first, and weights."""

    edges: Ints
    weights: Floats


def tree_of_blocks(blocks: list[Any], starts: list[int], metric: Metric, dtype: Any) -> TaskTree:
    """Return the tree of the rows of some blocks, which begin with certain rows."""
    tables = [as_table(block).astype(dtype, copy=False) for block in blocks]
    rows = np.concatenate(
        [np.arange(start, start + len(table)) for start, table in zip(starts, tables, strict=True)]
    )
    if len(rows) < 2:
        return TaskTree(np.empty((0, 2), dtype=np.int64), np.empty(0))
    points: Array = np.concatenate([table for table in tables if len(table)])
    tree = minimum_spanning_tree(points, metric=metric.name, metric_params=metric.params, n_jobs=1)
    return TaskTree(rows[tree.edges], tree.weights)


def find_tree_of_blocks(
    executor: Executor,
    blocks: list[Any],
    looks: Sequence[Look],
    metric: Metric,
    n_bundles: int | None,
    report: Any,
) -> SpanningTree:
    """Return the spanning tree of all rows, in this process's memory."""
    sizes = [look.n_rows for look in looks]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n_rows = int(starts[-1])
    plan = make_plan(sizes, n_bundles or default_n_bundles(executor.n_threads))
    require_memory(
        _BYTES_PER_EDGE * len(plan.tasks[0]) * n_rows,
        f"Gathering the trees of {len(plan.tasks)} tasks on {n_rows:,} rows",
        "Use a coordinator with more memory.",
    )
    dtype = common_dtype(looks)
    tasks = []
    for t, task in enumerate(plan.tasks):
        chosen = [b for bundle in task for b in plan.bundles[bundle]]
        tasks.append(
            executor.submit(
                "tree-of-blocks",
                tree_of_blocks,
                [blocks[b] for b in chosen],
                [int(starts[b]) for b in chosen],
                metric,
                dtype,
                where=t % (executor.n_groups or 1),
            )
        )
    found = []
    for t, handle in enumerate(tasks):
        found += executor.gather([handle])
        report("trees of blocks", t + 1, len(tasks))
    return lightest_tree(n_rows, found)


def lightest_tree(n_rows: int, trees: Sequence[TaskTree]) -> SpanningTree:
    """Return the spanning tree of all edges of some trees: Kruskal's algorithm."""
    edges = np.concatenate([tree.edges for tree in trees])
    weights = np.concatenate([tree.weights for tree in trees])
    order = np.lexsort((edges[:, 1], edges[:, 0], weights))
    edges, weights = edges[order], weights[order]
    ranks = grow_forest(n_rows, edges[:, 0], edges[:, 1]).rank
    used = np.sort(ranks[ranks != NEVER])
    return trusted_tree(edges[used], weights[used], "dask")
