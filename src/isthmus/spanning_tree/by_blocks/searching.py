"""Points of components → near points of other components, in blocks of matrix products."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._utils.typing import Array, Floats, Labels
from isthmus.blocks import candidates
from isthmus.blocks.bounds import GROUP, Blocks
from isthmus.blocks.candidates import Lists, Searching
from isthmus.blocks.nearest import Buffers, ComparedBlocks

# Points in a list.
NEIGHBOURS = 8
# A point that searches looks farther than its component's best edge by this factor of squared
# distances: the component grows, and its best edges with it.
_FARTHER = 1.1


class Components(NamedTuple):
    """Which components points belong to.

    Attributes
    ----------
    labels : (n,) int32
        At each position.
    names : (n,) int32
        What a position is called in the lists that are found.
    of_blocks : (n_blocks,) int32
        The label of each block's points; -1 where they have several.
    """

    labels: Labels
    names: Labels
    of_blocks: Labels

    @classmethod
    def of(cls, blocks: Blocks, labels: Labels, names: Labels) -> Components:
        """Return the components of points in blocks."""
        starts = blocks.starts[:-1]
        least, most = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
        return cls(labels, names, np.where(least == most, least, -1))


class Query(NamedTuple):
    """Positions that search together.

    Attributes
    ----------
    rows : (m,) int32
        Ascending.
    block : int
        A block that has their centre.
    known : (m,) float64
        The length, squared, of an edge out of the component of each.
    """

    rows: Labels
    block: int
    known: Floats


def queries(blocks: Blocks, searching: Labels, known: Floats) -> list[Query]:
    """Return positions that search, ascending, in groups; see Query."""
    found, first = [], 0
    for rows, block in blocks.groups(searching, GROUP):
        found.append(Query(rows, block, known[first : first + len(rows)]))
        first += len(rows)
    return found


class Answer(NamedTuple):
    """What a search has found.

    Attributes
    ----------
    names : (m, k) int32
        -1 where there is nothing.
    distances : (m, k) float64
    reach : (m,) float64
        See CertifiedLists.
    n_measured : int
        How many distances were measured.
    """

    names: Labels
    distances: Floats
    reach: Floats
    n_measured: int


def search_outside(
    compared: ComparedBlocks,
    components: Components,
    query: Query,
    buffers: Buffers,
    met: Array | None = None,
) -> Answer:
    """Return the nearest points outside the components of those that search.

    met : (n_blocks,) bool, optional
        The blocks to search; by default all.
    """
    blocks, rows, unit = compared.blocks, query.rows, compared.unit
    n_measured, length = 0, max(1, min(NEIGHBOURS, blocks.n_points - 1))
    found = Lists(
        distances=np.full((len(rows), length), np.inf),
        positions=np.full((len(rows), length), -1, dtype=np.int32),
        limits=np.empty(len(rows), dtype=np.float32),
    )
    labels, first, group = np.unique(
        components.labels[rows], return_index=True, return_inverse=True
    )
    shortest = query.known[first]
    gaps = blocks.gaps(query.block)
    search = Searching(rows, components.labels, components.names, unit, compared.never)
    kernel = candidates.keep_nearest_exactly.specialised(compared.kernels)
    offer_pairs = kernel.bound(compared.exact, search, found)
    for other in np.argsort(gaps, kind="stable").tolist():
        if met is not None and not met[other]:
            continue
        # Farther than its component's best edge, and a little more, no point need look now.
        farthest = np.minimum(_FARTHER * shortest[group], found.distances[:, -1])
        found.limits[:] = farthest / unit
        if gaps[other] > found.limits.max():
            break
        if len(labels) == 1 and components.of_blocks[other] == labels[0]:
            continue
        chosen, separation = blocks.facing(rows, query.block, other, found.limits)
        if len(chosen) == 0:
            continue
        products = buffers.products(blocks, rows[chosen], other, separation)
        n_measured += offer_pairs(products, chosen)
        np.minimum.at(shortest, group, found.distances[:, 0])
    reach = np.minimum(_FARTHER * shortest[group], found.distances[:, -1])
    return Answer(found.positions, found.distances, reach, n_measured)
