"""Bundles of blocks, and tasks in which any two of them meet.

A projective plane says which bundles a task takes: any two of its g = q² + q + 1 points are on
exactly one of its g lines of s = q + 1 points. So any two bundles meet in exactly one of g tasks,
and a task holds s / g of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

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


def make_tasks(n_bundles: int) -> list[list[int]]:
    """Return the bundles of each task; there are at most n_bundles bundles.

    The first bundles of all tasks are different ones: each may be compared with itself there.
    """
    n_bundles = max(each for each in LINES if each <= max(1, n_bundles))
    line = LINES[n_bundles]
    return [[(each + shift) % n_bundles for each in line] for shift in range(n_bundles)]


class Plan(NamedTuple):
    """Which blocks meet.

    Attributes
    ----------
    bundles : list of range
        The blocks of each bundle.
    tasks : list of list of int
        The bundles of each task, ascending.
    """

    bundles: list[range]
    tasks: list[list[int]]


def make_plan(sizes: Sequence[int], n_bundles: int) -> Plan:
    """Return which blocks meet, in about as many bundles as there is a plane for.

    sizes : sequence of int
        The numbers of rows of blocks; a block is never divided.
    """
    filled = int(np.count_nonzero(sizes))
    tasks = make_tasks(min(n_bundles, filled))
    rows = np.cumsum(sizes)
    wanted = rows[-1] * np.arange(1, len(tasks)) / len(tasks)
    cuts = [0, *(np.searchsorted(rows, wanted) + 1).tolist(), len(sizes)]
    bundles = [range(first, last) for first, last in pairwise(cuts)]
    return Plan(bundles, [sorted(task) for task in tasks])


def default_n_bundles(n_threads: int) -> int:
    """Return the fewest bundles whose tasks keep all threads busy."""
    return next((n for n in LINES if n >= min(max(n_threads, 3), max(LINES))), max(LINES))
