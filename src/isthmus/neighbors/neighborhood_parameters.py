"""What n_neighbors and neighborhood, as a user gives them, stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from isthmus._utils.parameters import check_choice, check_integer
from isthmus.metrics.mapped import MappedMetric
from isthmus.metrics.registry import AnyMetric

KINDS = ("mean", "shared")


@dataclass(frozen=True)
class Neighborhood:
    """How neighbourhoods change the distances.

    Attributes
    ----------
    n_neighbors : int
        The size of a neighbourhood, the point itself included; at least 2.
    kind : {"mean", "shared"}
        Whether each point is replaced by the mean of its neighbourhood, or distances of
        neighbours are multiplied by the Jaccard distance of their neighbourhoods.
    """

    n_neighbors: int
    kind: str


def check_neighborhood(n_neighbors: Any, kind: Any, metric: AnyMetric) -> Neighborhood | None:
    """Return the checked parameters; None for plain distances."""
    check_choice(kind, "neighborhood", KINDS)
    if n_neighbors is None:
        return None
    if isinstance(n_neighbors, str):
        raise TypeError(
            f"n_neighbors must be an integer, or None for plain distances; got {n_neighbors!r}."
        )
    size = check_integer(n_neighbors, "n_neighbors", 1)
    if kind == "mean" and not isinstance(metric, MappedMetric):
        raise ValueError(
            "neighborhood='mean' averages points, which are not defined for "
            f"metric={metric.name!r}. Use neighborhood='shared', which needs distances alone."
        )
    return Neighborhood(size, kind) if size > 1 else None


def check_n_neighbors(n_neighbors: Any, n_points: int) -> int:
    """Return n_neighbors as an int from 1 to the number of points."""
    size = check_integer(n_neighbors, "n_neighbors", 1)
    if size > n_points:
        raise ValueError(
            f"n_samples={n_points} should be >= n_neighbors={size}: that counts a point and its "
            f"{size - 1} nearest others. Use n_neighbors={n_points} at most."
        )
    return size
