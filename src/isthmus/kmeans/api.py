"""UltrametricTree and a number of clusters → labels."""

from __future__ import annotations

import threading
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from isthmus._utils.parallel import map_in_threads
from isthmus._utils.parameters import check_choice, check_positive
from isthmus._utils.progress import Progress
from isthmus._utils.rounding import TIE, highest_finite, in_range, product, to_twelve_digits
from isthmus._utils.typing import Floats, Labels
from isthmus.cut.divisive import TooFewCutsError, cut_spanning_tree
from isthmus.cut.numbering import numbers_by_weight
from isthmus.cut.parts import CutTree
from isthmus.kmeans.embedding_objective import EmbeddingObjective
from isthmus.kmeans.init import random_points, spread_points
from isthmus.kmeans.lloyd import (
    GuardedAssignment,
    LazyAssignment,
    PlainAssignment,
    Solution,
    Start,
    lloyd,
    smallest_weight,
)
from isthmus.kmeans.objective import TreeObjective
from isthmus.kmeans.rows_objective import RowsObjective
from isthmus.kmeans.settings import LARGEST_SEED, OBJECTIVES, Plan
from isthmus.kmeans.workspace import Workspace
from isthmus.ultrametric import UltrametricTree

# Up to so many points the plain algorithm is as fast as anyone can see, and what it needs
# compiles in a fraction of the time.
_PLAIN_UP_TO = 1000


