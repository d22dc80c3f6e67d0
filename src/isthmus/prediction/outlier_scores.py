"""Attachments of new points → their outlier scores.

The group of a new point within a height h is made up of *parts*: the highest nodes above the ends
of its attachment edges of at most that length that are not above h. Of a part that is large enough
to be a reference group all points had joined theirs within h. All points of a smaller one join
later, and with the new point at h. So the mean over the group follows from one sum for each part.
Lengths and heights that agree to 12 digits are one event, as for the points of the tree.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.parallel import chunks
from isthmus._utils.rounding import TIE
from isthmus._utils.typing import Array, Floats, Ints
from isthmus.outliers import ReferenceGroups, scores_of_new_points
from isthmus.prediction.ancestor_paths import PARENT, Ancestry
from isthmus.prediction.attachments import Attachments, transitive_rows
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.matvec import sums_below

# Entries of the rows of distances that are held together.
_AT_ONCE = 1 << 20


class OutlierScorer:
    """The points of a tree, for the outlier scores of points that are not on it.

    Parameters
    ----------
    tree : UltrametricTree
    known : ReferenceGroups
        Of the points of the tree.
    """

    def __init__(self, tree: UltrametricTree, known: ReferenceGroups) -> None:
        self._tree = tree
        self._known = known
        self._by_rows = bool(np.isinf(tree.heights[-1:]).any())

    @cached_property
    def _nodes(self) -> ScoredNodes:
        tree, known = self._tree, self._known
        unit = float(tree.heights[-1:].max(initial=0.0)) or 1.0
        values = np.column_stack(
            [known.point_weights, known.point_weights * (known.heights / unit)]
        )
        sums = sums_below(tree.children, values)
        parents = np.ascontiguousarray(Ancestry.of_tree(tree).up[:, PARENT])
        return ScoredNodes(parents, tree.heights / unit, sums, known.least * (1.0 - TIE), unit)

    def prepare(self) -> None:
        """Compute now what is otherwise computed by the first call."""
        if not self._by_rows:
            self._nodes  # noqa: B018

    def scores(self, attachments: Attachments) -> Floats:
        """Return the scores of new points, from 0 to 1: (n_new,)."""
        tree, n_new = self._tree, len(attachments)
        if self._by_rows:  # limits of growing distances
            rows = (
                transitive_rows(tree, attachments, start, stop)
                for start, stop in chunks(n_new, max(1, _AT_ONCE // tree.n_points))
            )
            return np.concatenate(
                [np.empty(0), *(scores_of_new_points(some, self._known) for some in rows)]
            )
        ratios = np.empty(n_new)
        most = int(np.diff(attachments.begin).max(initial=0))
        stamps = np.zeros(2 * tree.n_points - 1, dtype=np.int64)
        lengths = attachments.length / self._nodes.unit
        parts = np.empty(most, dtype=np.int64)
        find_ratios(
            self._nodes, attachments.begin, attachments.point, lengths, parts, stamps, ratios
        )
        scores = 1.0 - ratios
        scores[scores < TIE] = 0.0
        return scores


class ScoredNodes(NamedTuple):
    """A tree with what scores need.

    Attributes
    ----------
    parents : (2n - 1,) int32 or int64
        The root is its own.
    heights : (n - 1,) float64
        In the unit.
    sums : (2n - 1, 2) float64
        Over the points below each node, their weights; and these times the heights at which the
        points joined their reference groups.
    least : float
        The least weight of a reference group.
    unit : float
        The greatest height.
    """

    parents: Array
    heights: Floats
    sums: Floats
    least: float
    unit: float


@kernel_part
def height_above(nodes: ScoredNodes, v: int) -> float:
    """Return the height of a node's parent, infinite above the root."""
    parent = nodes.parents[v]
    return np.inf if parent == v else float(nodes.heights[parent - nodes.heights.shape[0] - 1])


@kernel_part
def merged_parts(
    nodes: ScoredNodes, parts: Ints, n_parts: int, height: float, stamps: Ints, stamp: int
) -> int:
    """Replace parts by their highest ancestors within a height; return how many differ."""
    n_different = 0
    for i in range(n_parts):
        v = parts[i]
        while height_above(nodes, v) <= height:
            v = np.int64(nodes.parents[v])
        if stamps[v] != stamp:
            stamps[v] = stamp
            parts[n_different] = v
            n_different += 1
    return n_different


@kernel
def find_ratios(
    nodes: ScoredNodes,
    begin: Ints,
    point: Ints,
    length: Floats,
    parts: Ints,
    stamps: Ints,
    ratios: Floats,
) -> None:
    """Fill the mean height of each new point's group over its own height: 1 minus its score.

    begin, point, length : in
        The attachments, lengths in the unit.
    parts : (most edges of a point,) int64, scratch
    stamps : (2n - 1,) int64, scratch, zero on entry
    ratios : (n_new,) float64, out
    """
    stamp = 0
    for i in range(begin.shape[0] - 1):
        edge, n_parts, height, weight = begin[i], 0, 0.0, 0.0
        while weight < nodes.least:
            following = length[edge] if edge < begin[i + 1] else np.inf
            for j in range(n_parts):
                following = min(following, height_above(nodes, parts[j]))
            if following == np.inf:
                break
            height = max(height, following)
            event = height * (1.0 + TIE)
            while edge < begin[i + 1] and length[edge] <= event:
                parts[n_parts] = point[edge]
                n_parts += 1
                edge += 1
            stamp += 1
            n_parts = merged_parts(nodes, parts, n_parts, event, stamps, stamp)
            weight = 0.0
            for j in range(n_parts):
                weight += nodes.sums[parts[j], 0]
        total = 0.0
        for j in range(n_parts):
            own = nodes.sums[parts[j], 0]
            total += nodes.sums[parts[j], 1] if own >= nodes.least else own * height
        ratios[i] = total / (weight * height) if height > 0.0 else 1.0
