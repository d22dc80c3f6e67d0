"""How much of Borůvka's algorithm is done."""

from __future__ import annotations

from math import log


def share_of_rounds(n_points: int, n_edges: int) -> float:
    """Return the share of the rounds that is done, from 0 to 1, once n_edges are found.

    A round divides the number of components, and takes about as long as another, however few edges
    it finds: so logarithms are compared.
    """
    if n_points < 2:
        return 1.0
    return log(n_points / (n_points - n_edges)) / log(n_points)
