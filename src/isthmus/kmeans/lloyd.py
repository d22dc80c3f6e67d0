"""Lloyd's iteration on a tree, from a start to its end.

The order of events is scikit-learn's: a step assigns all points to the nearest centre and then
moves the centres; it ends when a step changes no label, and after ``max_iter`` steps points are
assigned once more, so that labels and centres always match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._utils.rounding import TIE, to_twelve_digits
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.cut.parts import CutTree
from isthmus.kmeans.frontier import (
    Assigned,
    Frontier,
    FrontierBuffers,
    label_nodes,
    label_single_points,
)
from isthmus.kmeans.objective import TreeObjective
from isthmus.ultrametric.node_labels import (
    MIXED,
    in_leaf_order,
    labels_below,
    propagate_labels,
)


@dataclass(frozen=True)
class Start:
    """Where Lloyd's iteration begins: with parts, labels, or single points as centres."""

    parts: CutTree | None = None
    labels: Labels | None = None
    points: Ints | None = None


@dataclass(frozen=True)
class Solution:
    """What one run found.

    Attributes
    ----------
    labels : (n,) int32
    inertia : float
        As :func:`lloyd` returns it, in the units of the kernels.
    n_iter : int
    """

    labels: Labels
    inertia: float
    n_iter: int


def lloyd(assignment: PlainAssignment | GuardedAssignment, max_iter: int) -> Solution:
    """Iterate from a start to the end; with ``max_iter=0`` the start's labels stay as they are."""
    n_iter = 0
    converged = False
    while n_iter < max_iter and not converged:
        changed = assignment.step()
        n_iter += 1
        # In the first step labels are compared with a start, not with a step's result.
        converged = not changed and n_iter > 1
    if n_iter > 0 and not converged:
        assignment.step()
    if n_iter == 0 or assignment.relocated:
        assignment.measure()
    return Solution(assignment.point_labels(), assignment.inertia, n_iter)


class PlainAssignment:
    """An assignment of points to clusters, held as one label per point.

    Attributes
    ----------
    inertia : float
        Of the labels after the last step about the centres before it.
    relocated : bool
        Whether the inertia is no longer that of the labels: points moved into empty clusters.
    single : bool
        Whether each cluster is a single point, whatever its weight, as before the first step.
    """

    def __init__(self, objective: TreeObjective, start: Start, n_clusters: int) -> None:
        self.objective = objective
        self.n_clusters = n_clusters
        self.inertia = np.inf
        self.relocated = False
        self.single = start.points is not None
        self._begin(start)

    def _begin(self, start: Start) -> None:
        self.labels = start_labels(start, self.objective.n_points, self.n_clusters)

    def step(self) -> bool:
        """Assign all points to the nearest centre; return whether a label changed."""
        old, objective, k = self.labels, self.objective, self.n_clusters
        self.labels, distances = objective.assign_all(old, k, single=self.single)
        self.inertia, self.single = objective.total(distances), False
        self.relocated = fill_empty_clusters(objective, self.labels, distances, k)
        return not np.array_equal(old, self.labels)

    def measure(self) -> None:
        """Compute the inertia of the labels as they are."""
        _, distances = self.objective.assign_all(self.labels, self.n_clusters, self.labels)
        self.inertia = self.objective.total(distances)

    def point_labels(self) -> Labels:
        """Return the label of each point."""
        return self.labels

    def hold(self, labels: Labels) -> None:
        """Take these labels."""
        self.labels = labels


