"""What the page needs of a fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus._utils.typing import Floats, Ints
from isthmus.cut.parts import CutTree
from isthmus.model_selection.cluster_path import ClusterPath
from isthmus.model_selection.suggestion import Suggestion
from isthmus.ultrametric import UltrametricTree


@dataclass(frozen=True, eq=False)
class AttachedRows:
    """The rows of a table on a tree, or attached to it.

    Attributes
    ----------
    tree : UltrametricTree
    rows : (n,) int64
        The row of each point.
    attached_to : (n_rows,) int64
        The point of the tree that each row is, or is nearest to.
    attached_at : (n_rows,) float64
        The distance to it; 0 for rows on the tree.
    """

    tree: UltrametricTree
    rows: Ints
    attached_to: Ints
    attached_at: Floats

    @property
    def n_rows(self) -> int:
        """The number of rows, on the tree or not."""
        return len(self.attached_to)


@dataclass(frozen=True, eq=False)
class Clustering(AttachedRows):
    """A fit: its tree, and its clusters for each number of them.

    Rows of weight 0 and noise are not on the tree, but attached to it.

    Attributes
    ----------
    method : str
        What was fitted, in a few words.
    point_weights : (n,) float64 or None
        The weights of the points of the tree.
    cut_tree : CutTree
        The tree, cut into at least as many parts as the dendrogram shows.
    path : ClusterPath
        The clusters for each number of them.
    n_clusters : int
        The number that was fitted.
    suggestion : Suggestion
    outlier_scores : (n_rows,) float64
    paths : AttachedRows
        The rows on the tree of all of them, noise included.
    noise_weight : float
        The weight of the rows that are noise.
    """

    method: str
    point_weights: Floats | None
    cut_tree: CutTree
    path: ClusterPath
    n_clusters: int
    suggestion: Suggestion
    outlier_scores: Floats
    paths: AttachedRows
    noise_weight: float = 0.0

    def row_weights(self) -> Floats:
        """Return the weight of each row, 0 for noise: (n_rows,)."""
        weights = np.zeros(self.n_rows)
        weights[self.rows] = 1.0 if self.point_weights is None else self.point_weights
        return weights
