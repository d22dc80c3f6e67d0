"""Parameters of K-means on a tree → checked ones, before any work is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from isthmus._utils.parameters import check_choice, check_integer, check_n_jobs, check_positive
from isthmus._utils.typing import Floats, Ints
from isthmus.cut.settings import CutSettings, check_least_weight, check_number_of_parts
from isthmus.kmeans.init import check_given_points

SPACES = ("rows", "embedding")
INITS = ("cut", "k-means++", "random")
ALGORITHMS = ("auto", "lazy", "plain")

# No file and no slip of the keyboard asks for more runs than this.
_MOST_N_INIT = 100_000
# Runs from random starts where n_init is "auto"; a deterministic start is run once.
_AUTO_N_INIT = 10
LARGEST_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True)
class KMeansSettings:
    """Parameters of K-means on a tree; :meth:`checked` returns them checked.

    They are those of :class:`isthmus.TransitiveKMeans`, and two more.

    Attributes
    ----------
    n_clusters, max_iter, n_jobs : int
    space : {"rows", "embedding"}
    power : float
    init : str or (n_clusters,) int64
        "cut", "k-means++", "random", or the rows that the clusters begin with; checked ones are
        numbered as the points of the tree.
    n_init : int
        The number of starts; one where nothing is random.
    random_state : int, RandomState or None
    min_cluster_size : float or None
        The least weight of a cluster.
    algorithm : {"auto", "lazy", "plain"}
        "lazy" expands only the undecided part of the tree in each Lloyd step, "plain" takes the
        whole tree, "auto" is plain for few points. The results are the same.
    """

    n_clusters: Any
    space: Any = "rows"
    power: Any = 1.0
    min_cluster_size: Any = None
    init: Any = "cut"
    n_init: Any = "auto"
    max_iter: Any = 300
    random_state: Any = None
    n_jobs: Any = None
    algorithm: Any = "auto"

    def checked(self, n_rows: int, weights: Floats | None = None) -> KMeansSettings:
        """Return checked settings, or raise what is wrong with them.

        weights : (n_rows,) float64, optional
            Rows of weight zero are not on the tree.
        """
        k = check_number_of_parts(self.n_clusters, n_rows, weights)
        if isinstance(self.init, str):
            init: Any = check_choice(self.init, "init", INITS)
        else:
            init = check_given_points(self.init, n_rows, k, weights)
        is_auto = isinstance(self.n_init, str) and self.n_init == "auto"
        n_init = _AUTO_N_INIT if is_auto else check_integer(self.n_init, "n_init", 1)
        if n_init > _MOST_N_INIT:
            raise ValueError(f"n_init must be at most {_MOST_N_INIT:,}, got {n_init!r}.")
        check_random_state(self.random_state)
        return KMeansSettings(
            n_clusters=k,
            space=check_choice(self.space, "space", SPACES),
            power=check_positive(self.power, "power"),
            min_cluster_size=check_least_weight(self.min_cluster_size, k, n_rows, weights),
            init=init,
            n_init=n_init if isinstance(init, str) and init != "cut" else 1,
            max_iter=check_integer(self.max_iter, "max_iter", 1),
            random_state=self.random_state,
            n_jobs=check_n_jobs(self.n_jobs),
            algorithm=check_choice(self.algorithm, "algorithm", ALGORITHMS),
        )

    @property
    def given_rows(self) -> Ints | None:
        """The rows that the clusters begin with, where they were given."""
        return None if isinstance(self.init, str) else self.init

    @property
    def is_random(self) -> bool:
        """Whether starts are drawn at random."""
        return isinstance(self.init, str) and self.init != "cut"

    @property
    def cut(self) -> CutSettings:
        """Settings of CUT for the same clusters."""
        return CutSettings(self.n_clusters, self.min_cluster_size)

    def for_numbers(self, numbers: Sequence[int]) -> list[KMeansSettings]:
        """Return these settings for several numbers of clusters, to be run in any order.

        Each runs in one thread. A random state that is not an int gives each of them one.
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
