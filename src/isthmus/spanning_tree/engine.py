"""The interface of all engines: what they are asked, and what they answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from isthmus._utils.memory import Budget
from isthmus._utils.progress import Progress
from isthmus._utils.typing import Floats, Ints
from isthmus.metrics import AnyMetric, PreparedPoints
from isthmus.metrics.input import n_points_of
from isthmus.metrics.precomputed import Graph, Precomputed

if TYPE_CHECKING:  # it loads Numba
    from isthmus.kdtree.build import KdTree
    from isthmus.neighbors.sorted_lists import Neighbors

# Bytes of small things, whatever the number of points; and per point, for sorting the edges at
# the end, which all engines do.
FIXED_BYTES = 1 << 20
BYTES_PER_EDGE = 72


@dataclass(frozen=True)
class Problem:
    """Data whose spanning tree is wanted, and what may be used to find it.

    Attributes
    ----------
    data : PreparedPoints, array, list of objects or precomputed distances
        Checked. Points are prepared where the metric maps them to simpler ones.
    metric : a resolved metric
    disconnected : float or None
        How far apart the components of a graph are; None: a graph of several is refused.
    n_jobs : int
        Threads.
    progress : callable or None
    budget : Budget
        Memory, beside the data.
    may_decline : bool
        Whether an engine may decline, once it sees that another is faster.
    n_neighbors : int
        How many nearest neighbours are wanted as well, where the engine finds them on the way.
    keep_kdtree : bool
        Whether a kd-tree that was built is wanted as well.
    """

    data: Any
    metric: AnyMetric
    disconnected: float | None
    n_jobs: int
    progress: Progress | None
    budget: Budget
    may_decline: bool = False
    n_neighbors: int = 0
    keep_kdtree: bool = True

    @property
    def n_points(self) -> int:
        """The number of points."""
        return n_points_of(self.data.points if self.has_prepared_points else self.data)

    @property
    def has_prepared_points(self) -> bool:
        """Whether there are coordinates that kernels can read."""
        return isinstance(self.data, PreparedPoints)

    @property
    def has_dense_points(self) -> bool:
        """Whether these are in an array."""
        return self.has_prepared_points and isinstance(self.data.points, np.ndarray)

    @property
    def prepared(self) -> PreparedPoints:
        """The prepared points, where there are any."""
        assert isinstance(self.data, PreparedPoints)
        return self.data

    @property
    def points(self) -> Any:
        """Their coordinates: an array, or a CSR matrix."""
        return self.prepared.points

    def describe(self) -> str:
        """Return what the data are, for messages."""
        if isinstance(self.data, Precomputed):
            kind = "a sparse graph" if isinstance(self.data, Graph) else "a full matrix"
            return f"{kind} of precomputed distances"
        if not self.has_prepared_points:
            return f"metric={self.metric.name!r}, known by its distances alone"
        kind = "dense" if self.has_dense_points else "sparse"
        return f"{kind} points of {self.points.shape[1]} features with metric={self.metric.name!r}"


class Edges(NamedTuple):
    """What an engine has found.

    Attributes
    ----------
    edges : (n - 1, 2) int
        In any order.
    weights : (n - 1,) float64
    kdtree : KdTree or None
        The kd-tree of the points, where one was built and is wanted.
    neighbors : Neighbors or None
        The nearest neighbours of the points, where they were asked for and found on the way.
    by_index : bool
        Whether edges of equal length were compared by their points' indices, so that any engine
        that does so finds the same tree.
    """

    edges: Ints
    weights: Floats
    kdtree: KdTree | None = None
    neighbors: Neighbors | None = None
    by_index: bool = True


@dataclass(frozen=True)
class Declined:
    """The answer of an engine that has seen, on the way, that another one is faster."""

    reason: str


class Engine(ABC):
    """One way to find a spanning tree.

    Attributes
    ----------
    name : str
        What ``engine=`` calls it.
    takes : str
        What data it takes, for messages.
    removes_duplicates : bool
        Whether it gains from being given only one of several equal points.
    """

    name: ClassVar[str]
    takes: ClassVar[str]
    removes_duplicates: ClassVar[bool] = False

    @abstractmethod
    def supports(self, problem: Problem) -> bool:
        """Whether it can find the tree."""

    def suits(self, problem: Problem) -> bool:  # noqa: ARG002
        """Whether it is likely to be the fastest of those that can, and come later."""
        return True

    @abstractmethod
    def bytes_needed(self, problem: Problem) -> int:
        """Return how much memory it takes beside the data.

        An upper bound, not far above what is allocated at the peak. Compiled code and the buffers
        of BLAS are not counted.
        """

    def smaller(self, problem: Problem) -> Iterator[Problem]:
        """Yield the problem, and then as it takes less memory but more time."""
        for n_jobs in range(problem.n_jobs, 0, -1):
            yield replace(problem, n_jobs=n_jobs)

    @abstractmethod
    def run(self, problem: Problem) -> Edges | Declined:
        """Find the tree. There are at least two points, if they are prepared ones."""
