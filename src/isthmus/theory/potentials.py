"""Two clusters on a tree → the hyperplane in the middle of the widest gap between their hulls.

Take the tree of merges as a network of resistors, a branch from height g up to height h having the
resistance (h² - g²)/2. Hold the points of one cluster at the potential 1 and those of another at
-1, and let all other points float. The potentials of all points are then the values of an affine
function on the embedded space. Of all affine functions with values ≥ 1 on the one cluster and ≤ -1
on the other it is the flattest: its squared slope is the energy of the network, and clipping
potentials beyond ±1 would only lower the energy. So its zeros are the hyperplane in the middle of
the widest gap. The squared width of the gap is the resistance between the two clusters.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric import UltrametricTree
from isthmus.ultrametric.embedding import MergeCoordinates, arm_of


class UniformParts(NamedTuple):
    """The top of a tree: the m merges above points of several clusters, and the m + 1 parts below.

    Each part is a node whose points all belong to one cluster. Nodes are numbered as in a tree:
    parts 0 … m, then the merges in ascending order. ``slack``, ``first`` and ``second`` are those
    of MergeCoordinates; the square of the slack is the resistance between a part and its points, if
    all of these have the same potential.
    """

    merges: Ints  # (m,), their numbers in the whole tree
    children: Ints  # (m, 2)
    heights: Floats  # (2m + 1,)
    slack: Floats  # (m + 1,), of the parts
    labels: Ints  # (m + 1,)
    first: Floats  # (m,)
    second: Floats  # (m,)


class Potentials(NamedTuple):
    """Scratch, (2m + 1,) float64 each: what every node is like from above, and its value."""

    reach: Floats  # the root of the resistance to both clusters' points below, infinite without any
    potential: Floats  # behind that resistance
    value: Floats  # of the affine function at the node


def uniform_parts(
    tree: UltrametricTree, codes: Ints, coordinates: MergeCoordinates
) -> UniformParts:
    """Return the parts into which labels, numbered from 0 on, divide a tree."""
    n_points = tree.n_points
    ordered = codes[tree.leaf_order]
    runs = np.concatenate([[0], np.cumsum(ordered[1:] != ordered[:-1])])
    is_mixed = runs[tree.starts] != runs[tree.starts + tree.sizes - 1]
    merges = np.flatnonzero(is_mixed[n_points:])
    below = tree.children[merges].ravel()
    parts = below[~is_mixed[below]]
    nodes = np.concatenate([parts, n_points + merges])
    number = np.empty(2 * n_points - 1, dtype=np.int64)
    number[nodes] = np.arange(len(nodes))
    return UniformParts(
        merges,
        number[below].reshape(-1, 2),
        np.concatenate([np.zeros(n_points), tree.heights])[nodes],
        coordinates.slack[parts],
        ordered[tree.starts[parts]],
        coordinates.first[merges],
        coordinates.second[merges],
    )


@kernel
def separate(
    parts: UniformParts, a: int, b: int, net: Potentials, slopes: Floats, values: Floats
) -> None:
    """Find the flattest affine function with values ≥ 1 on cluster a and ≤ -1 on cluster b.

    net : scratch
    slopes : (m,) float64, out
        The derivative of the function along the coordinate of each merge.
    values : (3,) float64, out
        Its value at the origin, its lowest value on a and its highest on b; all of them 0 where
        a point of a coincides with one of b, so that there is no such function.
    """
    top = potentials_upwards(parts, a, b, net)
    if top < 0:
        values[0] = values[1] = values[2] = 0.0
        return
    potentials_downwards(parts, top, net)
    value = net.value
    n_parts = parts.labels.shape[0]
    for x in range(n_parts):
        if parts.labels[x] == a:
            value[x] = 1.0
        elif parts.labels[x] == b:
            value[x] = -1.0
    slopes_of_values(parts, top, value, slopes)
    origin = value[n_parts + top]
    values_of_slopes(parts, top, slopes, value)
    lowest, highest = np.inf, -np.inf
    for x in range(n_parts):
        if parts.labels[x] == a:
            lowest = min(lowest, value[x])
        elif parts.labels[x] == b:
            highest = max(highest, value[x])
    values[0], values[1], values[2] = origin, lowest, highest


@kernel_part
def potentials_upwards(parts: UniformParts, a: int, b: int, net: Potentials) -> int:
    """Fill reach and potential of every node, out, from the parts to the root.

    Returns the merge below which all points of a and b lie; -1 if there is no resistance between
    some of a and some of b.
    """
    reach, potential = net.reach, net.potential
    n_parts = parts.labels.shape[0]
    for x in range(n_parts):
        reach[x], potential[x] = np.inf, 0.0
        if parts.labels[x] == a:
            reach[x], potential[x] = parts.slack[x], 1.0
        elif parts.labels[x] == b:
            reach[x], potential[x] = parts.slack[x], -1.0
    top = -1
    for e in range(parts.children.shape[0]):
        x, y, v = parts.children[e, 0], parts.children[e, 1], n_parts + e
        arm_x = arm_of(parts.heights[v], parts.heights[x], reach[x])
        arm_y = arm_of(parts.heights[v], parts.heights[y], reach[y])
        if arm_y == np.inf:
            reach[v], potential[v] = arm_x, potential[x]
            continue
        if arm_x == np.inf:
            reach[v], potential[v] = arm_y, potential[y]
            continue
        top = e
        both = math.hypot(arm_x, arm_y)
        difference = potential[y] - potential[x]
        if both > 0.0:
            share = arm_x / both
            reach[v] = share * arm_y
            potential[v] = potential[x] + difference * (share * share)
        elif difference == 0.0:
            reach[v], potential[v] = 0.0, potential[x]
        else:
            return -1
    return top


@kernel_part
def potentials_downwards(parts: UniformParts, top: int, net: Potentials) -> None:
    """Fill value, out, with the potential of each node in the whole network."""
    reach, potential, value = net.reach, net.potential, net.value
    n_parts = parts.labels.shape[0]
    for v in range(value.shape[0]):
        value[v] = potential[n_parts + top]
    for e in range(top, -1, -1):
        v = n_parts + e
        for side in range(2):
            x = parts.children[e, side]
            if reach[x] == np.inf:
                value[x] = value[v]
                continue
            arm = arm_of(parts.heights[v], parts.heights[x], reach[x])
            share = reach[x] / arm if arm > 0.0 else 0.0
            value[x] = potential[x] + (value[v] - potential[x]) * (share * share)


@kernel_part
def slopes_of_values(parts: UniformParts, top: int, value: Floats, slopes: Floats) -> None:
    """Fill the slopes, (m,), out, of the affine function that has given values on the parts.

    value : (2m + 1,), in and out
        In: at all points of each part. Out: at the centre of the sphere of each merge up to
        ``top``; above it the function does not change.
    """
    n_parts = parts.labels.shape[0]
    for e in range(slopes.shape[0]):
        slopes[e] = 0.0
    for e in range(top + 1):
        x, y = parts.children[e, 0], parts.children[e, 1]
        apart = parts.second[e] - parts.first[e]
        difference = value[y] - value[x]
        value[n_parts + e] = value[x]
        if apart > 0.0 and difference != 0.0:
            slopes[e] = difference / apart
            value[n_parts + e] -= difference * (parts.first[e] / apart)


@kernel_part
def values_of_slopes(parts: UniformParts, top: int, slopes: Floats, value: Floats) -> None:
    """Replace the values below ``top``, (2m + 1,), by those that its value and the slopes give."""
    n_parts = parts.labels.shape[0]
    for e in range(top, -1, -1):
        value[parts.children[e, 0]] = value[n_parts + e] + slopes[e] * parts.first[e]
        value[parts.children[e, 1]] = value[n_parts + e] + slopes[e] * parts.second[e]
