"""A round of Borůvka's algorithm over lists: each component's best edge, and whether it is certain.

A point's list holds the nearest points outside a component that it belonged to when it searched,
exactly measured. Nothing else outside is nearer than the point's *reach*. So the shortest edge in
the lists of a component's points is its shortest of all, if it is not longer than the reach of
any of them: it is *certain*. Components with a certain edge join others along it; only where
there are none left, points whose reach falls short search again. One component need not
search: all others join it in the end.
"""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.typing import Floats, Labels
from isthmus.spanning_tree.best_edges import HUGE, Best, offer_listed


@kernel
def scan_lists(
    labels: Labels, positions: Labels, distances: Floats, used: Labels, best: Best
) -> None:
    """Offer to each component the first edges, out of it, of its points' lists.

    labels : (n,) int32, in
    positions, distances : (n, n_neighbours), in
    used : (n,) int32, in and out
        How many entries of each list lie in the point's own component.
    best : in and out
    """
    n_neighbours = positions.shape[1]
    for i in range(labels.shape[0]):
        label = np.int64(labels[i])
        k = used[i]
        while k < n_neighbours and (positions[i, k] < 0 or labels[positions[i, k]] == label):
            k += 1
        used[i] = k
        if k < n_neighbours:
            offer_listed(distances[i, k], i, np.int64(positions[i, k]), labels, best)


@kernel
def list_unsure(labels: Labels, reach: Floats, best: Best, unsure: Labels) -> int:
    """Fill unsure with the points whose reach is below their component's best edge; count them."""
    n_unsure = 0
    for i in range(labels.shape[0]):
        if reach[i] < best.distance[labels[i]]:
            unsure[n_unsure] = i
            n_unsure += 1
    return n_unsure


@kernel
def keep_certain(labels: Labels, unsure: Labels, best: Best) -> None:
    """Take away the best edges of components with an unsure point."""
    for t in range(unsure.shape[0]):
        best.distance[labels[unsure[t]]] = HUGE
