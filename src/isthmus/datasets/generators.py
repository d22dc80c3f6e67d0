"""Random state → points in the plane whose clusters K-means cannot see."""

from __future__ import annotations

from typing import Any

import numpy as np

from isthmus._utils.parameters import check_integer, check_positive
from isthmus._utils.typing import Floats, Ints
from isthmus.datasets import shapes

# The three clusters of make_multi_scale: a ring round two discs that lie side by side.
_RING_SHARE, _LARGE_DISC_SHARE = 0.25, 0.4
_RING_RADIUS, _RING_SPREAD = 0.38, 0.04
_LARGE_DISC_RADIUS, _SMALL_DISC_RADIUS = 0.045, 0.015
# Wide enough to separate the discs, narrower than the longest steps along the ring.
_GAP = 0.05

# From bars to the left and the right edge of the unit square.
_MARGIN = 0.05
# Rings and spirals end here, 0.08 from the edge of the unit square.
_OUTER_RADIUS = 0.42
# Where spirals begin.
_INNER_RADIUS = 0.06
# The two discs of make_discs_in_noise, and how near the noise comes to their centres.
_DISC_CENTRES = np.array([[0.3, 0.5], [0.7, 0.5]])
_DISC_RADIUS, _NOISE_FROM = 0.12, 0.16


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

    See Also
    --------
    make_spirals, make_rings : Other curved shapes.
    sklearn.datasets.make_moons : scikit-learn's.
    isthmus.plotting.plot_clusters : Draw the points.

    Examples
    --------
    >>> from isthmus.datasets import make_two_moons
    >>> X, y = make_two_moons(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((200, 2), [0, 1])
    """
    n = check_integer(n_samples, "n_samples", 2)
    shapes.check_at_least(noise, "noise", 0)
    source = shapes.random_source(random_state)
    sizes = np.array([n - n // 2, n // 2])
    upper = shapes.on_circle(np.linspace(0.0, np.pi, sizes[0]), 1.0)
    lower = np.array([1.0, 0.5]) - shapes.on_circle(np.linspace(0.0, np.pi, sizes[1]), 1.0)
    points, labels = shapes.together([upper, lower])
    return points + source.normal(0.0, noise, points.shape), labels


def make_multi_scale(n_samples: int = 300, *, random_state: Any = None) -> tuple[Floats, Ints]:
    """Return three clusters of very different scales inside the unit square.

    A wide, sparse ring (a quarter of the points) surrounds a small disc (two fifths) and a tiny
    one (the rest). K-means divides the ring. Single linkage with three clusters cuts a part off
    the ring and leaves the discs together, because some neighbours on the ring lie farther apart
    than the discs. Below about 150 points the ring is too sparse to be one cluster; above a few
    thousand it is so dense that single linkage can succeed.

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

    See Also
    --------
    make_clouds : Clouds of one scale.
    isthmus.plotting.plot_clusters : Draw the points.

    Examples
    --------
    >>> from isthmus.datasets import make_multi_scale
    >>> X, y = make_multi_scale(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((300, 2), [0, 1, 2])
    """
    n = check_integer(n_samples, "n_samples", 3)
    source = shapes.random_source(random_state)
    n_ring, n_large = round(_RING_SHARE * n), round(_LARGE_DISC_SHARE * n)
    # The pair of discs, gap included, is centred on the ring's centre.
    left = np.array([0.5 - _GAP / 2 - _SMALL_DISC_RADIUS, 0.5])
    right = np.array([0.5 + _GAP / 2 + _LARGE_DISC_RADIUS, 0.5])
    return shapes.together(
        [
            0.5 + _ring(source, n_ring),
            left + shapes.disc(source, n_large, _LARGE_DISC_RADIUS),
            right + shapes.disc(source, n - n_ring - n_large, _SMALL_DISC_RADIUS),
        ]
    )


def make_rings(
    n_samples: int = 300, *, n_rings: int = 3, noise: float = 0.01, random_state: Any = None
) -> tuple[Floats, Ints]:
    """Return rings round one centre, equally dense, inside the unit square.

    Parameters
    ----------
    n_samples : int, default=300
        The number of points, at least one for each ring.
    n_rings : int, default=3
        The number of rings. Their radii are multiples of the innermost one's; the outermost has
        0.42.
    noise : float, default=0.01
        The standard deviation of the normal noise that is added to each coordinate. Deviations
        are clipped to 2.9 times as much, so that up to 0.02 all points lie in the unit square.
    random_state : int, RandomState, Generator or None, default=None
        Where the points come from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, from the innermost ring to the outermost.
    y : ndarray of shape (n_samples,), dtype int64
        The ring that each point belongs to, from 0.

    See Also
    --------
    make_spirals, make_two_moons : Other curved shapes.
    isthmus.plotting.plot_clusters : Draw the points.

    Examples
    --------
    >>> from isthmus.datasets import make_rings
    >>> X, y = make_rings(n_rings=3, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((300, 2), [0, 1, 2])
    """
    rings = check_integer(n_rings, "n_rings", 1)
    n = check_integer(n_samples, "n_samples", rings)
    shapes.check_at_least(noise, "noise", 0)
    source = shapes.random_source(random_state)
    radii = _OUTER_RADIUS * np.arange(1, rings + 1) / rings
    return shapes.together(
        [
            0.5 + shapes.arc(source, size, radius, (0.0, 2 * np.pi), noise)
            for size, radius in zip(shapes.shared_out(n, radii), radii, strict=True)
        ]
    )


def make_spirals(
    n_samples: int = 300,
    *,
    n_arms: int = 2,
    turns: float = 1.25,
    noise: float = 0.008,
    random_state: Any = None,
) -> tuple[Floats, Ints]:
    """Return the arms of a spiral, about equally dense everywhere, inside the unit square.

    Parameters
    ----------
    n_samples : int, default=300
        The number of points, at least one for each arm. Sizes of arms differ by at most one.
    n_arms : int, default=2
        The number of arms. Neighbouring arms are 0.36 / (n_arms × turns) apart.
    turns : float, default=1.25
        How often each arm winds round the centre.
    noise : float, default=0.008
        The standard deviation of the normal noise that is added to each coordinate. Deviations
        are clipped to 2.9 times as much, so that up to 0.02 all points lie in the unit square.
    random_state : int, RandomState, Generator or None, default=None
        Where the points come from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, arm by arm, each from the centre outwards.
    y : ndarray of shape (n_samples,), dtype int64
        The arm that each point belongs to, from 0.

    See Also
    --------
    make_rings, make_two_moons : Other curved shapes.
    isthmus.plotting.plot_clusters : Draw the points.

    Examples
    --------
    >>> from isthmus.datasets import make_spirals
    >>> X, y = make_spirals(n_arms=2, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((300, 2), [0, 1])
    """
    arms = check_integer(n_arms, "n_arms", 1)
    n = check_integer(n_samples, "n_samples", arms)
    angle = 2 * np.pi * check_positive(turns, "turns")
    shapes.check_at_least(noise, "noise", 0)
    source = shapes.random_source(random_state)
    starts = 2 * np.pi * np.arange(arms) / arms
    clean = [
        0.5 + shapes.spiral(source, size, (_INNER_RADIUS, _OUTER_RADIUS), (start, start + angle))
        for size, start in zip(shapes.shared_out(n, np.ones(arms)), starts, strict=True)
    ]
    return shapes.together([part + noise * shapes.deviations(source, part.shape) for part in clean])


def make_bars(
    n_samples: int = 240, *, n_bars: int = 3, width: float = 0.06, random_state: Any = None
) -> tuple[Floats, Ints]:
    """Return long bars, one above the other, inside the unit square.

    Parameters
    ----------
    n_samples : int, default=240
        The number of points, at least one for each bar. Sizes of bars differ by at most one.
    n_bars : int, default=3
        The number of bars. They are 0.9 long and at equal distances, from the lower edge of the
        square to the upper one.
    width : float, default=0.06
        The height of each bar, below 1 / n_bars, so that bars do not touch.
    random_state : int, RandomState, Generator or None, default=None
        Where the points come from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, from the lowest bar to the highest.
    y : ndarray of shape (n_samples,), dtype int64
        The bar that each point belongs to, from 0.

    See Also
    --------
    make_rings, make_spirals : Curved shapes.
    isthmus.plotting.plot_clusters : Draw the points.

    Examples
    --------
    >>> from isthmus.datasets import make_bars
    >>> X, y = make_bars(n_bars=3, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((240, 2), [0, 1, 2])
    """
    bars = check_integer(n_bars, "n_bars", 1)
    n = check_integer(n_samples, "n_samples", bars)
    pitch = 1 / bars
    if check_positive(width, "width") >= pitch:
        raise ValueError(f"width must be below {pitch:.3g}, or {bars} bars touch; got {width!r}.")
    source = shapes.random_source(random_state)
    parts = []
    for number, size in enumerate(shapes.shared_out(n, np.ones(bars))):
        corner = np.array([_MARGIN, (number + 0.5) * pitch - width / 2])
        parts.append(corner + shapes.bar(source, size, 1 - 2 * _MARGIN, width))
    return shapes.together(parts)


def make_clouds(
    n_samples: int = 200,
    *,
    n_clouds: int = 3,
    spread: float = 1.0,
    side: float = 12.0,
    separation: float = 0.0,
    elongation: float = 1.0,
    random_state: Any = None,
) -> tuple[Floats, Ints]:
    """Return normal clouds whose centres are drawn from a square.

    Unless a separation is asked for, nothing keeps centres apart: clouds may overlap.

    Parameters
    ----------
    n_samples : int, default=200
        The number of points, at least one for each cloud. Sizes of clouds differ by at most one.
    n_clouds : int, default=3
        The number of clouds.
    spread : float, default=1.0
        The standard deviation of each coordinate within a cloud.
    side : float, default=12.0
        The side of the square in which the centres lie.
    separation : float, default=0.0
        Centres are drawn again until any two of them are at least separation × √2 × s apart, where
        s is the larger of both clouds' largest standard deviations: the c-separation of Dasgupta
        [1]_. Of two round clouds at a separation of 1, 2 or 3 about 24, 8 or 2 % of the points
        lie beyond the line between them.
    elongation : float, default=1.0
        Above 1 clouds are ellipses in random directions. Ratios of the long to the short axis are
        drawn between 1 and this number; the area is that of a round cloud.
    random_state : int, RandomState, Generator or None, default=None
        Where the points come from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, cloud by cloud.
    y : ndarray of shape (n_samples,), dtype int64
        The cloud that each point belongs to, from 0.

    See Also
    --------
    make_multi_scale : Clusters of unequal scale.
    isthmus.plotting.plot_clusters : Draw the points.

    References
    ----------
    .. [1] S. Dasgupta, "Learning Mixtures of Gaussians", 40th Annual Symposium on Foundations of
       Computer Science, 1999.

    Examples
    --------
    >>> from isthmus.datasets import make_clouds
    >>> X, y = make_clouds(n_clouds=3, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((200, 2), [0, 1, 2])
    """
    clouds = check_integer(n_clouds, "n_clouds", 1)
    n = check_integer(n_samples, "n_samples", clouds)
    deviation, length = check_positive(spread, "spread"), check_positive(side, "side")
    shapes.check_at_least(separation, "separation", 0)
    shapes.check_at_least(elongation, "elongation", 1)
    source = shapes.random_source(random_state)
    stretches = np.broadcast_to(np.eye(2), (clouds, 2, 2))
    longest = np.full(clouds, deviation)
    if elongation > 1:
        ratios = source.uniform(1.0, elongation, size=clouds)
        stretches = shapes.ellipses(ratios, source.uniform(0.0, np.pi, size=clouds))
        longest *= np.sqrt(ratios)
    centres = shapes.centres_apart(source, length, separation * np.sqrt(2) * longest)
    y = shapes.labels_of(shapes.shared_out(n, np.ones(clouds)))
    round_points = source.normal(0.0, deviation, size=(n, 2))
    return centres[y] + np.einsum("nij,nj->ni", stretches[y], round_points), y


def make_discs_in_noise(
    n_samples: int = 600, *, noise_share: float = 0.4, random_state: Any = None
) -> tuple[Floats, Ints]:
    """Return two dense discs surrounded by uniform noise, the third cluster, in the unit square.

    The noise fills the square up to a gap of 0.04 round the discs. With the defaults that is no
    wider than the gaps within the noise, so some noise points cannot be told from a disc.

    Parameters
    ----------
    n_samples : int, default=600
        The number of points, at least 3.
    noise_share : float, default=0.4
        The share of the noise, between 0 and 1. The discs have equal shares of the rest.
    random_state : int, RandomState, Generator or None, default=None
        Where the points come from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points: the discs, then the noise.
    y : ndarray of shape (n_samples,), dtype int64
        0 and 1 for the discs, 2 for the noise.

    See Also
    --------
    make_multi_scale : Discs in a ring.
    isthmus.plotting.plot_clusters : Draw the points.

    Examples
    --------
    >>> from isthmus.datasets import make_discs_in_noise
    >>> X, y = make_discs_in_noise(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((600, 2), [0, 1, 2])
    """
    n = check_integer(n_samples, "n_samples", 3)
    if not 0 < noise_share < 1:
        raise ValueError(f"noise_share must be between 0 and 1, got {noise_share!r}.")
    source = shapes.random_source(random_state)
    disc_share = (1 - noise_share) / 2
    left, right, noise = shapes.shared_out(n, [disc_share, disc_share, noise_share])
    return shapes.together(
        [
            _DISC_CENTRES[0] + shapes.disc(source, left, _DISC_RADIUS),
            _DISC_CENTRES[1] + shapes.disc(source, right, _DISC_RADIUS),
            shapes.square_outside(source, noise, _DISC_CENTRES, _NOISE_FROM),
        ]
    )


def _ring(source: shapes.Source, n_points: int) -> Floats:
    # One point in each of n_points equal sectors: no arc of the ring stays empty by chance.
    sectors = np.arange(n_points) + source.uniform(size=n_points)
    # Inside the unit square, since 0.38 + 2.9 × 0.04 < 0.5.
    radii = _RING_RADIUS + _RING_SPREAD * shapes.deviations(source, n_points)
    return shapes.on_circle(2 * np.pi * sectors / n_points, radii)
