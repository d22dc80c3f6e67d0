"""The spanning tree of any metric: each task finds the tree of several bundles of rows.

Any two bundles meet in exactly one task (bundles.py), and all tasks together do s / (s - 1) times
the work of one machine at most.

The tree of all rows is among the edges of these trees: an edge that is the longest in a cycle
within a task is so among all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.memory import require_memory
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.dask.bundles import Plan
from isthmus.dask.executors import Executor
from isthmus.dask.longest_edges import NEVER, grow_forest
from isthmus.dask.points import Look, as_table
from isthmus.spanning_tree import SpanningTree, minimum_spanning_tree
from isthmus.spanning_tree.result import trusted_tree

# What the coordinator takes for each edge that tasks find: rows and length, in order and sorted.
_BYTES_PER_EDGE = 64


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
    plan: Plan,
    report: Any,
) -> SpanningTree:
    """Return the spanning tree of all rows, in this process's memory."""
    starts = np.concatenate([[0], np.cumsum([look.n_rows for look in looks])])
    n_rows = int(starts[-1])
    require_memory(
        _BYTES_PER_EDGE * len(plan.tasks[0]) * n_rows,
        f"Gathering the trees of {len(plan.tasks)} tasks on {n_rows:,} rows",
        "Use a coordinator with more memory.",
    )
    dtype = common_dtype(looks)
    tasks = []
    for t, task in enumerate(plan.tasks):
        chosen = [b for bundle in task for b in plan.bundles[bundle]]
        if not chosen:  # a few large blocks leave bundles empty
            continue
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
