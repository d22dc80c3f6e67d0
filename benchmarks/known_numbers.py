"""Sets of points whose number of clusters is known: clear ones, and sets without any structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from isthmus.datasets import (
    make_bars,
    make_multi_scale,
    make_rings,
    make_spirals,
    make_two_moons,
)
from isthmus.datasets.shapes import disc, on_circle, shared_out

# The fewest and the most points; and the fewest per cluster.
FEWEST, MOST, PER_CLUSTER = 200, 2000, 40
MOST_CLUSTERS = 12

Random = np.random.Generator
Maker = Callable[[Random, int, int], tuple[np.ndarray, int]]


@dataclass(frozen=True)
class KnownSet:
    """Points, the family that they are of, and how many clusters they have: any of ``numbers``."""

    family: str
    points: np.ndarray
    numbers: tuple[int, ...]

    @property
    def n_clusters(self) -> int:
        """The number of clusters, where there is only one."""
        (number,) = self.numbers
        return number


def clear_sets(count: int, seed: int) -> Iterator[KnownSet]:
    """Yield sets of 2 to 12 clear clusters, from one family after the other."""
    families = list(CLEAR.items())
    for number in range(count):
        rng = np.random.default_rng([seed, 1, number])
        name, make = families[number % len(families)]
        k = int(rng.integers(2, MOST_CLUSTERS + 1))
        points, n_clusters = make(rng, max(_size(rng), PER_CLUSTER * k), k)
        yield KnownSet(name, points, (n_clusters,))


def plain_sets(count: int, seed: int) -> Iterator[KnownSet]:
    """Yield sets without structure, which have one cluster, from one family after the other."""
    families = list(PLAIN.items())
    for number in range(count):
        rng = np.random.default_rng([seed, 2, number])
        name, make = families[number % len(families)]
        yield KnownSet(name, make(rng, _size(rng)), (1,))


def _size(rng: Random) -> int:
    return round(float(np.exp(rng.uniform(np.log(FEWEST), np.log(MOST)))))


def _moons(rng: Random, n: int, _: int) -> tuple[np.ndarray, int]:
    return make_two_moons(n, noise=rng.uniform(0.02, 0.07), random_state=rng)[0], 2


def _pairs_of_moons(rng: Random, n: int, k: int) -> tuple[np.ndarray, int]:
    pairs = max(1, k // 2)
    parts = []
    for i, size in enumerate(_sizes(rng, n, pairs)):
        X, _ = make_two_moons(int(size), noise=rng.uniform(0.02, 0.06), random_state=rng)
        parts.append(X + np.array([4.0 * (i % 3), 3.2 * (i // 3)]))
    return np.concatenate(parts), 2 * pairs


def _rings(rng: Random, n: int, k: int) -> tuple[np.ndarray, int]:
    rings = min(k, 5)
    noise = rng.uniform(0.003, 0.02 / rings)
    return make_rings(n, n_rings=rings, noise=noise, random_state=rng)[0], rings


def _spirals(rng: Random, n: int, k: int) -> tuple[np.ndarray, int]:
    arms = min(k, 5)
    turns, noise = rng.uniform(0.6, 1.0 if arms > 3 else 1.3), rng.uniform(0.001, 0.023 / arms)
    return make_spirals(n, n_arms=arms, turns=turns, noise=noise, random_state=rng)[0], arms


def _bars(rng: Random, n: int, k: int) -> tuple[np.ndarray, int]:
    bars = min(k, 8)
    width = rng.uniform(0.15, 0.4) / bars
    return make_bars(n, n_bars=bars, width=width, random_state=rng)[0], bars


def _clouds(rng: Random, n: int, k: int, n_features: int = 0) -> tuple[np.ndarray, int]:
    d = n_features or int(rng.choice([2, 2, 3, 5]))
    scales = 10 ** rng.uniform(-0.5, 0.5, k)
    centres = _centres(rng, scales, d, rng.uniform(4.0, 6.0))
    return _placed(rng, n, scales, centres, lambda size: rng.normal(size=(size, d))), k


def _discs(rng: Random, n: int, k: int) -> tuple[np.ndarray, int]:
    scales = 10 ** rng.uniform(-0.6, 0.6, k)
    centres = _centres(rng, scales, 2, rng.uniform(1.7, 2.5))
    return _placed(rng, n, scales, centres, lambda size: disc(rng, size, 1.0)), k


def _multi_scale(rng: Random, n: int, _: int) -> tuple[np.ndarray, int]:
    return make_multi_scale(max(n, 300), random_state=rng)[0], 3


def _in_noise(rng: Random, n: int, k: int) -> tuple[np.ndarray, int]:
    n_noise = round(n * rng.uniform(0.01, 0.04))
    make = _discs if rng.random() < 0.5 else lambda *given: _clouds(*given, n_features=2)
    X, _ = make(rng, n - n_noise, k)
    return np.concatenate([X, rng.uniform(X.min(axis=0), X.max(axis=0), (n_noise, 2))]), k


def _mixed_shapes(rng: Random, n: int, k: int) -> tuple[np.ndarray, int]:
    scales = 10 ** rng.uniform(-0.35, 0.35, k)
    centres = _centres(rng, 0.5 * scales, 2, rng.uniform(1.6, 2.2))
    return _placed(rng, n, scales, centres, lambda size: _any_shape(rng, size)), k


def _any_shape(rng: Random, n: int) -> np.ndarray:
    along = (np.arange(n) + rng.uniform(size=n)) / n
    tilt = np.array([[0.8, 0.6], [-0.6, 0.8]])
    shapes = (
        lambda: disc(rng, n, 0.45),
        lambda: rng.normal(0.0, 0.15, size=(n, 2)),
        lambda: on_circle(2 * np.pi * along, 0.42) + rng.normal(0.0, 0.012, size=(n, 2)),
        lambda: on_circle(np.pi * along, 0.42) + rng.normal(0.0, 0.015, size=(n, 2)),
        lambda: rng.uniform([-0.45, -0.06], [0.45, 0.06], size=(n, 2)) @ tilt,
    )
    return shapes[rng.integers(len(shapes))]()


def _sizes(rng: Random, n: int, k: int) -> np.ndarray:
    """Return n points shared out among k clusters, of which none has a third of another's."""
    return shared_out(n, rng.uniform(0.35, 1.0, k))


