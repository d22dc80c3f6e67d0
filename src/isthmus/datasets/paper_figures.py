"""Random state → the point sets of the paper's figures, as far as its text describes them.

The paper (Xu, Liu and Tang, arXiv:0711.3594) does not publish its points, only pictures and a short
description. The sets here follow it: numbers of points and clusters, the square (0, 1)², which
method fails on which set. Every shape, gap and density is our guess.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from isthmus._utils.typing import Floats, Ints
from isthmus.datasets import generators
from isthmus.datasets.shapes import arc, bar, random_source, together

_Points: TypeAlias = tuple[Floats, Ints]

# Figure 2: a horseshoe that opens to the right, and a bar that lies in its mouth. Steps along
# either are below 0.12, and they are more than 0.2 apart.
_HORSESHOE_SIZE, _HORSESHOE_RADIUS = 30, 0.35
_HORSESHOE_ANGLES = (0.25 * np.pi, 1.75 * np.pi)
_BAR_SIZE, _BAR_LENGTH, _BAR_WIDTH = 20, 0.45, 0.02
# Panel b: two moons of radius 1 are 3 wide and 1.5 high; so they fit into the square.
_MOON_SCALE, _MOON_CENTRE = 0.29, (0.5, 0.25)
# Panel f: radii and sizes of four half circles, equally dense.
_ARCH_FOOT = np.array([0.5, 0.25])
_ARCHES = ((0.12, 40), (0.22, 74), (0.32, 107), (0.42, 140))
_ARCH_NOISE = 0.0105


def make_figure1(*, random_state: Any = None) -> _Points:
    """Return two moons of 25 points each, as in the paper's Figure 1.

    The figure shows how transitive distances change with their order. The paper says that there are
    50 points in two moons, those of one moon before those of the other; the noise of 0.05 is our
    guess.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None, default=None
        Where the points come from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (50, 2)
        The points.
    y : ndarray of shape (50,), dtype int64
        The moon that each point belongs to, 0 or 1.

    See Also
    --------
    make_figure5 : The eight sets of Figure 5.
    isthmus.plotting.plot_clusters : Draw the points.

    Examples
    --------
    >>> from isthmus.datasets import make_figure1
    >>> X, y = make_figure1(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((50, 2), [0, 1])
    """
    return generators.make_two_moons(50, noise=0.05, random_state=random_state)


def make_figure2(*, random_state: Any = None) -> _Points:
    """Return 50 points in two consistent clusters whose convex hulls intersect.

    The paper's Figure 2 illustrates Theorem 1: the hulls intersect in the plane, but not in the
    embedded space, because the clusters are consistent (Definition 2). The paper says this and the
    number of points; a horseshoe with a bar in its mouth is our guess. The clusters are consistent
    for every seed: steps within a cluster are below 0.12, and the clusters are more than 0.2 apart.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None, default=None
        Where the points come from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (50, 2)
        The points.
    y : ndarray of shape (50,), dtype int64
        0 for the horseshoe (30 points), 1 for the bar (20).

    See Also
    --------
    make_figure5 : The eight sets of Figure 5.
    isthmus.plotting.plot_clusters : Draw the points.

    Examples
    --------
    >>> from isthmus.datasets import make_figure2
    >>> X, y = make_figure2(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((50, 2), [0, 1])
    """
    source = random_source(random_state)
    horseshoe = arc(source, _HORSESHOE_SIZE, _HORSESHOE_RADIUS, _HORSESHOE_ANGLES, 0.0)
    inside = bar(source, _BAR_SIZE, _BAR_LENGTH, _BAR_WIDTH)
    return together([0.5 + horseshoe, np.array([0.5, 0.49]) + inside])


def make_figure3(*, n_clouds: int = 3, random_state: Any = None) -> _Points:
    """Return 200 points in normal clouds, as in the paper's Figure 3 and its 100 sets on duality.

    The paper describes sets of 200 points from several normal distributions, with elliptic
    clusters. It does not say how many clouds there are, nor how wide and how far apart they are.
    Our guess: three, of standard deviation 1, the long axis at most three times the short one, with
    centres in a square of side 20, and a separation of at least 2 (see :func:`make_clouds`), since
    overlapping clouds are no clusters.

    Parameters
    ----------
    n_clouds : int, default=3
        The number of clouds.
    random_state : int, RandomState, Generator or None, default=None
        Where the points come from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (200, 2)
        The points.
    y : ndarray of shape (200,), dtype int64
        The cloud that each point belongs to, from 0.

    See Also
    --------
    make_figure5 : The eight sets of Figure 5.
    isthmus.plotting.plot_clusters : Draw the points.

    Examples
    --------
    >>> from isthmus.datasets import make_figure3
    >>> X, y = make_figure3(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((200, 2), [0, 1, 2])
    """
    return generators.make_clouds(
        200, n_clouds=n_clouds, side=20.0, separation=2.0, elongation=3.0, random_state=random_state
    )


def make_figure4(*, random_state: Any = None) -> _Points:
    """Return three clusters of unequal scale that single linkage does not find.

    The paper says that its Figure 4 has three clusters at several scales, and that cutting the
    longest edges of the spanning tree fails on it; 200 points in the shapes of
    :func:`make_multi_scale` are our guess.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None, default=None
        Where the points come from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (200, 2)
        The points.
    y : ndarray of shape (200,), dtype int64
        0 for the ring, 1 for the small disc, 2 for the tiny one.

    See Also
    --------
    make_figure5 : The eight sets of Figure 5.
    isthmus.plotting.plot_clusters : Draw the points.

    Examples
    --------
    >>> from isthmus.datasets import make_figure4
    >>> X, y = make_figure4(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((200, 2), [0, 1, 2])
    """
    return generators.make_multi_scale(200, random_state=random_state)


def make_figure5(which: str, *, random_state: Any = None) -> _Points:
    """Return one of eight sets inside (0, 1)², in the manner of the paper's Figure 5.

    A set has the letter of the panel in which the paper shows what its own method finds. The other
    panels, g to j, m and n, show what spectral clustering finds on the same sets. The paper says
    that there are eight sets in this square, with complex shapes, several scales and noise, and
    which method fails on which. The shapes are our guess, except that l is two tight clusters in
    noise.

    ===  ==========================================  =============================================
    set  clusters                                    who fails, K-means aside
    ===  ==========================================  =============================================
    a    three rings, 300 points                     nobody
    b    two moons, 200 points                       nobody
    c    three long bars, 240 points                 nobody
    d    four rings near each other, 400 points      self-tuning
    e    two blurred spirals, 240 points             self-tuning
    f    four blurred half circles, 361 points       self-tuning
    k    a ring round a small and a tiny disc, 300   NJW
    l    two discs and the noise round them, 800     NJW, self-tuning
    ===  ==========================================  =============================================

    The last column is the paper's account. It holds for these sets from ten seeds, with the
    spectral methods at their best parameters: NJW (one scale for all points, from 0.01 to 4) fails
    on k and l alone, always; self-tuning (a scale at every point, the distance to its N-th
    neighbour, N from 2 to 30) solves a, b, c and k always, fails on d and l always, and on e and f
    from nine seeds each. ``isthmus reproduce figure5`` shows it and says why.

    Parameters
    ----------
    which : {"a", "b", "c", "d", "e", "f", "k", "l"}
        The set.
    random_state : int, RandomState, Generator or None, default=None
        Where the points come from; an int makes the result reproducible.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The points, cluster by cluster.
    y : ndarray of shape (n_samples,), dtype int64
        The cluster of each point, from 0; in l the noise is 2.

    See Also
    --------
    make_figure1, make_figure2, make_figure3, make_figure4 : The sets of the other figures.
    isthmus.plotting.plot_clusters : Draw the points.

    Examples
    --------
    >>> from isthmus.datasets import make_figure5
    >>> X, y = make_figure5("d", random_state=0)
    >>> X.shape
    (400, 2)
    """
    if not isinstance(which, str) or which not in _FIGURE5:
        raise ValueError(
            f"which must be one of {', '.join(FIGURE5_PANELS)}, the panels of Figure 5 that show "
            f"the paper's own method; got {which!r}."
        )
    return _FIGURE5[which](random_state)


def _moons(random_state: Any) -> _Points:
    X, y = generators.make_two_moons(200, noise=0.04, random_state=random_state)
    return 0.5 + _MOON_SCALE * (X - _MOON_CENTRE), y


def _arches(random_state: Any) -> _Points:
    source = random_source(random_state)
    return together(
        [
            _ARCH_FOOT + arc(source, size, radius, (0.0, np.pi), _ARCH_NOISE)
            for radius, size in _ARCHES
        ]
    )


_FIGURE5: dict[str, Callable[[Any], _Points]] = {
    "a": lambda seed: generators.make_rings(300, random_state=seed),
    "b": _moons,
    "c": lambda seed: generators.make_bars(240, random_state=seed),
    "d": lambda seed: generators.make_rings(400, n_rings=4, noise=0.009, random_state=seed),
    "e": lambda seed: generators.make_spirals(240, noise=0.015, random_state=seed),
    "f": _arches,
    "k": lambda seed: generators.make_multi_scale(300, random_state=seed),
    "l": lambda seed: generators.make_discs_in_noise(800, noise_share=0.6, random_state=seed),
}
FIGURE5_PANELS = tuple(_FIGURE5)
