"""What K-means on a tree minimises, behind one interface; its implementations are beside this."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from isthmus._utils.parallel import chunks
from isthmus._utils.rounding import is_nearer, unit_of
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.kmeans.aggregates import TreeArrays
from isthmus.kmeans.frontier import Assigned, Frontier, FrontierBuffers
from isthmus.kmeans.workspace import Workspace
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.matvec import columns_at_once, sums_below

# Heights are scaled, which takes memory, where the unit or its inverse is above this.
_NEAR_ONE = 2.0**16
# Deep enough for a stack on which the larger of two nodes always lies below the smaller, where
# every point has the weight 1.
_STACK = 72


class TreeObjective(ABC):
    """A tree prepared for K-means in one of its spaces.

    Attributes
    ----------
    tree : UltrametricTree
    point_weights : (n,) float64 or None
        How many points each one stands for; None where each stands for itself.
    heights : (n - 1,) float64
        The heights that the kernels see: scaled by a power of two where that is needed so that no
        square or product of them overflows.
    unit : float
        Lengths of the kernels, times this, are those of the tree.
    """

    workspace = Workspace()
    """What a run may use; a memory limit sets it."""

    weight_degree: int
    """How the inertia grows when all weights are scaled: by scale ** weight_degree."""

    def __init__(self, tree: UltrametricTree, point_weights: Floats | None = None) -> None:
        self.tree = tree
        self.point_weights = point_weights
        self.n_points = tree.n_points
        self.unit = unit_of(tree.heights)
        self.heights: Floats = tree.heights
        if max(self.unit, 1.0 / self.unit) <= _NEAR_ONE:
            self.unit = 1.0
        else:
            self.heights = tree.heights / self.unit
            self.heights.flags.writeable = False  # as those of the tree: kernels see one type

    @cached_property
    def parents(self) -> Ints:
        """The parent of each node; -1 for the root."""
        parents = np.full(2 * self.n_points - 1, -1, dtype=np.int64)
        parents[self.tree.children] = np.arange(self.n_points, 2 * self.n_points - 1)[:, None]
        return parents

    @cached_property
    def groups(self) -> Ints:
        """A number for each point, from 0 on, the same for points at transitive distance 0."""
        numbers = np.concatenate([[0], np.cumsum(self.tree.gaps > 0.0)])
        groups: Ints = numbers[self.tree.starts[: self.n_points]]
        return groups

    @cached_property
    def node_weights(self) -> Array:
        """The weight below each node: shape (2n - 1,), integers where no weights are given."""
        if self.point_weights is None:
            return self.tree.sizes
        return sums_below(self.tree.children, self.point_weights[:, None])[:, 0]

    @cached_property
    def stack_depth(self) -> int:
        """How deep a stack becomes on which the heavier of two nodes lies below the lighter."""
        if self.point_weights is None:
            return _STACK
        return _STACK + int(np.ceil(np.log2(self.point_weights.max() / self.point_weights.min())))

    def leaf_aggregates(self, n_columns: int) -> Floats:
        """Return aggregates with those of the leaves filled in: their weight, and zeros.

        Where no weights are given, one row stands for all of them; see row_of.
        """
        n_leaf_rows = 1 if self.point_weights is None else self.n_points
        aggregates = np.empty((n_leaf_rows + self.n_points - 1, n_columns))
        aggregates[:n_leaf_rows] = 0.0
        aggregates[:n_leaf_rows, 0] = 1.0 if self.point_weights is None else self.point_weights
        return aggregates

    def total(self, values: Floats) -> float:
        """Return the sum of one value per point, each as often as its weight says."""
        weights = self.point_weights
        return float(values.sum() if weights is None else (values * weights).sum())

    @property
    @abstractmethod
    def arrays(self) -> TreeArrays:
        """The tree as the kernels of the objective take it."""

    @property
    def aggregates(self) -> Floats:
        """What the objective knows of each node; see TreeArrays."""
        return self.arrays.aggregates

    @abstractmethod
    def assign_frontier(
        self, frontier: Frontier, buffers: FrontierBuffers, assigned: Assigned, single: bool
    ) -> float:
        """Move points to the nearest centre, expanding only nodes that are undecided.

        Parameters
        ----------
        frontier : Frontier
            The assignment whose centres are meant.
        buffers : FrontierBuffers
            Those that the frontier was collected in, whose scratch is used.
        assigned : Assigned
            Where the result goes.
        single : bool
            Whether each cluster of the assignment is a single point, whatever its weight.

        Returns
        -------
        float
            The inertia of the new labels about the old centres.
        """

    @abstractmethod
    def inertia_of_frontier(self, frontier: Frontier, buffers: FrontierBuffers) -> float:
        """Return the inertia of an assignment about its centres."""

    def assign_all(
        self,
        members: Labels,
        n_clusters: int,
        labels: Labels | None = None,
        *,
        single: bool = False,
    ) -> tuple[Labels, Floats]:
        """Move points to the nearest centre by products with the whole tree: O(n k) time.

        Parameters
        ----------
        members : (n,) int32
            The assignment whose centres are meant; ``n_clusters`` stands for no cluster.
        n_clusters : int
        labels : (n,) int32, optional
            If given, no point chooses: each one's distance is to the centre of this label.
        single : bool
            Whether each cluster of the assignment is a single point, whatever its weight.

        Returns
        -------
        labels : (n,) int32
        distances : (n,) float64
            The squared distance of each point to its centre, in the kernels' scale.
        """
        nearest = np.zeros(self.n_points, dtype=np.int32)
        distances = np.full(self.n_points, np.inf)
        for start, membership, weights in self.memberships(members, n_clusters, single=single):
            with np.errstate(invalid="ignore", divide="ignore"):
                block = self.distances_to_centres(membership, weights)
            for a in np.flatnonzero(weights):
                to_a = block[:, a]
                moves = is_nearer(to_a, distances) if labels is None else labels == start + a
                nearest[moves] = start + a
                distances[moves] = to_a[moves]
        return nearest, np.maximum(distances, 0.0)

    def memberships(
        self, members: Labels, n_clusters: int, *, single: bool = False
    ) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield a few clusters at a time: the first one, the membership of points, its sums.

        As :meth:`distances_to_centres` takes them.
        """
        at_once = min(columns_at_once(self.n_points), self.workspace.columns or n_clusters)
        for start, stop in chunks(n_clusters, at_once):
            membership = (members[:, None] == np.arange(start, stop)).astype(np.float64)
            if self.point_weights is not None and not single:
                membership *= self.point_weights[:, None]
            yield start, membership, membership.sum(axis=0)

    @abstractmethod
    def distances_to_centres(self, membership: Floats, weights: Floats) -> Floats:
        """Return the squared distances of all points to the centres of a few clusters.

        Parameters
        ----------
        membership : (n, m) float64
            Column a is the weight of a point where it belongs to cluster a, and 0 elsewhere.
        weights : (m,) float64
            The column sums, which are the weights of the clusters. Columns of an empty cluster may
            come back with any values.
        """

    @abstractmethod
    def distances_of_new_points(
        self, membership: Floats, weights: Floats
    ) -> Callable[[Floats], Floats]:
        """Return a function from new points to their squared distances to a few centres.

        Parameters
        ----------
        membership, weights
            As above.

        Returns
        -------
        callable
            It takes the distances of some new points to all points, (b, n) in the kernels' scale,
            and returns an array of shape (b, m).
        """

    @abstractmethod
    def squared_distances_to(self, point: int) -> Floats:
        """Return the squared distance of every point to one."""
