"""Dask arrays and data frames → handles of blocks; what is wrong with them is raised here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from isthmus._numba.accumulators import SQUARES
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.dask.executors import Executor, for_each
from isthmus.dask.points import Look, find_map
from isthmus.kdtree.limits import FEW_FEATURES
from isthmus.metrics import AnyMetric, CallableMetric, MappedMetric
from isthmus.metrics.validation import LARGEST_RATIO_OF_WEIGHTS


class Given(NamedTuple):
    """A Dask collection.

    Attributes
    ----------
    blocks : list
        Its blocks of rows, as ``Delayed`` objects.
    sizes : list of int or nan
        Their numbers of rows, nan where these are not known.
    feature_names : (d,) array of str, or None
    """

    blocks: list[Any]
    sizes: list[Any]
    feature_names: Array | None


def as_blocks(X: Any) -> Given:
    """Return the blocks of a Dask array or data frame; TypeError for anything else."""
    if hasattr(X, "to_delayed") and hasattr(X, "columns"):
        parts = list(X.to_delayed())
        return Given(parts, [np.nan] * len(parts), np.asarray(X.columns, dtype=object))
    if not hasattr(X, "to_delayed") or getattr(X, "ndim", 0) != 2:
        what = type(X).__name__
        if hasattr(X, "ndim"):
            what += f" of {X.ndim} {'dimension' if X.ndim == 1 else 'dimensions'}"
        raise TypeError(
            f"X must be a two-dimensional Dask array or a Dask data frame, got {what}. For data in "
            "memory use isthmus.TransitiveCut or isthmus.minimum_spanning_tree, or wrap them: "
            "dask.array.from_array(X, chunks=(1_000_000, -1))."
        )
    if X.shape[1] == 0:
        raise ValueError("X has no columns.")
    by_rows = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return Given(list(by_rows.to_delayed().ravel()), list(by_rows.chunks[0]), None)


def check_metric(metric: AnyMetric) -> AnyMetric:
    """Return a metric that compares any two rows without knowing all others."""
    if metric.name == "precomputed" or isinstance(metric, CallableMetric):
        raise ValueError(
            f"isthmus.dask takes rows and the name of a metric, not metric={metric.name!r}."
        )
    if isinstance(metric, MappedMetric) and metric.is_estimated:
        raise ValueError(
            f"metric={metric.name!r} needs variances of all rows, which blocks do not know. "
            "Compute them first, and give V in metric_params: X.var(axis=0, ddof=1).compute() for "
            "'seuclidean', dask.array.cov(X.T).compute() for 'mahalanobis'."
        )
    return metric


def is_euclidean(metric: AnyMetric) -> TypeGuard[MappedMetric]:
    """Whether distances are Euclidean after a map."""
    return isinstance(metric, MappedMetric) and metric.kind == SQUARES


def has_cells(metric: AnyMetric, looks: list[Look]) -> bool:
    """Whether cells in space serve: distances are Euclidean after a map, of few features."""
    if not is_euclidean(metric):
        return False
    return find_map(metric, looks).n_features(looks) <= FEW_FEATURES


def check_looks(looks: Sequence[Look]) -> int:
    """Return the number of rows, or raise what is wrong with one of the blocks."""
    starts = np.concatenate([[0], np.cumsum([look.n_rows for look in looks])])
    for b, look in enumerate(looks):
        where = f"block {b} of {len(looks)} (rows from {starts[b]} on)"
        if look.error:
            raise ValueError(f"In {where}: {look.error}")
        if look.wrong >= 0:
            raise ValueError(
                f"Row {starts[b] + look.wrong} has an entry that is missing or infinite; it is row "
                f"{look.wrong} of {where}. Fill in or remove such rows first."
            )
    n_rows = int(starts[-1])
    if n_rows == 0:
        raise ValueError("X has no rows.")
    widths = {look.n_features for look in looks if look.n_rows}
    if len(widths) > 1:
        raise ValueError(f"Blocks of X have different numbers of columns: {sorted(widths)}.")
    return n_rows


class WeightLook(NamedTuple):
    """What a look at a block of weights finds: the first wrong row, or -1, and their range."""

    n_rows: int
    wrong: int
    least: float
    largest: float


def look_at_weights(weights: Any) -> WeightLook:
    """Return what a look at a block of weights finds."""
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim != 1:
        return WeightLook(-1, -1, np.inf, 0.0)
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0.0)))
    if wrong.size:
        return WeightLook(len(values), int(wrong[0]), np.inf, 0.0)
    return WeightLook(len(values), -1, values.min(initial=np.inf), values.max(initial=0.0))


class Weights(NamedTuple):
    """Weights of rows.

    Attributes
    ----------
    blocks : list of handles, or None
        None where all are equal.
    unit : float
        What they are multiples of.
    """

    blocks: list[Any] | None
    unit: float


def check_weights(executor: Executor, sample_weight: Any, starts: Ints) -> Weights:
    """Return checked weights in the blocks of X, which begin with certain rows."""
    if sample_weight is None:
        return Weights(None, 1.0)
    blocks = _blocks_of_weights(sample_weight, starts)
    handles = executor.blocks(blocks)
    looks: list[WeightLook] = for_each(executor, "look-at-weights", look_at_weights, handles)
    for b, look in enumerate(looks):
        n_rows = int(starts[b + 1] - starts[b])
        if look.n_rows != n_rows:
            raise ValueError(
                f"sample_weight must be one number for each row; block {b} of X has {n_rows} rows, "
                f"that of sample_weight {max(look.n_rows, 0)}."
            )
        if look.wrong >= 0:
            raise ValueError(
                "sample_weight must be finite and above 0, but that of row "
                f"{starts[b] + look.wrong} is not. Leave rows of weight 0 out; predict gives them "
                "labels."
            )
    least, largest = min(look.least for look in looks), max(look.largest for look in looks)
    if largest / least > LARGEST_RATIO_OF_WEIGHTS:
        raise ValueError(
            f"sample_weight ranges from {least:g} to {largest:g}, more than a factor of "
            f"{LARGEST_RATIO_OF_WEIGHTS:.0e}. Leave rows that hardly count out."
        )
    if least == largest:
        return Weights(None, largest)
    return Weights(handles, float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)))


def _blocks_of_weights(sample_weight: Any, starts: Ints) -> list[Any]:
    n_blocks = len(starts) - 1
    if hasattr(sample_weight, "to_delayed"):
        if hasattr(sample_weight, "rechunk") and not np.isnan(sample_weight.shape[0]):
            if sample_weight.shape != (int(starts[-1]),):
                raise ValueError(
                    f"sample_weight must be one number for each of {starts[-1]} rows; got an array "
                    f"of shape {sample_weight.shape}."
                )
            sample_weight = sample_weight.rechunk((tuple(np.diff(starts).tolist()),))
        blocks = list(np.ravel(np.asarray(sample_weight.to_delayed(), dtype=object)))
        if len(blocks) != n_blocks:
            raise ValueError(
                f"sample_weight has {len(blocks)} blocks, X has {n_blocks}: give both the same."
            )
        return blocks
    values: Floats = np.asarray(sample_weight, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(int(starts[-1]), float(values))
    if values.shape != (int(starts[-1]),):
        raise ValueError(
            f"sample_weight must be one number for each of {starts[-1]} rows; got an array of "
            f"shape {values.shape}."
        )
    return [values[starts[b] : starts[b + 1]] for b in range(n_blocks)]
