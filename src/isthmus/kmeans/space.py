"""UltrametricTree → the space that K-means on it measures in, with its units."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from isthmus._utils.rounding import highest_finite, in_range, product
from isthmus._utils.typing import Floats, Labels
from isthmus.kmeans.embedding_objective import EmbeddingObjective
from isthmus.kmeans.lloyd import LazyAssignment, PlainAssignment, Start, lloyd
from isthmus.kmeans.objective import TreeObjective
from isthmus.kmeans.rows_objective import RowsObjective
from isthmus.kmeans.workspace import Workspace
from isthmus.ultrametric import UltrametricTree

# Up to this number of points the plain algorithm takes no time worth mentioning, and what it
# needs compiles in a fraction of the time.
_PLAIN_UP_TO = 1000


class TreeSpace:
    """The rows of a tree's distance matrix, or its embedded space, with distances to centres.

    What depends only on the tree is computed once, when it is first needed.

    Parameters
    ----------
    tree : UltrametricTree
    space : {"rows", "embedding"}
        See :class:`isthmus.TransitiveKMeans`.
    power : float
        Distances are raised to this power first.
    point_weights : (n,) float64, optional
        How many points each point of the tree stands for, above 0; one, where not given.
    workspace : Workspace, optional
        What each run may use.

    Attributes
    ----------
    tree : UltrametricTree
        Its distances are raised to the power, in the unit ``height_unit``.
    point_weights : (n,) float64 or None
        In the unit ``weight_unit``.
    n_infinite : int
        How many merges of the tree are infinitely high. The inertia is then that of finite
        heights in their place, the limit as they grow: infinite where a cluster holds points at
        an infinite distance.
    """

    def __init__(
        self,
        tree: UltrametricTree,
        *,
        space: str = "rows",
        power: float = 1.0,
        point_weights: Floats | None = None,
        workspace: Workspace | None = None,
    ) -> None:
        self.name = space
        self.power = power
        self.workspace = workspace or Workspace()
        self.n_infinite = int(np.isinf(tree.heights).sum())
        # Powers of heights of at most 1 do not overflow.
        self._power_unit = 1.0 if power == 1.0 else highest_finite(tree.heights) or 1.0
        self.tree = tree if power == 1.0 else tree.with_heights(self.raised)
        self.point_weights, self.weight_unit = in_range(point_weights)

    def raised(self, distances: Floats) -> Floats:
        """Return distances as they are on ``tree``: raised to the power."""
        if self.power == 1.0:
            return distances
        with np.errstate(over="ignore", under="ignore"):
            powers: Floats = (distances / self._power_unit) ** self.power
        return powers

    @property
    def height_unit(self) -> float:
        """Heights of ``tree``, times this, are distances raised to the power."""
        with np.errstate(over="ignore", under="ignore"):
            return float(np.power(self._power_unit, self.power))

    @cached_property
    def objective(self) -> TreeObjective:
        """The tree with what Lloyd's steps need."""
        kind = EmbeddingObjective if self.name == "embedding" else RowsObjective
        tree = self.tree
        if self.n_infinite:
            # Any finite height in place of the infinite one: points of one component agree on it.
            highest = highest_finite(tree.heights)
            tree = tree.with_heights(lambda heights: np.minimum(heights, highest))
        objective = kind(tree, self.point_weights)
        objective.workspace = self.workspace
        return objective

    def assignment(
        self, start: Start, n_clusters: int, algorithm: str = "auto"
    ) -> LazyAssignment | PlainAssignment:
        """Return an assignment that begins with a start."""
        few = self.tree.n_points <= _PLAIN_UP_TO
        is_plain = algorithm == "plain" or (algorithm == "auto" and few)
        kind = PlainAssignment if is_plain else LazyAssignment
        return kind(self.objective, start, n_clusters)

    def inertia_of(self, labels: Labels) -> float:
        """Return the inertia of a clustering, in the units of the data."""
        if self._holds_infinite(labels):
            return np.inf
        start = self.assignment(Start(labels=labels), int(labels.max()) + 1)
        return self.inertia(lloyd(start, 0).inertia)

    def inertia(self, inertia: float) -> float:
        """Return an inertia in the units of the data, from one in those of the kernels."""
        if inertia <= 0.0:
            return 0.0
        units = 2 * [self.objective.unit, self.height_unit]
        units += self.objective.weight_degree * [self.weight_unit]
        return product([inertia, *units])

    def _holds_infinite(self, labels: Labels) -> bool:
        """Whether points at an infinite distance are in one cluster, each a part of the tree."""
        ends = labels[self.tree.spanning_tree.edges[self.tree.n_points - 1 - self.n_infinite :]]
        return bool((ends[:, 0] == ends[:, 1]).any())

    def lengths(self, squares: Floats) -> Floats:
        """Return distances to centres in the units of the data, from squares in the kernels'."""
        units = [self.objective.unit, self.height_unit]
        # Of the two weights by which an inertia grows, one is that of the point itself.
        units += (self.objective.weight_degree - 1) * [float(np.sqrt(self.weight_unit))]
        mantissas, exponents = np.frexp(units)
        with np.errstate(over="ignore", under="ignore"):
            lengths: Floats = np.ldexp(np.sqrt(squares) * mantissas.prod(), exponents.sum())
        return lengths
