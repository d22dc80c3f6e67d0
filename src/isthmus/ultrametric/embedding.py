"""UltrametricTree → points in n - 1 dimensions whose Euclidean distances are the transitive ones.

The paper's Lemma 1, with one coordinate per merge. The points below a node lie on a sphere. A merge
at height h puts the centres of its children's spheres, of radii ρ₁ and ρ₂, on a new axis orthogonal
to all axes below, √(h² - ρ₁² - ρ₂²) apart, so that every pair across it is at distance h. The
points below it lie on one sphere again if its centre, the zero of the axis, divides that length in
the ratio of a₁² to a₂², where aᵢ² = h²/2 - ρᵢ².

Lengths are stored rather than their squares, and only added, so nothing cancels, overflows or
underflows. ``slack`` is √(h²/2 - ρ²) of a node at its own height, ``arm`` is aᵢ, the same at the
height of its parent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from isthmus._numba.kernel import kernel, kernel_part
from isthmus._utils.memory import require_memory
from isthmus._utils.parallel import chunks
from isthmus._utils.parameters import check_integer
from isthmus._utils.typing import Array, Floats, Ints, index_type
from isthmus.ultrametric.merges import CHUNK, require_finite


@dataclass(frozen=True)
class MergeCoordinates:
    """The coordinate that each merge adds: one number on each of its sides, 0 everywhere else.

    Attributes
    ----------
    first, second : (n - 1,) float64
        The coordinate of the points below the first child of each merge, not above 0, and below
        the second, not below 0. Both are 0 at height 0.
    slack : (2n - 1,) float64
        √(h²/2 - ρ²) of each node, h its height and ρ the radius of the sphere of its points.
    variances : (n - 1,) float64
        The variance of each coordinate over all points, in units of the squared largest height.
    order : (n - 1,) int64
        The merges by falling variance, of equal ones the highest first: the order of coordinates.
    """

    first: Floats
    second: Floats
    slack: Floats
    variances: Floats
    order: Ints

    @classmethod
    def of_merges(cls, children: Ints, heights: Floats, sizes: Ints) -> MergeCoordinates:
        """Return the coordinates of a tree's merges; infinite heights are refused."""
        require_finite(heights, "An embedding")
        first, second = np.empty((2, len(heights)))
        slack = np.zeros(len(sizes))
        for start, stop in chunks(len(heights), CHUNK):
            place_spheres(children, heights, slack, first, second, start, stop)
        variances = _variances(children, sizes, first, second, heights)
        order = np.lexsort((-np.arange(len(heights)), -variances))
        return cls(first, second, slack, variances, order)


class Columns(NamedTuple):
    """Coordinates as columns of a sparse matrix: each is stored for the points below its merge.

    Attributes
    ----------
    begin, n_below, n_first : (m,) int64
        The position in leaf order of the first point below each merge, the number of these points,
        and how many of them are below the first child.
    first, second : (m,) float64
        The coordinate below the first child, and below the second.
    """

    begin: Ints
    n_below: Ints
    n_first: Ints
    first: Floats
    second: Floats


def embed(
    children: Ints,
    heights: Floats,
    sizes: Ints,
    starts: Ints,
    leaf_order: Ints,
    components: Any = None,
) -> csr_array:
    """Return the coordinates of all points; arguments as the attributes of UltrametricTree.

    Parameters
    ----------
    components : int, optional
        The number of coordinates, those of the largest variances; all n - 1 if None.

    Returns
    -------
    csr_array of shape (n, components)
    """
    n_points = len(leaf_order)
    n_columns = check_components(components, n_points)
    coordinates = MergeCoordinates.of_merges(children, heights, sizes)
    merges = coordinates.order[:n_columns]
    columns = Columns(
        starts[n_points + merges],
        np.where(heights[merges] > 0.0, sizes[n_points + merges], 0),
        sizes[children[merges, 0]],
        coordinates.first[merges],
        coordinates.second[merges],
    )
    n_stored = int(columns.n_below.sum())
    index = index_type(n_stored)
    n_bytes = n_stored * (8 + np.dtype(index).itemsize) + 4 * n_points * 8
    advice = "Ask for the leading ones: components=<number>."
    require_memory(n_bytes, f"{n_columns} coordinates of {n_points} points", advice)
    bounds = _row_bounds(columns, leaf_order)
    free, indices, data = bounds[:-1].copy(), np.empty(n_stored, dtype=index), np.empty(n_stored)
    for start, stop in _column_chunks(columns.n_below):
        fill_columns(columns, start, stop, leaf_order, free, indices, data)
    return csr_array((data, indices, bounds.astype(index)), shape=(n_points, n_columns))


