"""A finished clustering → the figures of each cluster, as one pastes them into a report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isthmus._utils.rounding import TIE
from isthmus._utils.tables import import_pandas
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.summary.figures_table import as_html, as_text
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.separation import gaps_of_clusters, margins_of, sums_within_clusters


@dataclass(frozen=True, eq=False, repr=False)
class ClusterSummary:
    """The figures of k clusters; ``print`` shows a table, and so does a notebook.

    Attributes
    ----------
    sizes : ndarray of shape (k,)
        The number of rows of each cluster, those of weight 0 included.
    weights : ndarray of shape (k,) or None
        The sum of their weights; None where no ``sample_weight`` was given.
    shares : ndarray of shape (k,)
        The share of all rows; of all weight, where there is a weight.
    widest_gaps : ndarray of shape (k,)
        The largest transitive distance of two rows of the cluster; 0 for a single row.
    distances : ndarray of shape (k,)
        The smallest distance to a row of another cluster; infinite where there is none.
    nearest : ndarray of shape (k,)
        The cluster of that row, one of them where several are as near; -1 where there is none.
    margins : ndarray of shape (k,)
        ``distances - widest_gaps``; the cluster is consistent, in the sense of
        :func:`isthmus.theory.consistency`, where that is above 0.
    medoids : ndarray of shape (k,)
        The row of the smallest sum of transitive distances to the rows of its cluster, weights
        counted; of several, equal to 12 digits, the first.
    outlier_scores : ndarray of shape (k,)
        The mean outlier score of the rows of each cluster; see :func:`isthmus.outlier_scores`.
    feature_means : ndarray of shape (k, n_features) or None
        The means of the features; None where X had none (distances, objects), or where k times
        the number of features is above four million.
    feature_names : tuple of str
        The names of the columns; x0, x1, … where X had no names.
    n_noise : int or None
        The number of rows that are noise, which count in ``shares`` alone: as part of all rows.
        None where ``noise`` was None.

    See Also
    --------
    isthmus.TransitiveCut : Its fits have ``summary_``.

    Notes
    -----
    Rows of weight 0, which are not on the tree, count in ``sizes`` alone. Distances are those of
    ``tree_``, before ``power``.

    Examples
    --------
    >>> from isthmus import TransitiveCut
    >>> summary = TransitiveCut(2).fit([[0.0], [1.0], [5.0], [6.5], [7.0]]).summary_
    >>> summary.sizes.tolist(), summary.medoids.tolist(), summary.distances.tolist()
    ([3, 2], [3, 0], [4.0, 4.0])
    """

    sizes: Ints
    weights: Floats | None
    shares: Floats
    widest_gaps: Floats
    distances: Floats
    nearest: Ints
    margins: Floats
    medoids: Ints
    outlier_scores: Floats
    feature_means: Floats | None
    feature_names: tuple[str, ...]
    n_noise: int | None = None

    @property
    def consistent(self) -> Array:
        """Whether each cluster is narrower than its distance to the others: shape (k,)."""
        return self.margins > 0.0

    def columns(self) -> dict[str, Array]:
        """Return the figures by their names in tables, without the means of features."""
        weight = {} if self.weights is None else {"weight": self.weights}
        return {
            "size": self.sizes,
            **weight,
            "share": self.shares,
            "widest gap": self.widest_gaps,
            "distance": self.distances,
            "nearest": self.nearest,
            "margin": self.margins,
            "consistent": self.consistent,
            "medoid": self.medoids,
            "outlier score": self.outlier_scores,
        }

    def to_frame(self) -> Any:
        """Return a pandas data frame: a row for each cluster, the means of features last."""
        pd = import_pandas("to_frame()")
        columns: dict[str, Any] = dict(self.columns())
        # A single cluster has no nearest one.
        columns["nearest"] = pd.array(np.where(self.nearest < 0, 0, self.nearest), dtype="Int64")
        columns["nearest"][self.nearest < 0] = pd.NA
        frame = pd.DataFrame(columns, index=pd.RangeIndex(len(self), name="cluster"))
        if self.feature_means is None:
            return frame
        names = [f"mean {name}" for name in self.feature_names]
        return frame.join(pd.DataFrame(self.feature_means, columns=names, index=frame.index))

    def with_noise(self, n_noise: int, share: float) -> ClusterSummary:
        """Return the summary beside noise: the number of its rows, and their share of all."""
        return replace(self, n_noise=n_noise, shares=self.shares * (1.0 - share))

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        noise = "" if self.n_noise is None else f"n_noise={self.n_noise}, "
        return (
            f"ClusterSummary(n_clusters={len(self)}, n_rows={self.sizes.sum()}, {noise}"
            f"consistent={int(self.consistent.sum())})"
        )

    def __str__(self) -> str:
        return as_text(self.columns(), self.feature_means, self.feature_names, self.n_noise)

    def _repr_html_(self) -> str:
        return as_html(self.columns(), self.feature_means, self.feature_names, self.n_noise)


def summarise(
    tree: UltrametricTree,
    codes: Ints,
    sizes: Ints,
    point_weights: Floats | None,
    rows: Ints,
    scores: Floats,
    feature_means: Floats | None,
    feature_names: tuple[str, ...],
) -> ClusterSummary:
    """Return the summary of a clustering.

    Parameters
    ----------
    tree : UltrametricTree
    codes : (n,) int64
        The cluster of each point of the tree, from 0; none is empty.
    sizes : (k,) int64
        The number of rows of each cluster, on the tree or not.
    point_weights, scores : (n,) float64
        The weights and outlier scores of the points; weights None for ones.
    rows : (n,) int64
        The row of each point.
    feature_means, feature_names
        As in the summary.
    """
    gaps = gaps_of_clusters(tree, codes, len(sizes))
    others = gaps.outside_pairs[:, 1]
    by_cluster = np.bincount(codes, weights=point_weights).astype(np.float64)
    means = (
        np.bincount(codes, weights=scores if point_weights is None else scores * point_weights)
        / by_cluster
    )
    shares = sizes if point_weights is None else by_cluster
    return ClusterSummary(
        sizes=sizes,
        weights=None if point_weights is None else by_cluster,
        shares=shares / shares.sum(),
        widest_gaps=gaps.inside,
        distances=gaps.outside,
        nearest=np.where(others < 0, -1, codes[others]),
        margins=margins_of(gaps.inside, gaps.outside),
        medoids=rows[medoids_of(tree, codes, point_weights)],
        outlier_scores=means,
        feature_means=feature_means,
        feature_names=feature_names,
    )


def medoids_of(tree: UltrametricTree, codes: Ints, point_weights: Floats | None) -> Ints:
    """Return the point of each cluster with the smallest sum of distances, the first of several."""
    sums = sums_within_clusters(tree, codes, point_weights)
    n_clusters = int(codes.max()) + 1
    smallest = np.full(n_clusters, np.inf)
    np.minimum.at(smallest, codes, sums)
    candidates = np.flatnonzero(sums <= smallest[codes] * (1.0 + TIE))
    medoids = np.full(n_clusters, tree.n_points)
    np.minimum.at(medoids, codes[candidates], candidates)
    return medoids
