"""UltrametricTree and a number of clusters → labels, by CUT."""

from __future__ import annotations

from dataclasses import replace

from isthmus._utils.rounding import in_range
from isthmus._utils.typing import Floats, Labels
from isthmus.cut.constraints import Constraints
from isthmus.cut.divisive import TooFewCutsError, TooSmallPartError, cut_spanning_tree
from isthmus.cut.numbering import numbers_by_weight
from isthmus.cut.parts import CutTree
from isthmus.cut.settings import CutSettings
from isthmus.ultrametric import UltrametricTree


class CutClusterer:
    """A tree, to be cut into any number of clusters.

    Parameters
    ----------
    tree : UltrametricTree
        Infinite distances are cut first.
    point_weights : (n,) float64, optional
        How many points each point of the tree stands for, above 0; one, where not given.
    weight_unit : float
        What the weights are multiples of.
    constraints : Constraints, optional
        Edges that are cut first, and edges that are never cut.
    """

    def __init__(
        self,
        tree: UltrametricTree,
        point_weights: Floats | None = None,
        weight_unit: float = 1.0,
        constraints: Constraints | None = None,
    ) -> None:
        self.tree = tree
        self.constraints = constraints
        self.point_weights, unit = in_range(point_weights)
        self.weight_unit = unit * weight_unit
        self._parts: dict[float, tuple[int, CutTree]] = {}

    def labels(self, settings: CutSettings) -> Labels:
        """Return the cluster of each point; clusters are numbered by their weights."""
        labels = self.parts(settings).labels(settings.n_clusters)
        return numbers_by_weight(labels, self.point_weights, self.tree)

    def most_parts(self, settings: CutSettings) -> CutTree:
        """Return the parts for as many clusters, or for fewer where no more are large enough."""
        try:
            return self._cut(settings.n_clusters, self._least(settings))
        except TooFewCutsError as error:
            return self.parts(replace(settings, n_clusters=error.n_parts))

    def _cut(self, n_parts: int, least: float) -> CutTree:
        return cut_spanning_tree(
            self.tree, n_parts, self.point_weights, least, constraints=self.constraints
        )

    def _least(self, settings: CutSettings) -> float:
        """Return the least weight of a part, in the unit of the weights."""
        least = settings.min_cluster_size
        return 0.0 if least is None else least / self.weight_unit

    def parts(self, settings: CutSettings) -> CutTree:
        """Return the parts that CUT makes: at least as many as there are to be clusters.

        Cuts for k clusters begin with those for any smaller number, so the most that were ever
        made are kept.
        """
        n_clusters, least = settings.n_clusters, settings.min_cluster_size
        least_in_unit = self._least(settings)
        n_made, parts = self._parts.get(least_in_unit, (0, None))
        if parts is not None and n_made >= n_clusters:
            return parts
        try:
            parts = self._cut(n_clusters, least_in_unit)
        except TooFewCutsError as error:
            raise ValueError(
                f"n_clusters={n_clusters}, but with min_cluster_size={least:g} the spanning tree "
                f"can be cut into {error.n_parts} only. Ask for at most {error.n_parts} "
                f"{'cluster' if error.n_parts == 1 else 'clusters'}, or for smaller ones."
            ) from None
        except TooSmallPartError as error:
            raise ValueError(
                "The cuts that cannot_link and partial_labels need leave a cluster of "
                f"{error.weight * self.weight_unit:g}, below min_cluster_size={least:g}."
            ) from None
        self._parts[least_in_unit] = n_clusters, parts
        return parts
