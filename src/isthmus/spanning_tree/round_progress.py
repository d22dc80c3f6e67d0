"""How much of Borůvka's algorithm is done, as a share of the time that it is taken to need."""

from __future__ import annotations

from math import log

from isthmus._utils.progress import Progress

# A round leaves about one component of this many, found on points of 2 to 64 features.
_COMPONENTS_PER_ROUND = 6.0


class RoundProgress:
    """Progress of stages, one after the other, that end at shares of the time known in advance.

    It never goes back.
    """

    def __init__(self, progress: Progress | None, n_points: int) -> None:
        self.progress = progress
        self.total = n_points - 1
        self.begin = self.end = self.reached = 0.0

    def begin_stage(self, end: float) -> None:
        """Begin a stage that ends at a share of the time."""
        self.begin = self.reached
        self.end = max(end, self.reached)

    def report(self, share_of_stage: float) -> None:
        """Report that a share of the stage is done."""
        self.reached = max(
            self.reached, self.begin + min(share_of_stage, 1.0) * (self.end - self.begin)
        )
        if self.progress is not None:
            self.progress(round(self.reached * self.total), self.total)


def share_of_rounds(n_points: int, n_components: float) -> float:
    """Return the share of the rounds that is done, from 0 to 1, when n_components are left.

    A round divides the number of components, and takes about as long as another, however few edges
    it finds: so logarithms are compared.
    """
    if n_components <= 1 or n_points < 2:
        return 1.0
    return log(n_points / n_components) / log(n_points)


def share_after_round(n_points: int, n_components: int) -> float:
    """Return the share of the rounds that is likely done after the next one."""
    return share_of_rounds(n_points, n_components / _COMPONENTS_PER_ROUND)
