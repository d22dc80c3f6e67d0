"""Groups of points → the mean transitive distance of each two groups, without the matrix.

All pairs across a merge are at its height, so it adds height · a · b to the sum of two groups of
which a points are on one side and b on the other. Every node keeps a short list of the groups below
it with their numbers of points, merged from the lists of its children.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric.tree import UltrametricTree

# Merges per kernel call: well under a second even where each visits hundreds of groups.
CHUNK = 1 << 16


class GroupLists(NamedTuple):
    """For each node that is not merged yet, the groups below it.

    Attributes
    ----------
    group, size : (n,) int64
        From the node's start in leaf order on: the groups that have points below it, ascending,
        and the number of these points.
    length : (2n - 1,) int64
        The number of groups below each node.
    spare : (2, m) int64
        Scratch for one list.
    """

    group: Ints
    size: Ints
    length: Ints
    spare: Ints


def mean_distances_of_groups(tree: UltrametricTree, groups: Ints, n_groups: int) -> Floats:
    """Return the mean of each block of the distance matrix, rows and columns taken by group.

    A block on the diagonal is that of a group with itself, its zeros included. Means over pairs
    that are infinitely far apart are infinite.

    Parameters
    ----------
    tree : UltrametricTree
    groups : (n,) int64
        The group of each point, 0 … n_groups - 1; none is empty.
    n_groups : int

    Returns
    -------
    (n_groups, n_groups) float64

    Notes
    -----
    O(n + n_groups²) memory and at most O(n · n_groups) time; about O(n + n_groups²) where groups
    are neighbours in the tree's leaf order and the tree is no long path.
    """
    n_points = tree.n_points
    lists = GroupLists(
        groups[tree.leaf_order],
        np.ones(n_points, dtype=np.int64),
        np.ones(2 * n_points - 1, dtype=np.int64),
        np.empty((2, n_groups), dtype=np.int64),
    )
    sums = np.zeros((n_groups, n_groups))
    for start, stop in chunks(n_points - 1, CHUNK):
        add_merges(tree.children, tree.heights, tree.starts, lists, sums, start, stop)
    sizes = np.bincount(groups, minlength=n_groups).astype(np.float64)
    means: Floats = (sums + sums.T) / np.outer(sizes, sizes)
    return means


@kernel
def add_merges(
    children: Ints,
    heights: Floats,
    starts: Ints,
    lists: GroupLists,
    sums: Floats,
    start: int,
    stop: int,
) -> None:
    """Add the distances of pairs across merges start … stop - 1 to the sums of their groups.

    lists : in and out
    sums : (m, m) float64, in and out
        sums[f, g] is that of pairs with a point of f on a merge's first side, of g on its second.
    """
    n_points = children.shape[0] + 1
    group, size = lists.group, lists.size
    for e in range(start, stop):
        first, second = children[e, 0], children[e, 1]
        a, a_stop = starts[first], starts[first] + lists.length[first]
        b, b_stop = starts[second], starts[second] + lists.length[second]
        for i in range(a, a_stop):
            weighted = heights[e] * size[i]
            for j in range(b, b_stop):
                sums[group[i], group[j]] += weighted * size[j]
        lists.length[n_points + e] = merge_lists(lists, a, a_stop, b, b_stop)


@kernel_part
def merge_lists(lists: GroupLists, a: int, a_stop: int, b: int, b_stop: int) -> int:
    """Write the union of the lists a … a_stop - 1 and b … b_stop - 1 to a; return its length.

    The second list lies behind the first, so writing never overtakes reading there; the first is
    copied to spare.
    """
    group, size, spare = lists.group, lists.size, lists.spare
    n_first = a_stop - a
    for i in range(n_first):
        spare[0, i] = group[a + i]
        spare[1, i] = size[a + i]
    i, j, end = 0, b, a
    while i < n_first or j < b_stop:
        take_first = j == b_stop or (i < n_first and spare[0, i] <= group[j])
        take_second = i == n_first or (j < b_stop and group[j] <= spare[0, i])
        merged, total = 0, 0
        if take_second:
            merged, total = group[j], size[j]
            j += 1
        if take_first:
            merged, total = spare[0, i], total + spare[1, i]
            i += 1
        group[end], size[end] = merged, total
        end += 1
    return end - a