class TreeClusterer:
    """A tree made ready to be clustered, for any number of clusters.

    What depends only on the tree is computed once, when it is first needed.

    Parameters
    ----------
    tree : UltrametricTree
    objective : {"rows", "embedding", "cut"}
        What is minimised: see :class:`isthmus.TransitiveClustering`.
    power : float
        Distances are raised to this power first.
    point_weights : (n,) float64, optional
        How many points each point of the tree stands for, above 0; one, where not given.
    workspace : Workspace, optional
        What each run may use.

    Only "cut" takes a tree with infinite distances, and cuts these first. The inertia is that of
    finite ones in their place, the limit as they grow: it is infinite where a cluster holds points
    at an infinite distance.
    """

    def __init__(
        self,
        tree: UltrametricTree,
        *,
        objective: str = "rows",
        power: float = 1.0,
        point_weights: Floats | None = None,
        workspace: Workspace | None = None,
    ) -> None:
        self.workspace = workspace or Workspace()
        self.objective_name = check_choice(objective, "objective", OBJECTIVES)
        self.power = check_positive(power, "power")
        self.n_infinite = int(np.isinf(tree.heights).sum())
        if self.n_infinite and objective != "cut":
            raise ValueError(
                f"objective={objective!r} needs finite distances, and {self.n_infinite + 1} "
                "components of the graph are infinitely far apart. Join them by a number, "
                "disconnected=<number>, or use objective='cut'."
            )
        # Powers of heights of at most 1 do not overflow.
        self._power_unit = 1.0 if self.power == 1.0 else highest_finite(tree.heights) or 1.0
        self.tree = tree if self.power == 1.0 else tree.with_heights(self.raised)
        self.point_weights, self._weight_unit = in_range(point_weights)
        self._parts: dict[float, tuple[int, CutTree]] = {}

    def raised(self, distances: Floats) -> Floats:
        """Return distances as they are on the tree that is clustered: raised to the power."""
        if self.power == 1.0:
            return distances
        with np.errstate(over="ignore", under="ignore"):
            powers: Floats = (distances / self._power_unit) ** self.power
        return powers

    @property
    def height_unit(self) -> float:
        """Heights of the tree that is clustered, times this, are distances raised to the power."""
        with np.errstate(over="ignore", under="ignore"):
            return float(np.power(self._power_unit, self.power))

    @cached_property
    def objective(self) -> TreeObjective:
        """The tree with what Lloyd's steps need. For "cut", rows: its inertia is theirs."""
        kind = EmbeddingObjective if self.objective_name == "embedding" else RowsObjective
        tree = self.tree
        if self.n_infinite:
            # Any finite height in place of the infinite one: points of one component agree on it.
            highest = highest_finite(tree.heights)
            tree = tree.with_heights(lambda heights: np.minimum(heights, highest))
        objective = kind(tree, self.point_weights)
        objective.workspace = self.workspace
        return objective

    def parts(self, n_clusters: int, least: float = 0.0) -> CutTree:
        """Return the parts that CUT makes, at least so many.

        Cuts for a number of parts begin with those for any smaller one, so the most that were
        ever made are kept.

        least : float
            What each part must weigh at least, in the unit of the weights.
        """
        n_made, parts = self._parts.get(least, (0, None))
        if parts is None or n_made < n_clusters:
            parts = cut_spanning_tree(self.tree, n_clusters, self.point_weights, least)
            self._parts[least] = n_clusters, parts
        return parts

    def prepare(self, plan: Plan) -> None:
        """Compute what runs in several threads share, up to the number of clusters of a plan."""
        self.objective  # noqa: B018 -- kept once it is computed
        if plan.init == "cut" or plan.objective == "cut":
            self._cut(plan)

    def solve(self, n_clusters: int, **parameters: Any) -> Solution:
        """Return the clustering for parameters as in :meth:`Plan.check`."""
        plan = Plan.check(
            self.tree.n_points,
            n_clusters,
            objective=self.objective_name,
            power=self.power,
            **parameters,
        )
        return self.run(plan)

    def run(self, plan: Plan, progress: Progress | None = None) -> Solution:
        """Return the best clustering that the starts of a plan lead to.

        Clusters are numbered by weight, except where the plan gives a row for each.

        progress : callable, optional
            Called as ``progress(done, total)``, in this thread, with the number of starts.
        """
        best = self._best_solution(plan, progress)
        if progress is not None:
            n_starts = self._n_starts(plan)
            progress(n_starts, n_starts)
        if self._holds_infinite(best.labels):
            return Solution(best.labels, np.inf, best.n_iter)
        if best.inertia <= 0.0:
            return Solution(best.labels, 0.0, best.n_iter)
        units = 2 * [self.objective.unit, self.height_unit]
        units += self.objective.weight_degree * [self._weight_unit]
        return Solution(best.labels, product([best.inertia, *units]), best.n_iter)

    def _holds_infinite(self, labels: Labels) -> bool:
        """Whether points at an infinite distance are in one cluster."""
        # Only CUT clusters such trees, and its parts hang together by edges of the spanning tree.
        ends = labels[self.tree.spanning_tree.edges[self.tree.n_points - 1 - self.n_infinite :]]
        return bool((ends[:, 0] == ends[:, 1]).any())

    def lengths(self, squares: Floats) -> Floats:
        """Return distances to centres in the units of the data, from squares in the kernels'."""
        units = [self.objective.unit, self.height_unit]
        # Of the two weights by which an inertia grows, one is that of the point itself.
        units += (self.objective.weight_degree - 1) * [float(np.sqrt(self._weight_unit))]
        mantissas, exponents = np.frexp(units)
        with np.errstate(over="ignore", under="ignore"):
            lengths: Floats = np.ldexp(np.sqrt(squares) * mantissas.prod(), exponents.sum())
        return lengths

    @staticmethod
    def _n_starts(plan: Plan) -> int:
        by_luck = plan.objective != "cut" and plan.init in ("k-means++", "random")
        return plan.n_starts if by_luck else 1

    def _best_solution(self, plan: Plan, progress: Progress | None) -> Solution:
        if plan.points is not None and plan.objective != "cut":
            return self._large_enough([self._run_from(Start(points=plan.points), plan)], plan)[0]
        if plan.init == "cut" or plan.objective == "cut":
            start = Start(parts=self._cut(plan))
            return self._numbered(self._run_from(start, plan))
        # Seeds are drawn before any run begins: the result does not depend on the threads.
        seeds = check_random_state(plan.random_state).randint(LARGEST_SEED, size=plan.n_starts)

        done = count(1)
        caller = threading.get_ident()

        def run(seed: int) -> Solution:
            solution = self._run_from(self._random_start(plan, seed), plan)
            n_done = next(done)
            if progress is not None and threading.get_ident() == caller and n_done < len(seeds):
                progress(n_done, len(seeds))
            return solution

        # The first run computes what all of them share.
        solutions = [run(seeds[0]), *map_in_threads(run, seeds[1:], plan.n_jobs)]
        solutions = self._large_enough(solutions, plan)
        best = min(solutions, key=lambda solution: float(to_twelve_digits(solution.inertia)))
        return self._numbered(best)

    def _run_from(self, start: Start, plan: Plan) -> Solution:
        few = self.tree.n_points <= _PLAIN_UP_TO
        plain = plan.algorithm == "plain" or (plan.algorithm == "auto" and few)
        assignment = PlainAssignment if plain else LazyAssignment
        begun = assignment(self.objective, start, plan.n_clusters)
        if plan.objective == "cut":
            return lloyd(begun, 0)
        if plan.min_cluster_size is None or start.parts is None:
            return lloyd(begun, plan.max_iter)
        return lloyd(GuardedAssignment(begun, self._least(plan)), plan.max_iter)

    def _least(self, plan: Plan) -> float:
        """Return what a cluster must weigh, in the unit of the weights; 0 for anything."""
        return 0.0 if plan.min_cluster_size is None else plan.min_cluster_size / self._weight_unit

    def _cut(self, plan: Plan) -> CutTree:
        try:
            return self.parts(plan.n_clusters, self._least(plan))
        except TooFewCutsError as error:
            raise ValueError(
                f"n_clusters={plan.n_clusters}, but with "
                f"min_cluster_size={plan.min_cluster_size:g} the spanning tree can be cut into "
                f"{error.n_parts} only. Ask for at most {error.n_parts} "
                f"{'cluster' if error.n_parts == 1 else 'clusters'}, or for smaller ones."
            ) from None

    def _large_enough(self, solutions: list[Solution], plan: Plan) -> list[Solution]:
        """Return the solutions without those in which a cluster weighs too little."""
        if plan.min_cluster_size is None:
            return solutions
        least = self._least(plan) * (1.0 - TIE)
        smallest = [smallest_weight(solution.labels, self.point_weights) for solution in solutions]
        if max(smallest) < least:
            starts = (
                "The start from given rows" if plan.points is not None else "Every random start"
            )
            raise ValueError(
                f"{starts} ended with a cluster below "
                f"min_cluster_size={plan.min_cluster_size:g}; the best one had a smallest cluster "
                f"of {max(smallest) * self._weight_unit:g}. Use init='cut', which never goes "
                "below, other starts, or ask for fewer or smaller clusters."
            )
        pairs = zip(solutions, smallest, strict=True)
        return [solution for solution, weight in pairs if weight >= least]

    def _numbered(self, solution: Solution) -> Solution:
        labels = numbers_by_weight(solution.labels, self.point_weights, self.tree)
        return Solution(labels, solution.inertia, solution.n_iter)

    def _random_start(self, plan: Plan, seed: int) -> Start:
        random_state = np.random.RandomState(seed)
        if plan.init == "random":
            points = random_points(self.objective, plan.n_clusters, random_state)
        else:
            points = spread_points(self.objective, plan.n_clusters, random_state)
        return Start(points=points)
