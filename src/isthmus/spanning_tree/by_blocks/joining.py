"""Lists of near points → the edges of a spanning tree: Borůvka's algorithm.

Where lists end too early, points search again; who searches, and where, is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isthmus._utils.typing import Floats, Labels
from isthmus.spanning_tree.best_edges import HUGE, A, B, Best, join_best, make_best, make_joined
from isthmus.spanning_tree.by_blocks import rounds


class CertifiedLists(NamedTuple):
    """Near points of all points, exactly measured, and how far these lists reach.

    Attributes
    ----------
    positions : (n, k) int32
        -1 where there is nothing.
    distances : (n, k) float64
        Squared, ascending.
    reach : (n,) float64
        No point that is not in a point's list is nearer than this, but those of the component that
        it belonged to when it searched.
    """

    positions: Labels
    distances: Floats
    reach: Floats


Search = Callable[[Labels, Labels, Floats], bool]
"""Called as search(searching, labels, known): fills the lists of some positions, ascending, with
positions of other labels. ``known``, (n_components,), is the length of an edge out of each
component. Returns False where that takes too much."""


class ListBoruvka:
    """Borůvka's algorithm over certified lists.

    Parameters
    ----------
    lists : CertifiedLists
        Of at least two points; searches change them.
    search : Search

    Attributes
    ----------
    joined : Joined
        The edges, when all has been joined.
    squares : (n - 1,) float64
        Their squared lengths.
    """

    def __init__(self, lists: CertifiedLists, search: Search) -> None:
        n_points = len(lists.reach)
        self.lists = lists
        self.search = search
        self.used = np.zeros(n_points, dtype=np.int32)
        self.labels = np.arange(n_points, dtype=np.int32)
        self.joined = make_joined(n_points)
        self.squares = np.empty(n_points - 1)

    def join(self) -> bool:
        """Run rounds until one component is left; return False where that takes too much."""
        n_points = n_components = len(self.labels)
        largest, has_searched = 0, False
        new_label = np.empty(n_components, dtype=np.int32)
        while n_components > 1:
            best, unsure = self._best_edges(n_components)
            rounds.keep_certain(self.labels, unsure, best)
            if (best.distance == HUGE).all():
                if has_searched:
                    raise AssertionError("a search without an edge would go on for ever")
                if not self._search_again(unsure, n_components, largest):
                    return False
                has_searched = True
                continue
            has_searched = False
            n_left = join_best(
                n_components,
                -1,
                best,
                self.labels,
                self.joined,
                new_label,
                n_points - n_components,
            )
            self._note_squares(best, slice(n_points - n_components, n_points - n_left))
            n_components = n_left
            largest = int(np.argmax(self.joined.size[:n_components]))
            self.labels = new_label[self.labels]
        return True

    def _note_squares(self, best: Best, new: slice) -> None:
        """Note the squared lengths of new edges, each the best one of the component of an end."""
        a, b = self.joined.edge_a[new], self.joined.edge_b[new]
        of_a, of_b = self.labels[a], self.labels[b]
        is_best = (best.edge[of_a, A] == a) & (best.edge[of_a, B] == b)
        is_best &= best.distance[of_a] < HUGE
        self.squares[new] = best.distance[np.where(is_best, of_a, of_b)]

    def _best_edges(self, n_components: int) -> tuple[Best, Labels]:
        """Return the best edges that the lists hold, and the points for which they may be wrong."""
        best = make_best(n_components)
        rounds.scan_lists(self.labels, self.lists.positions, self.lists.distances, self.used, best)
        unsure = np.empty(len(self.labels), dtype=np.int32)
        return best, unsure[: rounds.list_unsure(self.labels, self.lists.reach, best, unsure)]

    def _search_again(self, unsure: Labels, n_components: int, largest: int) -> bool:
        """Let unsure points search, first one of each component, then those still unsure.

        What the first finds limits how far the others must look. The largest component waits.
        """
        unsure = unsure[self.labels[unsure] != largest]
        _, first = np.unique(self.labels[unsure], return_index=True)
        if not self._search(np.sort(unsure[first]), np.full(n_components, np.inf)):
            return False
        best, unsure = self._best_edges(n_components)
        return self._search(unsure[self.labels[unsure] != largest], best.distance)

    def _search(self, searching: Labels, known: Floats) -> bool:
        if len(searching) == 0:
            return True
        self.used[searching] = 0
        return self.search(searching, self.labels, known)
