"""The engine for many features: Borůvka's algorithm on neighbours found by matrix products."""

from __future__ import annotations

import numpy as np

from isthmus._numba.accumulators import SQUARES
from isthmus._utils.typing import Ints
from isthmus.blocks.bounds import GROUP
from isthmus.spanning_tree.engine import (
    BYTES_PER_EDGE,
    FIXED_BYTES,
    Declined,
    Edges,
    Engine,
    Problem,
)
from isthmus.spanning_tree.prim import is_quick

# Points to a block, the fastest first.
_BLOCK_SIZES = (1024, 512, 256)
# Where more than this share of all pairs must be measured after all, Prim's algorithm is faster.
MOST_MEASURED = 0.05


class BlockedEngine(Engine):
    """Borůvka's algorithm on neighbours found by blocked matrix products."""

    name = "blocked"
    takes = "points, dense or sparse, whose metric is Euclidean after a map of the points"
    removes_duplicates = True

    def supports(self, problem: Problem) -> bool:
        """Whether distances are Euclidean, after the metric's map."""
        return problem.has_prepared_points and problem.prepared.metric.kind == SQUARES

    def suits(self, problem: Problem) -> bool:
        """Whether Prim's algorithm would take long, or cannot read the points."""
        if problem.has_dense_points:
            return not is_quick(problem)
        return problem.n_points > 1

    def bytes_needed(self, problem: Problem) -> int:
        """Return how much memory it takes with the smallest blocks."""
        return _bytes_needed(problem, min(_BLOCK_SIZES))

    def run(self, problem: Problem) -> Edges | Declined:
        """Find the tree, unless too many distances are all but equal."""
        # Imported here: Numba's machinery loads with it.
        from isthmus.spanning_tree.by_blocks.boruvka import boruvka_on_blocks

        fitting = (size for size in _BLOCK_SIZES if _fits(problem, size))
        most_measured = np.inf
        if problem.may_decline and problem.has_dense_points:
            most_measured = MOST_MEASURED * problem.n_points**2
        return boruvka_on_blocks(
            problem.prepared,
            problem.n_jobs,
            problem.progress,
            most_measured,
            next(fitting),
            problem.n_neighbors,
        )


def _fits(problem: Problem, block_size: int) -> bool:
    return problem.budget.allows(_bytes_needed(problem, block_size))


def _bytes_needed(problem: Problem, block_size: int) -> int:
    """Return how much memory float32 copies of the points, products and lists take."""
    n_points, n_features = problem.n_points, int(problem.points.shape[1])
    block, searching = min(block_size, n_points), min(GROUP, n_points)
    products = 4 * max(block, searching) * block
    if problem.has_dense_points:
        products += 4 * searching * n_features
        rows = problem.n_jobs * block * n_features
        held = 4 * n_points * n_features
        preparing = max(32 * rows, held + 16 * rows)
    else:
        n_entries = int(problem.points.nnz)
        products += 4 * n_features + 8 * _most_entries(problem.points.indptr, block)
        preparing, held = 40 * n_entries, 12 * n_entries
    lists = 16 * problem.n_neighbors * n_points
    joining = held + 180 * n_points + lists + problem.n_jobs * products
    return FIXED_BYTES + max(preparing + 32 * n_points, joining, BYTES_PER_EDGE * n_points)


def _most_entries(indptr: Ints, block: int) -> int:
    """Return an upper bound of the entries in a block of rows."""
    if len(indptr) <= block:
        return int(indptr[-1])
    return int((indptr[block:] - indptr[:-block]).max())