def _placed(
    rng: Random,
    n: int,
    scales: np.ndarray,
    centres: np.ndarray,
    shape: Callable[[int], np.ndarray],
) -> np.ndarray:
    sizes = _sizes(rng, n, len(scales))
    return np.concatenate(
        [
            centre + scale * shape(int(size))
            for size, scale, centre in zip(sizes, scales, centres, strict=True)
        ]
    )


def _centres(rng: Random, radii: np.ndarray, n_features: int, apart: float) -> np.ndarray:
    """Return random centres of balls, of which no two are nearer than apart times their radii."""
    half = 1.5 * np.sum(radii**n_features) ** (1 / n_features)
    while True:
        centres: list[np.ndarray] = []
        for radius in radii:
            for _ in range(200):
                centre = rng.uniform(-half, half, n_features)
                if all(
                    np.linalg.norm(centre - other) > apart * (radius + its)
                    for other, its in zip(centres, radii, strict=False)
                ):
                    centres.append(centre)
                    break
            else:
                break
        if len(centres) == len(radii):
            return np.array(centres)
        half *= 1.15


def _bent(rng: Random, n: int, angle: float) -> np.ndarray:
    clean = on_circle(rng.uniform(0.0, angle, n), 1.0)
    return clean + rng.normal(0.0, rng.uniform(0.01, 0.1), size=(n, 2))


CLEAR: dict[str, Maker] = {
    "two moons": _moons,
    "pairs of moons": _pairs_of_moons,
    "rings": _rings,
    "spirals": _spirals,
    "bars": _bars,
    "clouds of unequal scale": _clouds,
    "discs of unequal scale": _discs,
    "discs within a ring": _multi_scale,
    "clusters in mild noise": _in_noise,
    "mixed shapes": _mixed_shapes,
}

PLAIN: dict[str, Callable[[Random, int], np.ndarray]] = {
    "uniform, square": lambda rng, n: rng.uniform(size=(n, 2)),
    "uniform, disc": lambda rng, n: disc(rng, n, 1.0),
    "uniform, cube": lambda rng, n: rng.uniform(size=(n, 3)),
    "uniform, 5 features": lambda rng, n: rng.uniform(size=(n, 5)),
    "uniform, line": lambda rng, n: rng.uniform(size=(n, 1)),
    "one normal cloud": lambda rng, n: rng.normal(size=(n, int(rng.choice([1, 2, 3, 5, 10])))),
    "one ring": lambda rng, n: _bent(rng, n, 2 * np.pi),
    "one moon": lambda rng, n: _bent(rng, n, np.pi),
    "one heavy-tailed cloud": lambda rng, n: rng.standard_t(3, (n, int(rng.integers(1, 4)))),
    "one exponential cloud": lambda rng, n: rng.exponential(size=(n, 2)),
}
