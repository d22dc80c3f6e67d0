"""UltrametricTree and a number of clusters → labels, by K-means."""

from __future__ import annotations

import threading
from itertools import count

import numpy as np
from sklearn.utils import check_random_state

from isthmus._utils.parallel import map_in_threads
from isthmus._utils.progress import Progress
from isthmus._utils.rounding import TIE, to_twelve_digits
from isthmus.cut.api import CutClusterer
from isthmus.cut.constraints import Constraints
from isthmus.cut.numbering import numbers_by_weight
from isthmus.kmeans.init import random_points, spread_points
from isthmus.kmeans.lloyd import GuardedAssignment, Solution, Start, lloyd, smallest_weight
from isthmus.kmeans.settings import LARGEST_SEED, KMeansSettings
from isthmus.kmeans.space import TreeSpace


class KMeansClusterer:
    """K-means in a space of a tree, for any number of clusters.

    Parameters
    ----------
    space : TreeSpace
        Of a tree without infinite distances.
    constraints : Constraints, optional
        Of points that belong together; they are at distance 0.
    """

    def __init__(self, space: TreeSpace, constraints: Constraints | None = None) -> None:
        if space.n_infinite:
            raise ValueError(
                f"K-means needs finite distances, and {space.n_infinite + 1} components of the "
                "graph are infinitely far apart. Join them by a number, disconnected=<number>, or "
                "use TransitiveCut."
            )
        self.space = space
        self.constraints = constraints
        self._cut = CutClusterer(space.tree, space.point_weights, space.weight_unit, constraints)

    def prepare(self, settings: KMeansSettings) -> None:
        """Compute what runs in several threads share, up to the number of clusters."""
        self.space.objective  # noqa: B018 -- kept once it is computed
        if settings.given_rows is None and not settings.is_random:
            self._cut.parts(settings.cut)

    def run(self, settings: KMeansSettings, progress: Progress | None = None) -> Solution:
        """Return the best clustering that the starts lead to, its inertia in the data's units.

        Clusters are numbered by weight, except where a row was given for each.

        progress : callable, optional
            Called as ``progress(done, total)``, in this thread, with the number of starts.
        """
        if settings.given_rows is not None:
            solution = self._run_from(Start(points=settings.given_rows), settings)
            best = self._large_enough([solution], settings)[0]
        elif settings.is_random:
            best = self._numbered(self._best_of_random_starts(settings, progress))
        else:
            start = Start(parts=self._cut.parts(settings.cut))
            best = self._numbered(self._run_from(start, settings))
        if self.constraints is not None:
            self.constraints.refuse_torn(best.labels, self.space.tree.spanning_tree.edges)
        if progress is not None:
            progress(settings.n_init, settings.n_init)
        return Solution(best.labels, self.space.inertia(best.inertia), best.n_iter)

    def _best_of_random_starts(
        self, settings: KMeansSettings, progress: Progress | None
    ) -> Solution:
        # Seeds are drawn before any run begins: the result does not depend on the threads.
        random_state = check_random_state(settings.random_state)
        seeds = random_state.randint(LARGEST_SEED, size=settings.n_init)
        done = count(1)
        caller = threading.get_ident()

        def run(seed: int) -> Solution:
            solution = self._run_from(self._random_start(settings, seed), settings)
            n_done = next(done)
            if progress is not None and threading.get_ident() == caller and n_done < len(seeds):
                progress(n_done, len(seeds))
            return solution

        # The first run computes what all of them share.
        solutions = [run(seeds[0]), *map_in_threads(run, seeds[1:], settings.n_jobs)]
        solutions = self._large_enough(solutions, settings)
        return min(solutions, key=lambda solution: float(to_twelve_digits(solution.inertia)))

    def _random_start(self, settings: KMeansSettings, seed: int) -> Start:
        draw = random_points if settings.init == "random" else spread_points
        random_state = np.random.RandomState(seed)
        return Start(points=draw(self.space.objective, settings.n_clusters, random_state))

    def _run_from(self, start: Start, settings: KMeansSettings) -> Solution:
        begun = self.space.assignment(start, settings.n_clusters, settings.algorithm)
        if settings.min_cluster_size is None or start.parts is None:
            return lloyd(begun, settings.max_iter)
        least = settings.min_cluster_size / self.space.weight_unit
        return lloyd(GuardedAssignment(begun, least), settings.max_iter)

    def _large_enough(self, solutions: list[Solution], settings: KMeansSettings) -> list[Solution]:
        """Return the solutions without those in which a cluster weighs too little."""
        if settings.min_cluster_size is None:
            return solutions
        unit = self.space.weight_unit
        least = settings.min_cluster_size / unit * (1.0 - TIE)
        smallest = [smallest_weight(each.labels, self.space.point_weights) for each in solutions]
        if max(smallest) < least:
            starts = "Every random start" if settings.is_random else "The start from given rows"
            raise ValueError(
                f"{starts} ended with a cluster below "
                f"min_cluster_size={settings.min_cluster_size:g}; the best one had a smallest "
                f"cluster of {max(smallest) * unit:g}. Use init='cut', which never goes below, "
                "other starts, or ask for fewer or smaller clusters."
            )
        pairs = zip(solutions, smallest, strict=True)
        return [solution for solution, weight in pairs if weight >= least]

    def _numbered(self, solution: Solution) -> Solution:
        space = self.space
        labels = numbers_by_weight(solution.labels, space.point_weights, space.tree)
        return Solution(labels, solution.inertia, solution.n_iter)
