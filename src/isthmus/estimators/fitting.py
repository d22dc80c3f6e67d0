"""The way through a fit: checked input → spanning tree → ultrametric tree → clusters."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from isthmus._utils.memory import Budget
from isthmus._utils.parameters import check_disconnected, check_integer, check_n_jobs
from isthmus._utils.progress import Progress, Stages, check_verbose
from isthmus._utils.typing import Array, Floats
from isthmus.cut.api import CutClusterer
from isthmus.cut.constraints import Rules, constrain
from isthmus.estimators.checked_input import check_input, check_table
from isthmus.estimators.constraint_input import check_rules
from isthmus.estimators.extension import (
    extended_tree,
    join_rows,
    join_weights,
    keeps_distances,
    matched_numbers,
)
from isthmus.estimators.fitted import (
    FittedModel,
    Settings,
    labels_of_all_rows,
    make_clusterer,
    run_clusterer,
)
from isthmus.estimators.fitted_rows import FittedRows, RowsToFit, rows_counted
from isthmus.estimators.memory_budget import Limits, Load, keep_to_limit
from isthmus.estimators.noise import (
    ClusteredTree,
    Noise,
    clustered_tree,
    find_noise,
    refuse_too_much_noise,
    scores_of_rows,
)
from isthmus.estimators.tree_cache import TreeCache
from isthmus.kmeans import KMeansSettings
from isthmus.metrics.gower import GowerMetric, Table
from isthmus.metrics.input import Data, n_points_of
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.precomputed import Precomputed
from isthmus.metrics.registry import AnyMetric, resolve_metric
from isthmus.metrics.table_columns import TableColumns
from isthmus.metrics.table_extension import EncodedTable
from isthmus.metrics.validation import check_sample_weight
from isthmus.model_selection.api import suggest_for_rows
from isthmus.model_selection.suggestion import Suggestion
from isthmus.neighbors.by_descent import check_given_neighbors
from isthmus.neighbors.means import neighborhood_means
from isthmus.neighbors.neighborhood_parameters import (
    Neighborhood,
    check_n_neighbors,
    check_neighborhood,
)
from isthmus.noise.threshold import NoiseRule, check_noise
from isthmus.outliers import find_reference_groups
from isthmus.prediction.attach import TreeNeighborhood
from isthmus.spanning_tree.engine import Problem
from isthmus.spanning_tree.neighborhood import check_engine, find_neighborhood_tree
from isthmus.spanning_tree.result import NeighborhoodTree
from isthmus.ultrametric import UltrametricTree

if TYPE_CHECKING:
    from isthmus.estimators.base import TransitiveClusterer


@dataclass(frozen=True)
class Request:
    """Checked input of a fit."""

    data: Data
    metric: AnyMetric
    neighborhood: Neighborhood | None
    noise: NoiseRule | None
    given_neighbors: Any
    weights: Floats | None
    cache: TreeCache | None
    limits: Limits
    n_features: int | None
    feature_names: Array | None
    rules: Rules | None = None
    columns: TableColumns | None = None  # of a table
    extends: FittedModel | None = None


class Known(NamedTuple):
    """What users say of rows, as they say it."""

    must_link: Any = None
    cannot_link: Any = None
    partial_labels: Any = None


def check_request(
    estimator: TransitiveClusterer,
    X: Any,
    sample_weight: Any,
    neighbors: Any = None,
    known: Known = Known(),  # noqa: B008 -- immutable
) -> Request:
    """Return what is to be fitted, or raise what is wrong with it; nothing changes."""
    metric = resolve_metric(estimator.metric, estimator.metric_params)
    probe = copy.copy(estimator)  # takes what scikit-learn sets while it checks the input
    probe._forget()
    table: Table | None = None
    if isinstance(metric, GowerMetric):
        table = check_table(probe, X, metric)
        metric = table.metric
        if estimator.memory is not None:
            raise ValueError("memory= does not serve metric='gower': use memory=None.")
    neighborhood = check_neighborhood(estimator.n_neighbors, estimator.neighborhood, metric)
    check_engine(estimator.engine, neighbors)
    check_disconnected(estimator.disconnected)
    noise = check_noise(estimator.noise)
    check_verbose(estimator.verbose)
    cache = None
    if estimator.memory is not None:
        cache = TreeCache(estimator.memory, estimator.metric, estimator.metric_params, neighborhood)
    data = check_input(probe, X, metric) if table is None else table.points
    weights = check_sample_weight(sample_weight, n_points_of(data))
    if neighbors is not None:
        neighbors = check_given_neighbors(neighbors, n_points_of(data))
        if weights is not None and not weights.all():
            raise ValueError("neighbors= are of all rows; leave out those of weight 0.")
    if neighborhood is not None:
        n_fitted = n_points_of(data) if weights is None else int(np.count_nonzero(weights))
        check_n_neighbors(neighborhood.n_neighbors, n_fitted)
    settings = _checked_settings(estimator, n_points_of(data), weights)
    rules = check_rules(*known, n_points_of(data), weights)
    if isinstance(settings, KMeansSettings) and rules is not None and not rules.only_together:
        raise ValueError(
            "cannot_link and partial_labels are honoured by TransitiveCut; K-means takes must_link "
            "alone."
        )
    load = Load(
        data,
        weights,
        metric,
        settings,
        check_n_jobs(estimator.n_jobs),
        neighborhood,
        rules,
        finds_noise=noise is not None,
        suggests=isinstance(estimator.n_clusters, str),
    )
    limits = keep_to_limit(estimator.memory_limit, load)
    features = vars(probe).get("n_features_in_"), vars(probe).get("feature_names_in_")
    columns = None if table is None else table.columns
    if noise is not None and rules is not None:
        raise ValueError(
            "noise cannot be combined with what is known of rows: a row that is noise is in no "
            "cluster. Leave out noise, or partial_labels and the links."
        )
    return Request(
        data,
        metric,
        neighborhood,
        noise,
        neighbors,
        weights,
        cache,
        limits,
        *features,
        rules=rules,
        columns=columns,
    )


def _checked_settings(
    estimator: TransitiveClusterer, n_rows: int, weights: Floats | None
) -> Settings:
    """Return checked settings; for "auto", with the largest number that may be suggested."""
    settings = estimator._settings()
    if not isinstance(estimator.n_clusters, str):
        return settings.checked(n_rows, weights)
    if estimator.n_clusters != "auto":
        raise TypeError(f"n_clusters must be an integer or 'auto', got {estimator.n_clusters!r}.")
    k_max = check_integer(estimator.k_max, "k_max", 2)
    checked = replace(settings, n_clusters=1).checked(n_rows, weights)
    return replace(checked, n_clusters=min(k_max, n_rows))


def find_clusters(estimator: TransitiveClusterer, request: Request) -> FittedModel:
    """Return what the fit of checked input finds."""
    stages = Stages(estimator.verbose)
    n_jobs, settings = check_n_jobs(estimator.n_jobs), request.limits.settings
    to_fit = RowsToFit(request.data, request.weights, request.metric)
    note = "" if to_fit.is_all else "Rows are counted among those with a sample_weight above 0."
    with rows_counted(note):
        found = _found_tree(estimator, request, to_fit.data, stages.stage("spanning tree"))
    constraints = None
    if request.rules is not None:
        constrained, constraints = constrain(found.tree, request.rules)
        found = replace(found, tree=constrained)
    with stages.whole("merges"):
        tree = UltrametricTree.from_spanning_tree(found.tree)
        neighborhood = TreeNeighborhood(found.neighbors, found.points)
        with rows_counted("Rows are counted among those with a sample_weight of 0."):
            rows = to_fit.attached_to(tree, neighborhood, n_jobs, found.index)
        noise = _found_noise(tree, rows, request.noise)
        clustered = clustered_tree(tree, rows, noise)
        suggestion = None
        if isinstance(estimator.n_clusters, str):  # "auto"
            suggestion = _suggested(estimator.k_max, request, clustered, noise)
            # of weights a suggestion knows nothing: there CUT finds out
            least = settings.min_cluster_size if request.weights is None else None
            n_clusters = suggestion.best_of(least or 0)
            if constraints is not None:
                n_clusters = max(n_clusters, constraints.n_parts)
                n_clusters = min(n_clusters, constraints.most_parts(tree.n_points))
            settings = replace(settings, n_clusters=n_clusters)
            if n_clusters == 1:
                _warn_of_one_cluster(suggestion)
    if noise is not None:
        refuse_too_much_noise(settings, rows, noise)
    if constraints is not None:
        constraints.refuse_number(settings.n_clusters, tree.n_points, rows.numbers)
    _warn_of_equal_points(clustered.tree, settings.n_clusters)
    clusterer = make_clusterer(
        clustered.tree,
        settings,
        clustered.point_weights,
        request.limits.workspace,
        constraints,
    )
    solution = run_clusterer(clusterer, clustered.numbered(settings), stages.stage("clusters"))
    is_cut = isinstance(clusterer, CutClusterer)
    fitted = FittedModel(
        points=None if isinstance(request.data, Precomputed) else to_fit.data,
        metric=estimator.metric,
        metric_params=estimator.metric_params,
        rows=rows,
        spanning_tree=found.tree,
        tree=tree,
        settings=settings,
        labels=labels_of_all_rows(clusterer, clustered, rows, solution.labels),
        kmeans_inertia=None if is_cut else solution.inertia,
        n_iter=None if is_cut else max(solution.n_iter, 1),
        suggestion=suggestion,
        n_features=request.n_features,
        feature_names=request.feature_names,
        neighborhood=request.neighborhood,
        neighbors=found.neighbors,
        columns=request.columns,
        preparation=None if request.extends is None else request.extends.preparation,
        constraints=constraints,
        noise=noise,
    )
    # Already known, so they need not be derived when they are first asked for.
    vars(fitted).update(resolved_metric=request.metric, clusterer=clusterer, index=found.index)
    vars(fitted).update(clustered=clustered, first_index=found.first_index)
    if found.points is not None:
        vars(fitted).update(means=found.points)
    return fitted


def extend_clusters(
    estimator: TransitiveClusterer,
    fitted: FittedModel,
    new: Any,
    sample_weight: Any,
    *,
    match_labels: bool,
) -> FittedModel:
    """Return what a fit on the rows of another one, and new ones behind them, finds.

    new : array, CSR matrix, list of objects, or EncodedTable
        Checked; a table holds the rows of the fit, too.
    """
    n_old = len(fitted.labels)
    rows = new if isinstance(new, EncodedTable) else join_rows(fitted.points, new)
    n_new = n_points_of(rows.points if isinstance(rows, EncodedTable) else rows) - n_old
    weights = join_weights(fitted.rows.point_weights, n_old, sample_weight, n_new)
    with rows_counted(f"Rows are counted over all, the {n_old} rows of the fit first."):
        request = check_request(estimator, rows, weights)
        request = replace(request, feature_names=fitted.feature_names, extends=fitted)
        extended = find_clusters(estimator, request)
    if not match_labels:
        return extended
    old, new_labels = fitted.public_labels, extended.public_labels[:n_old]
    numbers = matched_numbers(old, new_labels, extended.n_clusters)
    renumbered = replace(extended, labels=numbers[extended.labels])
    for name in (
        "resolved_metric",
        "clustered",
        "clusterer",
        "index",
        "first_index",
        "means",
    ):  # what does not change
        if name in vars(extended):
            vars(renumbered)[name] = vars(extended)[name]
    return renumbered


def _found_noise(tree: UltrametricTree, rows: FittedRows, rule: NoiseRule | None) -> Noise | None:
    if rule is None:
        return None
    known = find_reference_groups(tree, rows.point_weights)
    return find_noise(rows, scores_of_rows(tree, rows, known), rule)


def _suggested(
    k_max: int, request: Request, clustered: ClusteredTree, noise: Noise | None
) -> Suggestion:
    """Return the suggestion for what is clustered; noise counts as rows of weight 0 do."""
    weights = request.weights
    if noise is not None:
        weights = np.ones(len(noise.is_noise)) if weights is None else weights
        weights = np.where(noise.is_noise, 0.0, weights)
    return suggest_for_rows(clustered.tree, k_max, weights, request.limits.sums_at_once)


def _warn_of_one_cluster(suggestion: Suggestion) -> None:
    if suggestion.n_clusters == 1 and len(suggestion.ranking) > 1:
        message = (
            "n_clusters='auto' finds no clear structure and returns one cluster; the next best "
            f"number is {suggestion.ranking[1]}."
        )
        warnings.warn(message, stacklevel=4)


def _warn_of_equal_points(tree: UltrametricTree, n_clusters: int) -> None:
    n_different = 1 + int(np.count_nonzero(tree.heights))
    if n_clusters > n_different:
        message = (
            f"n_clusters={n_clusters} is more than the number of different points, {n_different}: "
            "equal points are spread over clusters."
        )
        warnings.warn(message, stacklevel=4)


def _found_tree(
    estimator: TransitiveClusterer, request: Request, data: Any, progress: Progress | None
) -> NeighborhoodTree:
    limit = request.limits.for_tree
    old = request.extends
    if (
        old is not None
        and request.neighborhood is None
        and keeps_distances(old, request.metric, request.columns)
    ):
        n_jobs = check_n_jobs(estimator.n_jobs)
        problem = Problem(
            data, request.metric, None, n_jobs, progress, Budget(limit), estimator.engine == "auto"
        )
        found = extended_tree(
            old,
            data,
            problem,
            estimator.engine,
            (estimator.metric, estimator.metric_params),
        )
        if found is not None:
            return found
    if request.cache is not None:
        options = {"n_jobs": estimator.n_jobs, "progress": progress, "memory_limit": limit}
        found = request.cache.spanning_tree(
            data, estimator.disconnected, estimator.engine, request.given_neighbors, **options
        )
        if found.neighbors is None or request.neighborhood != Neighborhood(
            found.neighbors.shape[1], "mean"
        ):
            return found
        assert isinstance(request.metric, MappedMetric)  # or there would be no means
        return replace(found, points=neighborhood_means(data, found.neighbors, request.metric))
    return find_neighborhood_tree(
        data,
        request.metric,
        request.neighborhood,
        disconnected=estimator.disconnected,
        engine=estimator.engine,
        given_neighbors=request.given_neighbors,
        n_jobs=estimator.n_jobs,
        progress=progress,
        budget=Budget(limit),
    )
