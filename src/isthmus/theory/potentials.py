"""Two clusters on a tree → the hyperplane in the middle of the widest gap between their hulls.

Take the tree of merges as a network of resistors, a branch from height g up to height h having the
resistance (h² - g²)/2. Hold the points of one cluster at the potential 1 and those of another at
-1, and let all other points float. The potentials of all points are then the values of an affine
function on the embedded space, and of all such functions with values ≥ 1 on the one cluster and
≤ -1 on the other it is the flattest: its squared slope is the energy of the network, and cutting
off potentials beyond ±1 would only lower the energy. So its zeros are the hyperplane in the middle
of the widest gap. The squared width of the gap is the resistance between the two clusters.
"""

from __future__ import annotations

import math

import numpy as np

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.typing import Floats, Ints
from isthmus.ultrametric.embedding import arm_of


@kernel
def separate(
    children: Ints,
    heights: Floats,
    slack: Floats,
    labels: Ints,
    first: Floats,
    second: Floats,
    a: int,
    b: int,
    reach: Floats,
    potential: Floats,
    value: Floats,
    slopes: Floats,
    found: Floats,
) -> bool:
    """Find the flattest affine function with values ≥ 1 on cluster a and ≤ -1 on cluster b.

    Parameters
    ----------
    children, heights, slack, labels, first, second : in
        As in UniformParts.
    reach, potential, value : (2m + 1,) float64, scratch
    slopes : (m,) float64, out
        The derivative of the function along the coordinate of each merge.
    found : (3,) float64, out
        Its value at the origin, its lowest value on a and its highest on b.

    Returns
    -------
    bool
        Whether there is such a function: False if a point of a coincides with one of b.
    """
    top = potentials_upwards(children, heights, slack, labels, a, b, reach, potential)
    if top < 0:
        return False
    potentials_downwards(children, heights, top, reach, potential, value)
    n_parts = labels.shape[0]
    for x in range(n_parts):
        if labels[x] == a:
            value[x] = 1.0
        elif labels[x] == b:
            value[x] = -1.0
    slopes_of_values(children, first, second, top, value, slopes)
    found[0] = value[n_parts + top]
    values_of_slopes(children, first, second, top, slopes, value)
    found[1], found[2] = np.inf, -np.inf
    for x in range(n_parts):
        if labels[x] == a:
            found[1] = min(found[1], value[x])
        elif labels[x] == b:
            found[2] = max(found[2], value[x])
    return True


@kernel_part
def potentials_upwards(
    children: Ints,
    heights: Floats,
    slack: Floats,
    labels: Ints,
    a: int,
    b: int,
    reach: Floats,
    potential: Floats,
) -> int:
    """Fill in what each node is like from above: a potential behind a resistance.

    reach : (2m + 1,), out
        The square root of the resistance to the points of a and b below; infinite without any.
    potential : (2m + 1,), out

    Returns the merge below which all points of a and b lie; -1 if there is no resistance between
    some of a and some of b.
    """
    n_parts = labels.shape[0]
    for x in range(n_parts):
        reach[x], potential[x] = np.inf, 0.0
        if labels[x] == a:
            reach[x], potential[x] = slack[x], 1.0
        elif labels[x] == b:
            reach[x], potential[x] = slack[x], -1.0
    top = -1
    for e in range(children.shape[0]):
        x, y, v = children[e, 0], children[e, 1], n_parts + e
        arm_x = arm_of(heights[v], heights[x], reach[x])
        arm_y = arm_of(heights[v], heights[y], reach[y])
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
def potentials_downwards(
    children: Ints, heights: Floats, top: int, reach: Floats, potential: Floats, value: Floats
) -> None:
    """Fill value, (2m + 1,), out, with the potential of each node in the whole network."""
    n_parts = children.shape[0] + 1
    for v in range(value.shape[0]):
        value[v] = potential[n_parts + top]
    for e in range(top, -1, -1):
        v = n_parts + e
        for side in range(2):
            x = children[e, side]
            if reach[x] == np.inf:
                value[x] = value[v]
                continue
            arm = arm_of(heights[v], heights[x], reach[x])
            share = reach[x] / arm if arm > 0.0 else 0.0
            value[x] = potential[x] + (value[v] - potential[x]) * (share * share)


@kernel_part
def slopes_of_values(
    children: Ints, first: Floats, second: Floats, top: int, value: Floats, slopes: Floats
) -> None:
    """Fill in the slopes of the affine function that has given values on the parts.

    value : (2m + 1,), in and out
        In: at all points of each part. Out: at the centre of the sphere of each merge up to
        ``top``; above it the function does not change.
    slopes : (m,), out
    """
    n_parts = children.shape[0] + 1
    for e in range(slopes.shape[0]):
        slopes[e] = 0.0
    for e in range(top + 1):
        x, y = children[e, 0], children[e, 1]
        apart = second[e] - first[e]
        difference = value[y] - value[x]
        value[n_parts + e] = value[x]
        if apart > 0.0 and difference != 0.0:
            slopes[e] = difference / apart
            value[n_parts + e] -= difference * (first[e] / apart)


@kernel_part
def values_of_slopes(
    children: Ints, first: Floats, second: Floats, top: int, slopes: Floats, value: Floats
) -> None:
    """Replace the values below ``top``, (2m + 1,), by those that its value and the slopes give."""
    n_parts = children.shape[0] + 1
    for e in range(top, -1, -1):
        value[children[e, 0]] = value[n_parts + e] + slopes[e] * first[e]
        value[children[e, 1]] = value[n_parts + e] + slopes[e] * second[e]
