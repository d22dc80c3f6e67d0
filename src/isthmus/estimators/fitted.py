"""The record of what a fit found, and what can be derived from it."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from isthmus._utils.progress import Progress
from isthmus._utils.typing import Array, Floats, Ints, Labels
from isthmus.cut.api import CutClusterer
from isthmus.cut.constraints import Constraints
from isthmus.cut.settings import CutSettings
from isthmus.estimators.fitted_rows import FittedRows
from isthmus.estimators.noise import ClusteredTree, Noise, clustered_tree, scores_of_rows
from isthmus.estimators.predictor import NewNoise, Predictor
from isthmus.kmeans import KMeansClusterer, KMeansSettings, Solution, TreeSpace
from isthmus.kmeans.workspace import Workspace
from isthmus.metrics.gower import table_metric
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.preparation import Preparation
from isthmus.metrics.registry import AnyMetric, resolve_metric
from isthmus.metrics.sphere import mean_positions, unit_of
from isthmus.metrics.table_columns import TableColumns
from isthmus.model_selection.cluster_path import Found
from isthmus.model_selection.suggestion import Suggestion
from isthmus.neighbors.means import neighborhood_means
from isthmus.neighbors.neighborhood_parameters import Neighborhood
from isthmus.outliers import ReferenceGroups, find_reference_groups
from isthmus.prediction.attach import TreeNeighborhood, neighborhood_search
from isthmus.prediction.attach_by_rows import AttachmentSearch, GivenDistances
from isthmus.prediction.attach_with_neighbors import SharedSearch
from isthmus.prediction.cluster_centres import ClusterCentres
from isthmus.prediction.outlier_scores import OutlierScorer
from isthmus.spanning_tree import SpanningTree
from isthmus.spanning_tree.result import KdTreeIndex
from isthmus.summary.clusters import ClusterSummary, summarise
from isthmus.summary.feature_means import feature_means, has_features
from isthmus.ultrametric import UltrametricTree

Settings = CutSettings | KMeansSettings
Clusterer = CutClusterer | KMeansClusterer


def make_clusterer(
    tree: UltrametricTree,
    settings: Settings,
    point_weights: Floats | None,
    workspace: Workspace | None = None,
    constraints: Constraints | None = None,
) -> Clusterer:
    """Return what clusters a tree by checked settings."""
    if isinstance(settings, CutSettings):
        return CutClusterer(tree, point_weights, constraints=constraints)
    space = TreeSpace(
        tree,
        space=settings.space,
        power=settings.power,
        point_weights=point_weights,
        workspace=workspace,
    )
    return KMeansClusterer(space, constraints)


def run_clusterer(
    clusterer: Clusterer, settings: Settings, progress: Progress | None = None
) -> Solution:
    """Return the clusters of the points of the tree; those of CUT have no inertia yet."""
    if isinstance(clusterer, KMeansClusterer) and isinstance(settings, KMeansSettings):
        return clusterer.run(settings, progress)
    assert isinstance(clusterer, CutClusterer)
    assert isinstance(settings, CutSettings)
    labels = clusterer.labels(settings)
    if progress is not None:
        progress(1, 1)
    return Solution(labels, np.nan, 0)


def labels_of_all_rows(
    clusterer: Clusterer, clustered: ClusteredTree, rows: FittedRows, labels: Labels
) -> Labels:
    """Return the labels of all rows, given those of the points that were clustered.

    Noise is labelled as the point that absorbed it, as if it were none. Rows of weight 0 are
    labelled as new rows are: for CUT as the nearest row, else by the nearest centre.
    """
    on_tree = clustered.everywhere(labels)
    if rows.attachments is None:
        return on_tree
    if isinstance(clusterer, CutClusterer):
        others = on_tree[rows.attachments.nearest]
    else:
        centres = ClusterCentres(clusterer.space, clustered.tree, labels)
        others = centres.label(clustered.moved(rows.attachments))
    return rows.everywhere(on_tree, others)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What a fit found. Everything else about it is derived from these fields when asked for.

    Files and pickles hold the fields alone.

    Attributes
    ----------
    points : array, CSR matrix, list of objects, or None where distances were given
        The rows on the tree.
    metric, metric_params : str or callable, mapping or None
        As they were given.
    rows : FittedRows
    spanning_tree : SpanningTree
    tree : UltrametricTree
    settings : CutSettings or KMeansSettings
    labels : (n_rows,) int32
        Of all rows; of noise, what they would be if it were none.
    kmeans_inertia, n_iter : float and int, or None for CUT, which does not iterate
    suggestion : Suggestion or None
        Why as many clusters, where that was not given.
    n_features : int or None
        None for objects, which have no features.
    feature_names : array of str, or None
    neighborhood : Neighborhood or None
        What distances are of; None where they are plain.
    neighbors : (n_fitted, n_neighbors) int32 or None
        The neighbourhoods of the rows on the tree.
    preparation : Preparation or None
        How the command made the points of a table.
    columns : TableColumns or None
        What the numbers in ``points`` stand for, where they are rows of a table.
    constraints : Constraints or None
        What was known of rows, as merges of the tree.
    noise : Noise or None
        Which rows are noise; None where that was not asked for.
    """

    points: Any
    metric: Any
    metric_params: Any
    rows: FittedRows
    spanning_tree: SpanningTree
    tree: UltrametricTree
    settings: Settings
    labels: Labels
    kmeans_inertia: float | None = None
    n_iter: int | None = None
    suggestion: Suggestion | None = None
    n_features: int | None = None
    feature_names: Array | None = None
    neighborhood: Neighborhood | None = None
    neighbors: Labels | None = None
    preparation: Preparation | None = None
    columns: TableColumns | None = None
    constraints: Constraints | None = None
    noise: Noise | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def public_labels(self) -> Labels:
        """The labels for users, who may change them; -1 for noise."""
        return self.with_noise(self.labels).copy()

    def with_noise(self, labels: Labels) -> Labels:
        """Return labels of all rows with -1 for noise."""
        return labels if self.noise is None else self.noise.marked(labels)

    @cached_property
    def resolved_metric(self) -> AnyMetric:
        """The metric as one object."""
        if self.columns is not None:
            return table_metric(self.columns, self.metric_params, self.points)
        return resolve_metric(self.metric, self.metric_params)

    def for_rows(self, new: Array) -> FittedModel:
        """Return the model with a metric that takes new rows of a table, perhaps with gaps."""
        if self.columns is None or not isinstance(self.resolved_metric, MappedMetric):
            return self
        metric = table_metric(self.columns, self.metric_params, self.points, new)
        if isinstance(metric, MappedMetric):
            return self
        if self.neighborhood is not None and self.neighborhood.kind == "mean":
            raise ValueError(
                "neighborhood='mean' averages rows, so new ones must not have missing values or "
                "categories that the fit did not see."
            )
        model = replace(self)
        vars(model).update(resolved_metric=metric)
        return model

    @cached_property
    def index(self) -> KdTreeIndex | None:
        """The kd-tree that the fit built, if it did; files and pickles do not hold it."""
        return None

    @cached_property
    def first_index(self) -> KdTreeIndex | None:
        """Where rows were added to a fit: a kd-tree of the first rows, for when more come."""
        return None

    @cached_property
    def means(self) -> Any:
        """The means that took the place of the rows on the tree; None where none did."""
        if self.neighborhood is None or self.neighborhood.kind != "mean":
            return None
        assert isinstance(self.resolved_metric, MappedMetric)  # it was checked
        assert self.neighbors is not None
        return neighborhood_means(self.points, self.neighbors, self.resolved_metric)

    @cached_property
    def clustered(self) -> ClusteredTree:
        """What was clustered: the points of the tree that are not noise."""
        return clustered_tree(self.tree, self.rows, self.noise)

    @cached_property
    def clusterer(self) -> Clusterer:
        """What found the clusters."""
        tree, weights = self.clustered.tree, self.clustered.point_weights
        return make_clusterer(tree, self.settings, weights, constraints=self.constraints)

    @cached_property
    def space(self) -> TreeSpace:
        """Where distances to centres are measured: for CUT, the space of rows."""
        if isinstance(self.clusterer, KMeansClusterer):
            return self.clusterer.space
        return TreeSpace(self.clustered.tree, point_weights=self.clustered.point_weights)

    @cached_property
    def predictor(self) -> Predictor:
        """The fit, indexed for new rows."""
        search: AttachmentSearch
        is_fitted, metric = self.rows.is_fitted, self.resolved_metric
        if self.points is not None:
            neighborhood = TreeNeighborhood(self.neighbors, self.means)
            search = neighborhood_search(self.points, self.tree, metric, self.index, neighborhood)
        elif self.neighbors is not None:
            search = SharedSearch(None, self.tree, metric, self.neighbors, is_fitted)
        else:
            search = GivenDistances(self.tree, is_fitted)
        centres = ClusterCentres(self.space, self.clustered.tree, self.clustered_labels)
        by_nearest = None
        if isinstance(self.settings, CutSettings):
            by_nearest = self.rows.on_tree(self.labels)
        noise = None
        if self.noise is not None:
            scorer = OutlierScorer(self.tree, self.reference_groups)
            is_noise = self.rows.on_tree(self.noise.is_noise)
            noise = NewNoise(scorer, self.noise.threshold, is_noise, self.clustered)
        return Predictor(search, centres, by_nearest, noise)

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.settings.n_clusters)

    @cached_property
    def inertia(self) -> float:
        """The inertia of the clusters in ``space``."""
        if self.kmeans_inertia is not None:
            return self.kmeans_inertia
        return self.space.inertia_of(self.clustered_labels)

    @property
    def clustered_labels(self) -> Labels:
        """The labels of the points that were clustered."""
        return self.clustered.only(self.rows.on_tree(self.labels))

    def refuse_number(self, n_clusters: int) -> None:
        """Raise ValueError for a number of clusters that what is known of rows rules out."""
        if self.constraints is not None:
            self.constraints.refuse_number(n_clusters, self.tree.n_points, self.rows.numbers)

    def labels_for(self, settings: Settings) -> Labels:
        """Return the labels of all rows for settings with another number; -1 for noise."""
        return self.found_for(settings, inertia=False).labels

    def found_for(self, settings: Settings, *, inertia: bool = True) -> Found:
        """Return the clusters for settings with another number of them.

        inertia : bool
            Whether to compute the inertia; NaN otherwise.
        """
        if settings.n_clusters == self.n_clusters:
            value = self.inertia if inertia else np.nan
            return Found(self.with_noise(self.labels), self.clustered_labels, value)
        solution = run_clusterer(self.clusterer, self.clustered.numbered(settings))
        value = solution.inertia
        if inertia and isinstance(settings, CutSettings):
            value = self.space.inertia_of(solution.labels)
        labels = labels_of_all_rows(self.clusterer, self.clustered, self.rows, solution.labels)
        return Found(self.with_noise(labels), solution.labels, value)

    def prepare(self, settings: Settings) -> None:
        """Compute what runs in several threads share, up to the number of clusters of settings."""
        if isinstance(self.clusterer, KMeansClusterer) and isinstance(settings, KMeansSettings):
            numbered = self.clustered.numbered(settings)
            assert isinstance(numbered, KMeansSettings)
            self.clusterer.prepare(numbered)
        elif isinstance(self.clusterer, CutClusterer) and isinstance(settings, CutSettings):
            self.clusterer.parts(settings)
            self.space.objective  # noqa: B018 -- kept once it is computed

    def distances_to_centres(self) -> Floats:
        """Return the distances of all rows to the centres: (n_rows, n_clusters)."""
        return self.predictor.distances_of(self.rows.all_attachments(self.tree.n_points))

    @cached_property
    def reference_groups(self) -> ReferenceGroups:
        """The reference groups of the points of the tree."""
        return find_reference_groups(self.tree, self.rows.point_weights)

    @cached_property
    def outlier_scores(self) -> Floats:
        """The outlier score of each row; rows of weight 0 as new points: (n_rows,)."""
        return scores_of_rows(self.tree, self.rows, self.reference_groups)

    @cached_property
    def clustered_rows(self) -> Ints:
        """The row of each point that was clustered."""
        is_fitted = self.rows.is_fitted
        rows = np.arange(len(self.labels)) if is_fitted is None else np.flatnonzero(is_fitted)
        return self.clustered.only(rows)

    @cached_property
    def summary(self) -> ClusterSummary:
        """The figures of each cluster."""
        rows, labels = self.clustered_rows, self.clustered_labels
        points, feature_names = self.points, None
        if self.feature_names is not None:
            feature_names = list(self.feature_names)
        if self.columns is not None:  # of categories there are no means
            points, feature_names = self.columns.numbers_of(points)
        if self.clustered.rest is not None and has_features(points):
            points = points[self.clustered.rest.kept]
        means = self._feature_means(points)
        names: tuple[str, ...] = ()
        if means is not None and feature_names is not None:
            names = tuple(feature_names)
        elif means is not None:
            names = tuple(f"x{i}" for i in range(means.shape[1]))
        summary = summarise(
            self.clustered.tree,
            labels.astype(np.int64),
            self.sizes(),
            self.clustered.point_weights,
            rows,
            self.outlier_scores[rows],
            means,
            names,
        )
        if self.noise is None:
            return summary
        n_noise = int(np.count_nonzero(self.noise.is_noise))
        return summary.with_noise(n_noise, self._noise_share())

    def _feature_means(self, points: Any) -> Floats | None:
        """Return the means of the features of each cluster; of positions, those on the sphere."""
        labels, weights = self.clustered_labels, self.clustered.point_weights
        metric = self.resolved_metric
        if not isinstance(metric, MappedMetric) or metric.name != "haversine":
            return feature_means(points, labels, weights)
        in_space = feature_means(metric.prepare(points), labels, weights)
        return None if in_space is None else mean_positions(in_space, unit_of(metric.prepare))

    def sizes(self) -> Ints:
        """Return the number of rows of each cluster, on the tree or not."""
        labels = self.labels if self.noise is None else self.labels[~self.noise.is_noise]
        return np.bincount(labels)

    def _noise_share(self) -> float:
        """Return the share of all rows, or of all weight, that is noise."""
        assert self.noise is not None
        weights = self.rows.point_weights
        if weights is None:
            return float(self.noise.is_noise.mean())
        return float(weights[self.rows.on_tree(self.noise.is_noise)].sum() / weights.sum())
