"""Rows and their clusters → the mean of each feature in each cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse

from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Floats, Labels

# The most means, clusters times features, that are computed.
LARGEST = 1 << 22
# Entries of the data per block.
_AT_ONCE = 1 << 20


def feature_means(data: Any, labels: Labels, point_weights: Floats | None) -> Floats | None:
    """Return the means, (k, d), or None where data have no features or there are too many means.

    Missing values (NaN) are left out; the mean of nothing else is NaN.

    Parameters
    ----------
    data : array or CSR matrix of shape (n, d), or anything else that was fitted
    labels : (n,) int32
        The cluster of each row, from 0; none is empty.
    point_weights : (n,) float64, optional
        How many equal rows each one stands for.
    """
    if not has_features(data):
        return None
    n_clusters, n_features = int(labels.max()) + 1, data.shape[1]
    if n_clusters * n_features > LARGEST:
        return None
    # Scaled so that no sum exceeds its largest term.
    unit = np.ldexp(1.0, -int(np.ceil(np.log2(len(labels)))))
    weights = (
        np.full(len(labels), unit)
        if point_weights is None
        else point_weights / point_weights.max() * unit
    )
    if issparse(data) or not np.isnan(data.min()):
        totals = np.bincount(labels, weights=weights)[:, None]
        return _weighted_sums(data, labels, weights, n_clusters) / totals
    sums = _weighted_sums(data, labels, weights, n_clusters, np.nan_to_num)
    present = _weighted_sums(data, labels, weights, n_clusters, lambda block: ~np.isnan(block))
    return np.divide(sums, present, out=np.full_like(sums, np.nan), where=present > 0.0)


def _weighted_sums(
    data: Any,
    labels: Labels,
    weights: Floats,
    n_clusters: int,
    of: Callable[[Any], Any] | None = None,
) -> Floats:
    """Return the sum of the rows, or of a function of them, over each cluster: (k, d)."""
    sums = np.zeros((n_clusters, data.shape[1]))
    for start, stop in chunks(len(labels), max(1, _AT_ONCE // data.shape[1])):
        block = data[start:stop] if of is None else of(data[start:stop])
        one_each = np.arange(stop - start + 1, dtype=np.int32)
        adding = csc_array(
            (weights[start:stop], labels[start:stop], one_each), shape=(n_clusters, stop - start)
        )
        sums += adding @ block.astype(np.float64, copy=False)
    return sums


def has_features(data: Any) -> bool:
    """Whether data are numbers in columns, not objects or distances."""
    return issparse(data) or (
        isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "biuf"
    )
