"""Neighbours so near, beside others, that their distances are lost: they are searched anew.

Such points are alike (metrics/tiny_differences.py). All others are farther away, and right. So of
a group of points that are alike, neighbours are searched at a scale of its own, and join those
outside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isthmus._utils.typing import Ints
from isthmus.metrics import PreparedPoints
from isthmus.metrics.tiny_differences import groups_of_alike, only_tiny
from isthmus.neighbors.sorted_lists import Neighbors


def replace_lost_neighbors(
    prepared: PreparedPoints, found: Neighbors, search: Callable[[Any], Neighbors]
) -> None:
    """Replace the neighbours that may be wrong, in place.

    prepared : PreparedPoints
        With ``unscaled`` points.
    search : callable
        From points to their neighbours, as many as there are or fewer, with the lengths of
        differences for distances.
    """
    points, limit = prepared.unscaled, prepared.limits.entry
    for rows in groups_of_alike(points, limit):
        near = search(only_tiny(points[rows], limit))
        distances = prepared.metric.heights_of_lengths(near.distances)
        _merge(found, rows, Neighbors(rows[near.indices].astype(np.int32), distances))


def _merge(found: Neighbors, rows: Ints, near: Neighbors) -> None:
    """Let the neighbours of some rows inside their group take the place of those found there."""
    inside = np.isin(found.indices[rows, 1:], rows)
    outside = np.where(inside, np.inf, found.distances[rows, 1:])
    distances = np.concatenate([near.distances[:, 1:], outside], axis=1)
    indices = np.concatenate([near.indices[:, 1:], found.indices[rows, 1:]], axis=1)
    order = np.lexsort((indices, distances), axis=1)[:, : outside.shape[1]]
    found.distances[rows, 1:] = np.take_along_axis(distances, order, axis=1)
    found.indices[rows, 1:] = np.take_along_axis(indices, order, axis=1)
