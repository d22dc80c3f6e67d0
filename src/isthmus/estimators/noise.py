"""The rows of a fit and a rule → which of them are noise, and the tree of those that are not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from isthmus._utils.typing import Array, Floats, Labels
from isthmus.cut.settings import CutSettings
from isthmus.estimators.fitted_rows import FittedRows
from isthmus.kmeans import KMeansSettings
from isthmus.noise.threshold import NoiseRule, is_above, noise_threshold
from isthmus.noise.without_noise import TreeWithoutNoise, without_noise
from isthmus.outliers import ReferenceGroups
from isthmus.prediction.attachments import Attachments
from isthmus.prediction.outlier_scores import OutlierScorer
from isthmus.ultrametric import UltrametricTree

AnyArray = TypeVar("AnyArray", bound=Array)

NOISE = -1


@dataclass(frozen=True, eq=False)
class Noise:
    """Which rows of a fit are noise.

    Attributes
    ----------
    threshold : float
        Rows of a higher outlier score are.
    is_noise : (n_rows,) bool
    """

    threshold: float
    is_noise: Array

    def marked(self, labels: Labels) -> Labels:
        """Return labels of all rows with -1 for noise."""
        return np.where(self.is_noise, np.int32(NOISE), labels)


@dataclass(frozen=True, eq=False)
class ClusteredTree:
    """What is clustered: the points of a tree that are not noise.

    Attributes
    ----------
    tree : UltrametricTree
    point_weights : (m,) float64 or None
        How many points each one stands for.
    rest : TreeWithoutNoise or None
        None where nothing is noise: ``tree`` is the whole one.
    """

    tree: UltrametricTree
    point_weights: Floats | None = None
    rest: TreeWithoutNoise | None = None

    def everywhere(self, labels: Labels) -> Labels:
        """Return labels of all points, (n,), given those of the clustered ones."""
        return labels if self.rest is None else labels[self.rest.owner]

    def only(self, values: AnyArray) -> AnyArray:
        """Return the values of the clustered points, given those of all points, (n, …)."""
        return values if self.rest is None else values[self.rest.kept]  # type: ignore[return-value]

    def moved(self, attachments: Attachments) -> Attachments:
        """Return attachments to this tree, given those to the whole one."""
        return attachments if self.rest is None else self.rest.moved(attachments)

    def numbered(self, settings: CutSettings | KMeansSettings) -> CutSettings | KMeansSettings:
        """Return settings whose given rows, if any, are numbered as the clustered points."""
        if self.rest is None or not isinstance(settings, KMeansSettings):
            return settings
        rows = settings.given_rows
        return settings if rows is None else replace(settings, init=self.rest.owner[rows])


def scores_of_rows(tree: UltrametricTree, rows: FittedRows, known: ReferenceGroups) -> Floats:
    """Return the outlier score of each row; rows of weight 0 as new points: (n_rows,)."""
    if rows.attachments is None:
        return known.scores
    return rows.everywhere(known.scores, OutlierScorer(tree, known).scores(rows.attachments))


def find_noise(rows: FittedRows, scores: Floats, rule: NoiseRule) -> Noise:
    """Return which rows are noise, of the outlier scores of all rows.

    The threshold is that of the rows on the tree.
    """
    on_tree = scores if rows.is_fitted is None else scores[rows.is_fitted]
    threshold = noise_threshold(on_tree, rows.point_weights, rule)
    return Noise(threshold, is_above(scores, threshold))


def clustered_tree(tree: UltrametricTree, rows: FittedRows, noise: Noise | None) -> ClusteredTree:
    """Return what is clustered of a tree."""
    is_noise = None if noise is None else rows.on_tree(noise.is_noise)
    if is_noise is None or not is_noise.any():
        return ClusteredTree(tree, rows.point_weights)
    rest, weights = without_noise(tree, is_noise), rows.point_weights
    return ClusteredTree(rest.tree, None if weights is None else weights[rest.kept], rest)


def refuse_too_much_noise(
    settings: CutSettings | KMeansSettings, rows: FittedRows, noise: Noise
) -> None:
    """Raise ValueError where what is not noise does not suffice for the clusters asked for."""
    is_noise = rows.on_tree(noise.is_noise)
    n_kept = int(np.count_nonzero(~is_noise))
    if settings.n_clusters > n_kept:
        raise ValueError(
            f"n_clusters={settings.n_clusters}, but only {n_kept} of {len(is_noise)} rows are not "
            f"noise (outlier scores up to {noise.threshold:.3g}). Ask for fewer clusters or for "
            "less noise."
        )
    given = settings.given_rows if isinstance(settings, KMeansSettings) else None
    if given is not None and is_noise[given].any():
        position = int(is_noise[given].argmax())
        raise ValueError(
            f"init begins cluster {position} with a row that is noise (its outlier score is above "
            f"{noise.threshold:.3g}). Give another row, or ask for less noise."
        )
