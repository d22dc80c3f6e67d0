"""Many features: lists of near rows, found on workers, and Borůvka's algorithm on them, here.

Distances are Euclidean after a map. Rows are put into bundles of near ones, and each task takes the
bundles on a line (bundles.py). It compares any two of them, and the first one with itself, so that
all tasks together compare every two rows once: the work of one machine. The lists of a row, from
several tasks, are merged. Where they end too early, rows search again, in the same tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.memory import require_memory
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.blocks.candidates import insert
from isthmus.dask.bundles import make_tasks
from isthmus.dask.executors import Executor, for_each
from isthmus.dask.halfspaces import split_by_directions
from isthmus.dask.line_lists import build_line, find_others, find_own, search_line
from isthmus.dask.partition import Division, Sorted
from isthmus.dask.points import Look, PointMap
from isthmus.dask.spanning_tree import Blocks, Report, sample_of, sorted_blocks, taken_cells
from isthmus.spanning_tree import SpanningTree
from isthmus.spanning_tree.by_blocks.engine import MOST_MEASURED
from isthmus.spanning_tree.by_blocks.joining import CertifiedLists, ListBoruvka
from isthmus.spanning_tree.by_blocks.searching import NEIGHBOURS, Answer
from isthmus.spanning_tree.result import trusted_tree

# What the coordinator takes for each row: lists, those of a task, and the tree.
_BYTES_PER_ROW = 400


def find_tree_by_lists(
    executor: Executor,
    blocks: list[Any],
    looks: Sequence[Look],
    mapping: PointMap,
    n_bundles: int,
    report: Report,
) -> SpanningTree | None:
    """Return the spanning tree of at least two rows; None where lists do not serve.

    That is where distances underflow, or are so much alike that bounds of them are of no use.
    """
    starts = np.concatenate([[0], np.cumsum([look.n_rows for look in looks])])
    n_rows = int(starts[-1])
    require_memory(
        _BYTES_PER_ROW * n_rows,
        f"Gathering lists of near rows of {n_rows:,} rows",
        "Use a coordinator with more memory.",
    )
    tasks = make_tasks(min(n_bundles, n_rows))
    halfspaces = split_by_directions(sample_of(looks, mapping), len(tasks))
    division = Division(halfspaces, len(tasks), mapping, n_rows)
    ordered = sorted_blocks(executor, Blocks(list(blocks)), starts, division)
    run = _Run(executor, ordered, tasks, mapping)
    report("partition", 1, 1)
    del ordered
    if not run.find(report):
        return None
    found = ListBoruvka(run.lists, run.search)
    if not found.join():
        return None
    report("searches", 1, 1)
    edges = np.column_stack([found.joined.edge_a, found.joined.edge_b]).astype(np.int64)
    return trusted_tree(edges, mapping.heights(found.squares), "dask")


def _rows_of_cells(points: Sorted) -> list[Ints]:
    return [points.rows[a:b].copy() for a, b in pairwise(points.bounds)]


class _Run:
    """Tasks, and what they have found.

    Parameters
    ----------
    executor : Executor
    ordered : list of handles
        Of Sorted, whose cells are bundles.
    tasks : list of list of int
        The bundles of each task.
    mapping : PointMap

    Attributes
    ----------
    lists : CertifiedLists
        Of all rows.
    """

    def __init__(
        self, executor: Executor, ordered: list[Any], tasks: list[list[int]], mapping: PointMap
    ) -> None:
        self.executor = executor
        parts = for_each(executor, "rows-of-bundles", _rows_of_cells, ordered)
        bundles = [np.concatenate(of_bundle) for of_bundle in zip(*parts, strict=True)]
        limits = mapping.prepared(np.empty((0, 1))).limits
        self.tasks: list[tuple[Ints, Any]] = []  # the rows of each, and the handle of its Line
        for task in tasks:
            rows = np.concatenate([bundles[bundle] for bundle in task])
            if len(rows):
                args = *taken_cells(executor, ordered, task), limits
                where = self._where(len(self.tasks))
                line = executor.submit(
                    "near-rows", build_line, *args, where=where, large=True, copies=True
                )
                self.tasks.append((rows, line))
        n_rows = sum(len(rows) for rows in bundles)
        self.lists = CertifiedLists(
            np.full((n_rows, NEIGHBOURS), -1, dtype=np.int32),
            np.full((n_rows, NEIGHBOURS), np.inf),
            np.full(n_rows, np.inf),
        )
        self.n_measured, self.most_measured = 0, MOST_MEASURED * n_rows**2

    def _where(self, task: int) -> int:
        return task % (self.executor.n_groups or 1)

    def find(self, report: Report) -> bool:
        """Fill the lists of all rows; return False where distances would underflow."""
        # Bundles by themselves first: what they find limits how far others must look.
        handles = [
            self.executor.submit("compare-rows", find_own, line, where=self._where(t))
            for t, (_, line) in enumerate(self.tasks)
        ]
        for found, (rows, _) in zip(self.executor.gather(handles), self.tasks, strict=True):
            if found is None:
                return False
            merge_lists(rows[: len(found.reach)], found, self.lists)
        farthest = self.lists.distances[:, -1].copy()
        handles = [
            self.executor.submit(
                "compare-rows", find_others, line, farthest[rows], where=self._where(t)
            )
            for t, (rows, line) in enumerate(self.tasks)
        ]
        for t, (rows, _) in enumerate(self.tasks):
            (found,) = self.executor.gather([handles[t]])
            merge_lists(rows, found, self.lists)
            report("near rows", t + 1, len(handles))
        return True

    def search(self, searching: Labels, labels: Labels, known: Floats) -> bool:
        """Fill the lists of some rows, ascending; see Search."""
        self.lists.positions[searching] = -1
        self.lists.distances[searching] = np.inf
        self.lists.reach[searching] = np.inf
        is_searching = np.zeros(len(labels), dtype=bool)
        is_searching[searching] = True
        handles = []
        for t, (rows, line) in enumerate(self.tasks):
            chosen = np.flatnonzero(is_searching[rows])
            if len(chosen):
                args = line, labels[rows], chosen, known[labels[rows[chosen]]]
                handle = self.executor.submit("search", search_line, *args, where=self._where(t))
                handles.append((rows[chosen], handle))
        for rows, handle in handles:
            (found,) = self.executor.gather([handle])
            merge_lists(rows, found, self.lists)
            self.n_measured += found.n_measured
        return self.n_measured <= self.most_measured


@kernel
def merge_lists(rows: Ints, found: Answer, lists: CertifiedLists) -> None:
    """Merge what a task has found for some rows into their lists."""
    last = lists.positions.shape[1] - 1
    for t in range(rows.shape[0]):
        i = rows[t]
        distances, positions = lists.distances[i], lists.positions[i]
        reach = min(lists.reach[i], found.reach[t])
        for s in range(found.names.shape[1]):
            name, distance = found.names[t, s], found.distances[t, s]
            if name < 0:
                break
            # What does not stay in the list is not nearer than the row reaches now.
            reach = min(reach, max(distance, distances[last]))
            if distance < distances[last]:
                insert(distances, positions, distance, name)
        lists.reach[i] = reach
