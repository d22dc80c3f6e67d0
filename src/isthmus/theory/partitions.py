"""UltrametricTree → the numbers of clusters into which it can be divided consistently.

A cluster is consistent exactly if it is everything that a merge has joined at one height, with its
next merge strictly above. Connected merges of one height are one *event*: to split it means to
separate all of its m parts, which adds m - 1 clusters. So a consistent labelling is a choice of
events, none without those above it, and its number of clusters is 1 plus the sum of what they add.
Where every event joins two parts, every number can be reached; ties may leave some sums out of
reach. Equal points can never be separated.

The sums that can be reached below a merge are a set of numbers: the sums of a number of its first
child's set and one of its second child's. Along with the largest number of each set one pass over
the tree finds a bound on the widest gap between two neighbours in it. Where that is 1 the set is
everything up to its largest number, as it nearly always is; the others are computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isthmus._numba.kernel import kernel
from isthmus._utils.memory import require_memory
from isthmus._utils.parameters import check_integer
from isthmus._utils.typing import Floats, Ints, Labels
from isthmus.theory.number_sets import ZERO, NumberSet, runs_of, size_of, sums_of, zero_and_shifted
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.merges import tops_of_ties
from isthmus.ultrametric.node_labels import labels_of_parts
from isthmus.ultrametric.tree import check_tree

# The state of a merge: below an event that is not split, next to be decided, part of a split event.
_WHOLE, _NEXT, _SPLIT = 0, 1, 2

# Memory is checked each time that the sums have grown by this many bytes.
_BYTES_AT_ONCE = 1 << 26
_WITHOUT_TIES = "Break ties, for example by adding a little noise to the points."


@dataclass(frozen=True, eq=False, repr=False)
class Sums:
    """What the events below each merge, itself excluded, can add to the number of clusters."""

    children: Ints
    heights: Floats
    added: Ints  # (n - 1,), by the event of the merge, as far as it lies at or below the merge
    largest: Ints  # (n - 1,), the largest sum
    known: dict[int, NumberSet]  # the sums themselves, where some may be out of reach

    def of_child(self, e: int, side: int) -> NumberSet:
        """Return what a child of merge e can add, whole or split."""
        child = self.child(e, side)
        if child < 0:
            return ZERO
        below = self.known[child] if child in self.known else ((0, int(self.largest[child])),)
        if self.heights[child] == self.heights[e]:
            return below
        return zero_and_shifted(below, int(self.added[child]))

    def child(self, e: int, side: int) -> int:
        """Return the merge that is a child of merge e; -1 where that cannot be split."""
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

    See Also
    --------
    consistent_partitions : Compute it.

    Examples
    --------
    >>> from isthmus import UltrametricTree
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [6.5]])
    >>> from isthmus.theory import consistent_partitions
    >>> possible = consistent_partitions(tree)
    >>> possible.counts.tolist(), 3 in possible, possible.labels(3).tolist()
    ([1, 2, 3, 4], True, [0, 0, 1, 2])
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

        The highest events are split first: where cutting the tree at one height gives k clusters,
        these are returned. There may be other consistent labellings.

        Returns
        -------
        ndarray of shape (n_points,), dtype int32
        """
        k = check_integer(k, "k", 1)
        if k not in self:
            near = self.counts[np.argsort(np.abs(self.counts - k), kind="stable")[:2]]
            raise ValueError(
                f"No consistent labelling into {k} clusters exists; the nearest numbers that have "
                f"one: {', '.join(str(n) for n in sorted(near.tolist()))}."
            )
        children, heights = self.tree.children, self.tree.heights
        adds = self._sums.added[tops_of_ties(children, heights)]
        state = np.zeros(len(heights), dtype=np.int32)
        if split_from_the_top(children, heights, adds, k - 1, state):
            state = _split_exactly(self._sums, k - 1)
        return labels_of_parts(self.tree, state == _SPLIT)

    def __repr__(self) -> str:
        return f"ConsistentPartitions(counts={_as_ranges(self.counts, 8)})"


