"""Metric names and raw input → a resolved metric and checked data, once.

registry.py     names, aliases and parameters → a resolved metric
mapped.py       metrics that are Euclidean, or another simple one, after a map of the points
maps.py         these maps
rowwise.py      metrics of which nothing is known but their distances
precomputed.py  distances that a user computed
validation.py   points and weights that a user passes
input.py        data of any kind
accumulate.py   the kernels that compute distances
pairwise.py     distance matrices, and blocks of them

Names that need neither SciPy nor scikit-learn are offered here; the others by their modules.
"""

from isthmus.metrics.mapped import MappedMetric, PreparedPoints, map_for_others, prepare_points
from isthmus.metrics.registry import (
    CANONICAL_NAMES,
    METRIC_NAMES,
    SPARSE_METRICS,
    AnyMetric,
    PrecomputedMetric,
    canonical_name,
    resolve_metric,
    suggestion,
)
from isthmus.metrics.rowwise import CallableMetric, RowMetric

__all__ = [
    "CANONICAL_NAMES",
    "METRIC_NAMES",
    "SPARSE_METRICS",
    "AnyMetric",
    "CallableMetric",
    "MappedMetric",
    "PrecomputedMetric",
    "PreparedPoints",
    "RowMetric",
    "canonical_name",
    "map_for_others",
    "prepare_points",
    "resolve_metric",
    "suggestion",
]
