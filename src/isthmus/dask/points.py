"""Blocks of the input → checked points, mapped as the metric wants them.

A first look at each block counts its rows, finds what is wrong with it and takes a sample. Nothing
is raised on the workers: the coordinator knows the numbers of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.typing import Array, Floats
from isthmus.metrics import AnyMetric, MappedMetric, PreparedPoints
from isthmus.metrics.mapped import prepare_points
from isthmus.metrics.validation import float_types, refuse_unsuitable


class Look(NamedTuple):
    """What a look at a block finds.

    Attributes
    ----------
    n_rows, n_features : int
    single : bool
        Whether float32 holds all its numbers.
    wrong : int
        The first row with an entry that is missing or infinite; -1 without.
    error : str
        What else is wrong with it.
    sample : array
        Some of its rows, the first one first, as they are.
    largest : float
        The largest coordinate after the map, without its sign.
    """

    n_rows: int
    n_features: int
    single: bool
    wrong: int
    error: str
    sample: Array
    largest: float


def as_table(block: Any) -> Array:
    """Return a block, an array or a data frame, as an array of float32 or float64."""
    refuse_unsuitable(block)
    dtype = float_types(block)
    array = np.asarray(block)
    if array.ndim == 1:
        array = array[:, None]
    if array.dtype not in dtype:
        array = array.astype(dtype[0])
    return np.ascontiguousarray(array)


def look_at(block: Any, n_sample: int, seed: int, metric: AnyMetric) -> Look:
    """Return what a look at a block finds; of the map, only where the metric has one."""
    nothing = np.empty((0, 1))
    try:
        table = as_table(block)
    except (TypeError, ValueError) as error:
        return Look(0, 0, True, -1, str(error), nothing, 0.0)
    n_rows, n_features = table.shape
    single = table.dtype == np.float32
    finite = np.isfinite(table)
    if not finite.all():
        wrong = int(np.flatnonzero(~finite.all(axis=1))[0])
        return Look(n_rows, n_features, single, wrong, "", nothing, 0.0)
    if n_rows == 0:
        return Look(0, n_features, True, -1, "", table, 0.0)
    rows = np.random.default_rng(seed).integers(0, n_rows, min(n_sample, n_rows))
    rows[0] = 0
    largest = 0.0
    if isinstance(metric, MappedMetric) and metric.map_of is None:
        try:
            with np.errstate(all="ignore"):
                mapped = metric.prepare(table)
        except ValueError as error:
            return Look(n_rows, n_features, single, -1, str(error), nothing, 0.0)
        largest = float(max(mapped.max(initial=0.0), -mapped.min(initial=0.0)))
    return Look(n_rows, n_features, single, -1, "", table[rows], largest)


@dataclass(frozen=True)
class PointMap:
    """The way from a block to the points that kernels see, the same for all blocks.

    Attributes
    ----------
    metric : MappedMetric
        Its map depends on no points.
    scale : float
        What mapped points are divided by: a power of two, see ``prepare_points``.
    single : bool
        Whether the input is float32.
    """

    metric: MappedMetric
    scale: float
    single: bool

    def __call__(self, block: Any) -> Array:
        """Return the points of a block."""
        table = as_table(block).astype(np.float32 if self.single else np.float64, copy=False)
        with np.errstate(all="ignore"):
            mapped: Array = self.metric.prepare(table)
        if self.scale != 1.0:
            mapped = mapped.astype(np.float64, copy=False) / self.scale
        return np.ascontiguousarray(mapped)

    def n_features(self, looks: list[Look]) -> int:
        """Return the number of coordinates of mapped points."""
        return int(self(next(look.sample for look in looks if look.n_rows)).shape[1])

    def prepared(self, points: Array) -> PreparedPoints:
        """Return mapped points as engines take them."""
        return PreparedPoints(points, self.metric, self.scale)

    def heights(self, accumulated: Floats) -> Floats:
        """Return the distances of what kernels accumulate."""
        return self.prepared(np.empty((0, 1))).heights(accumulated)


def find_map(metric: MappedMetric, looks: list[Look]) -> PointMap:
    """Return the map for all blocks."""
    single = all(look.single for look in looks)
    if metric.map_of is not None:
        sample = np.concatenate([look.sample for look in looks if look.n_rows])
        metric = replace(metric, prepare=metric.map_of(sample), map_of=None)
        largest = 0.0
    else:
        largest = max(look.largest for look in looks)
    # The scale depends on nothing but the largest coordinate.
    unmapped = replace(metric, prepare=_as_it_is)
    scale = prepare_points(np.array([[largest]]), unmapped).scale
    return PointMap(metric, scale, single)


def _as_it_is(points: Array) -> Array:
    return points
