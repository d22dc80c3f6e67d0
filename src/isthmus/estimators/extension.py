"""A fit and new rows → all rows, their spanning tree, and labels that keep their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse, vstack

from isthmus._utils.typing import Floats, Labels
from isthmus.estimators.fitted import FittedModel
from isthmus.metrics.input import n_points_of
from isthmus.metrics.mapped import MappedMetric, prepare_points
from isthmus.metrics.registry import canonical_name
from isthmus.metrics.rowwise import CallableMetric, RowMetric
from isthmus.metrics.table_columns import TableColumns
from isthmus.metrics.validation import check_sample_weight
from isthmus.prediction.extend_by_kdtree import extended_by_kdtree
from isthmus.prediction.extend_by_rows import extended_by_rows
from isthmus.spanning_tree.engine import FIXED_BYTES, Problem
from isthmus.spanning_tree.result import NeighborhoodTree

# Engines that break ties by index; "auto" takes one of them, or finds out that it cannot.
_BY_INDEX = ("auto", "kd-tree", "prim")
# Memory beside the points, for each of them.
_BYTES_PER_POINT = 250


def check_extendable(fitted: FittedModel, metric: Any) -> None:
    """Raise ValueError where a fit does not hold all that a fit on more rows needs.

    metric : str or callable
        That of the estimator now.
    """
    if fitted.columns is not None and canonical_name(metric) != "gower":
        raise ValueError(
            f"The fit was on a table, with metric='gower', and metric is {metric!r} now. Fit again "
            "on all rows, the old and the new."
        )
    if fitted.points is None:
        raise ValueError(
            "extend needs the distances between all rows, and of precomputed ones a fit keeps "
            "none. Fit again on the distances of all rows, the old and the new."
        )
    if fitted.constraints is not None:
        raise ValueError(
            "extend does not know must_link, cannot_link and partial_labels of the fit any more. "
            "Fit again on all rows, the old and the new, with what is known of them."
        )
    if fitted.rows.is_fitted is not None:
        n_left_out = int(np.count_nonzero(~fitted.rows.is_fitted))
        raise ValueError(
            f"{n_left_out} of {len(fitted.labels)} rows had a sample_weight of 0 in the fit, which "
            "keeps only how they attach to the old tree. Leave them out and fit again, or fit all "
            "rows, the old and the new."
        )


def join_rows(old: Any, new: Any) -> Any:
    """Return the rows of a fit, and new ones of the same kind behind them."""
    if isinstance(old, list):
        return [*old, *new]
    if issparse(old):
        return vstack([old, new], format="csr")
    return np.concatenate([old, new])


def join_weights(old: Floats | None, n_old: int, new: Any, n_new: int) -> Floats | None:
    """Return the weights of all rows; one, where none were given."""
    weights = check_sample_weight(new, n_new, all_may_be_zero=True)
    if old is None and weights is None:
        return None
    parts = [np.ones(n_old) if old is None else old, np.ones(n_new) if weights is None else weights]
    return np.concatenate(parts)


def extended_tree(
    fitted: FittedModel,
    data: Any,
    problem: Problem,
    engine: str,
    settings_of_metric: tuple[Any, Any],
) -> NeighborhoodTree | None:
    """Return the spanning tree of all rows, by way of the old one; None where that cannot be.

    Parameters
    ----------
    fitted : FittedModel
    data : array, CSR matrix or list of objects
        All rows on the tree, the old ones first.
    problem : Problem
        Of these data, not yet prepared.
    engine : str
    settings_of_metric : tuple
        The name and the parameters that the estimator has now.
    """
    metric, n_points = problem.metric, n_points_of(data)
    if not (
        engine in _BY_INDEX
        and fitted.spanning_tree.by_index
        and fitted.tree.n_points > 1
        and fitted.tree.n_points < n_points
        and _is_same_metric(fitted, *settings_of_metric)
        and problem.budget.allows(FIXED_BYTES + _BYTES_PER_POINT * n_points)
    ):
        return None
    if isinstance(metric, RowMetric | CallableMetric):
        tree = extended_by_rows(fitted.tree, data, metric, problem.n_jobs, problem.progress)
        return None if tree is None else NeighborhoodTree(tree)
    if not (isinstance(metric, MappedMetric) and _maps_alike(fitted.points, data, metric)):
        return None
    problem = replace(problem, data=prepare_points(data, metric))
    found = extended_by_kdtree(fitted.tree, problem, fitted.index or fitted.first_index)
    return None if found is None else NeighborhoodTree(found.tree, first_index=found.first)


def keeps_distances(fitted: FittedModel, metric: Any, columns: TableColumns | None) -> bool:
    """Whether a metric gives old rows the distances that they had, to the last bit.

    Gower's distance divides by ranges, which new rows may widen; and without missing values it is
    that of mapped rows, of which the last bit may be another one.

    columns : TableColumns or None
        Of all rows.
    """
    if fitted.columns is None or columns is None:
        return fitted.columns is columns
    before, now = fitted.columns.columns, columns.columns
    return (
        isinstance(metric, RowMetric)
        and isinstance(fitted.resolved_metric, RowMetric)
        and all((a.low, a.high) == (b.low, b.high) for a, b in zip(before, now, strict=True))
    )


def _is_same_metric(fitted: FittedModel, metric: Any, params: Any) -> bool:
    before: Mapping[str, Any] = fitted.metric_params or {}
    now: Mapping[str, Any] = params or {}
    return bool(
        fitted.metric == metric
        and before.keys() == now.keys()
        and all(np.array_equal(before[name], now[name]) for name in now)
    )


def _maps_alike(old: Any, data: Any, metric: MappedMetric) -> bool:
    """Whether the metric maps the old rows among all as it did alone."""
    if not isinstance(data, np.ndarray) or metric.map_of is not None or metric.is_estimated:
        return False
    return metric.keeps_points or bool(old.flags.c_contiguous)


def matched_numbers(old: Labels, new: Labels, n_clusters: int) -> Labels:
    """Return the number of each of n clusters, (n_clusters,) int32, so that old ones are kept.

    Each old cluster goes on in one new cluster at most, so that as many rows as possible keep
    their number. Numbers that are free then go to the others, in their order. All are below
    ``n_clusters``, so where there are fewer clusters than before the last numbers are gone.

    old, new : (n_old,) int32
        The clusters of the same rows before and now; -1 for noise, which has none to keep.
    """
    clustered = (old >= 0) & (new >= 0)
    counts = np.zeros((n_clusters, int(old.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(counts, (new[clustered], old[clustered]), 1)
    kept = counts[:, :n_clusters]
    own, number = linear_sum_assignment(kept, maximize=True)
    persists = kept[own, number] > 0
    numbers = np.full(n_clusters, -1, dtype=np.int32)
    numbers[own[persists]] = number[persists]
    free = np.setdiff1d(np.arange(n_clusters), numbers)
    numbers[numbers < 0] = free
    return numbers
