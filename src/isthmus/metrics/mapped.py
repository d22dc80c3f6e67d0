"""Metrics that are an increasing function of a simpler one, after a map of the points.

A spanning tree depends only on the order of the distances. So such a metric borrows the simpler
one's tree: points are mapped, the tree is found, and each weight is turned back into the metric
that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isthmus._numba.accumulators import POWERS, SQUARES
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.metrics.maps import half, unchanged
from isthmus.metrics.tiny_differences import (
    LOST,
    Limits,
    exact_lengths,
    has_tiny_differences,
)

# Where the largest coordinate is beyond these magnitudes, squares would overflow or underflow.
_SAFE_LARGEST, _SAFE_SMALLEST = 1e100, 1e-100
# A length whose square does not underflow, and to which metrics are linear, or quadratic.
_SHORT = 2.0**-200

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

    def heights_of_lengths(self, lengths: Floats) -> Floats:
        """Turn tiny distances of mapped points, not accumulations, into distances."""
        if self.kind != SQUARES:
            return lengths
        unit: float = self.to_heights(np.array([_SHORT * _SHORT]))[0]
        heights: Floats = unit * (lengths / _SHORT)
        return heights * (lengths / _SHORT) if self.to_heights in (half, unchanged) else heights

    def estimated_from(self, points: Array) -> MappedMetric:
        """Return the metric with the variances of some points, whichever points it is asked for."""
        if not self.is_estimated or self.map_of is None:
            return self
        fixed = self.map_of(points)
        return replace(self, prepare=fixed, map_of=lambda _: fixed, is_estimated=False)

    def plain(self) -> MappedMetric:
        """Return the metric of points that are mapped already: the lengths of their differences."""
        to_heights = np.sqrt if self.kind == SQUARES else unchanged
        return MappedMetric(
            self.name, self.kind, self.power, unchanged, to_heights, 1, prepare_sparse=unchanged
        )

    @property
    def accepts_sparse(self) -> bool:
        """Whether points may be a sparse matrix."""
        return self.prepare_sparse is not None


@dataclass(frozen=True)
class PreparedPoints:
    """Points ready for a kernel, and the way from its accumulations back to distances.

    Attributes
    ----------
    points : array or CSR matrix
    metric : MappedMetric
    scale : float
        What mapped points were divided by, a power of two.
    unscaled : array, CSR matrix or None
        The points before that, where some differ by so little that distances are lost:
        tiny_differences.py. None where all distances are right.
    """

    points: Any
    metric: MappedMetric
    scale: float
    unscaled: Any = None

    @property
    def limits(self) -> Limits:
        """Below which magnitudes distances may be lost, in units of ``unscaled``."""
        return Limits.of(self.metric.kind, self.metric.power, self.scale)

    def heights_between(self, accumulated: Floats, rows: Ints, columns: Ints) -> Floats:
        """Turn accumulations, of rows with columns, into distances; measure what is lost anew.

        accumulated : (m, n) float64
        rows, columns : (m,) and (n,) int64
            Indices of points.
        """
        heights = self.heights(accumulated)
        if self.unscaled is not None:
            i, j = np.nonzero(accumulated < LOST)
            pairs = np.column_stack([rows[i], columns[j]])
            heights[i, j] = self.exact_heights(pairs)
        return heights

    def exact_heights(self, pairs: Ints) -> Floats:
        """Return the distances of pairs of points, (m, 2), that are tiny."""
        kind, power = self.metric.kind, self.metric.power
        return self.metric.heights_of_lengths(exact_lengths(self.unscaled, pairs, kind, power))

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
    """
    with np.errstate(all="ignore"):  # what is not finite is refused below
        if isinstance(points, np.ndarray):
            return in_range(metric.prepare(points), metric)
        assert metric.prepare_sparse is not None  # it was checked
        return in_range(metric.prepare_sparse(points), metric)


def in_range(mapped: Any, metric: MappedMetric) -> PreparedPoints:
    """Bring mapped points into the range of what kernels accumulate.

    The scale is a power of two, so it costs no accuracy. Where powers are summed, coordinates are
    always brought below 1.
    """
    entries = mapped if isinstance(mapped, np.ndarray) else mapped.data
    largest = max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))
    if not np.isfinite(largest):
        raise ValueError(_TOO_LARGE.format(metric.name))
    scale, scaled = 1.0, mapped
    extreme = largest > _SAFE_LARGEST or 0.0 < largest < _SAFE_SMALLEST
    if extreme or (metric.kind == POWERS and largest > 0.0):
        scale = 2.0 ** np.frexp(largest)[1] if largest < 2.0**1023 else 2.0**1023
        scaled = _divided(mapped, scale)
    is_lossy = has_tiny_differences(mapped, Limits.of(metric.kind, metric.power, scale))
    return PreparedPoints(scaled, metric, scale, mapped if is_lossy else None)


def in_range_of(
    mapped: Any, others: Any, prepared: PreparedPoints, *, is_far: bool
) -> PreparedPoints:
    """Return mapped points and others behind them, in range.

    prepared : PreparedPoints
        Of the points alone. Their scale is taken.
    is_far : bool
        Whether that would leave the others out of range: all are scaled anew.
    """
    if isinstance(mapped, np.ndarray):
        together = np.concatenate([mapped, others])
    else:
        from scipy.sparse import vstack

        together = vstack([mapped, others], format="csr")
    if is_far:
        return in_range(together, prepared.metric)
    scale = prepared.scale
    scaled = together if scale == 1.0 else _divided(together, scale)
    is_lossy = has_tiny_differences(together, prepared.limits)
    return PreparedPoints(scaled, prepared.metric, scale, together if is_lossy else None)


def _divided(points: Any, scale: float) -> Any:
    """Return points, an array or CSR matrix, divided by a number.

    A sparse matrix would multiply by its inverse, which is infinite where all entries are denormal.
    """
    if isinstance(points, np.ndarray):
        # NumPy 1.26 flags lanes of vectors that it does not use
        with np.errstate(over="ignore"):
            return points.astype(np.float64, copy=False) / scale
    divided = points.astype(np.float64, copy=True)
    divided.data /= scale
    return divided


def map_for_others(prepared: PreparedPoints, points: Array) -> Callable[[Array], Floats]:
    """Return the map that prepared some points, to be applied to others; its results are float64.

    points : array
        Those that ``prepared`` was made of. What is too large for the map is not finite then.
    """
    prepare = map_by(prepared.metric, points)

    def mapped(others: Array) -> Floats:
        with np.errstate(all="ignore"):
            scaled: Floats = prepare(others).astype(np.float64, copy=False) / prepared.scale
        return scaled

    return mapped


def map_by(metric: MappedMetric, points: Array) -> Callable[[Array], Array]:
    """Return the map that a metric takes from points, for others; without a scale."""
    prepare = metric.prepare if metric.map_of is None else metric.map_of(points)

    def mapped(others: Array) -> Array:
        with np.errstate(all="ignore"):
            return prepare(others)

    return mapped
