"""Lists of nearest neighbours, in the order of (distance, index)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Array, Floats, Labels
from isthmus.metrics import PreparedPoints

# Lists that are converted together.
_ROWS = 1 << 14


class Neighbors(NamedTuple):
    """The nearest neighbours of points.

    Attributes
    ----------
    indices : (n, n_neighbors) int32
        Each point itself comes first; then the others, nearest first, and of equally near ones
        that with the smaller index.
    distances : (n, n_neighbors) float64

    See Also
    --------
    isthmus.nearest_neighbors : Find them.

    Examples
    --------
    >>> from isthmus import nearest_neighbors
    >>> found = nearest_neighbors([[0.0], [1.0], [3.0]], n_neighbors=2)
    >>> found.indices.tolist()
    [[0, 1], [1, 0], [2, 1]]
    """

    indices: Labels
    distances: Floats


def empty_neighbors(n_points: int, n_neighbors: int) -> Neighbors:
    """Return lists that hold each point itself, and nothing else yet."""
    found = Neighbors(
        np.full((n_points, n_neighbors), -1, dtype=np.int32),
        np.full((n_points, n_neighbors), np.inf),
    )
    found.indices[:, 0] = np.arange(n_points)
    found.distances[:, 0] = 0.0
    return found


def with_heights(found: Neighbors, prepared: PreparedPoints) -> Neighbors:
    """Turn accumulated distances into distances, in place and part by part, to save memory."""
    for start, stop in chunks(len(found.distances), _ROWS):
        found.distances[start:stop] = prepared.heights(found.distances[start:stop])
    return found


@kernel_part
def offer_neighbor(distances: Array, indices: Labels, distance: float, index: int) -> None:
    """Insert a neighbour into a sorted list, if it comes before the last entry."""
    t = distances.shape[0] - 1
    if distance > distances[t] or (distance == distances[t] and index >= indices[t] >= 0):
        return
    while t > 0 and (
        distances[t - 1] > distance or (distances[t - 1] == distance and indices[t - 1] > index)
    ):
        distances[t] = distances[t - 1]
        indices[t] = indices[t - 1]
        t -= 1
    distances[t] = distance
    indices[t] = index


@kernel
def keep_nearest_of_rows(rows: Floats, names: Labels, own: Labels, found: Neighbors) -> None:
    """Fill lists from full rows of distances.

    rows : (m, n) float64, in
    names : (n,) int32, in
        The index of each column.
    own : (m,) int32, in
        The column of each row's own point, which does not enter its list; -1: it has none.
    found : out, in part
        m lists of other points, infinitely far at first.
    """
    for i in range(rows.shape[0]):
        distances, indices = found.distances[i], found.indices[i]
        last = distances.shape[0] - 1
        for j in range(rows.shape[1]):
            if rows[i, j] <= distances[last] and j != own[i]:
                offer_neighbor(distances, indices, rows[i, j], names[j])
