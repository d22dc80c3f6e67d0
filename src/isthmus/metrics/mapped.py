"""Metrics that are an increasing function of a simpler one, after a map of the points.

A spanning tree depends only on the order of the distances. So such a metric borrows the simpler
one's tree: points are mapped, the tree is found, and each weight is turned back into the metric
that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus._numba.accumulators import POWERS
from isthmus._utils.typing import Array, Floats
from isthmus.metrics.maps import unchanged

# Coordinates beyond these magnitudes would overflow or underflow when squared.
_SAFE_LARGEST, _SAFE_SMALLEST = 1e100, 1e-100

_TOO_LARGE = (
    "Some distances of metric={!r} are too large for float64. Divide the data by a constant first."
)


@dataclass(frozen=True)
class MappedMetric:
    """How a named metric is computed.

    Attributes
    ----------
    name : str
        The canonical name.
    kind : int
        What kernels accumulate: SQUARES, ABSOLUTES, MAXIMUM or POWERS.
    power : float
        The exponent p of POWERS; 0 otherwise.
    prepare : callable
        Maps checked points to the points that kernels see.
    to_heights : callable
        Maps what kernels accumulated to distances of this metric. Increasing.
    degree : int
        How the distances grow when the prepared points are scaled: by scale ** degree.
    prepare_sparse : callable, optional
        The same as ``prepare`` for the CSR matrices of ``scipy.sparse``; None where the map would
        fill them.
    map_of : callable, optional
        From points to the map that ``prepare`` applies to them; None where that is ``prepare``,
        whatever the points.
    is_estimated : bool
        Whether variances, or a covariance, are estimated from the points.
    """

    name: str
    kind: int
    power: float
    prepare: Callable[[Array], Array]
    to_heights: Callable[[Array], Array]
    degree: int
    prepare_sparse: Callable[[Any], Any] | None = None
    map_of: Callable[[Array], Callable[[Array], Array]] | None = None
    is_estimated: bool = False

    accepts_nan = takes_objects = False

    @property
    def keeps_points(self) -> bool:
        """Whether kernels see the points as they are."""
        return self.prepare is unchanged and self.kind != POWERS

    @property
    def accepts_sparse(self) -> bool:
        """Whether points may be a sparse matrix."""
        return self.prepare_sparse is not None


@dataclass(frozen=True)
class PreparedPoints:
    """Points ready for a kernel, and the way from its accumulations back to distances."""

    points: Array
    metric: MappedMetric
    scale: float

    def heights(self, accumulated: Array) -> Floats:
        """Turn accumulations over the prepared points into distances."""
        heights: Floats = self.metric.to_heights(accumulated)
        with np.errstate(over="ignore"):
            for _ in range(self.metric.degree if self.scale != 1.0 else 0):
                heights = heights * self.scale
        if not np.isfinite(heights).all():
            raise ValueError(_TOO_LARGE.format(self.metric.name))
        return heights


def prepare_points(points: Any, metric: MappedMetric) -> PreparedPoints:
    """Map points for the kernels and bring extreme magnitudes into range.

    points : array, or CSR matrix where the metric takes it

    The scale is a power of two, so it costs no accuracy. Where powers are summed, coordinates are
    always brought below 1.
    """
    with np.errstate(all="ignore"):  # what is not finite is refused below
        mapped: Any
        if isinstance(points, np.ndarray):
            entries = mapped = metric.prepare(points)
        else:
            assert metric.prepare_sparse is not None  # it was checked
            mapped = metric.prepare_sparse(points)
            entries = mapped.data
    largest = max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))
    if not np.isfinite(largest):
        raise ValueError(_TOO_LARGE.format(metric.name))
    scale = 1.0
    extreme = largest > _SAFE_LARGEST or 0.0 < largest < _SAFE_SMALLEST
    if extreme or (metric.kind == POWERS and largest > 0.0):
        scale = 2.0 ** np.frexp(largest)[1] if largest < 2.0**1023 else 2.0**1023
        mapped = mapped.astype(np.float64, copy=False) / scale
    return PreparedPoints(mapped, metric, scale)


def map_for_others(prepared: PreparedPoints, points: Array) -> Callable[[Array], Floats]:
    """Return the map that prepared some points, to be applied to others; its results are float64.

    points : array
        Those that ``prepared`` was made of. What is too large for the map is not finite then.
    """
    metric = prepared.metric
    prepare = metric.prepare if metric.map_of is None else metric.map_of(points)

    def mapped(others: Array) -> Floats:
        with np.errstate(all="ignore"):
            scaled: Floats = prepare(others).astype(np.float64, copy=False) / prepared.scale
        return scaled

    return mapped
