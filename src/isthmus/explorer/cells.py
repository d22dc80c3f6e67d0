"""Labels for every number of clusters → cells: rows that share their cluster for each of them.

The page relabels all points for another number of clusters through a table with one entry for each
cell. CUT's cells are the parts of the dendrogram, a few dozen; those of K-means, whose clusters are
not nested, rarely more than a few hundred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.explorer.part_tree import PartTree

# The label of rows that are in no cluster.
NOISE = -1


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows that no number of clusters and no part of the dendrogram tells apart.

    Attributes
    ----------
    cell_of : (n_rows,) int64
        The cell of each row.
    part : (c,) int64
        The part of the dendrogram that each cell is in.
    labels : (n_numbers, c) int32
        The label of each cell for each number of clusters.
    sizes : (c,) int64
        The number of rows of each cell.
    """

    cell_of: Ints
    part: Ints
    labels: Labels
    sizes: Ints

    @classmethod
    def of_labels(cls, part_of: Ints, labels: Sequence[Labels]) -> Cells:
        """Return the cells of rows.

        part_of : (n_rows,) int
            The part of each row.
        labels : sequence of (n_rows,) int32
            For each number of clusters; NOISE for rows in no cluster.
        """
        cell_of = part_of.astype(np.int64)
        for each in labels:
            cell_of = _refined(cell_of, each.astype(np.int64) - NOISE)
        n_cells = int(cell_of.max()) + 1
        row = np.empty(n_cells, dtype=np.int64)  # any row of each cell
        row[cell_of] = np.arange(len(cell_of))
        table = np.array([each[row] for each in labels], dtype=np.int32)
        sizes = np.bincount(cell_of, minlength=n_cells)
        return cls(cell_of, part_of[row].astype(np.int64), table, sizes)

    @property
    def is_noise(self) -> Array:
        """Which cells are noise, whatever the number of clusters: (c,) bool."""
        is_noise: Array = (self.labels == NOISE).all(axis=0)
        return is_noise

    def __len__(self) -> int:
        return len(self.part)


def _refined(cell_of: Ints, codes: Ints) -> Ints:
    """Return the cells that the codes, from 0, divide cells into; in the order of both."""
    n_codes = int(codes.max()) + 1
    pairs = cell_of * n_codes + codes
    occurs = np.zeros((int(cell_of.max()) + 1) * n_codes, dtype=bool)
    occurs[pairs] = True
    refined: Ints = (np.cumsum(occurs) - 1)[pairs]
    return refined


def nodes_of_labels(cells: Cells, parts: PartTree, numbers: Sequence[int]) -> list[Ints | None]:
    """Return for each number of clusters the node that each label is, (k,); None where not one."""
    found: list[Ints | None] = []
    clustered = ~cells.is_noise
    for labels, k in zip(cells.labels[:, clustered], numbers, strict=True):
        nodes = parts.nodes_of_parts(min(k, parts.n_parts))[cells.part[clustered]]
        pairs = np.unique(np.column_stack([labels, nodes]), axis=0)
        one_to_one = len(pairs) == k == len(np.unique(nodes)) and NOISE not in labels
        found.append(pairs[:, 1] if one_to_one else None)
    return found


def colours_of_nodes(parts: PartTree, rows: Ints) -> Ints:
    """Return a colour, from 0, for each node: the larger child keeps that of the divided node.

    So a part that is not divided keeps its colour, and k parts have the first k colours.

    rows : (2m - 1,) int
        The number of rows of each node.
    """
    colours = np.zeros(len(rows), dtype=np.int64)
    for step, node in enumerate(parts.divided.tolist(), start=1):
        rest, off = 2 * step - 1, 2 * step
        larger, smaller = (rest, off) if rows[rest] >= rows[off] else (off, rest)
        colours[larger], colours[smaller] = colours[node], step
    return colours


def colours_by_overlap(cells: Cells, numbers: Sequence[int]) -> list[Ints]:
    """Return a colour for each label of each number of clusters, where these are not nested.

    Labels take the colours of those of the next smaller number with which they share most rows.
    """
    found: list[Ints] = []
    for i, k in enumerate(numbers):
        if not found:
            found.append(np.arange(k))
            continue
        overlap = _overlaps(cells, cells.labels[i - 1], cells.labels[i], len(found[-1]), k)
        before, now = linear_sum_assignment(overlap, maximize=True)
        colours = np.full(k, -1)
        colours[now] = found[-1][before]
        free = [colour for colour in range(2 * k) if colour not in colours]
        colours[colours < 0] = free[: int((colours < 0).sum())]
        found.append(colours)
    return found


def _overlaps(cells: Cells, before: Labels, now: Labels, n_before: int, n_now: int) -> Floats:
    counted = (before != NOISE) & (now != NOISE)
    overlap = np.zeros((n_before, n_now))
    np.add.at(overlap, (before[counted], now[counted]), cells.sizes[counted])
    return overlap
