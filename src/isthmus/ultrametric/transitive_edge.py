"""Two points → the longest edge on the spanning tree's path between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric.merges import merges_of_gaps
from isthmus.ultrametric.range_max import RangeMaxima


class TransitiveEdge(NamedTuple):
    """The edge that decides how far apart two points are; arrays for arrays of points.

    Attributes
    ----------
    a, b : int
        Its ends, a on the side of the first point and b on that of the second.
    length : float
        Its weight, the transitive distance of the two points.

    See Also
    --------
    isthmus.UltrametricTree.transitive_edge : Find it.

    Examples
    --------
    >>> from isthmus import UltrametricTree
    >>> tree = UltrametricTree.from_data([[0.0], [1.0], [5.0], [6.5]])
    >>> tree.transitive_edge(0, 3)
    TransitiveEdge(a=1, b=2, length=4.0)
    """

    a: Any
    b: Any
    length: Any


@dataclass(frozen=True, eq=False)
class EdgeIndex:
    """The edges of an ultrametric tree, to be searched by pairs of points.

    Attributes
    ----------
    edges, heights, children, starts
        As of the tree.
    """

    edges: Ints
    heights: Floats
    children: Ints
    starts: Ints

    @cached_property
    def _maxima(self) -> RangeMaxima:
        """The merge at each gap: two leaves meet at the last merge between them."""
        return RangeMaxima.of(merges_of_gaps(self.children, self.starts).astype(np.float64))

    def between(self, first: Ints, second: Ints) -> TransitiveEdge:
        """Return the edge between each two points; the arrays have one shape."""
        if (first == second).any():
            same = int(first[first == second].flat[0])
            raise ValueError(
                f"No edge lies between point {same} and itself: i and j must be different points."
            )
        positions = self.starts[first.ravel()]
        found = self._maxima.between(positions, self.starts[second.ravel()])
        merges = found.astype(np.int64)
        a, b = self.edges[merges].T
        # In leaf order the leaves of a merge's first child come before those of its second.
        border = self.starts[self.children[merges, 1]]
        swapped = (self.starts[a] < border) != (positions < border)
        a, b = np.where(swapped, b, a), np.where(swapped, a, b)
        length = self.heights[merges]
        if not first.ndim:
            return TransitiveEdge(int(a[0]), int(b[0]), float(length[0]))
        return TransitiveEdge(*(column.reshape(first.shape) for column in (a, b, length)))