def check_components(components: Any, n_points: int, name: str = "components") -> int:
    """Return a number of coordinates, at most n - 1; None is all of them."""
    if components is None:
        return n_points - 1
    count = check_integer(components, name, 1)
    if count >= n_points:
        raise ValueError(
            f"n_samples={n_points} should be > {name}={count}: n points have n - 1 coordinates."
        )
    return count


def _variances(
    children: Ints, sizes: Ints, first: Floats, second: Floats, heights: Floats
) -> Floats:
    """Return the variance of each coordinate, from the differences of all pairs of points."""
    n_points = len(heights) + 1
    if n_points == 1 or heights[-1] == 0.0:
        return np.zeros(n_points - 1)
    x, y = first / heights[-1], second / heights[-1]
    shares: Floats = sizes[children] / n_points
    inside_x, inside_y = shares[:, 0], shares[:, 1]
    outside = (n_points - sizes[n_points:]) / n_points
    variances: Floats = inside_x * inside_y * (y - x) ** 2 + outside * (
        inside_x * x**2 + inside_y * y**2
    )
    return variances


def _row_bounds(columns: Columns, leaf_order: Ints) -> Ints:
    """Return where the entries of each point begin, (n + 1,)."""
    n_points = len(leaf_order)
    changes = np.bincount(columns.begin, minlength=n_points + 1) - np.bincount(
        columns.begin + columns.n_below, minlength=n_points + 1
    )
    counts = np.zeros(n_points + 1, dtype=np.int64)
    counts[leaf_order + 1] = np.cumsum(changes)[:n_points]
    bounds: Ints = np.cumsum(counts)
    return bounds


def _column_chunks(n_below: Ints) -> list[tuple[int, int]]:
    """Return ranges of columns of about CHUNK entries each, or of one longer column."""
    ends = np.cumsum(n_below)
    total = int(ends[-1]) if len(ends) else 0
    limits = np.searchsorted(ends, np.arange(CHUNK, total, CHUNK), side="right")
    bounds = np.unique(np.concatenate([[0], limits, [len(n_below)]])).tolist()
    return list(pairwise(bounds))


@kernel_part
def arm_of(height: float, below: float, slack: float) -> float:
    """Return √(height²/2 - ρ²) of a node at ``below`` whose slack is √(below²/2 - ρ²)."""
    return math.hypot(slack, math.sqrt(height - below) * math.sqrt(0.5 * height + 0.5 * below))


@kernel
def place_spheres(
    children: Ints,
    heights: Floats,
    slack: Floats,
    first: Floats,
    second: Floats,
    start: int,
    stop: int,
) -> None:
    """Fill the coordinates of merges start … stop - 1 and the slack of their nodes.

    slack : (2n - 1,), in and out; that of leaves is 0.
    first, second : (n - 1,), out
    """
    n_points = children.shape[0] + 1
    for e in range(start, stop):
        x, y = children[e, 0], children[e, 1]
        below_x = heights[x - n_points] if x >= n_points else 0.0
        below_y = heights[y - n_points] if y >= n_points else 0.0
        arm_x = arm_of(heights[e], below_x, slack[x])
        arm_y = arm_of(heights[e], below_y, slack[y])
        apart = math.hypot(arm_x, arm_y)
        if apart > 0.0:
            first[e] = -arm_x * (arm_x / apart)
            second[e] = arm_y * (arm_y / apart)
            slack[n_points + e] = arm_x * (arm_y / apart)
        else:
            first[e] = second[e] = slack[n_points + e] = 0.0


@kernel
def fill_columns(
    columns: Columns,
    start: int,
    stop: int,
    leaf_order: Ints,
    free: Ints,
    indices: Array,
    data: Floats,
) -> None:
    """Append columns start … stop - 1 to the rows of a CSR matrix.

    free : (n,) int64, in and out
        Where the next entry of each point goes.
    indices, data : (n_stored,), out
    """
    for c in range(start, stop):
        n_first = columns.n_first[c]
        for p in range(columns.n_below[c]):
            point = leaf_order[columns.begin[c] + p]
            entry = free[point]
            indices[entry] = c
            data[entry] = columns.first[c] if p < n_first else columns.second[c]
            free[point] = entry + 1
