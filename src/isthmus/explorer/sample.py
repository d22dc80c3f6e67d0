"""Many rows → the rows that the page shows: every cluster, every small branch, every outlier."""

from __future__ import annotations

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints

# Shares of the sample: of rows with the highest outlier scores, and the most that one cell takes
# before the others have theirs.
_OUTLIERS, _SMALL = 0.1, 0.005
_SEED = 0


def rows_to_show(cell_of: Ints, scores: Floats, needed: Ints, n_shown: int) -> Ints:
    """Return the rows to show, ascending: all, or a sample of n_shown where there are more.

    The rows of the highest outlier scores come first, and small cells are shown whole; what is
    left is shared by the other cells in proportion to their rows.

    Parameters
    ----------
    cell_of : (n_rows,) int64
        The cell of each row.
    scores : (n_rows,) float64
        Outlier scores.
    needed : (m,) int64
        Rows that must be shown: medoids, and the ends of edges that are cut.
    n_shown : int
        The most rows; needed ones are shown whatever it is.
    """
    n_rows = len(cell_of)
    if n_rows <= n_shown:
        return np.arange(n_rows)
    shown = np.zeros(n_rows, dtype=bool)
    shown[needed] = True
    n_outliers = int(_OUTLIERS * n_shown)
    if n_outliers:
        shown[np.argpartition(-scores, n_outliers)[:n_outliers]] = True
    least = max(1, int(_SMALL * n_shown))
    order = np.random.default_rng(_SEED).permutation(n_rows)
    rank = _ranks(cell_of[order], order)
    shown[rank < least] |= np.bincount(cell_of)[cell_of[rank < least]] <= least
    _fill(shown, rank, cell_of, n_shown)
    return np.flatnonzero(shown)


def _ranks(cells: Ints, order: Ints) -> Ints:
    """Return the rank of each row within its cell, by a random order of all rows."""
    by_cell = np.argsort(cells, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(cells))[:-1]])
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order[by_cell]] = np.arange(len(order)) - starts[cells[by_cell]]
    return ranks


def _fill(shown: Array, rank: Ints, cell_of: Ints, n_shown: int) -> None:
    """Add rows of all cells, in proportion to their numbers of rows, up to n_shown."""
    sizes = np.bincount(cell_of)
    share = rank / sizes[cell_of]
    hidden = np.flatnonzero(~shown)
    n_missing = n_shown - (len(shown) - len(hidden))
    if n_missing > 0:
        shown[hidden[np.argpartition(share[hidden], n_missing - 1)[:n_missing]]] = True
