"""How many bytes K-means on a tree takes, and how to do with less.

Upper bounds, not far above what is allocated at the peak; tests compare the two.
"""

from __future__ import annotations

from dataclasses import dataclass

from isthmus._utils.memory import Budget

# Small things, whatever the number of points.
_SMALL = 1 << 20
# Per point: the spanning tree, the merges and what an objective knows of each node; the same for
# points with weights, for raised distances, and for random starts.
_TREE = 168
_WEIGHTS, _POWER, _RANDOM = 88, 16, 48
# Per point, of each run: its labels; and one cluster at a time in a step over the whole tree.
_RUN, _COLUMN = 40, 84
# Per node of a frontier: for itself, and for each cluster. Its arrays grow: for a moment there are
# two of each.
_NODE, _NODE_AND_CLUSTER = 40, 32
# The fewest nodes that a frontier is worth having for.
_FEWEST_NODES = 256


@dataclass(frozen=True)
class Workspace:
    """What each run may use.

    Attributes
    ----------
    columns : int or None
        The most clusters that a step over the whole tree takes at once; None: as many as is
        fastest.
    nodes : int or None
        The most nodes of a frontier; None: as many as is fastest.
    """

    columns: int | None = None
    nodes: int | None = None


@dataclass(frozen=True)
class Work:
    """What a K-means is asked to do, as far as its memory depends on it.

    Attributes
    ----------
    n_points, n_clusters : int
    weighted, power, random : bool
        Whether points have weights, distances are raised to a power, and starts are random.
    """

    n_points: int
    n_clusters: int
    weighted: bool = False
    power: bool = False
    random: bool = False

    @property
    def shared_bytes(self) -> int:
        """What all runs share."""
        per_point = _TREE + self.weighted * _WEIGHTS + self.power * _POWER + self.random * _RANDOM
        return _SMALL + self.n_points * per_point

    @property
    def least_bytes(self) -> int:
        """What one run takes at least."""
        return self.n_points * (_RUN + _COLUMN) + _FEWEST_NODES * _bytes_per_node(self.n_clusters)


def workspace_within(budget: Budget, work: Work, n_jobs: int) -> tuple[int, Workspace]:
    """Return how many runs may go on at the same time, and what each may use.

    The budget has room for one of them. Never changes a result.
    """
    if budget.limit is None:
        return n_jobs, Workspace()
    left = budget.limit - budget.used - work.shared_bytes
    runs = max(1, min(n_jobs, left // work.least_bytes))
    for_steps = left // runs - work.n_points * _RUN
    columns = max(1, for_steps // 2 // (work.n_points * _COLUMN))
    nodes = (for_steps - columns * work.n_points * _COLUMN) // _bytes_per_node(work.n_clusters)
    return runs, Workspace(columns, max(nodes, _FEWEST_NODES))


def _bytes_per_node(n_clusters: int) -> int:
    return _NODE + _NODE_AND_CLUSTER * n_clusters
