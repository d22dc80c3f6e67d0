"""What K-means on a tree minimises, behind one interface; its implementations are beside this."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from isthmus._parallel import chunks
from isthmus._typing import Floats, Ints, Labels
from isthmus.kmeans.frontier import View
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.products import columns_at_once

# Squared distances that agree up to this relative difference are equal: the tie goes to the
# cluster with the smaller number, whatever the order in which rounding errors were made.
TIE = 1e-12


def highest_finite(heights: Floats) -> float:
    """Return the largest of sorted heights that is finite, or 0 where there is none."""
    n_finite = int(np.searchsorted(heights, np.inf))
    return float(heights[n_finite - 1]) if n_finite else 0.0


def unit_of(heights: Floats) -> float:
    """Return the power of two just below the largest finite height, or 1 where all are zero."""
    highest = highest_finite(heights)
    return float(np.ldexp(1.0, np.frexp(highest)[1] - 1)) if highest > 0.0 else 1.0


class TreeObjective(ABC):
    """A tree prepared for K-means in one of its spaces.

    Attributes
    ----------
    tree : UltrametricTree
    heights : (n - 1,) float64
        The heights that the kernels see: scaled by a power of two, so that no square or product
        of them overflows.
    unit : float
        Lengths of the kernels, times this, are those of the tree.
    """

    def __init__(self, tree: UltrametricTree) -> None:
        self.tree = tree
        self.n_points = tree.n_points
        self.unit = unit_of(tree.heights)
        self.heights: Floats = tree.heights / self.unit

    @cached_property
    def parents(self) -> Ints:
        """The parent of each node; -1 for the root."""
        parents = np.full(2 * self.n_points - 1, -1, dtype=np.int64)
        parents[self.tree.children] = np.arange(self.n_points, 2 * self.n_points - 1)[:, None]
        return parents

    @abstractmethod
    def assign_view(
        self, view: View, node_labels: Labels, masses: Floats, *, move: bool
    ) -> tuple[bool, float]:
        """Move points to the nearest centre, opening only what is undecided.

        Parameters
        ----------
        view : View
            The assignment whose centres are meant.
        node_labels : (2n - 1,) int32, out
        masses : (n_clusters,) float64, out
            The sizes of the clusters after the step.
        move : bool
            If False, only the inertia is computed.

        Returns
        -------
        changed : bool
        inertia : float
            Of the new labels about the old centres.
        """

    def assign_all(
        self, members: Labels, n_clusters: int, labels: Labels | None = None
    ) -> tuple[Labels, Floats]:
        """Move points to the nearest centre by products with the whole tree: O(n k) time.

        Parameters
        ----------
        members : (n,) int32
            The assignment whose centres are meant; ``n_clusters`` stands for no cluster.
        n_clusters : int
        labels : (n,) int32, optional
            If given, no point chooses: each one's distance is to the centre of this label.

        Returns
        -------
        labels : (n,) int32
        distances : (n,) float64
            The squared distance of each point to its centre, in the kernels' scale.
        """
        nearest = np.zeros(self.n_points, dtype=np.int32)
        distances = np.full(self.n_points, np.inf)
        for start, stop in chunks(n_clusters, columns_at_once(self.n_points)):
            membership = (members[:, None] == np.arange(start, stop)).astype(np.float64)
            masses = membership.sum(axis=0)
            with np.errstate(invalid="ignore", divide="ignore"):
                block = self.distances_to_centres(membership, masses)
            for a in np.flatnonzero(masses):
                if labels is None:
                    # (1 - TIE) inf is inf: the first cluster takes all points
                    moves = block[:, a] < (1.0 - TIE) * distances - TIE * np.abs(block[:, a])
                else:
                    moves = labels == start + a
                nearest[moves] = start + a
                distances[moves] = block[moves, a]
        return nearest, np.maximum(distances, 0.0)

    @abstractmethod
    def distances_to_centres(self, membership: Floats, masses: Floats) -> Floats:
        """Return the squared distances of all points to the centres of a few clusters.

        Parameters
        ----------
        membership : (n, m) float64
            Column a is 1 where a point belongs to cluster a.
        masses : (m,) float64
            The column sums. Columns of an empty cluster may come back with any values.
        """

    @abstractmethod
    def squared_distances_to(self, point: int) -> Floats:
        """Return the squared distance of every point to one, in leaf order."""
