"""Parameters of CUT → checked ones, before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isthmus._utils.parameters import check_integer, check_n_clusters, check_positive
from isthmus._utils.rounding import TIE
from isthmus._utils.typing import Floats


@dataclass(frozen=True)
class CutSettings:
    """Parameters of CUT; :meth:`checked` returns them checked.

    Attributes
    ----------
    n_clusters : int
    min_cluster_size : float or None
        The least weight of a cluster.
    """

    n_clusters: Any
    min_cluster_size: Any = None

    def checked(self, n_rows: int, weights: Floats | None = None) -> CutSettings:
        """Return checked settings, or raise what is wrong with them.

        weights : (n_rows,) float64, optional
            Rows of weight zero are not on the tree.
        """
        k = check_number_of_parts(self.n_clusters, n_rows, weights)
        return CutSettings(k, check_least_weight(self.min_cluster_size, k, n_rows, weights))

    def for_numbers(self, numbers: Sequence[int]) -> list[CutSettings]:
        """Return these settings for several numbers of clusters."""
        return [replace(self, n_clusters=k) for k in numbers]


def check_number_of_parts(n_clusters: Any, n_rows: int, weights: Floats | None) -> int:
    """Return a number of clusters, at most that of the rows with a weight above zero."""
    k = check_n_clusters(n_clusters, n_rows)
    if weights is not None and k > (n_positive := np.count_nonzero(weights)):
        raise ValueError(
            f"n_clusters={k}, but only {n_positive} of {n_rows} rows have a sample_weight above 0."
        )
    return k


def check_least_weight(
    min_cluster_size: Any, n_clusters: int, n_rows: int, weights: Floats | None
) -> float | None:
    """Return the least weight of a cluster: an integer number of rows, or any weight above 0."""
    if min_cluster_size is None:
        return None
    if weights is None:
        least = float(check_integer(min_cluster_size, "min_cluster_size", 1))
    else:
        least = check_positive(min_cluster_size, "min_cluster_size")
    total = n_rows if weights is None else float(weights.sum())
    if n_clusters * least * (1.0 - TIE) > total:
        what = f"there are {n_rows} rows" if weights is None else f"all weights sum to {total:g}"
        raise ValueError(
            f"n_clusters={n_clusters} with min_cluster_size={least:g} needs "
            f"{n_clusters * least:g}, but {what}. Ask for fewer or smaller clusters."
        )
    return least
