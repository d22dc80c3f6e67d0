"""UltrametricTree → the numbers of clusters into which it can be divided consistently.

A cluster is consistent exactly if it is all that a merge has put together at one height, with its
next merge strictly above. Merges of one height that lead up to each other are one *event*: to
divide what it joined means to take all of its m parts, m - 1 clusters more. So a consistent
labelling is a choice of events, none without the ones above it, and its number of clusters is 1
plus the sum of what they add. Where every event joins two parts, any number can be had; with ties,
some sums may be out of reach. Equal points can never be divided.

Which sums can be had below a merge is a set of numbers, the sum of those of its two sides. Along
with their largest number the tree is given a bound of the widest gap between two neighbours in
each set. Where that is 1 the set is everything up to its largest number, as it nearly always is;
the others are computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.memory import require_memory
from isthmus._utils.parameters import check_whole_number
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.theory.number_sets import ZERO, NumberSet, runs_of, size_of, sums_of, zero_and_shifted
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import tops_of_ties
from isthmus.ultrametric.tree import check_tree

# What is known of the event that a merge is part of.
_CLOSED, _AVAILABLE, _OPEN = 0, 1, 2

# Sums are computed while there is memory for so many bytes more.
_BYTES_AT_ONCE = 1 << 26
_WITHOUT_TIES = "Break ties, for example by adding a little noise to the points."


@dataclass(frozen=True, eq=False, repr=False)
class Sums:
    """What the events below each merge, itself excluded, can add to the number of clusters.

    Attributes
    ----------
    children, heights : the merges
    added : (n - 1,) int64
        How many clusters the event of the merge adds, as far as it lies at or below the merge.
    largest : (n - 1,) int64
        The largest sum.
    widest : (n - 1,) int64
        A bound of the widest gap between two sums next to each other; 1: all are there.
    known : dict
        The sums themselves, for merges where the bound is above 1.
    """

    children: Ints
    heights: Floats
    added: Ints
    largest: Ints
    widest: Ints
    known: dict[int, NumberSet]

    def of_child(self, e: int, side: int) -> NumberSet:
        """Return what a child of merge e can add, undivided or divided."""
        child = self.child(e, side)
        if child < 0:
            return ZERO
        below = self.known[child] if child in self.known else ((0, int(self.largest[child])),)
        if self.heights[child] == self.heights[e]:
            return below
        return zero_and_shifted(below, int(self.added[child]))

    def child(self, e: int, side: int) -> int:
        """Return the merge that is a child of merge e; -1 where that cannot be divided."""
        child = int(self.children[e, side]) - len(self.children) - 1
        return child if child >= 0 and self.heights[child] > 0 else -1


@dataclass(frozen=True, eq=False, repr=False)
class ConsistentPartitions:
    """The numbers of clusters for which a consistent labelling exists.

    Attributes
    ----------
    counts : ndarray of int64
        These numbers, in ascending order; 1 is always one of them.
    tree : UltrametricTree
    """

    counts: Ints
    tree: UltrametricTree
    _sums: Sums

    def __contains__(self, k: object) -> bool:
        return isinstance(k, int | np.integer) and bool((self.counts == k).any())

    def __len__(self) -> int:
        return len(self.counts)

    def labels(self, k: int) -> Labels:
        """Return a consistent labelling into k clusters, numbered by their first points.

        The highest events are divided first, so that where cutting the tree at one height gives k
        clusters these are the ones; there may be others.

        Returns
        -------
        ndarray of shape (n_points,), dtype int32
        """
        k = check_whole_number(k, "k", 1)
        if k not in self:
            near = self.counts[np.argsort(np.abs(self.counts - k), kind="stable")[:2]]
            raise ValueError(
                f"No consistent labelling into {k} clusters exists; the nearest numbers that have "
                f"one: {', '.join(str(n) for n in sorted(near.tolist()))}."
            )
        children, heights = self.tree.children, self.tree.heights
        state = np.zeros(len(heights), dtype=np.int32)
        if open_from_the_top(children, heights, self._events_add(), k - 1, state):
            state = _opened_exactly(self._sums, k - 1)
        labels = np.full(self.tree.n_points, -1, dtype=np.int32)
        numbers = np.full(2 * self.tree.n_points - 1, -1, dtype=np.int32)
        label_parts(children, state, numbers, labels)
        return labels

    def _events_add(self) -> Ints:
        return self._sums.added[tops_of_ties(self.tree.children, self.tree.heights)]

    def __repr__(self) -> str:
        shown = ", ".join(_as_ranges(self.counts, 8))
        return f"ConsistentPartitions(counts={shown})"


def consistent_partitions(tree: UltrametricTree) -> ConsistentPartitions:
    """Return all numbers k for which a consistent labelling into k clusters exists.

    Consistent is meant as in :func:`isthmus.consistency`. Without ties every k up to the number of
    different points is among them. Ties forbid some: of three points that are equally far apart
    no two can be a cluster.

    Parameters
    ----------
    tree : UltrametricTree

    Returns
    -------
    ConsistentPartitions
        With ``counts`` and ``labels(k)``.

    Notes
    -----
    O(n), unless ties leave gaps that nothing else fills. Then it is a problem of subset sums, up
    to O(n²) bit operations and bits at worst; MemoryError is raised before memory runs out.

    Examples
    --------
    >>> from isthmus import UltrametricTree, consistent_partitions
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [2.0], [5.0]])
    >>> found = consistent_partitions(tree)
    >>> found.counts.tolist(), found.labels(2).tolist()
    ([1, 2, 4], [0, 0, 0, 1])
    """
    check_tree(tree)
    sums = _sums_of_tree(tree)
    return ConsistentPartitions(_counts(sums), tree, sums)


def _sums_of_tree(tree: UltrametricTree) -> Sums:
    added, largest, widest = np.empty((3, tree.n_points - 1), dtype=np.int64)
    bound_sums(tree.children, tree.heights, added, largest, widest)
    sums = Sums(tree.children, tree.heights, added, largest, widest, {})
    n_bytes, allowed = 0, 0
    for e in np.flatnonzero(widest > 1).tolist():
        numbers = sums_of(sums.of_child(e, 0), sums.of_child(e, 1))
        sums.known[e] = numbers
        n_bytes += size_of(numbers)
        if n_bytes > allowed:
            require_memory(
                _BYTES_AT_ONCE, "The next part of the sums of tied merges", _WITHOUT_TIES
            )
            allowed += _BYTES_AT_ONCE
    return sums


def _counts(sums: Sums) -> Ints:
    root = len(sums.heights) - 1
    if root < 0 or sums.heights[root] == 0:
        return np.ones(1, dtype=np.int64)
    below = sums.known.get(root, ((0, int(sums.largest[root])),))
    reached = [np.arange(low, high + 1) for low, high in runs_of(below)]
    return np.append(1, np.concatenate(reached) + sums.added[root] + 1)


@kernel
def bound_sums(children: Ints, heights: Floats, added: Ints, largest: Ints, widest: Ints) -> None:
    """Fill what ``Sums`` says of each merge, (n - 1,) each, out, on one way up.

    Copies of a set A, its largest number a, shifted by each number of a set B leave no gap wider
    than A's own, or than B's less a.
    """
    n_points = children.shape[0] + 1
    for e in range(n_points - 1):
        added[e] = 1
        largest[e] = 0
        widest[e] = 1
        for side in range(2):
            below = children[e, side] - n_points
            if below < 0:
                continue
            high, wide = largest[below], widest[below]
            if heights[below] == heights[e]:
                added[e] += added[below]
            else:
                high += added[below]
                wide = max(wide, added[below])
            widest[e] = min(max(widest[e], wide - largest[e]), max(wide, widest[e] - high))
            largest[e] += high
        # of equal points nothing is ever divided
        if heights[e] == 0.0:
            added[e] = 0


@kernel
def open_from_the_top(
    children: Ints, heights: Floats, adds: Ints, wanted: int, state: Labels
) -> int:
    """Divide events from the highest down while they add no more than is wanted.

    Parameters
    ----------
    children, heights : in
    adds : (n - 1,) int64, in
        How many clusters the event that each merge is part of adds.
    wanted : int
        How many clusters are to be added.
    state : (n - 1,) int32, zero on entry, out

    Returns
    -------
    int
        How many are still missing in the end.
    """
    n_points = children.shape[0] + 1
    if n_points > 1:
        state[n_points - 2] = _AVAILABLE
    for e in range(n_points - 2, -1, -1):
        if state[e] == _AVAILABLE:
            if heights[e] > 0.0 and adds[e] <= wanted:
                wanted -= adds[e]
                state[e] = _OPEN
            else:
                state[e] = _CLOSED
        if state[e] == _OPEN:
            for side in range(2):
                below = children[e, side] - n_points
                if below >= 0:
                    state[below] = _OPEN if heights[below] == heights[e] else _AVAILABLE
    return wanted


def _opened_exactly(sums: Sums, wanted: int) -> Labels:
    """Return the state of each merge, (n - 1,), for a choice of events that add what is wanted."""
    state = np.zeros(len(sums.heights), dtype=np.int32)
    root = len(sums.heights) - 1
    stack = [(root, wanted - int(sums.added[root]))] if wanted else []
    while stack:
        e, target = stack.pop()
        state[e] = _OPEN
        for side, share in enumerate(_divided(sums, e, target)):
            child = sums.child(e, side)
            if child >= 0 and sums.heights[child] == sums.heights[e]:
                stack.append((child, share))
            elif share:
                stack.append((child, share - int(sums.added[child])))
    return state


def _divided(sums: Sums, e: int, target: int) -> tuple[int, int]:
    """Return how the two children of merge e share a target that they can reach together."""
    others = runs_of(sums.of_child(e, 1))
    for low, high in runs_of(sums.of_child(e, 0)):
        for other_low, other_high in others:
            first = max(low, target - other_high)
            if first <= min(high, target - other_low):
                return first, target - first
    raise AssertionError(f"{target} is no sum below merge {e}")


@kernel
def label_parts(children: Ints, state: Labels, numbers: Labels, labels: Labels) -> None:
    """Fill labels: a part begins where a node that is not divided hangs below one that is.

    Parameters
    ----------
    children : in
    state : (n - 1,) int32, in
    numbers : (2n - 1,) int32, scratch
        The node at the top of each node's part.
    labels : (n,) int32, out
        Numbered in the order of the points.
    """
    n_points = children.shape[0] + 1
    root = 2 * n_points - 2
    numbers[root] = root
    for e in range(n_points - 2, -1, -1):
        for side in range(2):
            below = children[e, side]
            numbers[below] = below if state[e] == _OPEN else numbers[n_points + e]
    n_parts = 0
    for i in range(n_points):
        labels[i] = numbers[i]
    # from here on numbers[v] is the label of the part with top v
    for v in range(2 * n_points - 1):
        numbers[v] = -1
    for i in range(n_points):
        top = labels[i]
        if numbers[top] < 0:
            numbers[top] = n_parts
            n_parts += 1
        labels[i] = numbers[top]


def _as_ranges(counts: Ints, limit: int) -> list[str]:
    """Return whole numbers as words: "1", "3 … 7"; at most so many, and then "…"."""
    breaks = np.flatnonzero(np.diff(counts) > 1) + 1
    parts = np.split(counts, breaks[:limit])
    words = [
        f"{part[0]} … {part[-1]}" if len(part) > 2 else ", ".join(map(str, part))
        for part in parts[:limit]
    ]
    return [*words, "…"] if len(parts) > limit else words