def consistent_partitions(tree: UltrametricTree) -> ConsistentPartitions:
    """Return all numbers k for which a consistent labelling into k clusters exists.

    Consistent is meant as in :func:`isthmus.theory.consistency`. Without ties every k up to the
    number of distinct points is among them. Ties rule some out: of three points that are equally
    far apart no two can be a cluster.

    Parameters
    ----------
    tree : UltrametricTree

    Returns
    -------
    ConsistentPartitions
        With ``counts`` and ``labels(k)``.

    See Also
    --------
    ConsistentPartitions : What is returned.
    consistency : Whether given labels are consistent.

    Notes
    -----
    O(n), unless ties leave gaps that nothing else fills. Then it is a subset-sum problem, of
    O(n²) bit operations and bits at worst; MemoryError is raised before memory runs out.

    Examples
    --------
    >>> from isthmus import UltrametricTree
    >>> from isthmus.theory import consistent_partitions
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
    sums = Sums(tree.children, tree.heights, added, largest, {})
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
    """Fill added and largest of ``Sums``, and bounds on gaps, in one pass up the tree.

    widest : (n - 1,) int64, out
        A bound on the widest gap between two neighbouring sums; 1: all are there.

    Copies of a set A with the largest number a, shifted by each number of a set B, leave no gap
    wider than A's own, or than B's less a.
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
        # equal points are never separated
        if heights[e] == 0.0:
            added[e] = 0


@kernel
def split_from_the_top(
    children: Ints, heights: Floats, adds: Ints, wanted: int, state: Labels
) -> int:
    """Split events from the highest down while they add no more clusters than are wanted.

    adds : (n - 1,) int64, in
        How many clusters the event of each merge adds.
    state : (n - 1,) int32, zero on entry, out

    Returns how many clusters are still missing in the end.
    """
    n_points = children.shape[0] + 1
    if n_points > 1:
        state[n_points - 2] = _NEXT
    for e in range(n_points - 2, -1, -1):
        if state[e] == _NEXT:
            if heights[e] > 0.0 and adds[e] <= wanted:
                wanted -= adds[e]
                state[e] = _SPLIT
            else:
                state[e] = _WHOLE
        if state[e] == _SPLIT:
            for side in range(2):
                below = children[e, side] - n_points
                if below >= 0:
                    state[below] = _SPLIT if heights[below] == heights[e] else _NEXT
    return wanted


def _split_exactly(sums: Sums, wanted: int) -> Labels:
    """Return the state of each merge, (n - 1,), for events that together add what is wanted."""
    state = np.zeros(len(sums.heights), dtype=np.int32)
    root = len(sums.heights) - 1
    stack = [(root, wanted - int(sums.added[root]))] if wanted else []
    while stack:
        e, target = stack.pop()
        state[e] = _SPLIT
        for side, share in enumerate(_shares(sums, e, target)):
            child = sums.child(e, side)
            if child >= 0 and sums.heights[child] == sums.heights[e]:
                stack.append((child, share))
            elif share:
                stack.append((child, share - int(sums.added[child])))
    return state


def _shares(sums: Sums, e: int, target: int) -> tuple[int, int]:
    """Return how the two children of merge e share a target that they can reach together."""
    others = runs_of(sums.of_child(e, 1))
    for low, high in runs_of(sums.of_child(e, 0)):
        for other_low, other_high in others:
            first = max(low, target - other_high)
            if first <= min(high, target - other_low):
                return first, target - first
    raise AssertionError(f"{target} is no sum below merge {e}")


def _as_ranges(counts: Ints, limit: int) -> str:
    """Return integers as ranges: "1", "3 … 7"; at most ``limit`` of them, and then "…"."""
    breaks = np.flatnonzero(np.diff(counts) > 1) + 1
    parts = np.split(counts, breaks[:limit])
    words = [
        f"{part[0]} … {part[-1]}" if len(part) > 2 else ", ".join(map(str, part))
        for part in parts[:limit]
    ]
    return ", ".join([*words, "…"] if len(parts) > limit else words)
