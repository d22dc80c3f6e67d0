"""Edges of a tree → the tree hung up at a root, by taking leaves off; parts of kernels.

No lists of neighbours are needed: for each place of the tree it is enough to know how many edges
it has, and all its neighbours, added up bit by bit (exclusive or). A leaf has one neighbour; taken
off, it is taken off that sum, too, until nothing but the root is left.
"""

from __future__ import annotations

from isthmus._numba.kernel import kernel_part
from isthmus._utils.typing import Ints

# Columns of the row of a place: the number of its edges, its neighbours and the edges to them, each
# by exclusive or; and the size of its branch, 1 in the beginning. Once it is taken off, they are
# nothing, its parent, the edge between them, and the size of the whole branch.
EDGES, NEIGHBOUR, EDGE, COUNT = range(4)


@kernel_part
def enter_edge(rows: Ints, a: int, b: int, e: int) -> None:
    """Enter edge e, between a and b, into the rows, (m, 4)."""
    for x, y in ((a, b), (b, a)):
        rows[x, EDGES] += 1
        rows[x, NEIGHBOUR] ^= y
        rows[x, EDGE] ^= e


@kernel_part
def take_leaves_off(rows: Ints, root: int, order: Ints) -> int:
    """Take all off but the root; return how many they are. order, (m,), out: as they were taken."""
    rows[root, EDGES] += 2  # so that it is never left with one
    n_taken = 0
    for v in range(rows.shape[0]):
        u = v
        while rows[u, EDGES] == 1:
            above = rows[u, NEIGHBOUR]
            order[n_taken] = u
            n_taken += 1
            rows[u, EDGES] = 0
            rows[above, EDGES] -= 1
            rows[above, NEIGHBOUR] ^= u
            rows[above, EDGE] ^= rows[u, EDGE]
            rows[above, COUNT] += rows[u, COUNT]
            if above > v:  # its turn will come
                break
            u = above
    return n_taken
