"""Public sets with known classes and many features: images, texts and tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import SkippedError, data_folder

Set = tuple[np.ndarray, np.ndarray]


def _file(name: str) -> dict[str, np.ndarray]:
    folder = data_folder()
    if folder is None:
        raise SkippedError("set ISTHMUS_DATA to the folder that holds usps_int16.npz, mnist.npz …")
    with np.load(folder / f"{name}.npz") as file:
        return dict(file)


def _usps() -> Set:
    file = _file("usps_int16")
    return file["K"] / 1000.0, file["y"]


def _mnist(n_points: int) -> Set:
    file = _file("mnist")
    return file["X"][:n_points].astype(np.float32), file["y"][:n_points]


def _texts(name: str) -> Set:
    file = _file(f"text/{name}")
    order = np.random.default_rng(0).permutation(len(file["y"]))  # some are sorted by class
    return file["X"][order].astype(np.float32), file["y"][order]


def _table(load: Callable[..., Set]) -> Set:
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


SETS: dict[str, Callable[[], Set]] = {
    "digits": lambda: load_digits(return_X_y=True),
    "USPS": _usps,
    "MNIST, first 10,000": lambda: _mnist(10_000),
    "banking77": lambda: _texts("banking77"),
    "StackOverflow": lambda: _texts("stackoverflow"),
    "AG News": lambda: _texts("agnews"),
    "wine, standardised": lambda: _table(load_wine),
    "breast cancer, standardised": lambda: _table(load_breast_cancer),
    "MNIST, 70,000": lambda: _mnist(70_000),
}
# Sentence embeddings, of unit length, are compared by their angles.
TEXTS = ("banking77", "StackOverflow", "AG News")
# Other methods take too long, or too much memory, on these.
LARGE = ("MNIST, 70,000",)


def metric_of(name: str) -> str:
    """Return the metric that suits a set."""
    return "angular" if name in TEXTS else "euclidean"
