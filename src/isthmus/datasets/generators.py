"""Random state → points in the plane whose clusters K-means cannot see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from isthmus.validation import check_whole_number

if TYPE_CHECKING:
    from isthmus._typing import Floats, Ints

# Both have the methods that are used here: uniform and normal.
_Source: TypeAlias = np.random.Generator | np.random.RandomState

# The three clusters of make_multi_scale: a ring round two discs that lie side by side.
_RING_SHARE, _LARGE_DISC_SHARE = 0.25, 0.4
_RING_RADIUS, _RING_SPREAD = 0.38, 0.04
_LARGE_DISC_RADIUS, _SMALL_DISC_RADIUS = 0.045, 0.015
# Wide enough for the discs to be two, narrower than the longest steps along the ring.
_GAP = 0.05
# Keeps every point inside the unit square: 0.38 + 2.9 × 0.04 < 0.5.
_LARGEST_DEVIATION = 2.9


def make_two_moons(
    n_samples: int = 200, *, noise: float = 0.06, random_state: Any = None
) -> tuple[Floats, Ints]:
    """Return two interleaving half circles of radius 1.

    Parameters
    ----------
    n_samples : int, default=200
        The number of points, at least 2. Of an odd number the first moon gets one more.
    noise : float, default=0.06
        The standard deviation of the normal noise that is added to each coordinate.
    random_state : int, RandomState, Generator or None, default=None
        Where the noise comes from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, those of the first moon first.
    y : ndarray of shape (n_samples,), dtype int64
        The moon that each point belongs to, 0 or 1.
    """
    n = check_whole_number(n_samples, "n_samples", 2)
    if not 0 <= noise < np.inf:
        raise ValueError(f"noise must be a finite number that is not negative, got {noise!r}.")
    source = _random_source(random_state)
    sizes = np.array([n - n // 2, n // 2])
    upper = _on_circle(np.linspace(0.0, np.pi, sizes[0]), 1.0)
    lower = np.array([1.0, 0.5]) - _on_circle(np.linspace(0.0, np.pi, sizes[1]), 1.0)
    points = np.concatenate([upper, lower])
    return points + source.normal(0.0, noise, points.shape), _labels(sizes)


def make_multi_scale(n_samples: int = 300, *, random_state: Any = None) -> tuple[Floats, Ints]:
    """Return three clusters of very different scales inside the unit square.

    A wide, sparse ring (a quarter of the points) surrounds a small disc (two fifths) and a tiny
    one (the rest). K-means cuts the ring into pieces. Single linkage, told to find three clusters,
    cuts a bit off the ring and leaves the discs together, because some neighbours on the ring lie
    farther apart than the discs. Below about 150 points the ring is too sparse to be seen as one;
    above a few thousand it is so dense that single linkage can succeed.

    Parameters
    ----------
    n_samples : int, default=300
        The number of points, at least 3.
    random_state : int, RandomState, Generator or None, default=None
        Where the points come from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, cluster by cluster.
    y : ndarray of shape (n_samples,), dtype int64
        0 for the ring, 1 for the small disc, 2 for the tiny one.
    """
    n = check_whole_number(n_samples, "n_samples", 3)
    source = _random_source(random_state)
    n_ring, n_large = round(_RING_SHARE * n), round(_LARGE_DISC_SHARE * n)
    sizes = np.array([n_ring, n_large, n - n_ring - n_large])
    # The pair of discs, gap included, is centred on the ring's centre.
    left = np.array([0.5 - _GAP / 2 - _SMALL_DISC_RADIUS, 0.5])
    right = np.array([0.5 + _GAP / 2 + _LARGE_DISC_RADIUS, 0.5])
    points = [
        0.5 + _ring(source, sizes[0]),
        left + _disc(source, sizes[1], _LARGE_DISC_RADIUS),
        right + _disc(source, sizes[2], _SMALL_DISC_RADIUS),
    ]
    return np.concatenate(points), _labels(sizes)


def _random_source(random_state: Any) -> _Source:
    if isinstance(random_state, np.random.Generator):
        return random_state
    source: np.random.RandomState = check_random_state(random_state)
    return source


def _labels(sizes: Ints) -> Ints:
    return np.repeat(np.arange(len(sizes)), sizes)


def _on_circle(angles: Floats, radii: Floats | float) -> Floats:
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])


def _ring(source: _Source, n_points: int) -> Floats:
    # One point in each of n_points equal sectors: no arc of the ring stays empty by chance.
    sectors = np.arange(n_points) + source.uniform(size=n_points)
    deviations = source.normal(size=n_points).clip(-_LARGEST_DEVIATION, _LARGEST_DEVIATION)
    return _on_circle(2 * np.pi * sectors / n_points, _RING_RADIUS + _RING_SPREAD * deviations)


def _disc(source: _Source, n_points: int, radius: float) -> Floats:
    angles = source.uniform(0.0, 2 * np.pi, size=n_points)
    # The square root makes the density uniform over the area.
    return _on_circle(angles, radius * np.sqrt(source.uniform(size=n_points)))
