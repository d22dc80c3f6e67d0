"""Points → labels by each method whose time is measured, and the seconds of its stages, if any.

All run on one thread, if the caller limits BLAS.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances

from isthmus._utils.typing import Array, Floats
from isthmus.baselines import NJWSpectralClustering, SelfTuningSpectralClustering
from isthmus.baselines.affinities import gaussian_exponents, normalised_affinities
from isthmus.baselines.spectral import unit_rows
from isthmus.estimators import TransitiveKMeans
from isthmus.plotting.style import PALETTE
from isthmus.ultrametric import UltrametricTree

CLUSTERS = 3
_SIGMA = 0.05  # at which NJW finds the three bars, for any number of points
SEED = 0
# The exponents that the paper derives.
QUADRATIC, CUBIC = 2.0, 3.0

Timed: TypeAlias = tuple[Array, dict[str, float]]


class Clock:
    """Processor seconds between notes: other processes hardly affect them."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def note(self, name: str) -> None:
        """Note the seconds since the last note, under a name."""
        now = time.process_time()
        self.seconds[name] = now - self._last
        self._last = now


def papers_algorithm(X: Floats) -> Timed:
    """Run the paper's Algorithm 1 as written, with n × n matrices."""
    clock = Clock()
    E = pairwise_distances(X)
    clock.note("distances")
    tree = UltrametricTree.from_data(E, metric="precomputed", n_jobs=1)
    clock.note("spanning tree")
    rows = tree.matrix(n_jobs=1)
    clock.note("transitive distances")
    kmeans = KMeans(CLUSTERS, init="random", n_init=10, random_state=SEED).fit(rows)
    clock.note("K-means on rows")
    return kmeans.labels_, clock.seconds


def njw(X: Floats) -> Timed:
    """Run NJW: a dense solver reduces the matrix, then finds the leading eigenvectors only."""
    return NJWSpectralClustering(CLUSTERS, sigma=_SIGMA, random_state=SEED).fit(X).labels_, {}


def self_tuning(X: Floats) -> Timed:
    """Run self-tuning spectral clustering with its default, the seventh neighbour."""
    return SelfTuningSpectralClustering(CLUSTERS, n_neighbors=7).fit(X).labels_, {}


def njw_by_all_eigenvectors(X: Floats) -> Timed:
    """Run NJW with all n eigenvectors, of which it needs three: the classical eigenproblem."""
    return _njw_with(X, lambda A: eigh(A, overwrite_a=True, check_finite=False)[1][:, -CLUSTERS:])


def njw_by_lanczos(X: Floats) -> Timed:
    """Run NJW with three eigenvectors from matrix-vector products."""
    start = np.random.default_rng(SEED).normal(size=len(X))
    return _njw_with(X, lambda matrix: eigsh(matrix, CLUSTERS, which="LA", v0=start)[1])


def _njw_with(X: Floats, solve: Callable[[Floats], Floats]) -> Timed:
    """Run NJW with a solver that returns the leading eigenvectors of a matrix."""
    clock = Clock()
    matrix = normalised_affinities(gaussian_exponents(pairwise_distances(X), _SIGMA))
    clock.note("affinities")
    rows = unit_rows(solve(matrix))
    clock.note("eigenvectors")
    labels: Array = KMeans(CLUSTERS, n_init=10, random_state=SEED).fit(rows).labels_
    return labels, clock.seconds


def by_tree(X: Floats) -> Timed:
    """Run isthmus: the paper's objective, on the tree instead of matrices."""
    return TransitiveKMeans(CLUSTERS, n_jobs=1).fit(X).labels_, {}


class Method(NamedTuple):
    """A method and how it is shown: its name, the paper's exponent, its colour and marker."""

    run: Callable[[Floats], Timed]
    name: str
    papers_exponent: float | None
    colour: str
    marker: str


TIMED_METHODS = {
    "paper": Method(papers_algorithm, "the paper's, as written", QUADRATIC, PALETTE[0], "o"),
    "njw": Method(njw, "NJW", CUBIC, PALETTE[5], "s"),
    "self_tuning": Method(self_tuning, "self-tuning", CUBIC, PALETTE[3], "D"),
    "all_vectors": Method(njw_by_all_eigenvectors, "NJW, all eigenvectors", CUBIC, PALETTE[1], "^"),
    "lanczos": Method(njw_by_lanczos, "NJW by Lanczos", None, PALETTE[4], "v"),
    "tree": Method(by_tree, "isthmus, on the tree", None, PALETTE[2], "P"),
}
