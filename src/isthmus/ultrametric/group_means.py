"""Groups of points → the mean transitive distance of each two groups, without the matrix.

A merge puts its height on all pairs across its two sides, so it adds height · a · b to the sum of
two groups of which a points are on one side and b on the other. Every node keeps a short list of
the groups below it and how many points of each it has. The lists of its children make its own.
"""

from __future__ import annotations

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import chunks
from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric.tree import UltrametricTree

# Merges per kernel call: well under a second even where each looks at hundreds of groups.
CHUNK = 1 << 16


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
    listed = groups[tree.leaf_order]
    counts = np.ones(n_points, dtype=np.int64)
    lengths = np.ones(2 * n_points - 1, dtype=np.int64)
    spare = np.empty((2, n_groups), dtype=np.int64)
    sums = np.zeros((n_groups, n_groups))
    for start, stop in chunks(n_points - 1, CHUNK):
        add_merges(
            tree.children, tree.heights, tree.starts, listed, counts, lengths, spare, sums,
            start, stop,
        )  # fmt: skip
    sizes = np.bincount(groups, minlength=n_groups).astype(np.float64)
    means: Floats = (sums + sums.T) / np.outer(sizes, sizes)
    return means


@kernel
def add_merges(
    children: Ints,
    heights: Floats,
    starts: Ints,
    listed: Ints,
    counts: Ints,
    lengths: Ints,
    spare: Ints,
    sums: Floats,
    start: int,
    stop: int,
) -> None:
    """Add the distances of pairs across merges start … stop - 1 to the sums of their groups.

    Parameters
    ----------
    children, heights, starts : in
        Of the tree.
    listed, counts : (n,) int64, in and out
        The lists of nodes that are not merged yet, each from the node's start on: the groups
        that it has points of, increasing, and how many points of each.
    lengths : (2n - 1,) int64, in and out
        How long these lists are.
    spare : (2, m) int64, out
    sums : (m, m) float64, in and out
        sums[f, g] is that of pairs with a point of f on a merge's first side, of g on its second.
    """
    n_points = children.shape[0] + 1
    for e in range(start, stop):
        first, second = children[e, 0], children[e, 1]
        a, a_stop = starts[first], starts[first] + lengths[first]
        b, b_stop = starts[second], starts[second] + lengths[second]
        for i in range(a, a_stop):
            weighted = heights[e] * counts[i]
            for j in range(b, b_stop):
                sums[listed[i], listed[j]] += weighted * counts[j]
        lengths[n_points + e] = merge_lists(listed, counts, a, a_stop, b, b_stop, spare)


@kernel_part
def merge_lists(
    listed: Ints, counts: Ints, a: int, a_stop: int, b: int, b_stop: int, spare: Ints
) -> int:
    """Write the union of the lists a … a_stop - 1 and b … b_stop - 1 to a; return its length.

    The second list lies behind the first, so that what is written never overtakes what is read
    of it; the first is copied to spare.
    """
    n_first = a_stop - a
    for i in range(n_first):
        spare[0, i] = listed[a + i]
        spare[1, i] = counts[a + i]
    i, j, end = 0, b, a
    while i < n_first or j < b_stop:
        take_first = j == b_stop or (i < n_first and spare[0, i] <= listed[j])
        take_second = i == n_first or (j < b_stop and listed[j] <= spare[0, i])
        group, count = 0, 0
        if take_second:
            group, count = listed[j], counts[j]
            j += 1
        if take_first:
            group, count = spare[0, i], count + spare[1, i]
            i += 1
        listed[end], counts[end] = group, count
        end += 1
    return end - a
