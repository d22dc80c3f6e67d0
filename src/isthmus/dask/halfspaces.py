"""Points with many features → bundles of points that are near each other.

A sample is divided in two, again and again, along the direction in which it is widest: clusters
then stay together, and no bundle is much larger than another unless many points are equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isthmus._utils.typing import Array, Floats, Ints

# Steps of the power method; a rough direction will do.
_STEPS = 8


class Halfspaces(NamedTuple):
    """A tree of halfspaces whose leaves are bundles.

    Attributes
    ----------
    direction : (m, d) float64
        In which a node is split; zeros for a leaf.
    value : (m,) float64
        Points of at least this product with the direction go to the second child.
    child : (m, 2) int64
        The children; of a leaf, the bundle, and -1.
    """

    direction: Floats
    value: Floats
    child: Ints

    def cells_of(self, points: Array) -> Array:
        """Return the bundle of each point: (n,) int16."""
        bundles = np.empty(len(points), dtype=np.int16)
        waiting = [(0, np.arange(len(points)))]
        while waiting:
            node, rows = waiting.pop()
            if self.child[node, 1] < 0:
                bundles[rows] = self.child[node, 0]
                continue
            above = points[rows] @ self.direction[node] >= self.value[node]
            waiting += [(self.child[node, 0], rows[~above]), (self.child[node, 1], rows[above])]
        return bundles


def split_by_directions(sample: Floats, n_bundles: int) -> Halfspaces:
    """Return halfspaces that divide a sample into about equally many points for each bundle."""
    directions: list[Floats] = []
    value: list[float] = []
    child: list[list[int]] = []

    def grow(points: Floats, first: int, count: int) -> int:
        node = len(value)
        directions.append(np.zeros(points.shape[1]))
        value.append(0.0)
        child.append([first, -1])
        if count == 1:
            return node
        direction = main_direction(points)
        along = points @ direction
        ordered = np.sort(along)
        n_left = count // 2
        cut = ordered[len(ordered) * n_left // count]
        if cut == ordered[0]:  # both sides must get something
            larger = np.searchsorted(ordered, cut, side="right")
            if larger == len(ordered):  # all are equal
                return node
            cut = ordered[larger]
        above = along >= cut
        directions[node], value[node] = direction, float(cut)
        child[node] = [
            grow(points[~above], first, n_left),
            grow(points[above], first + n_left, count - n_left),
        ]
        return node

    grow(sample, 0, n_bundles)
    return Halfspaces(np.array(directions), np.array(value), np.array(child, dtype=np.int64))


def main_direction(points: Floats) -> Floats:
    """Return about the direction in which points are widest, of length 1; zeros if all are equal.

    The power method. It begins with a random direction, so that features which are all alike, such
    as rare bits, all take part: points then differ along the direction, and halves are even.
    """
    centred = points - points.mean(axis=0)
    largest = np.abs(centred).max()
    if largest == 0.0:
        return np.zeros(points.shape[1])
    centred /= largest
    unit: Floats = np.random.default_rng(0).normal(size=points.shape[1:])
    for _ in range(_STEPS):
        direction = centred.T @ (centred @ unit)
        unit = np.asarray(direction / np.linalg.norm(direction))
    return unit