class LazyAssignment(PlainAssignment):
    """An assignment held as the labels of the nodes that lie in one cluster.

    Where these are too many, as on trees that are one long path, a step is a plain one.
    """

    def _begin(self, start: Start) -> None:
        objective, n_clusters = self.objective, self.n_clusters
        self._buffers = FrontierBuffers(objective.n_points, n_clusters, objective.workspace.nodes)
        self._assigned = Assigned.empty(objective.n_points, n_clusters)
        self._node_labels = self._assigned.node_labels
        if start.parts is not None:
            start.parts.label_nodes(n_clusters, self._node_labels)
        elif start.labels is not None:
            self.hold(start.labels)
        else:
            label_single_points(objective.parents, start.points, self._node_labels)

    def step(self) -> bool:
        """Assign all points to the nearest centre; return whether a label changed."""
        objective, single, frontier = self.objective, self.single, self._frontier()
        if frontier is None:
            self.labels = self.point_labels()
            changed = super().step()
            self.hold(self.labels)
            return changed
        self.inertia = objective.assign_frontier(frontier, self._buffers, self._assigned, single)
        self.relocated = self.single = False
        if self._assigned.weights.all():
            return bool(self._assigned.changed[0])
        # A cluster lost its last point: rare, so the step over the whole tree will do.
        old = self._labels_of(frontier)
        new = self.point_labels()
        _, distances = objective.assign_all(old, self.n_clusters, new, single=single)
        self.relocated = fill_empty_clusters(objective, new, distances, self.n_clusters)
        self.hold(new)
        return not np.array_equal(old, new)

    def measure(self) -> None:
        """Compute the inertia of the labels as they are."""
        frontier = self._frontier()
        if frontier is None:
            self.labels = self.point_labels()
            super().measure()
        else:
            self.inertia = self.objective.inertia_of_frontier(frontier, self._buffers)

    def point_labels(self) -> Labels:
        """Return the label of each point."""
        frontier = self._frontier()
        if frontier is not None:
            return self._labels_of(frontier)
        everywhere = self._node_labels.copy()
        propagate_labels(self.objective.tree.children, everywhere)
        return everywhere[: self.objective.n_points]

    def hold(self, labels: Labels) -> None:
        """Take these labels."""
        label_nodes(self.objective.tree.children, labels, self._node_labels)

    def _frontier(self) -> Frontier | None:
        return self._buffers.collect(self.objective.arrays, self._node_labels)

    def _labels_of(self, frontier: Frontier) -> Labels:
        tree, pure = self.objective.tree, np.flatnonzero(frontier.label != MIXED)
        pure = pure[in_leaf_order(tree, frontier.node[pure])]
        return labels_below(tree, frontier.node[pure], frontier.label[pure])


class GuardedAssignment:
    """An assignment that takes back a step after which a cluster weighs too little.

    The iteration then ends, as if nothing had changed.

    Parameters
    ----------
    assignment : PlainAssignment or LazyAssignment
        One that begins with parts which weigh enough.
    least : float
        What each cluster must weigh.
    """

    def __init__(self, assignment: PlainAssignment, least: float) -> None:
        self.assignment = assignment
        self.least = least * (1.0 - TIE)
        self.relocated = False
        self.measure, self.point_labels = assignment.measure, assignment.point_labels

    @property
    def inertia(self) -> float:
        """The inertia after the last step."""
        return self.assignment.inertia

    def step(self) -> bool:
        """Do a step, or take it back; return whether a label changed."""
        kept = self.point_labels()
        changed = self.assignment.step()
        point_weights = self.assignment.objective.point_weights
        if smallest_weight(self.point_labels(), point_weights) >= self.least:
            self.relocated = self.assignment.relocated
            return changed
        self.assignment.hold(kept)
        self.relocated = True  # the inertia is that of the labels that were taken back
        return False


def smallest_weight(labels: Labels, point_weights: Floats | None) -> float:
    """Return the weight of the lightest cluster; none is empty."""
    return float(np.bincount(labels, weights=point_weights).min())


def start_labels(start: Start, n_points: int, n_clusters: int) -> Labels:
    """Return a start as one label per point; n_clusters stands for no cluster."""
    if start.parts is not None:
        return start.parts.labels(n_clusters)
    if start.labels is not None:
        return start.labels
    labels = np.full(n_points, n_clusters, dtype=np.int32)
    labels[start.points] = np.arange(n_clusters)
    return labels


def fill_empty_clusters(
    objective: TreeObjective, labels: Labels, distances: Floats, n_clusters: int
) -> bool:
    """Move the points farthest from their centres into empty clusters.

    Points that coincide move together, as one point of their weight would, and stay where no others
    are in their cluster. Only clusters that are then still empty get one of them each.
    Changes labels in place; returns whether it did.
    """
    empty = list(np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0))
    if not empty:
        return False
    farthest_first = np.argsort(-to_twelve_digits(distances), kind="stable")
    _move_groups(objective.groups, farthest_first, labels, empty)
    if empty:
        _move_groups(np.arange(len(labels)), farthest_first, labels, empty)
    return True


def _move_groups(groups: Ints, farthest_first: Ints, labels: Labels, empty: list[Any]) -> None:
    """Move whole groups of points into empty clusters, while there are any; both in place."""
    sizes = np.bincount(labels, minlength=max(empty) + 1)
    by_group = np.argsort(groups, kind="stable")
    begin = np.searchsorted(groups[by_group], np.arange(groups.max() + 2))
    _, firsts = np.unique(groups[farthest_first], return_index=True)
    for point in farthest_first[np.sort(firsts)]:
        if not empty:
            break
        group, label = groups[point], labels[point]
        members = by_group[begin[group] : begin[group + 1]]
        members = members[labels[members] == label]
        if len(members) < sizes[label]:
            labels[members] = empty.pop(0)
            sizes[label] -= len(members)
            sizes[labels[point]] = len(members)
