"""Random source → points on curves and in areas of the plane: the building blocks of data sets."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from isthmus._utils.typing import Floats, Ints

# Both have the methods used here: uniform, normal and permutation.
Source: TypeAlias = np.random.Generator | np.random.RandomState

# Normal deviations are clipped to this many standard deviations, so that shapes stay in bounds.
LARGEST_DEVIATION = 2.9
# How often centres are drawn before giving up.
_MAX_DRAWS = 10_000


def random_source(random_state: Any) -> Source:
    """Return an int, a RandomState, a Generator or None as a source of random numbers."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    source: np.random.RandomState = check_random_state(random_state)
    return source


def check_at_least(value: float, name: str, minimum: float) -> float:
    """Return a finite number of at least ``minimum``."""
    if not minimum <= value < np.inf:
        raise ValueError(f"{name} must be a finite number from {minimum:g} on, got {value!r}.")
    return float(value)


def shared_out(n_points: int, shares: Any) -> Ints:
    """Return n_points as integers in proportion to shares, each at least 1."""
    # Every share first gets one point; the rest is divided at the rounded running totals.
    totals = np.cumsum(shares) / np.sum(shares)
    rest = np.rint((n_points - len(totals)) * totals).astype(np.int64)
    sizes: Ints = 1 + np.diff(rest, prepend=0)
    return sizes


def labels_of(sizes: Ints) -> Ints:
    """Return the labels of clusters of these sizes, one after the other, from 0."""
    return np.repeat(np.arange(len(sizes)), sizes)


def together(parts: list[Floats]) -> tuple[Floats, Ints]:
    """Return clusters as one array of points and their labels."""
    return np.concatenate(parts), labels_of(np.array([len(part) for part in parts]))


def on_circle(angles: Floats, radii: Floats | float) -> Floats:
    """Return the points at these angles and distances from the origin."""
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])


def stratified(source: Source, n_points: int) -> Floats:
    """Return ascending numbers in [0, 1), one in each of n_points equal parts.

    So no wide gap arises by chance: neighbours are less than 2 / n_points apart.
    """
    numbers: Floats = (np.arange(n_points) + source.uniform(size=n_points)) / n_points
    return numbers


def deviations(source: Source, shape: int | tuple[int, int]) -> Floats:
    """Return standard normal numbers, clipped where they are too large."""
    return source.normal(size=shape).clip(-LARGEST_DEVIATION, LARGEST_DEVIATION)


def arc(
    source: Source, n_points: int, radius: float, angles: tuple[float, float], noise: float
) -> Floats:
    """Return points along an arc round the origin, from one angle to the other."""
    first, last = angles
    clean = on_circle(first + (last - first) * stratified(source, n_points), radius)
    return clean + noise * deviations(source, clean.shape)


def spiral(
    source: Source, n_points: int, radii: tuple[float, float], angles: tuple[float, float]
) -> Floats:
    """Return points along an Archimedean spiral, about equally dense everywhere."""
    inner, outer = radii
    # The length of the spiral up to a radius grows with the radius squared.
    radius = np.sqrt(inner**2 + stratified(source, n_points) * (outer**2 - inner**2))
    first, last = angles
    return on_circle(first + (last - first) * (radius - inner) / (outer - inner), radius)


def disc(source: Source, n_points: int, radius: float) -> Floats:
    """Return points uniformly distributed over a disc round the origin."""
    angles = source.uniform(0.0, 2 * np.pi, size=n_points)
    # The square root makes the density uniform over the area.
    return on_circle(angles, radius * np.sqrt(source.uniform(size=n_points)))


def bar(source: Source, n_points: int, length: float, width: float) -> Floats:
    """Return points distributed over a rectangle whose lower left corner is the origin."""
    along = length * stratified(source, n_points)
    return np.column_stack([along, source.uniform(0.0, width, size=n_points)])


def square_outside(source: Source, n_points: int, centres: Floats, radius: float) -> Floats:
    """Return points uniformly distributed over the unit square outside discs round some centres."""
    kept = np.empty((0, 2))
    while len(kept) < n_points:
        drawn = source.uniform(size=(n_points, 2))
        gaps = np.linalg.norm(drawn[:, np.newaxis] - centres, axis=2)
        kept = np.concatenate([kept, drawn[(gaps > radius).all(axis=1)]])
    return kept[:n_points]


def centres_apart(source: Source, side: float, distances: Floats) -> Floats:
    """Return points of a square, any two of them at least the larger of their distances apart."""
    wanted = np.maximum(distances, distances[:, np.newaxis])
    np.fill_diagonal(wanted, 0.0)
    for _ in range(_MAX_DRAWS):
        centres: Floats = source.uniform(0.0, side, size=(len(distances), 2))
        gaps = np.linalg.norm(centres[:, np.newaxis] - centres, axis=2)
        if (gaps >= wanted).all():
            return centres
    raise ValueError(
        f"{len(distances)} clouds do not fit that far apart into a square of side {side:g}: "
        "choose a smaller separation or spread, or a larger side."
    )


def ellipses(ratios: Floats, angles: Floats) -> Floats:
    """Return matrices, (n, 2, 2), that turn circles into ellipses of the same area.

    ratios : of the long axis to the short one
    angles : of the long axis
    """
    along = on_circle(angles, np.sqrt(ratios))
    across = on_circle(angles + np.pi / 2, 1 / np.sqrt(ratios))
    return np.stack([along, across], axis=2)
