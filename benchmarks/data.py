"""Points that benchmarks share: synthetic kinds, and stars where ISTHMUS_DATA is set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.harness import SkippedError, data_folder


def _lattice(rng: np.random.Generator, n_points: int, n_features: int) -> np.ndarray:
    side = round(n_points ** (1 / n_features))
    axes = np.meshgrid(*[np.arange(float(side))] * n_features)
    return rng.permutation(np.stack(axes, -1).reshape(-1, n_features))


def _from_file(name: str, key: str) -> np.ndarray:
    folder = data_folder()
    if folder is None:
        raise SkippedError(f"{name} needs ISTHMUS_DATA")
    with np.load(folder / f"{name}.npz") as file:
        found: np.ndarray = file[key]
        return found / file["range"][6] + file["range"][:3] if name.startswith("tycho") else found


def _stars(rng: np.random.Generator, n_points: int, _: int) -> np.ndarray:
    return rng.permutation(_from_file("tycho2_uint32", "u"))[:n_points]


def _usps(_: np.random.Generator, n_points: int, __: int) -> np.ndarray:
    return _from_file("usps_int16", "K")[:n_points] / 1000.0


def _mnist(rng: np.random.Generator, n_points: int, _: int) -> np.ndarray:
    return rng.permutation(_from_file("mnist", "X"))[:n_points].astype(np.float64)


def _clustered(rng: np.random.Generator, n_points: int, n_features: int) -> np.ndarray:
    centres = rng.random((20, n_features)) * 10
    noise = rng.normal(0, 0.25, (n_points, n_features))
    return centres[rng.integers(20, size=n_points)] + noise


def _mixture(rng: np.random.Generator, n_points: int, n_features: int) -> np.ndarray:
    centres = rng.normal(size=(20, n_features))
    return centres[rng.integers(20, size=n_points)] + rng.normal(size=(n_points, n_features))


KINDS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "uniform": lambda rng, n, d: rng.random((n, d)),
    "clustered": _clustered,
    "mixture": _mixture,
    "1,000 distinct": lambda rng, n, d: rng.random((1000, d))[rng.integers(1000, size=n)],
    "rounded to 0.1": lambda rng, n, d: np.round(rng.normal(0, 100, (n, d)), 1),
    "rounded to 0.01": lambda rng, n, d: np.round(rng.random((n, d)) * 10, 2),
    "lattice": _lattice,
    "Tycho-2": _stars,
    "USPS": _usps,
    "MNIST": _mnist,
}


def make(kind: str, n_points: int, n_features: int) -> np.ndarray:
    """Return points of a kind, the same ones every time."""
    return KINDS[kind](np.random.default_rng(0), n_points, n_features)
