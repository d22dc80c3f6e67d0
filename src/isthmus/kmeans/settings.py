"""Parameters of a clustering → checked ones, before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from isthmus._utils.parameters import (
    check_choice,
    check_integer,
    check_n_clusters,
    check_n_jobs,
    check_positive,
)
from isthmus._utils.rounding import TIE
from isthmus._utils.typing import Floats, Ints
from isthmus.kmeans.init import check_given_points

OBJECTIVES = ("rows", "embedding", "cut")
INITS = ("cut", "k-means++", "random")
ALGORITHMS = ("auto", "lazy", "plain")

# Runs from random starts where n_init is "auto"; a deterministic start is run once.
_AUTO_N_INIT = 10
LARGEST_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Plan:
    """Checked parameters of a clustering; :meth:`check` makes one before any work is done.

    Attributes
    ----------
    n_clusters, max_iter, n_jobs, n_starts : int
    objective, algorithm : str
    power : float
    init : str
        ``"given"`` where rows were given.
    points : (n_clusters,) int64 or None
        The given rows, numbered as the points of the tree.
    random_state : int, RandomState or None
    min_cluster_size : float or None
        The least that a cluster may weigh.
    """

    n_clusters: int
    objective: str
    power: float
    init: str
    points: Ints | None
    n_starts: int
    max_iter: int
    random_state: Any
    n_jobs: int
    algorithm: str
    min_cluster_size: float | None = None

    @classmethod
    def check(
        cls,
        n_points: int,
        n_clusters: Any,
        *,
        objective: Any = "rows",
        power: Any = 1.0,
        weights: Floats | None = None,
        init: Any = "cut",
        n_init: Any = "auto",
        max_iter: Any = 300,
        random_state: Any = None,
        n_jobs: Any = None,
        algorithm: Any = "auto",
        min_cluster_size: Any = None,
    ) -> Plan:
        """Return the plan for these parameters, or raise what is wrong with them.

        Parameters are those of :class:`isthmus.TransitiveClustering`; and ``weights``, checked
        and (n_points,) long, of which those of zero stand for rows that are not on the tree; and
        ``algorithm``: ``"lazy"``, which opens only the undecided part of the tree in each Lloyd
        step, ``"plain"``, which takes the whole tree, or ``"auto"``: plain for few points. The
        results are the same.
        """
        k = check_n_clusters(n_clusters, n_points)
        if weights is not None and k > (n_positive := np.count_nonzero(weights)):
            raise ValueError(
                f"n_clusters={k}, but only {n_positive} of {n_points} rows have a sample_weight "
                "above 0."
            )
        by_name = isinstance(init, str)
        check_random_state(random_state)
        return cls(
            n_clusters=k,
            objective=check_choice(objective, "objective", OBJECTIVES),
            power=check_positive(power, "power"),
            init=check_choice(init, "init", INITS) if by_name else "given",
            points=None if by_name else check_given_points(init, n_points, k, weights),
            n_starts=(
                _AUTO_N_INIT
                if isinstance(n_init, str) and n_init == "auto"
                else check_integer(n_init, "n_init", 1)
            ),
            max_iter=check_integer(max_iter, "max_iter", 1),
            random_state=random_state,
            n_jobs=check_n_jobs(n_jobs),
            algorithm=check_choice(algorithm, "algorithm", ALGORITHMS),
            min_cluster_size=_check_min_cluster_size(min_cluster_size, k, n_points, weights),
        )

    def for_numbers(self, numbers: Sequence[int]) -> list[Plan]:
        """Return this plan for other numbers of clusters, to be run in any order.

        Each runs in one thread. A random state that is no int gives each of them one.
        """
        state = self.random_state
        if state is None or isinstance(state, np.random.RandomState):
            seeds = check_random_state(state).randint(LARGEST_SEED, size=len(numbers)).tolist()
        else:
            seeds = [state] * len(numbers)
        return [
            replace(self, n_clusters=k, random_state=seed, n_jobs=1)
            for k, seed in zip(numbers, seeds, strict=True)
        ]


def _check_min_cluster_size(
    value: Any, n_clusters: int, n_points: int, weights: Floats | None
) -> float | None:
    """Return the least size as a float: an integer of rows, or any weight above 0."""
    if value is None:
        return None
    if weights is None:
        least = float(check_integer(value, "min_cluster_size", 1))
    else:
        least = check_positive(value, "min_cluster_size")
    total = n_points if weights is None else float(weights.sum())
    if n_clusters * least * (1.0 - TIE) > total:
        what = f"there are {n_points} rows" if weights is None else f"all weights sum to {total:g}"
        raise ValueError(
            f"n_clusters={n_clusters} with min_cluster_size={least:g} needs "
            f"{n_clusters * least:g}, but {what}. Ask for fewer or smaller clusters."
        )
    return least
